//! The context of a question in the prompts, estimates and logs of a consultation.

mod prefix;
mod templates;
mod money;

use conclave::consultation::plan::options::{DebateAnalysis, JudgePasses};
use conclave::context::count::count_all;
use conclave::domain::context::{Context, ContextSource, ContextText, SourceKind};
use conclave::domain::hash::sha256;

use crate::consultation::prelude::*;

/// Returns a context of one file.
pub(super) fn context(text: &str) -> Context {
    let tokens = count_all(&[text])[0];
    Context {
        sources: vec![ContextSource {
            kind: SourceKind::File,
            name: "a.rs".to_owned(),
            bytes: text.len() as u64,
            tokens: tokens.expected,
            sha256: sha256(text),
        }],
        bytes: text.len() as u64,
        sha256: sha256(text),
        tokens,
        text: ContextText::from(text.to_owned()),
        ..Context::default()
    }
}

/// Returns a plan with this context, a helper and two passes of the judge.
fn plan_with(context: Context) -> Plan {
    let mut plan = plan();
    plan.context = Some(Box::new(context));
    plan.debate.helper = Some(ModelRef::new("google", "gemini-4-argon"));
    plan.debate.debate_analysis = DebateAnalysis::On;
    plan.debate.judge_passes = JudgePasses::Twice;
    plan
}
