//! The account of a record: tokens, cost, the estimate, and the prompts that were used.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::domain::cost::money::{Cost, MicroUsd, Saving};
use crate::domain::cost::plan_use::{PlanUse, PlanWindow};
use crate::domain::cost::tokens::{Usage, UsageSource};
use crate::domain::ids::{AgentId, ModelRef, ProviderId};
use crate::domain::words::{amount, thousands};

/// An amount of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Amount {
    /// Dollars.
    pub usd: Option<f64>,
    /// The same in micro-dollars, exact.
    pub micro_usd: Option<MicroUsd>,
    /// True if an unpriced or unreported part comes on top.
    pub lower_bound: bool,
    /// True if a plan pays for a part, which has no price and is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_plan: bool,
}

impl Amount {
    /// Exact where micro-dollars are written, else the nearest to the decimal.
    pub fn cost(&self) -> Option<Cost> {
        let known = self.micro_usd.or_else(|| MicroUsd::from_usd(self.usd?))?;
        Some(Cost {
            known,
            lower_bound: self.lower_bound,
            by_plan: self.by_plan,
        })
    }
}

impl From<Cost> for Amount {
    fn from(cost: Cost) -> Self {
        Self {
            usd: Some(cost.known.usd()),
            micro_usd: Some(cost.known),
            lower_bound: cost.lower_bound,
            by_plan: cost.by_plan,
        }
    }
}

/// Token counts. Missing counts are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TokenCounts {
    /// The whole prompt.
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub total: Option<u64>,
    /// The part of `input` that was read from a cache.
    pub cached: Option<u64>,
    /// The part of `input` that was written to a cache.
    pub cache_write: Option<u64>,
    /// The part of `output` that was reasoning.
    pub reasoning: Option<u64>,
    /// True if a provider did not report its count.
    pub estimated: bool,
}

impl From<&Usage> for TokenCounts {
    fn from(usage: &Usage) -> Self {
        Self {
            input: Some(usage.prompt()),
            output: Some(usage.output),
            total: Some(usage.total()),
            cached: Some(usage.cache_read),
            cache_write: Some(usage.cache_write),
            reasoning: Some(usage.reasoning),
            estimated: usage.source == UsageSource::Estimated,
        }
    }
}

/// Tokens and cost of a group of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredSpend {
    pub tokens: TokenCounts,
    /// The number of finished calls.
    pub calls: Option<u64>,
    #[serde(flatten)]
    pub amount: Amount,
}

/// All calls of the consultation. In each grouping the parts add up to the total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredCost {
    #[serde(flatten)]
    pub total: StoredSpend,
    /// Calls without a reply; their cost is unknown.
    pub lost_calls: Option<u64>,
    /// What counts under ceilings beyond the known cost: calls without a reply, and those whose
    /// cost is known only in part, at the most that they can cost.
    pub in_doubt_micro_usd: MicroUsd,
    /// The use of the vendors' caches; `None` if no paid call reported any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caching: Option<StoredCaching>,
    pub by_provider: BTreeMap<ProviderId, StoredSpend>,
    pub by_model: BTreeMap<ModelRef, StoredSpend>,
    pub by_agent: BTreeMap<AgentId, StoredSpend>,
    /// By `round_N`.
    pub by_round: BTreeMap<String, StoredSpend>,
}

/// What a plan paid for in the consultation, and what is left of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredPlan {
    /// The plan's name, as its vendor writes it; `None` if it is not known.
    pub plan: Option<String>,
    /// The finished calls that it paid for.
    pub calls: u64,
    /// The tokens of these calls, prompts and answers.
    pub tokens: u64,
    /// The window of time whose limit was nearest after the last call; `None` if its vendor says
    /// nothing of it.
    pub window: Option<PlanWindow>,
    /// The number of calls that were billed beside the plan, because its limit was reached.
    pub overage: u64,
}

impl StoredPlan {
    pub fn add(&mut self, usage: &Usage, is_paid: bool, said: Option<&PlanUse>) {
        if is_paid {
            self.calls += 1;
            self.tokens = self.tokens.saturating_add(usage.total());
        }
        if let Some(said) = said {
            self.plan = said.plan.clone().or(self.plan.take());
            self.window = said.window.clone().or(self.window.take());
            self.overage += u64::from(said.is_overage);
        }
    }
}

/// The use of the vendors' prompt caches, from the usage that they reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredCaching {
    /// Prompt tokens read from caches.
    pub cached_tokens: u64,
    /// Prompt tokens written to caches.
    pub written_tokens: u64,
    /// Dollars: the cost of these calls with every prompt token at the input price, less their
    /// cost. Negative if writing cost more than reading saved; `None` if it is known of no call.
    pub saved_usd: Option<f64>,
    /// The same in micro-dollars, exact.
    pub saved_micro_usd: Option<Saving>,
    /// True if calls are left out whose saving is unknown: their provider states only the cost.
    pub incomplete: bool,
}

