//! Replies of models.

use std::time::Duration;

use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{
    Ask, Failure, FailureClass, Outcome, Reply, StopReason,
};
use conclave::domain::cost::tokens::Usage;

/// Returns a valid answer of this kind.
pub fn good_text(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Independent => {
            r#"{"position":"Use OAuth.","key_points":["Tokens can be revoked."],"rationale":"Revocation decides it.","confidence":0.8}"#
        }
        AnswerKind::Synthesis => {
            r#"{"consensus_points":[{"point":"Tokens must be short-lived.","supporting_agents":["Expert A","Expert B"],"confidence":0.9}],"tensions":[{"topic":"Effort","viewpoints":[{"agent":"Expert C","viewpoint":"It is too much work."}],"severity":"medium"}],"priority_order":["Revocation"],"provisional_answer":{"answer":"Use OAuth with short-lived tokens, for now.","confidence":0.75,"would_change_it":"A single client."}}"#
        }
        AnswerKind::Revision => {
            r#"{"challenges":[{"target_agent":"Expert A","challenge":"No threat model.","evidence":["None is given."],"severity":"high"}],"rebuttals":[],"changed":false,"because_of":[],"revised_position":"Use OAuth.","revised_confidence":0.85}"#
        }
        AnswerKind::CrossExam => {
            r#"{"challenges":[{"challenger":"Expert B","target_agent":"Expert A","challenge":"No threat model.","evidence":[],"severity":"high"}],"rebuttals":[],"unresolved":["Effort"],"provisional_answer":{"answer":"Use OAuth, and rotate its tokens.","confidence":0.8,"would_change_it":"Too few people."}}"#
        }
        AnswerKind::Verdict => {
            r#"{"summary":"All agree in the end.","evidence":[{"claim":"Revocation decides.","agent":"Expert A","quote":"Use OAuth."}],"dissent":[{"agent":"Expert C","concern":"Effort.","severity":"low"}],"recommendation":"Use OAuth with short-lived tokens.","confidence":0.86}"#
        }
        AnswerKind::Menu => {
            r#"{"summary":"Both can work.","recommendations":[{"option":"OAuth","description":"Use a provider.","pros":["It can be revoked."],"cons":["It takes effort."],"best_when":"there are many clients","confidence":0.8},{"option":"JWT","description":"Sign tokens.","pros":["It is simple."],"cons":["It cannot be revoked."],"best_when":"there is one service","confidence":0.6}],"evidence":[{"claim":"Revocation decides.","agent":"Expert A","quote":"Use OAuth."}],"dissent":[{"agent":"Expert C","concern":"Effort.","severity":"low"}],"recommendation":"Choose by the number of clients."}"#
        }
        AnswerKind::PersonaSelection => {
            r#"{"task_type":"architecture decision","reason":"It is about attacks and upkeep.","personas":["security","skeptic","pragmatic"]}"#
        }
        AnswerKind::Consistency => {
            r#"{"comparisons":[{"pair":"Verdict","reasoning":"A condition is new.","magnitude":"minor_refinement"}],"key_insights":[]}"#
        }
        AnswerKind::Comparison => {
            r#"{"comparisons":[{"pair":"Expert A","reasoning":"Nothing is different.","magnitude":"same"},{"pair":"Expert B","reasoning":"A condition is new.","magnitude":"minor_refinement"},{"pair":"Expert C","reasoning":"It turned round.","magnitude":"significant_change"}],"key_insights":["Effort is what is contested."]}"#
        }
    }
}

/// Returns a reply that ends normally.
pub fn reply(text: &str) -> Outcome {
    stopped(text, StopReason::End)
}

/// Returns a reply that ends for this reason.
#[expect(clippy::unnecessary_wraps, reason = "the machine takes outcomes")]
pub fn stopped(text: &str, stop: StopReason) -> Outcome {
    let usage = Usage {
        input: 1_000,
        output: 100,
        ..Usage::default()
    };
    Ok(Reply {
        text: text.to_owned(),
        stop,
        usage,
        served_model: None,
        reported_cost: None,
        plan: None,
    })
}

pub fn failure(class: FailureClass, message: &str) -> Outcome {
    Err(Failure::new(class, message))
}

/// Returns a failure with the provider's `Retry-After` hint.
pub fn failure_with_hint(class: FailureClass, message: &str, hint: Duration) -> Outcome {
    Err(Failure {
        retry_after: Some(hint),
        ..Failure::new(class, message)
    })
}

/// Answers any ask with a valid answer.
pub fn good(ask: &Ask) -> Outcome {
    reply(good_text(ask.answer))
}
