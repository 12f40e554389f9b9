//! What a program says of itself: its version, and whether the user is logged in.

/// The answer to a check that spends nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStatus {
    /// As the program writes it: `2.1.330`.
    pub version: Option<String>,
    pub login: Login,
}

/// Whether a user is logged in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Login {
    /// The program has no check, or it does not work: why.
    #[default]
    Unknown,
    /// With the name of the plan, where the program says it: `max_5x`, `ChatGPT`.
    Plan(Option<String>),
    /// With something that is billed by use, such as an API key: what.
    Billed(String),
    No,
}