impl StoredCaching {
    /// `saved` is `None` if the saving is unknown.
    pub fn add(&mut self, usage: &Usage, saved: Option<Saving>) {
        self.cached_tokens = self.cached_tokens.saturating_add(usage.cache_read);
        self.written_tokens = self.written_tokens.saturating_add(usage.cache_write);
        match saved {
            Some(saved) => {
                let sum = self.saved_micro_usd.unwrap_or_default() + saved;
                self.saved_micro_usd = Some(sum);
                self.saved_usd = Some(sum.usd());
            }
            None => self.incomplete = true,
        }
    }

    /// `saved $0.5312`; `None` if it is unknown.
    pub fn saving_in_words(&self) -> Option<String> {
        let saved = self.saved_micro_usd?;
        let size = amount(Cost::exactly(saved.size()));
        let known = if self.incomplete {
            " as far as is known"
        } else {
            ""
        };
        Some(if saved.is_loss() {
            format!("cost {size} more{known}")
        } else {
            format!("saved {size}{known}")
        })
    }

    /// `saved $0.5312 (212,400 prompt tokens read from caches, 50,400 written)`.
    pub fn in_words(&self) -> String {
        let saving = self.saving_in_words();
        let saving = saving.as_deref().unwrap_or("saving unknown");
        let read = thousands(self.cached_tokens);
        let written = match self.written_tokens {
            0 => String::new(),
            written => format!(", {} written", thousands(written)),
        };
        format!("{saving} ({read} prompt tokens read from caches{written})")
    }
}

/// The estimate before the consultation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EstimatedCost {
    #[serde(flatten)]
    pub cost: Amount,
    /// The least and the most with answers of usual length.
    pub low: Option<Amount>,
    /// See `low`. Retries, repairs and hedges come on top.
    pub high: Option<Amount>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

/// Tokens saved by filtering earlier rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TokenEfficiencyStats {
    /// Of all calls, prompts and answers.
    pub tokens_used: Option<u64>,
    /// The additional tokens that the same prompts would have had, estimated.
    pub tokens_saved_via_filtering: Option<u64>,
    /// The saved share of used and saved together, in percent.
    pub efficiency_percentage: Option<f64>,
    pub filtering_method: Option<String>,
}

/// The consent to the cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredConsent {
    pub approved: bool,
    /// `auto_approved`, `flag`, `asked`, …
    pub how: Option<String>,
}

/// The versions of the prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PromptVersions {
    pub mode: Option<String>,
    /// The versions of the mode's templates, under both names that the keys have had:
    /// `MODE_KIND_v` and `KIND_prompt_version`. They are those of the short
    /// templates if every expert got short prompts.
    #[serde(flatten)]
    pub versions: IndexMap<String, serde_json::Value>,
    /// All templates that were used, by name.
    pub templates: IndexMap<String, PromptTemplate>,
}

/// A prompt template that was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PromptTemplate {
    pub version: Option<String>,
    pub sha256: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caching(calls: &[(u64, u64, Option<i64>)]) -> StoredCaching {
        let mut sum = StoredCaching::default();
        for (cache_read, cache_write, saved) in calls {
            let usage = Usage {
                cache_read: *cache_read,
                cache_write: *cache_write,
                ..Usage::default()
            };
            sum.add(&usage, saved.map(Saving));
        }
        sum
    }

    #[test]
    fn saving_counts_losses_and_says_what_is_unknown() {
        let words = |calls: &[_]| caching(calls).in_words();
        assert_eq!(
            words(&[(0, 50_000, Some(-25_000)), (50_000, 0, Some(556_200))]),
            "saved $0.5312 (50,000 prompt tokens read from caches, 50,000 written)"
        );
        assert_eq!(
            words(&[(0, 50_000, Some(-25_000))]),
            "cost $0.0250 more (0 prompt tokens read from caches, 50,000 written)"
        );
        assert_eq!(
            words(&[(9, 0, Some(18)), (1, 0, None)]),
            "saved $0.000018 as far as is known (10 prompt tokens read from caches)"
        );
        assert_eq!(
            words(&[(7, 0, None)]),
            "saving unknown (7 prompt tokens read from caches)"
        );
        assert_eq!(caching(&[(7, 0, None)]).saved_usd, None);
        assert_eq!(caching(&[(0, 4, Some(-5))]).saved_usd, Some(-0.000_005));
    }
}
