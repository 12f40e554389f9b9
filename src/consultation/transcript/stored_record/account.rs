//! Tokens and money: the total, its parts by provider, model, agent and round, and the estimate;
//! and the prompts that were used.
//!
//! Invariant: in every grouping the parts add up to the total, to the micro-dollar and to the
//! token.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::word;
use crate::consultation::prompt::Size;
use crate::consultation::transcript::Transcript;
use crate::consultation::transcript::spend::Spend;
use crate::domain::stored_record::{
    Amount, EstimatedCost, PromptTemplate, PromptVersions, StoredConsent, StoredCost, StoredSpend,
    TokenCounts,
};

impl Transcript {
    pub(super) fn stored_cost(&self) -> StoredCost {
        StoredCost {
            total: stored(self.total()),
            lost_calls: Some(self.lost_calls.len() as u64),
            in_doubt_micro_usd: self.in_doubt(),
            caching: self.caching(),
            by_provider: grouped(self.spend_by(|_, _, model| model.provider.clone())),
            by_model: grouped(self.spend_by(|_, _, model| model.clone())),
            by_agent: grouped(self.spend_by(|agent, _, _| agent.clone())),
            by_round: grouped(self.spend_by(|_, round, _| format!("round_{round}"))),
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
            how: word(&how),
        })
    }

    /// Returns whether every expert got short prompts.
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
