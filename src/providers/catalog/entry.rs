//! One entry of the model catalog as written in `models.json`: prices as decimal dollars, days as
//! `YYYY-MM-DD`.

use jiff::civil::Date;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::cost::money::MicroUsd;
use crate::domain::cost::pricing::{LongContext, Price, Rates};
use crate::domain::ids::{ModelRef, ProviderId};

/// One model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub provider: ProviderId,
    pub id: String,
    /// 1 for a vendor's best, 2 for general use, 3 for cheap and fast.
    #[serde(default = "middle_tier")]
    pub tier: u8,
    /// Its place in its vendor's default panel, from 1. `None` leaves it out.
    pub rank: Option<u32>,
    /// The largest prompt in tokens.
    pub context: Option<u64>,
    /// The largest answer in tokens.
    pub max_output: Option<u64>,
    /// Whether the vendor enforces a JSON Schema on the answers of this model.
    #[serde(default = "yes")]
    pub supports_response_schema: bool,
    /// The retirement date; from this day the model does not answer.
    #[serde(default, deserialize_with = "day")]
    pub retires: Option<Date>,
    /// The id of the replacement at the same provider.
    pub successor: Option<String>,
    /// A note for users on the figures or the name.
    pub note: Option<String>,
    /// In the order of their dates.
    #[serde(default)]
    pub prices: Vec<DatedPrice>,
}

fn middle_tier() -> u8 {
    2
}

fn yes() -> bool {
    true
}

fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let day = text.parse().map(Some);
    day.map_err(|_| D::Error::custom(format!("`{text}` is not a date of the form YYYY-MM-DD")))
}

/// A price and the day from which it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DatedPrice {
    #[serde(default, deserialize_with = "day")]
    pub from: Option<Date>,
    pub input: UsdPerMtok,
    pub output: UsdPerMtok,
    pub cache_read: Option<UsdPerMtok>,
    pub cache_write: Option<UsdPerMtok>,
    pub long_context: Option<LongContextPrice>,
    /// The sources disagree; the figures are from one of them.
    #[serde(default)]
    pub approximate: bool,
    /// The source of the figures.
    #[serde(default = "own")]
    pub source: String,
    /// The publication date of the source.
    #[serde(default, deserialize_with = "day")]
    pub as_of: Option<Date>,
}

fn own() -> String {
    "user".to_owned()
}

/// The price for long contexts as written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LongContextPrice {
    pub above_tokens: u64,
    pub input: UsdPerMtok,
    pub output: UsdPerMtok,
    pub cache_read: Option<UsdPerMtok>,
    pub cache_write: Option<UsdPerMtok>,
}

/// Dollars per million tokens, as a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
pub struct UsdPerMtok(#[cfg_attr(test, schemars(with = "f64"))] pub MicroUsd);

impl TryFrom<f64> for UsdPerMtok {
    type Error = String;

    fn try_from(usd: f64) -> Result<Self, Self::Error> {
        MicroUsd::from_usd(usd)
            .map(Self)
            .ok_or_else(|| format!("`{usd}` is not a price in dollars"))
    }
}

impl From<UsdPerMtok> for f64 {
    fn from(price: UsdPerMtok) -> Self {
        price.0.usd()
    }
}

impl Model {
    /// Returns a model with only its name known.
    pub(super) fn named(model: &ModelRef) -> Self {
        Self {
            provider: model.provider.clone(),
            id: model.model.clone(),
            tier: middle_tier(),
            rank: None,
            context: None,
            max_output: None,
            supports_response_schema: yes(),
            retires: None,
            successor: None,
            note: None,
            prices: Vec::new(),
        }
    }

    pub fn to_ref(&self) -> ModelRef {
        ModelRef {
            provider: self.provider.clone(),
            model: self.id.clone(),
        }
    }

    pub fn has_retired_by(&self, day: Date) -> bool {
        self.retires.is_some_and(|retires| retires <= day)
    }

    /// In order.
    pub fn prices_after(&self, day: Date) -> impl Iterator<Item = (Date, &DatedPrice)> {
        self.prices
            .iter()
            .filter_map(move |price| Some((price.from.filter(|from| *from > day)?, price)))
    }

    pub fn price_on(&self, day: Date) -> Option<&DatedPrice> {
        self.prices
            .iter()
            .filter(|price| price.from.is_none_or(|from| from <= day))
            .max_by_key(|price| price.from)
    }
}

impl DatedPrice {
    pub fn price(&self) -> Price {
        Price {
            base: rates(self.input, self.output, self.cache_read, self.cache_write),
            long_context: self.long_context.as_ref().map(|tier| LongContext {
                above_tokens: tier.above_tokens,
                rates: rates(tier.input, tier.output, tier.cache_read, tier.cache_write),
            }),
        }
    }
}

fn rates(
    input: UsdPerMtok,
    output: UsdPerMtok,
    cache_read: Option<UsdPerMtok>,
    cache_write: Option<UsdPerMtok>,
) -> Rates {
    Rates {
        input: input.0,
        output: output.0,
        cache_read: cache_read.map(|rate| rate.0),
        cache_write: cache_write.map(|rate| rate.0),
    }
}
