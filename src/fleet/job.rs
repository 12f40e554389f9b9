//! What the fleet stores, as data: jobs, runs, workers, what they learn of providers, and the
//! messages of a journal. Whatever is read may be hostile: a size is checked before, everything else
//! here.
//!
//! A job names models and has its whole plan with the text of its context, masked as it goes to
//! vendors. It has no key, command or code, and its paths are names of sources that no one opens.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::consultation::event::{Envelope, ProviderEvent};
use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::context::ContextText;
use crate::domain::ids::{ConsultationId, ModelRef, ProviderId};
use crate::domain::model::program;
use crate::domain::panel::check_seats;
use crate::domain::time::Timestamp;
use crate::stopping::circuit::state::CircuitState;

use super::FleetError;
use super::names::{JobName, queue_of, subject};

/// The version of this program: others do not take its jobs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A consultation to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetJob {
    pub version: String,
    pub run: String,
    /// The innermost first.
    pub accounts: Vec<JobAccount>,
    pub plan: Box<Plan>,
    /// The text of the context, which plans are stored without.
    #[serde(default, skip_serializing_if = "ContextText::is_empty")]
    pub context: ContextText,
}

/// An account that the calls of a job are reserved in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobAccount {
    /// Its key in the ledger.
    pub key: String,
    /// Its name in messages, such as `suite`.
    pub name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

impl FleetJob {
    /// Returns the job of an approved plan.
    ///
    /// # Errors
    ///
    /// When one of its models is a program, or embedded.
    pub fn new(run: &str, accounts: Vec<JobAccount>, mut plan: Plan) -> Result<Self, FleetError> {
        let context = plan.context.as_mut();
        let context = context.map(|context| std::mem::take(&mut context.text));
        let control = &mut plan.control;
        control.consent.consent_mode = ConsentMode::PreApproved;
        // Its budget is an account of the job.
        control.consent.month = None;
        control.consent.asks_first_cost = false;
        let job = Self {
            version: VERSION.to_owned(),
            run: run.to_owned(),
            accounts,
            plan: Box::new(plan),
            context: context.unwrap_or_default(),
        };
        job.check_models()?;
        Ok(job)
    }

    /// Reads the job that a subject of the queue names.
    pub fn read(bytes: &[u8], name: &JobName) -> Result<Self, FleetError> {
        let unreadable = |why: &dyn ToString| {
            FleetError::Wrong(format!("the job cannot be read: {}", why.to_string()))
        };
        let contradicts = |what: &str| Err(unreadable(&format!("{what} is another one")));
        // First: another version explains every other mismatch.
        let version = serde_json::from_slice(bytes).map_err(|error| unreadable(&error));
        let Version { version } = version?;
        if version != VERSION {
            let theirs: String = version.chars().take(40).collect();
            return Err(FleetError::Wrong(format!(
                "the job is of conclave {theirs}, and the worker is conclave {VERSION}: \
                 run the same version on all machines"
            )));
        }
        let job = serde_json::from_slice(bytes).map_err(|error| unreadable(&error));
        let mut job: Self = job?;
        if job.run != name.run || job.plan.id != name.id {
            return contradicts("its name");
        }
        check_seats(job.plan.panel.seats.len()).map_err(|error| unreadable(&error))?;
        job.check_models()?;
        if let Some(context) = job.plan.context.as_deref_mut() {
            let text = ContextText::counted(job.context.as_str().to_owned(), context.tokens);
            if context.bytes != 0 && text.sha256() != context.sha256 {
                return contradicts("the text of its context");
            }
            context.text = text;
        }
        Ok(job)
    }

    pub fn name(&self) -> JobName {
        JobName {
            run: self.run.clone(),
            id: self.plan.id.clone(),
        }
    }

    /// Returns its place in the queue of what it needs.
    pub fn subject(&self) -> Result<String, FleetError> {
        let queue = queue_of(&self.providers())?;
        let (run, id) = (&self.run, &self.plan.id);
        Ok(subject("jobs", &format!("{queue}.{run}.{id}")))
    }

    fn models(&self) -> impl Iterator<Item = &ModelRef> {
        let plan = &self.plan;
        let others = plan.fallbacks.values().flatten().chain(&plan.debate.helper);
        plan.panel.models().chain(others)
    }

    /// Returns the providers that a worker needs for it.
    pub fn providers(&self) -> BTreeSet<ProviderId> {
        self.models().map(|model| model.provider.clone()).collect()
    }

