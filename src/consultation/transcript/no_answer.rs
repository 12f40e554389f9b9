//! Why a consultation has no answer, and whether a provider refuses access.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::consultation::event::AbortReason;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::{AgentId, ModelRef, ProviderId};
use crate::domain::record::stored_record::{
    Completion, StoredAgentRound, StoredAttempt, StoredModel, StoredRecord,
};

/// Why an attempt has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The models failed, or answered with nothing usable.
    Failed { message: String },
    /// Every failure was a rate limit, a server error, a timeout or a lost connection: it says
    /// nothing of the panel.
    Infrastructure { message: String },
    /// The next call could have exceeded the run's ceiling.
    CostCeiling { message: String },
    /// A person or a signal stopped it.
    Interrupted,
    /// Its record ends before it does: its process was killed, or is still running.
    Unfinished,
}

/// A provider that refuses access: every further case would fail or be answered by another panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFailure {
    pub problem: AccessProblem,
    pub provider: ProviderId,
    /// The provider's message.
    pub message: String,
}

/// What a provider refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessProblem {
    /// The key is missing, wrong or not permitted to do this.
    Authentication,
    /// No credit, or a spending limit.
    Quota,
}

pub fn no_answer(record: &StoredRecord) -> NoAnswer {
    if record.completion() == Completion::Unfinished {
        return NoAnswer::Unfinished;
    }
    let message = message(record);
    match abort_reason(record) {
        Some(AbortReason::CostCeiling) => NoAnswer::CostCeiling { message },
        Some(AbortReason::Interrupted | AbortReason::UserCancelled) => NoAnswer::Interrupted,
        // The provider was slower than the user waits.
        Some(AbortReason::Timeout) => NoAnswer::Infrastructure { message },
        Some(
            AbortReason::AgentFailed
            | AbortReason::AllAgentsFailed
            | AbortReason::JudgeFailed
            | AbortReason::Strict,
        ) if is_infrastructure(record) => NoAnswer::Infrastructure { message },
        Some(
            AbortReason::Declined
            | AbortReason::CallCeiling
            | AbortReason::CostExceededEstimate
            | AbortReason::AgentFailed
            | AbortReason::AllAgentsFailed
            | AbortReason::JudgeFailed
            | AbortReason::Strict
            | AbortReason::Prompt
            | AbortReason::Internal,
        )
        | None => NoAnswer::Failed { message },
    }
}

/// `None` if it was not, or for a reason of another version.
pub fn abort_reason(record: &StoredRecord) -> Option<AbortReason> {
    record.abort_reason.as_deref().and_then(from_word)
}

fn message(record: &StoredRecord) -> String {
    let message = record.abort_message.as_deref().map(str::trim);
    let message = message.filter(|message| !message.is_empty());
    message
        .unwrap_or("the consultation has no answer")
        .to_owned()
}

/// When the first failure ends a consultation, only the failed calls show it.
fn is_infrastructure(record: &StoredRecord) -> bool {
    let has_failed = |work: &StoredAgentRound| {
        let last = work.attempts.last();
        work.error.is_some() || last.is_some_and(|attempt| attempt.error.is_some())
    };
    let mut failed = record
        .agent_rounds()
        .map(|(_, work)| work)
        .filter(|work| has_failed(work) && is_of_panel(&work.agent_id))
        .peekable();
    failed.peek().is_some() && failed.all(failed_by_provider)
}

/// The helper and the second pass are optional: their failures cost no answer.
fn is_of_panel(agent: &AgentId) -> bool {
    match agent {
        AgentId::Seat(_) | AgentId::Judge => true,
        AgentId::SecondJudge | AgentId::Helper => false,
    }
}

fn failed_by_provider(work: &StoredAgentRound) -> bool {
    let classes = work.attempts.iter().map(class_of);
    let error = work.error.as_ref();
    let last = error.map(|error| error.class);
    // A call that was answered has no class: the model is to blame for what it answered.
    classes
        .chain(last)
        .all(|class| class.is_some_and(|class| class.meaning().is_infrastructure))
}

fn class_of(attempt: &StoredAttempt) -> Option<FailureClass> {
    Some(attempt.error.as_ref()?.class)
}

/// Returns the provider that refuses access, also of a consultation that has an answer: the next
/// ones would be answered by another panel than the one that is measured. A refusal counts unless
/// a later call to the same model succeeded.
pub fn access_failure(record: &StoredRecord) -> Option<AccessFailure> {
    let uncalled = record
        .agent_rounds()
        .filter_map(|(_, work)| refused_uncalled(record, work));
    refused_calls(record, 0).into_iter().chain(uncalled).next()
}

/// Returns the provider that refuses access in a consultation that was resumed after this call: the
/// refusals before say nothing of now.
pub fn access_failure_after(record: &StoredRecord, call: u32) -> Option<AccessFailure> {
    refused_calls(record, call).into_iter().next()
}

fn refused_calls(record: &StoredRecord, after: u32) -> Vec<AccessFailure> {
    let mut last_calls: BTreeMap<&ModelRef, &StoredAttempt> = BTreeMap::new();
    let mut attempts: Vec<&StoredAttempt> = record
        .agent_rounds()
        .flat_map(|(_, work)| &work.attempts)
        .filter(|attempt| attempt.call.unwrap_or(u32::MAX) > after)
        .collect();
    attempts.sort_by_key(|attempt| attempt.call);
    for attempt in attempts {
        if let Some(model) = &attempt.model {
            last_calls.insert(model, attempt);
        }
    }
    let refusal = |(model, attempt): (&ModelRef, &StoredAttempt)| {
        Some(AccessFailure {
            problem: class_of(attempt).and_then(problem)?,
            provider: model.provider.clone(),
            message: attempt.error.as_ref()?.message.clone(),
        })
    };
    last_calls.into_iter().filter_map(refusal).collect()
}

fn refused_uncalled(record: &StoredRecord, work: &StoredAgentRound) -> Option<AccessFailure> {
    let error = work.error.as_ref().filter(|_| work.attempts.is_empty())?;
    let model = match &work.agent_id {
        AgentId::Seat(seat) => record.agent(seat)?.chosen_model(),
        AgentId::Judge | AgentId::SecondJudge => {
            record.panel.judges.first().and_then(StoredModel::model_ref)
        }
        AgentId::Helper => None,
    };
    Some(AccessFailure {
        problem: problem(error.class?)?,
        provider: model?.provider,
        message: error.message.clone(),
    })
}

fn problem(class: FailureClass) -> Option<AccessProblem> {
    match class {
        FailureClass::Auth => Some(AccessProblem::Authentication),
        class => matches!(class, FailureClass::Billing | FailureClass::Quota)
            .then_some(AccessProblem::Quota),
    }
}

/// `None` for a name of another version.
fn from_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Value::String(word.to_owned())).ok()
}
