//! Programs that answer in a seat, such as the vendors' own command line tools. Data only: `config`
//! reads the table, the process codecs of `providers` put it to use.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::domain::ids::ProviderId;
use crate::domain::model::billing::Billing;

impl Program {
    pub fn is_allowed(&self) -> bool {
        self.allowed == Some(true)
    }
}

/// A program, and how it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub id: ProviderId,
    /// For people: `Claude Code`.
    pub name: String,
    /// The program and its arguments. A placeholder in braces stands for what differs by call:
    /// `{model}`, `{system_file}`, `{folder}` (the empty working directory).
    pub argv: Vec<String>,
    /// Arguments that are added where the answer has a schema: `{schema}` is its text,
    /// `{schema_file}` a file that has it. Empty if the program cannot enforce one.
    pub schema_argv: Vec<String>,
    pub prompt: PromptDelivery,
    pub reader: AnswerReader,
    /// Variables of this process's environment that the program gets beside the usual ones.
    pub pass_env: Vec<String>,
    /// Variables that are set for it.
    pub set_env: BTreeMap<String, String>,
    /// A command that says whether the user is logged in, by its exit code; empty if there is none.
    pub check: Vec<String>,
    /// What a person does to log in.
    pub login: Option<String>,
    /// On the whole call.
    pub time_limit: Duration,
    /// The most calls at once.
    pub max_parallel: u32,
    /// The most bytes of its output.
    pub max_output: u64,
    pub billing: Billing,
    pub overage: Overage,
    /// Whether its user has agreed to its use; `None` before they have said so.
    pub allowed: Option<bool>,
}

/// The way in which a program gets its prompt. It is never an argument: arguments are visible to
/// every user of the machine, and limited in length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptDelivery {
    /// The message on standard input, the system prompt in `{system_file}`.
    SystemInFile,
    /// Both on standard input, each within tags.
    #[default]
    Stdin,
}

/// How a program's output is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerReader {
    /// Claude Code's `stream-json`.
    ClaudeCode,
    /// The events of `codex exec --json`.
    Codex,
    /// Standard output is the answer.
    Text,
    /// One JSON value.
    Json(AnswerPaths),
    /// A JSON value on each line; the last that has a path counts.
    JsonLines(AnswerPaths),
}

/// Where a JSON output has what, as JSON pointers (RFC 6901).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerPaths {
    pub answer: String,
    /// A text; where it is there, the call has failed.
    pub error: Option<String>,
    pub input_tokens: Option<String>,
    pub output_tokens: Option<String>,
}

/// What happens when a plan's limit is reached and the vendor would bill the user for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overage {
    /// The call is stopped, and the seat is out.
    #[default]
    Refuse,
    Allow,
}

/// A vendor's own program, which is known by name.
#[derive(Debug)]
pub struct VendorProgram {
    pub id: &'static str,
    pub name: &'static str,
    /// The vendor, which gets all that the program is asked.
    pub vendor: &'static str,
    /// The models that are usually asked, in the order in which they fill a panel.
    pub models: &'static [&'static str],
}

pub const VENDOR_PROGRAMS: [VendorProgram; 2] = [
    VendorProgram {
        id: "claude-code",
        name: "Claude Code",
        vendor: "anthropic",
        models: &["sonnet", "opus", "haiku"],
    },
    VendorProgram {
        id: "codex",
        name: "Codex",
        vendor: "openai",
        models: &["gpt-5.5"],
    },
];

/// `None` for a program of the settings, and for all other providers.
pub fn of_vendor(id: &ProviderId) -> Option<&'static VendorProgram> {
    VENDOR_PROGRAMS
        .iter()
        .find(|program| program.id == id.as_str())
}
