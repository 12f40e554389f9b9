//! The error of a consultation that ended without an answer: what happened, and what to do about
//! it.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::consultation::event::{Abort, AbortReason, CeilingReached};
use crate::consultation::policy::estimate::Consent;
use crate::consultation::protocol::call::FailureClass;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;
use crate::error::{Error, Exit};
use crate::session::batch::RunCeiling;
use crate::terminal::output::format::local_moment;

use super::consent::ConsentRequest;

/// A shorter wait is over before the error is read.
const LONG_WAIT: Duration = Duration::from_secs(120);

/// `resumable` is the consultation, if it can be resumed.
pub(crate) fn aborted(
    abort: &Abort,
    transcript: &Transcript,
    resumable: Option<&ConsultationId>,
) -> Error {
    let reached = transcript.ceiling.as_ref();
    let (exit, flags) = match abort.reason {
        AbortReason::Declined | AbortReason::UserCancelled => (Exit::Declined, ""),
        AbortReason::Interrupted => (Exit::Interrupted, ""),
        AbortReason::CostCeiling if reached.is_some_and(|reached| reached.budget.is_some()) => {
            (Exit::Ceiling, "")
        }
        AbortReason::CostCeiling => (Exit::Ceiling, " --max-cost USD"),
        AbortReason::CallCeiling => (Exit::Ceiling, " --max-calls N"),
        AbortReason::CostExceededEstimate => (Exit::Ceiling, " --yes --max-cost USD"),
        AbortReason::Strict => (Exit::Quorum, ""),
        AbortReason::Timeout => (Exit::Failed, " --max-wait SECONDS"),
        AbortReason::AgentFailed => (Exit::Failed, " --on-failure substitute"),
        AbortReason::AllAgentsFailed | AbortReason::JudgeFailed | AbortReason::Internal => {
            (Exit::Failed, "")
        }
        AbortReason::Prompt => (Exit::Usage, ""),
    };
    let message = abort.message.clone();
    let is_unasked = matches!(transcript.consent, Some((_, Consent::NobodyToAsk)));
    let mut error = match exit {
        Exit::Declined if !is_unasked => Error::declined(message),
        exit => Error::new(exit, message),
    };
    if has_failed(abort.reason) {
        error = resets(error, transcript);
    }
    if doctor_can_explain(abort.reason, transcript) {
        error = error.hint("find out what to fix with `conclave doctor`");
    }
    let error = match abort.reason {
        AbortReason::Declined => return declined(error, transcript),
        AbortReason::Prompt => {
            return error.hint("check the templates in the `prompts` folder of the home");
        }
        AbortReason::Internal => {
            let show = format!("conclave history show {}", transcript.id.short());
            return error
                .hint("this is a defect of conclave; the journal shows how it came about")
                .hint(format!("see what was answered with `{show}`"));
        }
        AbortReason::CostCeiling => ceiling(error, transcript),
        AbortReason::Strict => {
            error.hint("leave out `--strict` to accept a result with fewer answers")
        }
        AbortReason::Timeout
        | AbortReason::CallCeiling
        | AbortReason::CostExceededEstimate
        | AbortReason::AgentFailed
        | AbortReason::Interrupted
        | AbortReason::UserCancelled
        | AbortReason::AllAgentsFailed
        | AbortReason::JudgeFailed => error,
    };
    let resume =
        resumable.map(|id| format!("resume it with `conclave resume {}{flags}`", id.short()));
    error.hint_if(resume)
}

fn has_failed(reason: AbortReason) -> bool {
    matches!(
        reason,
        AbortReason::AllAgentsFailed
            | AbortReason::JudgeFailed
            | AbortReason::AgentFailed
            | AbortReason::Strict
    )
}

/// Adds when providers take calls again that ask for a long wait, as for a plan that is used up.
fn resets(error: Error, transcript: &Transcript) -> Error {
    let (now, zone) = (transcript.last_at, TimeZone::system());
    let held = transcript.held_until.iter();
    let held = held.filter(|(_, until)| until.since(now) > LONG_WAIT);
    let hint = |(provider, until): (_, &Timestamp)| {
        let until = local_moment(*until, now, &zone);
        format!("`{provider}` takes calls again at {until}")
    };
    held.map(hint).fold(error, Error::hint)
}

/// Returns whether it ended because a key was refused, there was no connection, or a provider does
/// not have the model.
fn doctor_can_explain(reason: AbortReason, transcript: &Transcript) -> bool {
    let last_error = transcript.calls.last().and_then(|call| call.error.as_ref());
    has_failed(reason)
        && last_error.is_some_and(|error| {
            error.class.meaning().is_about_access || error.class == FailureClass::ModelMissing
        })
}

fn declined(error: Error, transcript: &Transcript) -> Error {
    let plan = transcript.terms.plan.as_ref();
    let (Some((_, Consent::NobodyToAsk)), Some(estimate)) =
        (transcript.consent, &transcript.estimate)
    else {
        return error;
    };
    let request = ConsentRequest {
        estimate,
        rule: plan.map(|plan| &plan.control.consent),
        ceiling: RunCeiling {
            limit: plan.and_then(|plan| plan.control.max_cost),
            ..RunCeiling::default()
        },
        command: "",
        declined: "",
    };
    request.allow(error)
}

