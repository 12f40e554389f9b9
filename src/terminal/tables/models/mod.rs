//! The list of models as `conclave models` shows it: plain data, which is also its JSON; `screen`
//! draws it.

mod screen;
mod figures;

pub use self::screen::screen;

use jiff::civil::Date;
use serde::Serialize;

/// All models that can be asked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelList {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// The date of prices and retirements, in UTC.
    pub date: Date,
    pub providers: Vec<ProviderModels>,
    pub local_servers: Vec<ServerModels>,
    pub embedded: EmbeddedModels,
    /// The number of retired models not listed; `--all` lists them.
    pub retired_left_out: usize,
    pub warnings: Vec<String>,
}

impl ModelList {
    /// Removes the models whose provider, name and tier do not contain this text, in any case, and
    /// providers without a model. An empty text removes nothing.
    pub fn keep_only(&mut self, text: &str) {
        let wanted = text.trim().to_lowercase();
        if wanted.is_empty() {
            return;
        }
        let matches = |parts: &str| parts.to_lowercase().contains(&wanted);
        for ProviderModels { name, models, .. } in &mut self.providers {
            models.retain(|model| matches(&format!("{name} {} tier {}", model.model, model.tier)));
        }
        for ServerModels { name, models, .. } in &mut self.local_servers {
            models.retain(|model| matches(&format!("{name} {}", model.model)));
        }
        let embedded = &mut self.embedded.models;
        embedded.retain(|model| matches(&format!("embedded {}", model.model)));
        self.providers
            .retain(|provider| !provider.models.is_empty());
        self.local_servers
            .retain(|server| !server.models.is_empty());
    }

    /// Removes the models that have retired, and counts them.
    pub fn leave_out_retired(&mut self) {
        for ProviderModels { models, .. } in &mut self.providers {
            let before = models.len();
            models.retain(|model| !model.retired);
            self.retired_left_out += before - models.len();
        }
    }

    /// Returns whether no model is listed or left out.
    pub fn is_empty(&self) -> bool {
        self.retired_left_out == 0
            && self
                .providers
                .iter()
                .all(|provider| provider.models.is_empty())
            && self
                .local_servers
                .iter()
                .all(|server| server.models.is_empty())
            && self.embedded.models.is_empty()
    }
}

/// The models of one provider in the cloud.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProviderModels {
    pub id: String,
    pub name: String,
    /// True if its key is set.
    pub has_key: bool,
    /// The variables of its key; empty for an endpoint of the user.
    pub key_variables: Vec<String>,
    pub models: Vec<CloudModel>,
}

/// One model and its price.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CloudModel {
    /// As a command takes it: `anthropic:claude-sonnet-5-5`.
    pub model: String,
    pub id: String,
    /// 1 is a vendor's best, 3 its cheap and fast one.
    #[cfg_attr(test, schemars(range(min = 1, max = 3)))]
    pub tier: u8,
    /// Its place in the vendor's default panel, from 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub default_rank: Option<u32>,
    /// The largest prompt in tokens.
    pub context: Option<u64>,
    /// The largest answer in tokens.
    pub max_output: Option<u64>,
    /// The price in force; `None` is unknown, never free.
    pub price: Option<ModelPrice>,
    /// Announced prices, in order.
    pub later_prices: Vec<ModelPrice>,
    /// The day from which it does not answer.
    pub retires: Option<Date>,
    pub retired: bool,
    /// The id of the replacement at the same provider.
    pub successor: Option<String>,
    pub note: Option<String>,
}

/// Dollars for a million tokens.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelPrice {
    /// The first day of the price; `None` if it has no known start.
    pub from: Option<Date>,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub input: f64,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub output: f64,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cache_read: Option<f64>,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cache_write: Option<f64>,
    pub long_context: Option<LongContextPrice>,
    /// True if the sources disagree.
    pub approximate: bool,
    pub source: String,
    /// The day on which the source was published.
    pub as_of: Option<Date>,
}

/// Dollars for a million tokens of a request with a longer prompt, all of which is billed so.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LongContextPrice {
    /// The tokens of the prompt above which these prices hold.
    pub above_tokens: u64,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub input: f64,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub output: f64,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cache_read: Option<f64>,
}

/// The models of a server on the user's own machine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerModels {
    pub id: String,
    pub name: String,
    pub address: String,
    pub version: Option<String>,
    #[cfg_attr(test, schemars(extend("enum" = ["ready", "loading", "locked"])))]
    pub condition: &'static str,
    pub models: Vec<LocalModel>,
}

/// A model of a local server.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LocalModel {
    pub model: String,
    pub id: String,
    pub parameters: Option<u64>,
    pub context: Option<u64>,
    pub loaded: bool,
    /// True if it runs on the user's own machine or network and costs nothing; false for a cloud
    /// model behind the server.
    pub free: bool,
    /// True if it gets short prompts.
    pub small_prompts: bool,
}

/// The models that run inside this program.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EmbeddedModels {
    /// True if this build can run them.
    pub built_in: bool,
    pub models: Vec<EmbeddedModel>,
}

/// One embedded model.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EmbeddedModel {
    pub model: String,
    pub id: String,
    pub bytes: u64,
    pub context: u64,
    pub licence: String,
    pub installed: bool,
    pub good_for: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<ModelList>("models", "What `conclave models --json` prints");
    }
}
