//! Reading a file of models over a catalog: entries add models or replace single fields of known
//! ones.

use serde::Deserialize;
use serde_json::Value;

use super::{Model, ModelCatalog, PriceTable, PriceTableAge};
use crate::domain::ids::ModelRef;

/// The version of the file's format.
pub const SCHEMA_VERSION: &str = "1.0";

/// Errors of a file of models.
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

impl ModelCatalog {
    pub fn builtin() -> Self {
        #[derive(Default, Deserialize)]
        struct BuiltIn {
            models: Vec<Model>,
        }
        // A test reads the file, so the empty list is unreachable.
        let BuiltIn { models } =
            serde_json::from_str(include_str!("models.json")).unwrap_or_default();
        Self {
            vintages: vec![PriceTableAge::of(PriceTable::ThisProgram, &models)],
            models,
        }
    }

    /// The entries of `json` add models or replace single fields of known ones.
    pub fn merge(self, json: &str) -> Result<Self, CatalogError> {
        let file: Value = serde_json::from_str(json).map_err(CatalogError::NotJson)?;
        let version = file.get("schema_version");
        if let Some(version) = version.filter(|version| *version != SCHEMA_VERSION) {
            let version = version
                .as_str()
                .map_or_else(|| version.to_string(), str::to_owned);
            return Err(CatalogError::OtherVersion(version));
        }
        let entries = file
            .get("models")
            .and_then(Value::as_array)
            .ok_or(CatalogError::NoModels)?;
        let (mut models, mut vintages) = (self.models, self.vintages);
        let mut dated = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let name = |key: &str| entry[key].as_str().filter(|text| !text.is_empty());
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
            // An entry without prices keeps those of the earlier file, with their age.
            dated.extend(entry.get("prices").map(|_| model.clone()));
            match known {
                Some(known) => *known = model,
                None => models.push(model),
            }
        }
        vintages.push(PriceTableAge::of(PriceTable::TheUser, &dated));
        Ok(Self { models, vintages })
    }
}

fn laid_over(known: Option<&Model>, entry: &Value) -> Result<Model, serde_json::Error> {
    let mut fields = match known.map(serde_json::to_value).transpose()? {
        Some(Value::Object(fields)) => fields,
        Some(_) | None => serde_json::Map::new(),
    };
    fields.extend(entry.as_object().cloned().unwrap_or_default());
    serde_json::from_value(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cost::money::MicroUsd;
    use crate::domain::time::Timestamp;

    fn at(date: &str) -> Timestamp {
        serde_json::from_str(&format!("\"{date}T00:00:00Z\"")).unwrap()
    }

    #[test]
    fn the_builtin_file_is_read_whole_and_every_price_has_a_source() {
        let catalog = ModelCatalog::builtin();
        assert!(catalog.models.len() > 50);
        for model in &catalog.models {
            let id = &model.id;
            assert!((1..=3).contains(&model.tier), "{id}");
            assert!(
                model.context.is_some() && model.max_output.is_some(),
                "{id}"
            );
            let is_of_plan = model.provider.as_str() == "chatgpt";
            assert_eq!(model.prices.is_empty(), is_of_plan, "{id}");
            for price in &model.prices {
                assert!(price.as_of.is_some() && price.source != "user", "{id}");
            }
            if let Some(successor) = &model.successor {
                let successor = ModelRef::new(model.provider.as_str(), successor);
                assert_eq!(catalog.find(&successor).unwrap().retires, None, "{id}");
            }
        }
    }

    #[test]
    fn every_vendor_has_a_first_choice_of_the_best_tier() {
        let file: Value = serde_json::from_str(include_str!("models.json")).unwrap();
        for entry in file["models"].as_array().unwrap() {
            assert!(!entry["tier"].is_null(), "{entry}");
        }
        let catalog = ModelCatalog::builtin();
        for model in &catalog.models {
            let provider = &model.provider;
            let first = catalog.defaults(provider)[0];
            assert_eq!((first.rank, first.tier), (Some(1), 1), "{provider}");
        }
    }

    #[test]
    fn users_entries_replace_single_fields_and_add_models() {
        let file = r#"{"models":[{"provider":"openai","id":"gpt-6.1-sol","prices":[{"input":1,"output":2.5}]},{"provider":"x","id":"new"}]}"#;
        let catalog = ModelCatalog::builtin().merge(file).unwrap();
        let sol = ModelRef::new("openai", "gpt-6.1-sol");
        let sol = catalog.find(&sol).unwrap();
        assert_eq!(sol.rank, Some(1));
        assert_eq!(sol.prices[0].source, "user");
        assert_eq!(sol.prices[0].output.0, MicroUsd(2_500_000));
        let new = ModelRef::new("x", "new");
        assert!(catalog.find(&new).is_some());
        // No price is never a price of zero.
        assert_eq!(catalog.prices(at("2026-11-21")).price(&new), None);
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
        let entry = |fields: &str| error(&format!(r#"{{"models":[{{{fields}}}]}}"#));
        assert!(error("{").starts_with("not JSON: "));
        assert_eq!(error("{}"), "no list `models`");
        let version = error(r#"{"schema_version":"9","models":[]}"#);
        assert_eq!(version, "schema_version `9`; this program reads `1.0`");
        let nameless = entry(r#""id":"x""#);
        assert_eq!(nameless, "entry 1 names no `provider` and `id`");
        let unknown = entry(r#""provider":"x","id":"y","teir":1"#);
        let start = "the entry of `x:y`: unknown field `teir`";
        assert!(unknown.starts_with(start), "{unknown}");
        for (field, words) in [
            (r#""retires":"soon""#, "`soon` is not a date"),
            (
                r#""prices":[{"input":-1,"output":1}]"#,
                "`-1` is not a price",
            ),
        ] {
            let error = entry(&format!(r#""provider":"x","id":"y",{field}"#));
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn figures_on_which_sources_disagree_are_marked_with_a_word() {
        let catalog = ModelCatalog::builtin();
        let mut models = catalog.models.clone();
        models.retain(|model| model.prices.iter().any(|price| price.approximate));
        let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(ids, ["mistral-large-4", "open-mistral-nemo"]);
        for model in &models {
            let note = model.note.as_deref().unwrap();
            assert!(note.starts_with("sources disagree"), "{note}");
        }
    }

    #[test]
    fn the_age_of_prices_is_that_of_the_file_that_gives_them() {
        let file = r#"{"models":[{"provider":"openai","id":"gpt-6.1-sol","tier":1},
            {"provider":"x","id":"new","prices":[{"input":1,"output":2,"as_of":"2026-01-02"}]}]}"#;
        let catalog = ModelCatalog::builtin().merge(file).unwrap();
        let tables = [
            (PriceTable::ThisProgram, "2026-11-21"),
            (PriceTable::TheUser, "2026-01-02"),
        ];
        for (vintage, (table, newest)) in catalog.vintages.iter().zip(tables) {
            assert_eq!(vintage.of, table);
            assert_eq!(vintage.newest.unwrap().to_string(), newest);
        }
        assert_eq!(catalog.vintages.len(), 2);
        let warnings = |catalog: &ModelCatalog, day| catalog.age_warnings(at(day)).len();
        assert_eq!(warnings(&catalog, "2026-11-21"), 1);
        let builtin = ModelCatalog::builtin();
        assert_eq!(warnings(&builtin, "2027-01-20"), 0);
        assert_eq!(warnings(&builtin, "2027-01-21"), 1);
    }
}
