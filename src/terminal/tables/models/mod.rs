//! The list of models as `conclave models` shows it: plain data, which is also its JSON; `screen`
//! draws it.

mod screen;
mod figures;

pub use self::screen::screen;

use serde::Serialize;

/// All models that can be asked.
#[derive(Clone, Debug, Serialize)]
pub struct ModelList {
    pub schema_version: &'static str,
    /// The date of prices and retirements, in UTC.
    pub date: String,
    pub providers: Vec<ProviderModels>,
    pub local_servers: Vec<ServerModels>,
    pub embedded: EmbeddedModels,
    /// The number of retired models not listed.
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
pub struct CloudModel {
    /// As a command takes it: `anthropic:claude-sonnet-5-5`.
    pub model: String,
    pub id: String,
    /// 1 is a vendor's best, 3 its cheap and fast one.
    pub tier: u8,
    /// Its place in the vendor's default panel, from 1.
    pub default_rank: Option<u32>,
    pub context: Option<u64>,
    pub max_output: Option<u64>,
    /// The price in force; `None` is unknown, never free.
    pub price: Option<ModelPrice>,
    /// Announced prices, in order.
    pub later_prices: Vec<ModelPrice>,
    pub retires: Option<String>,
    pub retired: bool,
    pub successor: Option<String>,
    pub note: Option<String>,
}

/// Dollars for a million tokens.
#[derive(Clone, Debug, Serialize)]
pub struct ModelPrice {
    /// The day from which it holds; `None` for the first one.
    pub from: Option<String>,
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
    pub long_context: Option<LongContextPrice>,
    /// The sources disagree.
    pub approximate: bool,
    pub source: String,
    pub as_of: Option<String>,
}

/// Dollars for a million tokens of a request with a longer prompt.
#[derive(Clone, Debug, Serialize)]
pub struct LongContextPrice {
    pub above_tokens: u64,
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
}

/// The models of a server on the user's own machine.
#[derive(Clone, Debug, Serialize)]
pub struct ServerModels {
    pub id: String,
    pub name: String,
    pub address: String,
    pub version: Option<String>,
    /// `ready`, `loading` or `locked`.
    pub condition: &'static str,
    pub models: Vec<LocalModel>,
}

/// A model of a local server.
#[derive(Clone, Debug, Serialize)]
pub struct LocalModel {
    pub model: String,
    pub id: String,
    pub parameters: Option<u64>,
    pub context: Option<u64>,
    pub loaded: bool,
    /// It runs on this machine and costs nothing, unlike a cloud model behind the server.
    pub free: bool,
    /// It gets short prompts.
    pub small_prompts: bool,
}

/// The models that run inside this program.
#[derive(Clone, Debug, Serialize)]
pub struct EmbeddedModels {
    /// This build can run them.
    pub built_in: bool,
    pub models: Vec<EmbeddedModel>,
}

/// One embedded model.
#[derive(Clone, Debug, Serialize)]
pub struct EmbeddedModel {
    pub model: String,
    pub id: String,
    pub bytes: u64,
    pub context: u64,
    pub licence: String,
    pub installed: bool,
    pub good_for: String,
}
