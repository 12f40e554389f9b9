//! The known models: tiers, prices with source and date, limits and retirement dates. The data is
//! in `models.json`.
//!
//! A user's own file overrides it, entry by entry. A model that is not listed can still be used as
//! `provider:model`; it has no price.

mod age;
mod entry;
mod file;
mod names;

use crate::domain::cost::pricing::PriceList;
use crate::domain::ids::{ModelRef, ProviderId, without_date};
use crate::domain::time::{Timestamp, days_between};

pub use age::{OLD_AFTER_DAYS, PriceTable, PriceTableAge};
pub use entry::{DatedPrice, LongContextPrice, Model, UsdPerMtok};
pub use file::{CatalogError, SCHEMA_VERSION};
pub use names::UnknownModel;

/// Retirement is announced this many days in advance.
const NOTICE_DAYS: i64 = 60;

/// All known models, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCatalog {
    pub models: Vec<Model>,
    pub vintages: Vec<PriceTableAge>,
}

impl ModelCatalog {
    /// Sets the context size of a model, as its server reports it.
    #[must_use]
    pub fn with_context(mut self, model: &ModelRef, context: u64) -> Self {
        let mut models = self.models.iter_mut();
        match models.find(|known| known.provider == model.provider && known.id == model.model) {
            Some(known) => known.context = Some(context),
            None => self.models.push(Model {
                context: Some(context),
                ..Model::named(model)
            }),
        }
        self
    }

    /// Finds a model by its name, by a dated form of it, or for a resold model by its name at its
    /// own vendor.
    pub fn find(&self, model: &ModelRef) -> Option<&Model> {
        self.at_own_vendor(model).or_else(|| {
            names::at_its_vendor(model)?
                .iter()
                .find_map(|own| self.at_own_vendor(own))
        })
    }

    fn at_own_vendor(&self, model: &ModelRef) -> Option<&Model> {
        let called = |id: &str| {
            self.models
                .iter()
                .find(|known| known.provider == model.provider && known.id == id)
        };
        called(&model.model).or_else(|| called(without_date(&model.model)?))
    }

    pub fn prices(&self, now: Timestamp) -> PriceList {
        let today = now.day();
        let in_force = |model: &Model| Some((model.to_ref(), model.price_on(today)?.price()));
        PriceList(self.models.iter().filter_map(in_force).collect())
    }