    fn check_models(&self) -> Result<(), FleetError> {
        let not_remote = |model: &&ModelRef| {
            let provider = &model.provider;
            provider.is_local()
                || provider.command().is_some()
                || program::of_vendor(provider).is_some()
        };
        match self.models().find(not_remote) {
            Some(model) => Err(FleetError::Wrong(format!(
                "{model} runs on the machine that asks it, and a fleet cannot ask it"
            ))),
            None => Ok(()),
        }
    }
}

/// A message of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMessage {
    /// A worker takes the job: from here on, only it appends.
    Claimed { worker: String },
    /// Follow those before.
    Events(Vec<Envelope>),
    /// The job is not done, for a reason that no other worker changes.
    Refused { reason: String },
}

/// A run, as its submitter states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunEntry {
    pub version: String,
    pub state: RunState,
    /// The queues that its jobs are in.
    pub queues: BTreeSet<String>,
    pub accounts: Vec<JobAccount>,
    /// Who submits it, for people.
    pub owner: String,
    /// Its suite or document, for people.
    #[serde(default)]
    pub name: String,
    /// The case runs that it has, and those with a result.
    #[serde(default)]
    pub total: u64,
    #[serde(default)]
    pub done: u64,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    /// Its jobs in work are interrupted, and those in the queue are not begun.
    Cancelled,
    Ended,
}

/// A worker, as it states itself; an entry that is not renewed expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerEntry {
    pub version: String,
    /// The providers that it can ask.
    pub serves: BTreeSet<ProviderId>,
    /// Those of them that have refused its key.
    #[serde(default)]
    pub refused: BTreeSet<ProviderId>,
    /// The most jobs at once.
    pub slots: usize,
    pub jobs: BTreeSet<ConsultationId>,
    /// The calls in flight.
    pub calls: BTreeMap<ProviderId, usize>,
    /// It takes no more jobs.
    #[serde(default)]
    pub leaves: bool,
    pub at: Timestamp,
}

impl WorkerEntry {
    /// Whether it takes jobs of this version.
    pub fn is_able(&self) -> bool {
        self.version == VERSION && !self.leaves
    }

    /// Whether it has keys for all of these that were not refused.
    pub fn can_ask(&self, providers: &BTreeSet<ProviderId>) -> bool {
        providers.is_subset(&self.serves) && providers.is_disjoint(&self.refused)
    }
}

/// A change of a provider that a worker saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenChange {
    pub worker: String,
    pub at: Timestamp,
    pub event: ProviderEvent,
}

