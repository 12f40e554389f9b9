//! Tokens and money: the total, its parts by provider, model, agent and round, and the estimate;
//! and the prompts that were used.
//!
//! Invariant: in every grouping the parts add up to the total, to the micro-dollar and to the
//! token.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::consultation::event::EarlyTerminationDecision;
use crate::consultation::prompt::Size;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::transcript::Transcript;
use crate::consultation::transcript::spend::Spend;
use crate::domain::cost::pricing::CostSource;
use crate::domain::ids::ProviderId;
use crate::domain::names::stored_name;
use crate::domain::record::stored_record::{
    Amount, EarlyTerminationEvaluation, EstimatedCost, PromptTemplate, PromptVersions,
    StoredConsent, StoredCost, StoredPlan, StoredRecord, StoredSpend, TokenCounts,
    TokenEfficiencyStats,
};

impl Transcript {
    /// Adds what a consultation cost, and what an early end saved, to its record.
    pub(super) fn record_of_cost(&self, record: StoredRecord) -> StoredRecord {
        let decision = self.early_end.as_ref();
        let early_end = decision.filter(|decision| decision.ended);
        let saved = early_end.map(|end| end.findings.estimated_cost_saved);
        let reason = early_end.map(|_| EarlyTerminationDecision::REASON.to_owned());
        let total = self.total();
        StoredRecord {
            early_termination: early_end.is_some(),
            early_termination_reason: reason,
            rounds_skipped: early_end.map_or(0, |end| u64::from(end.findings.rounds_skipped)),
            estimated_cost_saved: saved.map(|saved| saved.known.usd()),
            estimated_cost_saved_lower_bound: saved.is_some_and(|saved| saved.lower_bound),
            actual_cost: Some(total.cost.known.usd()),
            actual_cost_lower_bound: total.cost.lower_bound,
            early_termination_evaluation: decision.map(evaluation),
            cost: Some(StoredCost {
                total: stored(total),
                lost_calls: Some(self.lost_calls.len() as u64),
                in_doubt_micro_usd: self.in_doubt(),
                caching: self.caching(),
                by_provider: grouped(self.spend_by(|_, _, model| model.provider.clone())),
                by_model: grouped(self.spend_by(|_, _, model| model.clone())),
                by_agent: grouped(self.spend_by(|agent, _, _| agent.clone())),
                by_round: grouped(self.spend_by(|_, round, _| format!("round_{round}"))),
            }),
            plans: self.plans(),
            token_efficiency_stats: Some(self.token_efficiency(total.tokens.total())),
            ..record
        }
    }

    fn plans(&self) -> BTreeMap<ProviderId, StoredPlan> {
        let mut plans: BTreeMap<ProviderId, StoredPlan> = BTreeMap::new();
        for call in &self.calls {
            let is_paid = call.cost_source == CostSource::Plan;
            if is_paid || call.plan.is_some() {
                let plan = plans.entry(call.model.provider.clone()).or_default();
                plan.add(&call.tokens, is_paid, call.plan.as_deref());
            }
        }
        plans
    }

    fn token_efficiency(&self, used: u64) -> TokenEfficiencyStats {
        let saved = self.tokens_saved;
        let plan = self.terms.plan.as_ref();
        let method = match plan.map_or(PromptMaterial::Whole, |plan| plan.material) {
            PromptMaterial::Filtered => "structured_artifact_array_truncation",
            PromptMaterial::Whole => "none",
        };
        TokenEfficiencyStats {
            tokens_used: Some(used),
            tokens_saved_via_filtering: Some(saved),
            efficiency_percentage: percentage(saved, used.saturating_add(saved)),
            filtering_method: Some(method.to_owned()),
        }
    }

    pub(super) fn stored_estimate(&self) -> Option<EstimatedCost> {
        let estimate = self.estimate.as_ref()?;
        Some(EstimatedCost {
            cost: Amount::from(estimate.cost),
            low: Some(Amount::from(estimate.low)),
            high: Some(Amount::from(estimate.high)),
            input_tokens: Some(estimate.input_tokens),
            output_tokens: Some(estimate.output_tokens),
        })
    }

    pub(super) fn stored_consent(&self) -> Option<StoredConsent> {
        let (approved, how) = self.consent?;
        Some(StoredConsent {
            approved,
            how: Some(stored_name(&how)),
        })
    }

    fn is_short(&self) -> bool {
        let plan = self.terms.plan.as_deref();
        plan.is_some_and(|plan| plan.expert_size() == Size::Small)
    }

    /// Returns the versions under both names that the keys have had, and the hash of each template
    /// used.
    pub(super) fn prompt_versions(&self) -> PromptVersions {
        let mode = &self.terms.mode;
        let mut versions = IndexMap::new();
        let mut templates = IndexMap::new();
        let is_short = self.is_short();
        for prompt in &self.terms.prompts {
            let path: Vec<&str> = prompt.name.split('/').collect();
            let kind = match (path.as_slice(), is_short) {
                ([folder, kind], false) | ([folder, "small", kind], true) if folder == mode => kind,
                _ => "",
            };
            if !kind.is_empty() {
                let version = serde_json::Value::from(prompt.version.as_str());
                versions.insert(format!("{mode}_{kind}_v"), version.clone());
                versions.insert(format!("{kind}_prompt_version"), version);
            }
            let template = PromptTemplate {
                version: Some(prompt.version.clone()),
                sha256: Some(prompt.sha256.clone()),
            };
            templates.insert(prompt.name.clone(), template);
        }
        PromptVersions {
            mode: Some(mode.clone()),
            versions,
            templates,
        }
    }
}

fn grouped<K: Ord>(groups: BTreeMap<K, Spend>) -> BTreeMap<K, StoredSpend> {
    let groups = groups.into_iter();
    groups.map(|(key, spend)| (key, stored(spend))).collect()
}

fn stored(spend: Spend) -> StoredSpend {
    StoredSpend {
        tokens: TokenCounts::from(&spend.tokens),
        calls: Some(spend.calls),
        amount: Amount::from(spend.cost),
    }
}

fn evaluation(decision: &EarlyTerminationDecision) -> EarlyTerminationEvaluation {
    let findings = &decision.findings;
    let rules = findings.evaluation.rules.iter();
    EarlyTerminationEvaluation {
        ended: decision.ended,
        by: Some(stored_name(&decision.by)),
        confidence: findings.confidence,
        threshold: Some(findings.threshold),
        rounds_skipped: u64::from(findings.rounds_skipped),
        estimated_cost_saved: Amount::from(findings.estimated_cost_saved),
        rules: rules
            .map(|rule| serde_json::to_value(rule).unwrap_or_default())
            .collect(),
        decision: serde_json::to_value(&findings.evaluation.decision).unwrap_or_default(),
    }
}

/// Rounded to one decimal; `None` without any tokens.
#[expect(
    clippy::cast_precision_loss,
    reason = "a number of tenths of percents, at most 1000"
)]
fn percentage(part: u64, whole: u64) -> Option<f64> {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let tenths = (part * 2_000 + whole).checked_div(whole * 2)?;
    Some(tenths as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_relates_to_tokens_without_filtering() {
        assert_eq!(percentage(3_200, 12_450 + 3_200), Some(20.4));
        assert_eq!(
            (percentage(0, 5), percentage(5, 5), percentage(1, 3)),
            (Some(0.0), Some(100.0), Some(33.3))
        );
        let expected = (None, Some(100.0));
        assert_eq!((percentage(0, 0), percentage(u64::MAX, u64::MAX)), expected);
    }
}
