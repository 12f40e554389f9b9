//! The settings with their values in force. Each is described by its row in [`super::setting`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::consultation::plan::options::{DebateAnalysis, JudgePasses, Rounds};
use crate::consultation::plan::usual_max_calls;
use crate::consultation::policy::mode::Mode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::MicroUsd;
use crate::stopping::early_termination::{Policy, TerminationRule};

use super::endpoints::{EndpointEntry, LocalServers};
use super::parameters::Parameters;
use super::personas::{CustomPersona, NamedPanel};
use super::programs::Programs;
use super::repository::RepositoryFile;
use crate::consultation::policy::hedging::HedgeAfter;

/// All settings with their values in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// No consent is needed for estimates below this; zero always asks.
    pub always_allow_under: MicroUsd,
    /// Most tokens an answer may take, thinking included.
    pub max_output_tokens: u64,
    pub connect_timeout: Duration,
    /// Until the first byte of an answer.
    pub first_byte_timeout: Duration,
    /// Between two bytes of an answer.
    pub idle_timeout: Duration,
    /// Threads of the embedded model; its own choice when not set.
    pub local_threads: Option<u32>,
    /// Most tokens of prompt and answer of the embedded model together.
    pub local_context: u64,
    /// The embedded model by name.
    pub local_model: Option<String>,
    /// The files and folders of every context, unless others are named.
    pub context: Option<Vec<String>>,
    /// The experts, one entry a seat, as `--panel` takes them, or the name of a panel.
    pub panel: Option<Vec<String>>,
    /// The judge, as `--judge` takes it.
    pub judge: Option<String>,
    /// The user's own panels.
    pub panels: BTreeMap<String, NamedPanel>,
    /// The user's own personas, by id.
    pub personas: BTreeMap<String, CustomPersona>,
    /// Groups of personas, to be named as `@name`.
    pub persona_sets: BTreeMap<String, Vec<String>>,
    /// The personas when neither a panel nor personas are named, as `--personas` takes them.
    pub default_personas: Option<Vec<String>>,
    /// The user's own servers, and changes to known providers, in their written order.
    pub endpoints: Vec<EndpointEntry>,
    pub parameters: Parameters,
    /// Programs that answer in a seat.
    pub programs: Programs,
    pub local_servers: LocalServers,
    /// Most calls in flight at one provider, unless its entry has its own limit.
    pub max_in_flight: u32,
    /// No call is made that could bring the cost of a consultation above this.
    pub max_cost: Option<MicroUsd>,
    /// The most calls that plans pay for in a consultation.
    pub max_calls: u32,
    /// The most that all consultations of a calendar month may cost together.
    pub monthly_budget: Option<MicroUsd>,
    pub on_failure: OnFailure,
    pub hedge_after: HedgeAfter,
    /// How long a round runs before the user is asked, or reminded, that it takes long; zero for
    /// never.
    pub pulse: Duration,
    /// Longest duration of a round; unlimited if not set.
    pub max_wait: Option<Duration>,
    pub mode: Mode,
    /// Most rounds of a debate.
    pub rounds: Rounds,
    /// The policy of early termination.
    pub early_termination: Policy,
    /// The stated confidence from which on an early end is considered.
    pub confidence_threshold: Confidence,
    /// Whether positions are compared after the debate, if there is a model for it.
    pub debate_analysis: DebateAnalysis,
    /// How often the judge decides; with fewer than four rounds it does not.
    pub judge_passes: JudgePasses,
    /// Whether the text of a context is stored beside the journal.
    pub log_context: bool,
    /// Whether the terminal rings its bell at the end of a run.
    pub notify: bool,
    /// Whether every consultation is exported as a trace.
    pub otlp: bool,
    /// Whether traces have the texts of people and models.
    pub otlp_content: bool,
    /// How long a pipe on standard input may stay without data beside a question.
    pub stdin_wait: Duration,
    /// Consultations in thirty days that `consult-stats` calls consistent.
    pub target_runs: u64,
    /// The median duration below which it calls them quick.
    pub target_median: Duration,
    /// The cost in a calendar month below which it calls them within budget.
    pub target_monthly_cost: MicroUsd,
    /// The origins of settings by name; settings at their default are left out.
    pub origins: BTreeMap<&'static str, SettingOrigin>,
    /// `None` outside of repositories that have settings.
    pub repository: Option<Repository>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            always_allow_under: MicroUsd(500_000),
            max_output_tokens: 16_384,
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(900),
            idle_timeout: Duration::from_secs(120),
            local_threads: None,
            local_context: 8_192,
            local_model: None,
            context: None,
            panel: None,
            judge: None,
            panels: BTreeMap::new(),
            personas: BTreeMap::new(),
            persona_sets: BTreeMap::new(),
            default_personas: None,
            endpoints: Vec::new(),
            parameters: Parameters::default(),
            programs: Programs::default(),
            local_servers: LocalServers::default(),
            max_in_flight: 4,
            max_cost: None,
            max_calls: usual_max_calls(),
            monthly_budget: None,
            on_failure: OnFailure::default(),
            hedge_after: HedgeAfter::After(Duration::from_secs(30)),
            pulse: Duration::from_secs(60),
            max_wait: None,
            mode: Mode::default(),
            rounds: Rounds::default(),
            early_termination: TerminationRule::usual().policy,
            confidence_threshold: TerminationRule::usual().threshold,
            debate_analysis: DebateAnalysis::On,
            judge_passes: JudgePasses::default(),
            log_context: true,
            notify: false,
            otlp: false,
            otlp_content: false,
            stdin_wait: Duration::from_secs(60),
            target_runs: 150,
            target_median: Duration::from_secs(15),
            target_monthly_cost: MicroUsd(20_000_000),
            origins: BTreeMap::new(),
            repository: None,
        }
    }
}

/// The repository whose settings apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Repository {
    pub file: RepositoryFile,
    /// What applies without the file.
    pub own: Box<Settings>,
}

/// The origin of the value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    File(PathBuf),
    /// The settings file of a repository, and the line there.
    Repository(PathBuf, usize),
    /// An environment variable.
    Variable(String),
    /// An argument of the command that is running.
    CommandLine,
}

impl SettingOrigin {
    /// A value that was just given needs no place.
    pub(super) fn place(&self) -> String {
        match self {
            Self::File(_) | Self::Variable(_) => format!(" in `{self}`"),
            Self::Repository(_, line) => format!(" in `{self}`, line {line},"),
            Self::CommandLine => String::new(),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Repository(path, _) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::CommandLine => f.write_str("the command line"),
        }
    }
}
