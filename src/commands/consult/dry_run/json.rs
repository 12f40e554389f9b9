//! A dry run as JSON, which has a published schema: `schemas/dry_run.schema.json`.

use serde_json::{Value, json};

use super::{DryRun, DryRunCall};
use crate::consultation::policy::consent::Gate;
use crate::domain::context::ContextText;
use crate::domain::money::Cost;
use crate::domain::stored_record::{Amount, StoredContext};

const SCHEMA_VERSION: &str = "1.0";

impl DryRun<'_> {
    pub(super) fn to_json(&self) -> Value {
        let estimate = &self.estimate;
        let shares = self.shares();
        let providers = shares.iter().map(|(provider, share)| {
            json!({
                "provider": provider,
                "host": self.host(provider),
                "calls": share.calls,
                "input_tokens": share.input_tokens,
                "output_tokens": share.output_tokens,
                "context_tokens": share.context_tokens,
                "cost": costs(share.low, share.cost, share.high),
            })
        });
        let calls = self.calls.iter().map(
            |DryRunCall {
                 estimate,
                 agent,
                 system,
                 user,
                 context,
                 is_cached,
             }| {
                json!({
                    "round_number": estimate.round_number,
                    "agent_id": estimate.agent_id,
                    "agent": agent,
                    "answer": estimate.answer,
                    "provider": estimate.model.provider,
                    "model": estimate.model.model,
                    "host": self.host(&estimate.model.provider),
                    "input_tokens": estimate.input_tokens,
                    "output_tokens": estimate.output_tokens,
                    "max_output_tokens": self.plan.terms(&estimate.model).max_output_tokens,
                    "cost": costs(estimate.low, estimate.cost, estimate.high),
                    "exact": self.is_exact(estimate),
                    "schema_sent": !is_cached,
                    "context_cached": is_cached,
                    "context_text": context,
                    "system": system,
                    "user": user,
                })
            },
        );
        let (decision, why) = match &self.gate {
            Gate::Pass(consent) => (json!(consent), Vec::new()),
            Gate::Ask(why) => (json!("ask"), why.clone()),
            Gate::Refuse(why) => (json!("refuse"), why.clone()),
            Gate::AboveCeiling => (json!("above_ceiling"), Vec::new()),
        };
        json!({
            "schema_version": SCHEMA_VERSION,
            "question": self.plan.question,
            "context_tokens": estimate.context_tokens,
            "context": self.context(),
            "project_context": self.plan.project,
            "scrubbing_report": self.plan.scrubbing,
            "input_tokens": estimate.input_tokens,
            "output_tokens": estimate.output_tokens,
            "cost": costs(estimate.low, estimate.cost, estimate.high),
            "consent": { "decision": decision, "why": why, "message": self.decision() },
            "casting": self.selects_personas().then(|| json!({
                "chosen_by": self.plan.debate.helper,
            })),
            "notices": self.plan.notices,
            "providers": providers.collect::<Vec<_>>(),
            "calls": calls.collect::<Vec<_>>(),
        })
    }

    /// Returns the context as in a record, with its texts; `Null` without one.
    fn context(&self) -> Value {
        let Some(context) = self.plan.context.as_deref() else {
            return Value::Null;
        };
        let mut json = json!(StoredContext::from(context));
        let texts = self.contexts.iter().map(ContextText::as_str);
        if let Some(fields) = json.as_object_mut() {
            // Whether a run would store it is not known before it does.
            fields.remove("storage");
            fields.insert("texts".to_owned(), texts.collect());
        }
        json
    }
}

fn costs(low: Cost, expected: Cost, high: Cost) -> Value {
    let [low, expected, high] = [low, expected, high].map(Amount::from);
    json!({ "low": low, "expected": expected, "high": high })
}