impl SeenChange {
    /// Returns the change for someone who learns of it now; `None` if it is over, or concerns only
    /// the worker that saw it.
    pub fn at(&self, now: Timestamp) -> Option<ProviderEvent> {
        let mut event = self.event.clone();
        let wait = match &mut event {
            ProviderEvent::Held { wait_ms, .. } => wait_ms,
            ProviderEvent::CircuitChanged {
                circuit, wait_ms, ..
            } => match (circuit, wait_ms) {
                (CircuitState::Open { .. }, Some(wait_ms)) => wait_ms,
                (CircuitState::Closed, _) => return Some(event),
                _ => return None,
            },
            ProviderEvent::KeyChanged { .. } => return None,
        };
        let left = wait.saturating_sub(now.ms_since(self.at));
        *wait = left;
        (left > 0).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::plan::Control;
    use crate::domain::context::Context;
    use crate::domain::hash::sha256;
    use crate::domain::panel::{Panel, Seat};
    use crate::stopping::circuit::state::WhyOpen;

    fn plan(provider: &str) -> Plan {
        let model = ModelRef::new(provider, "m");
        let panel = Panel {
            seats: vec![Seat::named("pragmatic", "Pragmatist", model.clone())],
            judges: vec![ModelRef::new("openai", "judge")],
        };
        let id = ConsultationId::from_unique("01JOB");
        let context = Context {
            bytes: 6,
            sha256: sha256("a text"),
            text: ContextText::from("a text".to_owned()),
            ..Context::default()
        };
        Plan {
            context: Some(Box::new(context)),
            fallbacks: [(
                crate::domain::ids::SeatId::default(),
                vec![ModelRef::new("xai", "f")],
            )]
            .into(),
            ..Plan::new(id, "?", panel, Control::usual(ConsentMode::Interactive))
        }
    }

    fn job() -> (FleetJob, JobName) {
        let job = FleetJob::new("bench-1", Vec::new(), plan("anthropic")).unwrap();
        let name = job.name();
        (job, name)
    }

    #[test]
    fn job_is_read_with_its_context_and_needs_all_providers_of_its_plan() {
        let (job, name) = job();
        assert!(job.plan.context.as_ref().unwrap().text.is_empty());
        let read = FleetJob::read(&serde_json::to_vec(&job).unwrap(), &name).unwrap();
        assert_eq!(read.plan.context.as_ref().unwrap().text.as_str(), "a text");
        assert_eq!(
            read.plan.control.consent.consent_mode,
            ConsentMode::PreApproved
        );
        let providers: Vec<_> = read.providers().into_iter().collect();
        assert_eq!(
            providers,
            ["anthropic", "openai", "xai"].map(ProviderId::new)
        );
    }

    #[test]
    fn programs_and_the_embedded_model_are_refused_on_both_sides() {
        for provider in ["local", "command:own", "codex"] {
            let refused = FleetJob::new("bench-1", Vec::new(), plan(provider)).unwrap_err();
            assert!(refused.to_string().contains("cannot ask it"), "{provider}");
            let (mut job, name) = job();
            job.plan.panel.seats[0].model = ModelRef::new(provider, "m");
            let refused = FleetJob::read(&serde_json::to_vec(&job).unwrap(), &name).unwrap_err();
            assert!(refused.to_string().contains("cannot ask it"), "{provider}");
        }
    }

    #[test]
    fn job_of_another_version_is_refused_with_a_sentence() {
        let (_, name) = job();
        let error = FleetJob::read(br#"{"version":"9.9","new":1}"#, &name).unwrap_err();
        let expected = format!(
            "the job is of conclave 9.9, and the worker is conclave {VERSION}: \
             run the same version on all machines"
        );
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn hostile_bytes_are_refused_and_never_panic() {
        let (job, name) = job();
        let text = serde_json::to_string(&job).unwrap();
        let long = format!("{{\"version\":{:?}}}", "9".repeat(100_000));
        let deep = "[".repeat(100_000);
        let other_text = text.replace("a text", "b text");
        let other_run = text.replace("bench-1", "bench-2");
        let other_id = text.replace("consult-01job", "consult-02job");
        for bytes in [
            "",
            "{}",
            "\u{0}",
            &long,
            &deep,
            &other_text,
            &other_run,
            &other_id,
        ] {
            let refused = FleetJob::read(bytes.as_bytes(), &name).unwrap_err();
            assert!(refused.to_string().len() < 300, "{refused}");
        }
        for end in (0..text.len()).step_by(997) {
            assert!(FleetJob::read(&text.as_bytes()[..end], &name).is_err());
        }
        assert!(FleetJob::read(b"\xff\xfe", &name).is_err());
    }

    fn change(event: ProviderEvent) -> SeenChange {
        SeenChange {
            worker: "w".to_owned(),
            at: Timestamp(1_000),
            event,
        }
    }

    #[test]
    fn backoff_that_is_learnt_later_ends_at_the_same_moment() {
        let held = |wait_ms| ProviderEvent::Held {
            provider: ProviderId::new("anthropic"),
            wait_ms,
            reason: "slow down".to_owned(),
            refused_ms: 0,
        };
        let change = change(held(3_000));
        assert_eq!(change.at(Timestamp(1_400)), Some(held(2_600)));
        assert_eq!(change.at(Timestamp(4_000)), None);
    }

    #[test]
    fn open_circuit_is_learnt_until_its_end_and_a_refused_key_never() {
        let provider = ProviderId::new("openai");
        let until = Timestamp(9_000);
        let why = WhyOpen::ProbeFailed;
        let open_for = |wait_ms| ProviderEvent::CircuitChanged {
            provider: provider.clone(),
            circuit: CircuitState::Open { until, why },
            wait_ms: Some(wait_ms),
        };
        let open = open_for(8_000);
        // What is left of it, not what was when it was seen.
        assert_eq!(
            change(open.clone()).at(Timestamp(8_900)),
            Some(open_for(100))
        );
        assert!(change(open).at(until).is_none());
        let is_refused = true;
        let key = ProviderEvent::KeyChanged {
            provider,
            is_refused,
        };
        assert!(change(key).at(Timestamp(1_000)).is_none());
    }
}
