//! What the user has decided, in layers: defaults, then `config.json`, then the environment. Flags
//! come last, where commands apply them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::consultation::plan::mode::Mode;
use crate::consultation::plan::options::{JudgePasses, Rounds};
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::stopping::early_termination::{EarlyStop, Policy};

pub use super::bad_settings::{Origin, SettingsError};
use super::control::{self, DebateAnalysis, HedgeAfter, OnFailure};
use super::edit;
use super::endpoints::{self, EndpointEntry};
use super::env::Environment;
use super::fields::{NO_KEYS_HERE, Place, Problem};
use super::keys::{Key, closest, holds_key, is_secret};
use super::local_servers::LocalServers;
use super::panels::{self, NamedPanel};
use super::parameters::Parameters;
use super::paths;
use super::personas::{self, CustomPersona};

/// All settings with their values in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A consultation whose estimate is below this is not asked about; zero always asks.
    pub always_allow_under: MicroUsd,
    /// Most tokens an answer may take, thinking included.
    pub max_output_tokens: u64,
    pub connect_timeout: Duration,
    /// Between two bytes of an answer.
    pub idle_timeout: Duration,
    /// Threads of the embedded model; its own choice when not set.
    pub local_threads: Option<u32>,
    /// Most tokens of prompt and answer of the embedded model together.
    pub local_context: u64,
    /// The embedded model by name.
    pub local_model: Option<String>,
    /// The experts, one entry a seat, as `--panel` takes them, or the name of a panel.
    pub panel: Option<Vec<String>>,
    /// The judge, as `--judge` takes it.
    pub judge: Option<String>,
    /// Panels of the user's own.
    pub panels: BTreeMap<String, NamedPanel>,
    /// Personas of the user's own, by id.
    pub personas: BTreeMap<String, CustomPersona>,
    /// Personas that are asked for together, as `@name`.
    pub persona_sets: BTreeMap<String, Vec<String>>,
    /// Who sits where neither panel nor personas are named, as `--personas` takes it.
    pub default_personas: Option<Vec<String>>,
    /// Servers of the user's own, and changes to known providers, in the order in which they are
    /// written.
    pub endpoints: Vec<EndpointEntry>,
    pub parameters: Parameters,
    pub local_servers: LocalServers,
    /// Calls under way at one provider at once, where its entry does not say otherwise.
    pub max_in_flight: u32,
    /// No call is made that could bring the cost of a consultation above this.
    pub max_cost: Option<MicroUsd>,
    /// What all consultations of a calendar month may cost together.
    pub monthly_budget: Option<MicroUsd>,
    pub on_failure: OnFailure,
    pub hedge_after: HedgeAfter,
    /// How long a round runs before it is asked, or told, that it takes long; zero for never.
    pub pulse: Duration,
    /// How long a round may run; as long as it takes when not set.
    pub max_wait: Option<Duration>,
    pub mode: Mode,
    /// How many rounds are held at most.
    pub rounds: Rounds,
    /// Who decides whether a consultation ends early.
    pub early_stop: Policy,
    /// The stated confidence from which on an early end is considered.
    pub confidence_threshold: Confidence,
    /// How strongly the errors of experts go together, 0 to 1.
    pub error_correlation: f64,
    /// Whether positions are compared after the debate, where there is a model for it.
    pub debate_analysis: DebateAnalysis,
    /// How often the judge decides; where fewer than four rounds are held, it does not.
    pub judge_passes: JudgePasses,
    /// How many consultations in thirty days `consult-stats` calls consistent.
    pub target_runs: u64,
    /// Below which median duration it calls them quick.
    pub target_median: Duration,
    /// Below what they cost in a calendar month it calls them within budget.
    pub target_monthly_cost: MicroUsd,
    /// The keys that are not at their default, and where they were set.
    pub origins: BTreeMap<Key, Origin>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            always_allow_under: MicroUsd(500_000),
            max_output_tokens: 16_384,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            local_threads: None,
            local_context: 8_192,
            local_model: None,
            panel: None,
            judge: None,
            panels: BTreeMap::new(),
            personas: BTreeMap::new(),
            persona_sets: BTreeMap::new(),
            default_personas: None,
            endpoints: Vec::new(),
            parameters: Parameters::default(),
            local_servers: LocalServers::default(),
            max_in_flight: 4,
            max_cost: None,
            monthly_budget: None,
            on_failure: OnFailure::default(),
            hedge_after: HedgeAfter::After(Duration::from_secs(10)),
            pulse: Duration::from_secs(60),
            max_wait: None,
            mode: Mode::default(),
            rounds: Rounds::default(),
            early_stop: EarlyStop::usual().policy,
            confidence_threshold: EarlyStop::usual().threshold,
            error_correlation: EarlyStop::USUAL_CORRELATION,
            debate_analysis: DebateAnalysis::On,
            judge_passes: JudgePasses::default(),
            target_runs: 150,
            target_median: Duration::from_secs(15),
            target_monthly_cost: MicroUsd(20_000_000),
            origins: BTreeMap::new(),
        }
    }
}

