//! The keys of a record about the judge: one pass or two, and whether prior answers were rejudged.

use serde_json::{Value, json};

use crate::consultation::transcript::Transcript;
use crate::domain::second_pass::SecondPass;

pub(super) fn judge_passes(transcript: &Transcript) -> Value {
    let second = transcript.second_pass.as_ref();
    let prior = transcript
        .terms
        .plan
        .as_ref()
        .and_then(|plan| plan.debate.prior_answers.as_ref());
    json!({
        "judge_consistent": second.and_then(|second| second.held.consistent),
        "judge_passes": second.map(|second| passes(transcript, second)),
        "rejudged_from": prior.map(|prior| &prior.from),
        "rejudged": prior.map(|prior| json!({
            "from": prior.from,
            "consistent": transcript.rejudged.as_ref().and_then(|held| held.consistent),
            "magnitude": transcript.rejudged.as_ref().and_then(|held| held.magnitude),
            "reason": transcript.rejudged.as_ref().and_then(|held| held.reason.as_deref()),
        })),
    })
}

fn passes(transcript: &Transcript, second: &SecondPass) -> Value {
    json!({
        "passes": 2,
        "consistent": second.held.consistent,
        "magnitude": second.held.magnitude,
        "reason": second.held.reason,
        "second": second.verdict.as_ref().map(|verdict| json!({
            "model": second.model,
            "verdict": verdict,
        })),
        "expert_orders": [&transcript.terms.expert_order, &second.expert_order],
    })
}
