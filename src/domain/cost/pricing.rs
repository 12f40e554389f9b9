//! The cost of a call: prices by model, and the exact arithmetic from tokens to micro-dollars.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::money::{Cost, MicroUsd, Saving};
use super::tokens::Usage;
use crate::domain::ids::{ModelRef, without_date};
use crate::domain::model::billing::Billing;

/// Prices for a million tokens of each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    pub input: MicroUsd,
    pub output: MicroUsd,
    /// Cache reads; `None` if they cost as much as input.
    pub cache_read: Option<MicroUsd>,
    /// Cache writes; `None` if they cost as much as input.
    pub cache_write: Option<MicroUsd>,
}

/// The price of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub base: Rates,
    /// Rates for long prompts, if they differ.
    pub long_context: Option<LongContext>,
}

/// Rates for requests whose prompt exceeds a number of tokens; they apply to the whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongContext {
    pub above_tokens: u64,
    pub rates: Rates,
}

impl Price {
    /// Rounded half up once, after all classes are added.
    pub fn cost(&self, usage: &Usage) -> MicroUsd {
        let rates = match &self.long_context {
            Some(tier) if usage.prompt() > tier.above_tokens => &tier.rates,
            Some(_) | None => &self.base,
        };
        let part = |tokens: u64, rate: MicroUsd| u128::from(tokens) * u128::from(rate.0);
        let total = part(usage.input, rates.input)
            + part(usage.cache_read, rates.cache_read.unwrap_or(rates.input))
            + part(usage.cache_write, rates.cache_write.unwrap_or(rates.input))
            + part(usage.output, rates.output);
        MicroUsd(u64::try_from((total + 500_000) / 1_000_000).unwrap_or(u64::MAX))
    }

    /// The cost with every prompt token at the input price, less the actual cost. Negative where
    /// writing costs more than reading saves.
    pub fn cache_saving(&self, usage: &Usage) -> Saving {
        let uncached = Usage {
            input: usage.prompt(),
            cache_read: 0,
            cache_write: 0,
            ..*usage
        };
        Saving::between(self.cost(&uncached), self.cost(usage))
    }

    /// Returns the highest possible cost of a call whose prompt and answer take at most this many
    /// tokens, however the prompt is cached.
    pub fn most(&self, prompt: u64, output: u64) -> MicroUsd {
        let tier = self
            .long_context
            .iter()
            .filter(|tier| prompt > tier.above_tokens)
            .map(|tier| &tier.rates);
        // A shorter prompt is billed at the base rates, which may be the higher ones.
        let rates = std::iter::once(&self.base).chain(tier);
        let costs = rates.map(|rates| rates.cost(MicroUsd::max, prompt, output));
        costs.max().unwrap_or_default()
    }

    /// Returns the lowest possible cost of a call whose prompt and answer take at least this many
    /// tokens, however the prompt is cached.
    pub fn least(&self, prompt: u64, output: u64) -> MicroUsd {
        let tier = self.long_context.iter().map(|tier| &tier.rates);
        let rates = std::iter::once(&self.base).chain(tier);
        let costs = rates.map(|rates| rates.cost(MicroUsd::min, prompt, output));
        costs.min().unwrap_or_default()
    }
}

impl Rates {
    /// Returns the cost of a call with every prompt token at that of its possible prices that
    /// `pick` prefers.
    fn cost(&self, pick: fn(MicroUsd, MicroUsd) -> MicroUsd, prompt: u64, output: u64) -> MicroUsd {
        let of_caches = self.cache_read.into_iter().chain(self.cache_write);
        let base = Self {
            input: of_caches.fold(self.input, pick),
            ..*self
        };
        Price {
            base,
            long_context: None,
        }
        .cost(&Usage {
            input: prompt,
            output,
            ..Usage::default()
        })
    }
}

/// The known prices. A model without a price can be used and is marked; it never counts as free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceList(pub BTreeMap<ModelRef, Price>);

impl PriceList {
    /// Returns the price of a model, also under a dated name (`gpt-6.1-sol-2026-09-01`,
    /// `claude-haiku-4-5-20251001`).
    pub fn price(&self, model: &ModelRef) -> Option<&Price> {
        self.0.get(model).or_else(|| {
            let undated = without_date(&model.model)?;
            self.0.get(&ModelRef {
                provider: model.provider.clone(),
                model: undated.to_owned(),
            })
        })
    }

    /// A lower bound of zero if the model has no price.
    pub fn cost(&self, model: &ModelRef, usage: &Usage) -> Cost {
        self.price(model)
            .map_or(Cost::at_least(MicroUsd::ZERO), |price| {
                Cost::exactly(price.cost(usage))
            })
    }
}

impl Billing {
    /// The cost of calls without a price of their own, and its source; `None` if they have one.
    pub fn fixed_cost(self) -> Option<(Cost, CostSource)> {
        match self {
            Self::Metered => None,
            Self::Free => Some((Cost::FREE, CostSource::Free)),
            Self::Plan => Some((Cost::BY_PLAN, CostSource::Plan)),
        }
    }