    /// `models` have the price of another entry, such as resold ones.
    pub fn prices_with<'a>(
        &self,
        models: impl IntoIterator<Item = &'a ModelRef>,
        now: Timestamp,
    ) -> PriceList {
        let today = now.day();
        let mut prices = self.prices(now);
        for model in models {
            let price = self.find(model).and_then(|known| known.price_on(today));
            if let (None, Some(price)) = (prices.price(model), price) {
                prices.0.insert(model.clone(), price.price());
            }
        }
        prices
    }

    /// By rank.
    pub fn defaults(&self, provider: &ProviderId) -> Vec<&Model> {
        let models = self.models.iter();
        let is_ranked = |model: &&Model| model.provider == *provider && model.rank.is_some();
        let mut ranked: Vec<&Model> = models.filter(is_ranked).collect();
        ranked.sort_by_key(|model| model.rank);
        ranked
    }

    /// Returns a notice if the model has retired or soon will.
    pub fn notices(&self, model: &ModelRef, now: Timestamp) -> Option<String> {
        let known = self.find(model)?;
        let day = known.retires?;
        let left = days_between(now.day(), day);
        let instead = known.successor.as_ref().map_or_else(String::new, |id| {
            let successor = names::sold_alike(model, id).unwrap_or_else(|| id.clone());
            format!("; use `{successor}`")
        });
        let retires = if left > 0 { "retires" } else { "retired" };
        (left <= NOTICE_DAYS).then(|| format!("`{}` {retires} on {day}{instead}", model.model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cost::money::MicroUsd;

    fn at(date: &str) -> Timestamp {
        serde_json::from_str(&format!("\"{date}T00:00:00Z\"")).unwrap()
    }

    #[test]
    fn figures_are_exact_and_change_on_their_day() {
        let catalog = ModelCatalog::builtin();
        let argon = ModelRef::new("google", "gemini-4-argon");
        let input = |date| catalog.prices(at(date)).price(&argon).unwrap().base.input;
        assert_eq!(input("2026-11-30"), MicroUsd(2_000_000));
        assert_eq!(input("2026-12-01"), MicroUsd(4_000_000));
        let prices = catalog.prices(at("2026-11-21"));
        let price = |model| prices.price(&ModelRef::new("openai", model)).unwrap();
        let mini = price("gpt-5.4-mini");
        assert_eq!(mini.base.cache_read, Some(MicroUsd(75_000)));
        let tier = price("gpt-6.1-sol").long_context.unwrap();
        assert_eq!(tier.above_tokens, 272_000);
        assert_eq!(tier.rates.output, MicroUsd(15_000_000));
    }

    #[test]
    fn default_panels_are_in_rank_order_and_have_not_retired() {
        let catalog = ModelCatalog::builtin();
        let panels = [
            (
                "anthropic",
                "claude-sonnet-5-5 claude-opus-5-5 claude-haiku-5-5",
            ),
            ("openai", "gpt-6.1-sol gpt-6.1-terra gpt-6-sol"),
            (
                "google",
                "gemini-4-argon gemini-3.8-flash gemini-3.1-pro-preview",
            ),
            ("xai", "grok-4.7 grok-4.6 grok-4.3"),
            (
                "mistral",
                "mistral-large-4 mistral-medium-latest mistral-small-latest",
            ),
            (
                "openrouter",
                "anthropic/claude-sonnet-5.5 openai/gpt-6.1-sol google/gemini-4-argon",
            ),
        ];
        for (provider, panel) in panels {
            let defaults = catalog.defaults(&ProviderId::new(provider));
            let ids: Vec<&str> = defaults.iter().map(|model| model.id.as_str()).collect();
            assert_eq!(ids.join(" "), panel);
        }
        for model in &catalog.models {
            assert!(model.rank.is_none() || model.retires.is_none());
        }
    }

    #[test]
    fn retirement_is_announced_with_a_successor() {
        let catalog = ModelCatalog::builtin();
        let notice = |id: &str, date| catalog.notices(&ModelRef::new("openai", id), at(date));
        assert_eq!(
            notice("gpt-4", "2026-11-21").unwrap(),
            "`gpt-4` retired on 2026-10-23; use `gpt-6.1-sol`"
        );
        assert_eq!(
            notice("gpt-4o", "2026-11-21").unwrap(),
            "`gpt-4o` retires on 2027-01-14; use `gpt-6.1-sol`"
        );
        assert_eq!(notice("gpt-4o", "2026-11-14"), None);
        assert_eq!(notice("gpt-6.1-sol", "2026-11-21"), None);
        assert_eq!(
            notice("gpt-4o-2024-08-06", "2026-11-21").unwrap(),
            "`gpt-4o-2024-08-06` retires on 2027-01-14; use `gpt-6.1-sol`"
        );
        let resold = ModelRef::new("openrouter", "anthropic/claude-sonnet-4.5");
        assert_eq!(
            catalog.notices(&resold, at("2026-11-21")).unwrap(),
            "`anthropic/claude-sonnet-4.5` retires on 2026-11-30; use `anthropic/claude-sonnet-5.5`"
        );
    }

    #[test]
    fn a_resold_model_without_a_row_has_its_vendors_price() {
        let catalog = ModelCatalog::builtin();
        let models = [
            "anthropic/claude-opus-5.5",
            "x-ai/grok-4.7",
            "anthropic/claude-opus-5.5:free",
            "meta-llama/llama-4",
        ];
        let models = models.map(|id| ModelRef::new("openrouter", id));
        let prices = catalog.prices_with(&models, at("2026-11-21"));
        let input = |model: &ModelRef| prices.price(model).map(|price| price.base.input.0);
        assert_eq!(
            models.each_ref().map(input),
            [Some(4_000_000), Some(2_000_000), None, None]
        );
        assert_eq!(catalog.find(&models[0]).unwrap().max_output, Some(128_000));
        assert_eq!(
            catalog.find(&ModelRef::new("acme", "anthropic/claude-opus-5.5")),
            None
        );
    }
}