/// Most characters of a wrong value that are repeated.
const MOST_SHOWN: usize = 80;

/// A wrong value as it is told: not a long one whole, and no key.
fn told(value: String) -> String {
    match value.char_indices().nth(MOST_SHOWN) {
        _ if holds_key(&value) => "…".to_owned(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
        None => value,
    }
}

/// Why a value is none for its key.
enum Wrong {
    Value,
    Inside(Problem),
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self::Inside(problem)
    }
}

impl Settings {
    /// The defaults with the user's file laid over them, and the environment over both. A file that
    /// is not there sets nothing.
    pub fn load(file: &Path, environment: &Environment) -> Result<Self, SettingsError> {
        let text = paths::read_optional(file).map_err(|source| SettingsError::Unreadable {
            path: file.to_owned(),
            source,
        })?;
        let settings = match text {
            Some(text) => Self::default().with_file(file, &text)?,
            None => Self::default(),
        };
        settings.with_environment(environment)
    }

    /// Lays the variables that are set over these.
    pub fn with_environment(mut self, environment: &Environment) -> Result<Self, SettingsError> {
        for key in Key::ALL {
            let Some(text) = environment.text(key.variable()) else {
                continue;
            };
            let origin = Origin::Variable(key.variable());
            let value = if key.is_structured() {
                serde_json::from_str(text).map_err(|source| SettingsError::VariableNotJson {
                    variable: key.variable(),
                    key,
                    source,
                })?
            } else {
                Value::String(text.to_owned())
            };
            // A variable is text; where a number is wanted, the text must be one.
            let number = text
                .parse::<serde_json::Number>()
                .ok()
                .filter(|_| !key.is_structured())
                .map(Value::Number);
            let set = match (self.set(key, &value), number) {
                (Err(_), Some(number)) => self.set(key, &number),
                (set, _) => set,
            };
            set.map_err(|wrong| wrong.told(key, origin.clone(), || text.to_owned()))?;
            self.origins.insert(key, origin);
        }
        Ok(self)
    }

    /// Lays a file's settings over these.
    pub fn with_file(mut self, path: &Path, text: &str) -> Result<Self, SettingsError> {
        let path = path.to_owned();
        let json: Value = match serde_json::from_str(text) {
            Ok(json) => json,
            Err(source) => return Err(SettingsError::NotJson { path, source }),
        };
        let Value::Object(fields) = json else {
            return Err(SettingsError::NotAnObject { path });
        };
        if let Some(at) = edit::repeated(text) {
            let origin = path.display().to_string();
            return Err(SettingsError::Inside(Problem {
                at,
                origin,
                what: "is given twice".to_owned(),
            }));
        }
        for (name, value) in fields {
            let Some(key) = Key::of(&name) else {
                if is_secret(&name) {
                    let origin = path.display().to_string();
                    return Err(SettingsError::Inside(Problem {
                        at: name,
                        origin,
                        what: NO_KEYS_HERE.to_owned(),
                    }));
                }
                return Err(SettingsError::UnknownKey {
                    path,
                    suggestion: closest(&name),
                    key: name,
                });
            };
            if self
                .origins
                .insert(key, Origin::File(path.clone()))
                .is_some()
            {
                return Err(SettingsError::Twice { path, key });
            }
            self.set(key, &value).map_err(|wrong| {
                wrong.told(key, Origin::File(path.clone()), || value.to_string())
            })?;
        }
        Ok(self)
    }

