//! The models this program knows: tiers, prices with source and date, limits, and when a model
//! retires. Data, not code: `models.json`.
//!
//! A user's own file is laid over it, entry by entry. A model that is not here can still be asked,
//! as `provider:model`; it has no price.

mod age;
mod entry;
mod resale;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::ids::{ModelRef, ProviderId, without_date};
use crate::domain::pricing::PriceList;
use crate::domain::time::{Timestamp, days_between};

pub use age::{OLD_AFTER_DAYS, PriceTable, PriceTableAge};
pub use entry::{DatedPrice, LongContextPrice, Model, UsdPerMtok};

/// The version of the file's format.
pub const SCHEMA_VERSION: &str = "1.0";

/// A model is announced as retiring from this many days before the day.
const NOTICE_DAYS: i64 = 60;

/// All known models, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCatalog {
    models: Vec<Model>,
    vintages: Vec<PriceTableAge>,
}

/// Why a file of models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("not JSON")]
    NotJson(#[source] serde_json::Error),
    #[error("no list `models`")]
    NoModels,
    #[error("schema_version `{0}`; this program reads `{SCHEMA_VERSION}`")]
    OtherVersion(String),
    #[error("entry {0} names no `provider` and `id`")]
    Nameless(usize),
    #[error("the entry of `{model}`")]
    Entry {
        model: ModelRef,
        source: serde_json::Error,
    },
}

/// A name that no known model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown model `{name}`{}",
    suggestions.first().map(|_| format!("; did you mean {}?", one_of(suggestions))).unwrap_or_default()
)]
pub struct UnknownModel {
    pub name: String,
    /// The closest known names, at most three.
    pub suggestions: Vec<String>,
}

fn one_of(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(" or ")
}

impl ModelCatalog {
    /// The models that are compiled in.
    pub fn builtin() -> Self {
        // A test reads the file, so the empty catalog is never seen.
        Self::empty()
            .lay_over(include_str!("models.json"), PriceTable::ThisProgram)
            .unwrap_or(Self::empty())
    }

    fn empty() -> Self {
        Self {
            models: Vec::new(),
            vintages: Vec::new(),
        }
    }

    /// Lays a user's file over this catalog: its entries add models or replace single fields of
    /// known ones.
    pub fn merge(self, json: &str) -> Result<Self, CatalogError> {
        self.lay_over(json, PriceTable::TheUser)
    }

    fn lay_over(self, json: &str, of: PriceTable) -> Result<Self, CatalogError> {
        let file: Value = serde_json::from_str(json).map_err(CatalogError::NotJson)?;
        match file.get("schema_version") {
            None => {}
            Some(version) if version.as_str() == Some(SCHEMA_VERSION) => {}
            Some(version) => {
                return Err(CatalogError::OtherVersion(
                    version
                        .as_str()
                        .map_or_else(|| version.to_string(), ToOwned::to_owned),
                ));
            }
        }
        let entries = file
            .get("models")
            .and_then(Value::as_array)
            .ok_or(CatalogError::NoModels)?;
        let (mut models, mut vintages) = (self.models, self.vintages);
        let mut dated = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let name = |key| {
                entry
                    .get(key)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            let (provider, id) = name("provider")
                .zip(name("id"))
                .ok_or(CatalogError::Nameless(at + 1))?;
            let known = models
                .iter_mut()
                .find(|model| model.id == id && model.provider.as_str() == provider);
            let model =
                laid_over(known.as_deref(), entry).map_err(|source| CatalogError::Entry {
                    model: ModelRef::new(provider, id),
                    source,
                })?;
            // Prices that the entry does not give are those of the file below.
            dated.extend(entry.get("prices").map(|_| model.clone()));
            match known {
                Some(known) => *known = model,
                None => models.push(model),
            }
        }
        vintages.push(PriceTableAge::of(of, &dated));
        Ok(Self { models, vintages })
    }

    /// The same, with the size of a model's context as its server reports it.
    #[must_use]
    pub fn with_context(mut self, model: &ModelRef, context: u64) -> Self {
        match self
            .models
            .iter_mut()
            .find(|known| known.provider == model.provider && known.id == model.model)
        {
            Some(known) => known.context = Some(context),
            None => self.models.push(Model {
                context: Some(context),
                ..Model::named(model)
            }),
        }
        self
    }

    /// All models, in the order of the file.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// How old the prices are, file by file.
    pub fn vintages(&self) -> &[PriceTableAge] {
        &self.vintages
    }

    /// What a user should know about the age of the prices.
    pub fn age_warnings(&self, now: Timestamp) -> Vec<String> {
        age::warnings(&self.vintages, now)
    }

