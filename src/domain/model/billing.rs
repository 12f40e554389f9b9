//! Who pays for a model's calls.

use serde::{Deserialize, Serialize};

/// Who is billed for a model's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// The user, by the token.
    #[default]
    Metered,
    /// No one: the model runs on the user's own machine.
    Free,
    /// A plan that the user has subscribed to: a call has no price, but uses up what the plan
    /// allows.
    Plan,
}