    /// Takes a value.
    fn set(&mut self, key: Key, value: &Value) -> Result<(), Wrong> {
        let place = || Place::new(key.name(), value);
        match key {
            Key::Panels => self.panels = panels::read(&place())?,
            Key::Personas => self.personas = personas::read(&place())?,
            Key::PersonaSets => self.persona_sets = personas::read_sets(&place())?,
            Key::DefaultPersonas => self.default_personas = Some(personas::read_default(&place())?),
            Key::Endpoints => self.endpoints = endpoints::read(&place())?,
            Key::Parameters => self.parameters = Parameters::read(&place())?,
            Key::LocalServers => self.local_servers = LocalServers::read(&place())?,
            Key::AlwaysAllowUnder
            | Key::MaxOutputTokens
            | Key::ConnectTimeoutSeconds
            | Key::IdleTimeoutSeconds
            | Key::LocalThreads
            | Key::LocalContext
            | Key::LocalModel
            | Key::Panel
            | Key::Judge
            | Key::MaxInFlight
            | Key::MaxCost
            | Key::MonthlyBudget
            | Key::OnFailure
            | Key::HedgeAfter
            | Key::PulseSeconds
            | Key::MaxWaitSeconds
            | Key::Mode
            | Key::Rounds
            | Key::EarlyStop
            | Key::ConfidenceThreshold
            | Key::ErrorCorrelation
            | Key::DebateAnalysis
            | Key::JudgePasses
            | Key::TargetRuns
            | Key::TargetMedianSeconds
            | Key::TargetMonthlyCost => self.set_plain(key, value).ok_or(Wrong::Value)?,
        }
        Ok(())
    }

    /// Takes a value without parts; `None` when it is not one for this key.
    fn set_plain(&mut self, key: Key, value: &Value) -> Option<()> {
        let text = || {
            value
                .as_str()
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(ToOwned::to_owned)
        };
        let count = || value.as_u64().filter(|count| *count > 0);
        let small_count = || u32::try_from(count()?).ok();
        let seconds = || control::seconds(value.as_f64()?);
        let some_seconds = || seconds().filter(|time| !time.is_zero());
        let dollars = || MicroUsd::from_usd(value.as_f64()?);
        match key {
            Key::AlwaysAllowUnder => self.always_allow_under = dollars()?,
            Key::MaxOutputTokens => self.max_output_tokens = count()?,
            Key::ConnectTimeoutSeconds => self.connect_timeout = some_seconds()?,
            Key::IdleTimeoutSeconds => self.idle_timeout = some_seconds()?,
            Key::LocalThreads => self.local_threads = Some(small_count()?),
            Key::LocalContext => self.local_context = count()?,
            Key::LocalModel => self.local_model = Some(text()?),
            Key::Judge => self.judge = Some(text()?),
            Key::Panel => self.panel = Some(panels::entries(value)?),
            Key::MaxInFlight => self.max_in_flight = small_count()?,
            Key::MaxCost => self.max_cost = Some(dollars()?),
            Key::MonthlyBudget => self.monthly_budget = Some(dollars()?),
            Key::OnFailure => self.on_failure = OnFailure::of_json(value)?,
            Key::HedgeAfter => self.hedge_after = HedgeAfter::of_json(value)?,
            Key::PulseSeconds => self.pulse = seconds()?,
            Key::MaxWaitSeconds => self.max_wait = Some(some_seconds()?),
            Key::Mode => self.mode = serde_json::from_value(value.clone()).ok()?,
            Key::Rounds => self.rounds = serde_json::from_value(value.clone()).ok()?,
            Key::EarlyStop => self.early_stop = serde_json::from_value(value.clone()).ok()?,
            Key::ConfidenceThreshold => {
                self.confidence_threshold = Confidence::new(value.as_f64()?)?
            }
            Key::ErrorCorrelation => {
                self.error_correlation = Confidence::new(value.as_f64()?)?.value()
            }
            Key::DebateAnalysis => self.debate_analysis = DebateAnalysis::of_json(value)?,
            Key::JudgePasses => self.judge_passes = JudgePasses::of_number(value.as_u64()?)?,
            Key::TargetRuns => self.target_runs = count()?,
            Key::TargetMedianSeconds => self.target_median = some_seconds()?,
            Key::TargetMonthlyCost => {
                self.target_monthly_cost = dollars().filter(|target| *target > MicroUsd::ZERO)?
            }
            Key::Panels
            | Key::Personas
            | Key::PersonaSets
            | Key::DefaultPersonas
            | Key::Endpoints
            | Key::Parameters
            | Key::LocalServers => return None,
        }
        Some(())
    }