    /// What is known of a model, also under a dated name of it, and of one that is resold by what
    /// is known of it at its own vendor.
    pub fn find(&self, model: &ModelRef) -> Option<&Model> {
        self.at_own_vendor(model).or_else(|| {
            resale::at_its_vendor(model)
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

    /// The model that a user means: `provider:model` as it stands, or the bare name of a known
    /// model.
    pub fn resolve(&self, name: &str) -> Result<ModelRef, UnknownModel> {
        // A name with a slash before its first colon is a resold model's with a suffix: no provider
        // is called like that.
        let provider_and_model = name
            .parse()
            .ok()
            .filter(|model: &ModelRef| !model.provider.as_str().contains('/'));
        if let Some(model) = provider_and_model {
            return Ok(model);
        }
        let refs = self.models.iter().map(|model| ModelRef {
            provider: model.provider.clone(),
            model: name.to_owned(),
        });
        refs.into_iter()
            .find(|model| self.at_own_vendor(model).is_some())
            .ok_or_else(|| UnknownModel {
                name: name.to_owned(),
                suggestions: self.closest(name),
            })
    }

    fn closest(&self, name: &str) -> Vec<String> {
        let name = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = self
            .models
            .iter()
            .map(|model| (strsim::jaro_winkler(&name, &model.id), model.id.as_str()))
            .filter(|near| near.0 > 0.8)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        near.into_iter()
            .take(3)
            .map(|(_, id)| id.to_owned())
            .collect()
    }

    /// The prices in force at a moment.
    pub fn prices(&self, now: Timestamp) -> PriceList {
        let today = now.day();
        let in_force = |model: &Model| Some((model.to_ref(), model.price_on(today)?.price()));
        PriceList(
            self.models
                .iter()
                .filter_map(in_force)
                .collect::<BTreeMap<_, _>>(),
        )
    }

    /// The prices in force at a moment, and with them those of models that are priced as another
    /// is: a resold one as at its own vendor.
    pub fn prices_with<'a>(
        &self,
        models: impl IntoIterator<Item = &'a ModelRef>,
        now: Timestamp,
    ) -> PriceList {
        let today = now.day();
        let mut prices = self.prices(now);
        for model in models {
            if let (None, Some(price)) = (
                prices.price(model),
                self.find(model).and_then(|known| known.price_on(today)),
            ) {
                prices.0.insert(model.clone(), price.price());
            }
        }
        prices
    }

    /// The models of a provider's default panel, the first choice first.
    pub fn defaults(&self, provider: &ProviderId) -> Vec<&Model> {
        let mut ranked: Vec<&Model> = self
            .models
            .iter()
            .filter(|model| model.provider == *provider && model.rank.is_some())
            .collect();
        ranked.sort_by_key(|model| model.rank);
        ranked
    }

    /// What a user of this model should know before anything is spent: that it has retired, or soon
    /// will.
    pub fn notices(&self, model: &ModelRef, now: Timestamp) -> Option<String> {
        let known = self.find(model)?;
        let day = known.retires?;
        let left = days_between(now.day(), day);
        let successor = known
            .successor
            .as_ref()
            .map(|id| resale::sold_alike(model, id).unwrap_or_else(|| id.clone()));
        let instead = successor
            .map(|successor| format!("; use `{successor}`"))
            .unwrap_or_default();
        match left {
            ..=0 => Some(format!("`{}` retired on {day}{instead}", model.model)),
            1..=NOTICE_DAYS => Some(format!("`{}` retires on {day}{instead}", model.model)),
            _ => None,
        }
    }
}

fn laid_over(known: Option<&Model>, entry: &Value) -> Result<Model, serde_json::Error> {
    let mut fields = match known.map(serde_json::to_value).transpose()? {
        Some(Value::Object(fields)) => fields,
        Some(_) | None => serde_json::Map::new(),
    };
    fields.extend(
        entry
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    serde_json::from_value(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::MicroUsd;

    fn at(date: &str) -> Timestamp {
        serde_json::from_str(&format!("\"{date}T00:00:00Z\"")).unwrap()
    }

    #[test]
    fn the_builtin_file_is_read_whole_and_every_price_has_a_source() {
        let catalog = ModelCatalog::empty()
            .lay_over(include_str!("models.json"), PriceTable::ThisProgram)
            .unwrap();
        assert!(catalog.models().len() > 50);
        for model in catalog.models() {
            assert!(
                (1..=3).contains(&model.tier)
                    && model.context.is_some()
                    && model.max_output.is_some(),
                "{}",
                model.id
            );
            assert!(
                model
                    .prices
                    .iter()
                    .all(|price| price.as_of.is_some() && price.source != "user")
                    && !model.prices.is_empty()
            );
            let successor = model
                .successor
                .as_ref()
                .map(|id| ModelRef::new(model.provider.as_str(), id));
            assert!(
                successor.is_none_or(|successor| catalog
                    .find(&successor)
                    .is_some_and(|model| model.retires.is_none())),
                "{}",
                model.id
            );
        }
    }

    #[test]
    fn figures_are_exact_and_change_on_their_day() {
        let catalog = ModelCatalog::builtin();
        let argon = ModelRef::new("google", "gemini-4-argon");
        let input = |date| catalog.prices(at(date)).price(&argon).unwrap().base.input;
        assert_eq!(
            (input("2026-11-30"), input("2026-12-01")),
            (MicroUsd(2_000_000), MicroUsd(4_000_000))
        );
        let prices = catalog.prices(at("2026-11-21"));
        let mini = prices
            .price(&ModelRef::new("openai", "gpt-5.4-mini"))
            .unwrap();
        assert_eq!(mini.base.cache_read, Some(MicroUsd(75_000)));
        let sol = prices
            .price(&ModelRef::new("openai", "gpt-6.1-sol"))
            .unwrap();
        let tier = sol.long_context.unwrap();
        assert_eq!(
            (tier.above_tokens, tier.rates.output),
            (272_000, MicroUsd(15_000_000))
        );
    }

    #[test]
    fn default_panels_are_in_rank_order_and_have_not_retired() {
        let catalog = ModelCatalog::builtin();
        let ids = |provider| {
            catalog
                .defaults(&ProviderId::new(provider))
                .iter()
                .map(|model| model.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            ids("anthropic"),
            ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"]
        );
        assert_eq!(ids("openai"), ["gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-sol"]);
        assert_eq!(
            ids("google"),
            [
                "gemini-4-argon",
                "gemini-3.8-flash",
                "gemini-3.1-pro-preview"
            ]
        );
        assert_eq!(ids("xai"), ["grok-4.7", "grok-4.6", "grok-4.3"]);
        assert_eq!(
            ids("mistral"),
            [
                "mistral-large-4",
                "mistral-medium-latest",
                "mistral-small-latest"
            ]
        );
        assert_eq!(
            ids("openrouter"),
            [
                "anthropic/claude-sonnet-5.5",
                "openai/gpt-6.1-sol",
                "google/gemini-4-argon"
            ]
        );
        assert!(
            catalog
                .models()
                .iter()
                .all(|model| model.rank.is_none() || model.retires.is_none())
        );
    }

    #[test]
    fn every_vendor_has_a_first_choice_of_the_best_tier() {
        let file: Value = serde_json::from_str(include_str!("models.json")).unwrap();
        let entries = file["models"].as_array().unwrap();
        assert_eq!(
            entries
                .iter()
                .filter(|entry| entry["tier"].is_null())
                .map(|entry| &entry["id"])
                .collect::<Vec<_>>(),
            [""; 0]
        );
        let catalog = ModelCatalog::builtin();
        for model in catalog.models() {
            let first = catalog
                .defaults(&model.provider)
                .first()
                .map(|first| (first.rank, first.tier));
            assert_eq!(
                first,
                Some((Some(1), 1)),
                "the fallback of {}",
                model.provider
            );
        }
    }

    #[test]
    fn a_bare_name_finds_its_provider_or_suggestions() {
        let catalog = ModelCatalog::builtin();
        assert_eq!(
            catalog.resolve("claude-sonnet-5-5").unwrap(),
            ModelRef::new("anthropic", "claude-sonnet-5-5")
        );
        assert_eq!(
            catalog.resolve("gpt-6.1-sol-2026-09-01").unwrap(),
            ModelRef::new("openai", "gpt-6.1-sol-2026-09-01")
        );
        assert_eq!(
            catalog.resolve("openai:anything").unwrap(),
            ModelRef::new("openai", "anything")
        );
        assert_eq!(
            catalog.resolve("grok-4.7").unwrap(),
            ModelRef::new("xai", "grok-4.7")
        );
        assert_eq!(
            catalog.resolve("codestral-latest").unwrap(),
            ModelRef::new("mistral", "codestral-latest")
        );
        assert_eq!(
            catalog.resolve("openai/gpt-6.1-sol").unwrap(),
            ModelRef::new("openrouter", "openai/gpt-6.1-sol")
        );
        assert_eq!(
            catalog.resolve("vendor/name:free").unwrap_err().name,
            "vendor/name:free"
        );
        let error = catalog.resolve("claude-sonet-5-5").unwrap_err();
        assert_eq!(
            error.suggestions.first().map(String::as_str),
            Some("claude-sonnet-5-5")
        );
        assert!(
            error
                .to_string()
                .starts_with("unknown model `claude-sonet-5-5`; did you mean `claude-sonnet-5-5`"),
            "{error}"
        );
        assert_eq!(
            catalog.resolve("zzz").unwrap_err().to_string(),
            "unknown model `zzz`"
        );
    }

    #[test]
    fn users_entries_replace_single_fields_and_add_models() {
        let file = r#"{"models":[{"provider":"openai","id":"gpt-6.1-sol","prices":[{"input":1,"output":2.5}]},{"provider":"x","id":"new"}]}"#;
        let catalog = ModelCatalog::builtin().merge(file).unwrap();
        let sol = catalog
            .find(&ModelRef::new("openai", "gpt-6.1-sol"))
            .unwrap();
        assert_eq!(
            (
                sol.rank,
                sol.prices[0].source.as_str(),
                sol.prices[0].output.0
            ),
            (Some(1), "user", MicroUsd(2_500_000))
        );
        assert!(catalog.find(&ModelRef::new("x", "new")).is_some());
        assert!(
            catalog
                .prices(at("2026-11-21"))
                .price(&ModelRef::new("x", "new"))
                .is_none(),
            "no price is never a price of zero"
        );
    }

    #[test]
    fn a_malformed_file_is_refused_by_name() {
        let error = |json: &str| {
            let error = ModelCatalog::builtin().merge(json).unwrap_err();
            let source = std::error::Error::source(&error)
                .map(|source| format!(": {source}"))
                .unwrap_or_default();
            format!("{error}{source}")
        };
        assert!(error("{").starts_with("not JSON: "));
        assert_eq!(error("{}"), "no list `models`");
        assert_eq!(
            error(r#"{"schema_version":"9","models":[]}"#),
            "schema_version `9`; this program reads `1.0`"
        );
        assert_eq!(
            error(r#"{"models":[{"id":"x"}]}"#),
            "entry 1 names no `provider` and `id`"
        );
        assert!(
            error(r#"{"models":[{"provider":"x","id":"y","teir":1}]}"#)
                .starts_with("the entry of `x:y`: unknown field `teir`")
        );
        assert!(
            error(r#"{"models":[{"provider":"x","id":"y","retires":"soon"}]}"#)
                .contains("`soon` is not a date")
        );
        assert!(
            error(r#"{"models":[{"provider":"x","id":"y","prices":[{"input":-1,"output":1}]}]}"#)
                .contains("`-1` is not a price")
        );
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

    #[test]
    fn figures_on_which_sources_disagree_are_marked_with_a_word() {
        let catalog = ModelCatalog::builtin();
        let approximate: Vec<&Model> = catalog
            .models()
            .iter()
            .filter(|model| model.prices.iter().any(|price| price.approximate))
            .collect();
        assert_eq!(
            approximate
                .iter()
                .map(|model| model.id.as_str())
                .collect::<Vec<_>>(),
            ["mistral-large-4", "open-mistral-nemo"]
        );
        assert!(approximate.iter().all(|model| {
            model
                .note
                .as_ref()
                .is_some_and(|note| note.starts_with("sources disagree"))
        }));
    }

    #[test]
    fn the_age_of_prices_is_that_of_the_file_that_gives_them() {
        let file = r#"{"models":[{"provider":"openai","id":"gpt-6.1-sol","tier":1},
            {"provider":"x","id":"new","prices":[{"input":1,"output":2,"as_of":"2026-01-02"}]}]}"#;
        let catalog = ModelCatalog::builtin().merge(file).unwrap();
        let warnings: Vec<_> = catalog
            .vintages()
            .iter()
            .map(|vintage| (vintage.of, vintage.newest.unwrap().to_string()))
            .collect();
        assert_eq!(
            warnings,
            [
                (PriceTable::ThisProgram, "2026-11-21".to_owned()),
                (PriceTable::TheUser, "2026-01-02".to_owned())
            ]
        );
        assert_eq!(catalog.age_warnings(at("2026-11-21")).len(), 1);
        assert_eq!(
            ModelCatalog::builtin().age_warnings(at("2027-01-20")),
            Vec::<String>::new()
        );
        assert_eq!(
            ModelCatalog::builtin().age_warnings(at("2027-01-21")).len(),
            1
        );
    }
}