    pub fn is_metered(self) -> bool {
        self == Self::Metered
    }
}

/// The source of a cost figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// Reported by the provider.
    Provider,
    /// Computed from the price table.
    Table,
    /// The model runs on the user's own machine.
    Free,
    /// A plan that the user has subscribed to pays for it, so that it has no price.
    Plan,
    /// No price is known, or the provider reported no usage.
    Unknown,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_rates() -> impl Strategy<Value = Rates> {
        let rate = || (0u64..100_000_000).prop_map(MicroUsd);
        (
            rate(),
            rate(),
            proptest::option::of(rate()),
            proptest::option::of(rate()),
        )
            .prop_map(|(input, output, cache_read, cache_write)| Rates {
                input,
                output,
                cache_read,
                cache_write,
            })
    }

    proptest! {
        #[test]
        fn every_cost_lies_between_the_least_and_the_most(
            base in any_rates(),
            tier in proptest::option::of((0u64..20_000, any_rates())),
            (input, cache_read, cache_write, output) in
                (0u64..10_000, 0u64..10_000, 0u64..10_000, 0u64..50_000),
            (more_prompt, more_output) in (0u64..10_000, 0u64..10_000),
        ) {
            let price = Price {
                base,
                long_context: tier.map(|(above_tokens, rates)| LongContext {
                    above_tokens,
                    rates,
                }),
            };
            let usage = usage([input, cache_read, cache_write, output]);
            prop_assert!(
                price.cost(&usage)
                    <= price.most(usage.prompt() + more_prompt, output + more_output)
            );
            prop_assert!(
                price.cost(&usage)
                    >= price.least(
                        usage.prompt().saturating_sub(more_prompt),
                        output.saturating_sub(more_output)
                    )
            );
        }
    }

    const FREE: Price = Price {
        base: Rates {
            input: MicroUsd::ZERO,
            output: MicroUsd::ZERO,
            cache_read: None,
            cache_write: None,
        },
        long_context: None,
    };

    fn rates(input: u64, output: u64) -> Rates {
        Rates {
            input: MicroUsd(input),
            output: MicroUsd(output),
            cache_read: Some(MicroUsd(input / 10)),
            cache_write: None,
        }
    }

    fn usage([input, cache_read, cache_write, output]: [u64; 4]) -> Usage {
        Usage {
            input,
            cache_read,
            cache_write,
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn every_class_of_token_is_billed_at_its_own_rate_and_rounded_once() {
        let price = |base| Price {
            base,
            long_context: None,
        };
        for (base, tokens, cost) in [
            (
                rates(2_000_000, 10_000_000),
                [1_000, 500, 10, 7],
                2_000 + 100 + 20 + 70,
            ),
            (rates(333_333, 0), [1, 0, 0, 0], 0),
            (rates(333_333, 0), [2, 0, 0, 0], 1),
        ] {
            assert_eq!(
                price(base).cost(&usage(tokens)),
                MicroUsd(cost),
                "{tokens:?}"
            );
        }
    }

    #[test]
    fn a_cache_saves_what_reading_saves_less_the_surcharge_of_writing() {
        let price = Price {
            base: Rates {
                cache_write: Some(MicroUsd(2_500_000)),
                ..rates(2_000_000, 10_000_000)
            },
            long_context: None,
        };
        for (price, read, write, saved) in [
            (price, 0, 0, 0),
            (price, 1_000, 0, 1_800),
            (price, 0, 1_000, -500),
            (price, 1_000, 1_000, 1_300),
            (FREE, 9, 0, 0),
        ] {
            let saving = price.cache_saving(&usage([100, read, write, 9]));
            assert_eq!(saving, Saving(saved));
        }
    }

    #[test]
    fn a_long_prompt_is_billed_whole_at_the_second_tier() {
        let price = Price {
            base: rates(1_000_000, 1_000_000),
            long_context: Some(LongContext {
                above_tokens: 100,
                rates: rates(2_000_000, 3_000_000),
            }),
        };
        let cost = |tokens| price.cost(&usage(tokens));
        assert_eq!(cost([90, 10, 0, 1]), MicroUsd(90 + 1 + 1));
        assert_eq!(cost([101, 0, 0, 1]), MicroUsd(202 + 3));
        // Cached or not, all of the prompt counts.
        assert_eq!(cost([91, 10, 0, 1]), MicroUsd(182 + 2 + 3));
    }

    #[test]
    fn a_dated_name_has_the_price_of_its_model_and_an_unknown_one_has_none() {
        let list = PriceList(BTreeMap::from([(
            ModelRef::new("openai", "gpt-6.1-sol"),
            FREE,
        )]));
        for (model, has_price) in [
            ("gpt-6.1-sol-2026-09-01", true),
            ("gpt-6.1-sol-20260901", true),
            ("gpt-6.1-sol-mini", false),
        ] {
            let price = list.price(&ModelRef::new("openai", model));
            assert_eq!(price.is_some(), has_price, "{model}");
        }
        assert_eq!(
            list.cost(&ModelRef::new("openai", "x"), &Usage::default()),
            Cost::at_least(MicroUsd::ZERO)
        );
    }
}