    /// The value in force as it would be written in the file; `Null` where there is none.
    pub fn value(&self, key: Key) -> Value {
        let by_name = |entries: Vec<(&String, Value)>| {
            Value::Object(
                entries
                    .into_iter()
                    .map(|(name, value)| (name.clone(), value))
                    .collect::<Map<_, _>>(),
            )
        };
        let amount = |dollars: Option<MicroUsd>| {
            dollars.map_or(Value::Null, |dollars| decimal(dollars.usd()))
        };
        match key {
            Key::AlwaysAllowUnder => decimal(self.always_allow_under.usd()),
            Key::MaxOutputTokens => json!(self.max_output_tokens),
            Key::ConnectTimeoutSeconds => decimal(self.connect_timeout.as_secs_f64()),
            Key::IdleTimeoutSeconds => decimal(self.idle_timeout.as_secs_f64()),
            Key::LocalThreads => json!(self.local_threads),
            Key::LocalContext => json!(self.local_context),
            Key::LocalModel => json!(self.local_model),
            Key::Panel => match self.panel.as_deref() {
                // A name, or the one seat of a small panel.
                Some([only]) => json!(only),
                seats => json!(seats),
            },
            Key::Judge => json!(self.judge),
            Key::Panels => by_name(
                self.panels
                    .iter()
                    .map(|(name, panel)| (name, panel.to_json()))
                    .collect(),
            ),
            Key::Personas => by_name(
                self.personas
                    .iter()
                    .map(|(id, persona)| (id, persona.to_json()))
                    .collect(),
            ),
            Key::PersonaSets => json!(self.persona_sets),
            Key::DefaultPersonas => match self.default_personas.as_deref() {
                Some([only]) => json!(only),
                personas => json!(personas),
            },
            Key::Endpoints => by_name(
                self.endpoints
                    .iter()
                    .map(|entry| (&entry.name, entry.to_json()))
                    .collect(),
            ),
            Key::Parameters => self.parameters.to_json(),
            Key::LocalServers => self.local_servers.to_json(),
            Key::MaxInFlight => json!(self.max_in_flight),
            Key::MaxCost => amount(self.max_cost),
            Key::MonthlyBudget => amount(self.monthly_budget),
            Key::OnFailure => self.on_failure.to_json(),
            Key::HedgeAfter => match self.hedge_after {
                HedgeAfter::Off => json!("off"),
                HedgeAfter::After(time) => decimal(time.as_secs_f64()),
            },
            Key::PulseSeconds => decimal(self.pulse.as_secs_f64()),
            Key::MaxWaitSeconds => self
                .max_wait
                .map_or(Value::Null, |time| decimal(time.as_secs_f64())),
            Key::Mode => json!(self.mode),
            Key::Rounds => json!(self.rounds),
            Key::EarlyStop => json!(self.early_stop),
            Key::ConfidenceThreshold => decimal(self.confidence_threshold.value()),
            Key::ErrorCorrelation => decimal(self.error_correlation),
            Key::DebateAnalysis => self.debate_analysis.to_json(),
            Key::JudgePasses => json!(self.judge_passes.number()),
            Key::TargetRuns => json!(self.target_runs),
            Key::TargetMedianSeconds => decimal(self.target_median.as_secs_f64()),
            Key::TargetMonthlyCost => decimal(self.target_monthly_cost.usd()),
        }
    }
}

impl Wrong {
    fn told(self, key: Key, origin: Origin, value: impl FnOnce() -> String) -> SettingsError {
        match self {
            Self::Value => SettingsError::BadValue {
                origin,
                key,
                value: told(value()),
            },
            Self::Inside(problem) => SettingsError::Inside(Problem {
                origin: origin.to_string(),
                ..problem
            }),
        }
    }
}

/// A number as people write it: `10`, not `10.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked just before"
)]
fn decimal(number: f64) -> Value {
    if number.fract() == 0.0 && (0.0..1e15).contains(&number) {
        json!(number as u64)
    } else {
        json!(number)
    }
}

#[cfg(test)]
mod tests;