/// Adds what would allow the next call.
fn ceiling(error: Error, transcript: &Transcript) -> Error {
    let Some(CeilingReached {
        worst_case, budget, ..
    }) = &transcript.ceiling
    else {
        return error;
    };
    if worst_case.lower_bound {
        return error.hint("give the model a price in models.json, or resume without a ceiling");
    }
    error.hint_if(
        budget
            .as_ref()
            .map(|_| "raise `monthly_budget` in config.json"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::consultation::event::{
        CeilingReached, ConsultationEvent, CostEvent, Event, Started, StateName,
    };
    use crate::domain::cost::money::{Cost, MicroUsd};
    use crate::domain::ids::{AgentId, ModelRef};
    use crate::domain::panel::Panel;

    fn error_of(reason: AbortReason, events: Vec<Event>) -> (Exit, String) {
        let terms = Started {
            question: "Shall we?".to_owned(),
            mode: "converge".to_owned(),
            panel: Panel {
                seats: vec![],
                judges: vec![],
            },
            seed: 1,
            expert_order: vec![],
            prompts: vec![],
            tool_version: "0.0.0".to_owned(),
            notices: vec![],
            plan: None,
        };
        let id = ConsultationId::from_unique("01kb");
        let events = std::iter::once(Event::Consultation(ConsultationEvent::Started(Box::new(
            terms,
        ))))
        .chain(events)
        .map(|event| crate::consultation::event::Envelope {
            schema_version: "1.1".to_owned(),
            seq: 1,
            at: Timestamp(0),
            consultation_id: id.clone(),
            cause: None,
            waited_for_person_ms: 0,
            event,
        });
        let transcript = Transcript::fold(&events.collect::<Vec<_>>()).unwrap();
        let abort = Abort {
            reason,
            message: "It ended".to_owned(),
            during: StateName::Verdict,
            duration_ms: 0,
        };
        let error = aborted(&abort, &transcript, Some(&id));
        (error.exit, error.hints.join("; "))
    }

    #[test]
    fn every_resumable_abort_says_how_to_resume_it() {
        for (reason, exit, way) in [
            (AbortReason::Interrupted, Exit::Interrupted, ""),
            (AbortReason::UserCancelled, Exit::Declined, ""),
            (AbortReason::Timeout, Exit::Failed, " --max-wait SECONDS"),
            (AbortReason::CostCeiling, Exit::Ceiling, " --max-cost USD"),
            (AbortReason::CallCeiling, Exit::Ceiling, " --max-calls N"),
            (
                AbortReason::CostExceededEstimate,
                Exit::Ceiling,
                " --yes --max-cost USD",
            ),
            (
                AbortReason::AgentFailed,
                Exit::Failed,
                " --on-failure substitute",
            ),
            (AbortReason::Strict, Exit::Quorum, ""),
            (AbortReason::AllAgentsFailed, Exit::Failed, ""),
            (AbortReason::JudgeFailed, Exit::Failed, ""),
        ] {
            let (ended, hints) = error_of(reason, vec![]);
            assert_eq!(ended, exit, "{reason:?}");
            assert!(
                hints.ends_with(&format!("resume it with `conclave resume 01kb{way}`")),
                "{reason:?}: {hints}"
            );
        }
        assert_eq!(
            error_of(AbortReason::Declined, vec![]),
            (Exit::Declined, String::new())
        );
        assert!(!error_of(AbortReason::Prompt, vec![]).1.contains("resume"));
        let (exit, hints) = error_of(AbortReason::Internal, vec![]);
        assert_eq!(exit, Exit::Failed);
        assert!(
            hints.ends_with("; see what was answered with `conclave history show 01kb`"),
            "{hints}"
        );
    }

    #[test]
    fn a_ceiling_over_an_unknown_price_says_what_helps() {
        let reached = Event::Cost(CostEvent::CeilingReached(CeilingReached {
            max_cost: MicroUsd(1_000_000),
            spent: Cost::exactly(MicroUsd(912_300)),
            agent_id: AgentId::Judge,
            model: ModelRef::new("openai", "gpt-6.1-sol"),
            worst_case: Cost::at_least(MicroUsd::ZERO),
            budget: None,
            answer: None,
        }));
        let (_, hints) = error_of(AbortReason::CostCeiling, vec![reached]);
        let expected = "give the model a price in models.json";
        assert!(hints.starts_with(expected), "{hints}");
    }

    #[test]
    fn a_plan_that_is_used_up_is_named_with_its_reset() {
        let finished = |class: &str| {
            json!({ "type": "call:finished", "data": {
                "call": 1, "agent_id": "judge", "round_number": 1, "answer": "independent",
                "purpose": "answer", "model": "claude-code:opus", "served_model": null,
                "stop": null, "error": { "class": class, "message": "no", "usage_told": false },
                "text": "", "tokens": { "input": 0, "output": 0 }, "cost": { "micro_usd": 0, "lower_bound": false },
                "cost_source": "plan", "first_token_ms": null, "duration_ms": 5, "problems": [],
            } })
        };
        let held = json!({ "type": "provider:held", "data": {
            "provider": "claude-code", "wait_ms": 3_000_000, "reason": "limit", "refused_ms": 0,
        } });
        let hints = |events: Vec<Value>| {
            let events = events.into_iter();
            let events = events.map(|event| serde_json::from_value(event).unwrap());
            error_of(AbortReason::AllAgentsFailed, events.collect()).1
        };
        let used_up = hints(vec![finished("quota"), held]);
        assert!(
            used_up.contains("`claude-code` takes calls again at "),
            "{used_up}"
        );
    }
}
