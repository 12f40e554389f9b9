//! Programs that answer in a seat, such as the vendors' own command line tools. Data only: `config`
//! reads the table, the process codecs of `providers` put it to use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

use crate::domain::ids::ProviderId;
use crate::domain::model::billing::Billing;
use crate::text::word_list::load;

/// A program, and how it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Whether the system prompt is in `{system_file}`, and only the message on standard input;
    /// otherwise both are there, each within tags. A prompt is never an argument: arguments are
    /// visible to every user of the machine, and limited in length.
    pub system_in_file: bool,
    pub reader: AnswerReader,
    /// For the readers of JSON.
    pub paths: AnswerPaths,
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
    /// Whether a call goes on when the plan's limit is reached and the vendor would bill the user
    /// for more. Otherwise it is stopped, and the seat is out.
    pub allows_overage: bool,
    /// Whether its user has agreed to its use; `None` before they have said so.
    pub allowed: Option<bool>,
    /// An absolute path; `None` if it is not installed, or not looked for.
    pub executable: Option<PathBuf>,
}

/// How a program's output is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerReader {
    /// Claude Code's `stream-json`.
    ClaudeCode,
    /// The events of `codex exec --json`.
    Codex,
    /// Standard output is the answer.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// A JSON value on each line; the last that has a path counts.
    #[serde(rename = "jsonl")]
    JsonLines,
}

/// Where an output has what, as JSON pointers (RFC 6901). The answer is the whole by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerPaths {
    pub answer: String,
    /// A text; where it is there, the call has failed.
    pub error: Option<String>,
    pub input_tokens: Option<String>,
    pub output_tokens: Option<String>,
}

/// A vendor's own program, which is known by name.
#[derive(Debug, Deserialize)]
pub struct VendorProgram {
    pub id: String,
    pub name: String,
    /// The vendor, which gets all that the program is asked.
    pub vendor: String,
    /// The models that are usually asked, in the order in which they fill a panel.
    pub models: Vec<String>,
}

/// The lists of the file `programs.toml`.
static VENDOR_PROGRAMS: LazyLock<BTreeMap<String, Vec<VendorProgram>>> =
    LazyLock::new(|| load(include_str!("programs.toml")));

/// Those of all vendors.
pub fn of_vendors() -> impl Iterator<Item = &'static VendorProgram> {
    VENDOR_PROGRAMS.values().flatten()
}

/// `None` for a program of the settings, and for all other providers.
pub fn of_vendor(id: &ProviderId) -> Option<&'static VendorProgram> {
    of_vendors().find(|program| program.id == id.as_str())
}
