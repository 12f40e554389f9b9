//! The list of models as `conclave models` shows it: plain data, which is also its JSON; `screen`
//! draws it.

mod screen;
mod figures;

pub use self::screen::screen;

use serde::Serialize;

/// Everything that can be asked.
#[derive(Clone, Debug, Serialize)]
pub struct ModelList {
    pub schema_version: &'static str,
    /// The day for which prices and retirements hold, in UTC.
    pub date: String,
    pub providers: Vec<ProviderModels>,
    pub local_servers: Vec<ServerModels>,
    pub embedded: EmbeddedModels,
    /// Retired models that are left out.
    pub retired_left_out: usize,
    pub warnings: Vec<String>,
}

/// The models of one provider in the cloud.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderModels {
    pub id: String,
    pub name: String,
    /// True when its key is set.
    pub has_key: bool,
    /// The variables that its key is looked for in; empty for a provider that only the user knows.
    pub key_variables: Vec<String>,
    pub models: Vec<CloudModel>,
}

/// One model with what it costs.
#[derive(Clone, Debug, Serialize)]
pub struct CloudModel {
    /// As a command takes it: `anthropic:claude-sonnet-5-5`.
    pub model: String,
    pub id: String,
    /// 1 is a vendor's best, 3 what is cheap and quick.
    pub tier: u8,
    /// Its place in the vendor's default panel, from 1.
    pub default_rank: Option<u32>,
    pub context: Option<u64>,
    pub max_output: Option<u64>,
    /// The price in force; `None` is unknown, never free.
    pub price: Option<ModelPrice>,
    /// Prices that are announced, in their order.
    pub later_prices: Vec<ModelPrice>,
    pub retires: Option<String>,
    pub retired: bool,
    pub successor: Option<String>,
    pub note: Option<String>,
}

/// Dollars for a million tokens.
#[derive(Clone, Debug, Serialize)]
pub struct ModelPrice {
    /// The day from which it holds; `None` for one that held before.
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

/// Dollars for a million tokens of a request whose prompt is longer than this.
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
    /// It runs on this machine and costs nothing. A model in a vendor's cloud behind the server
    /// does not.
    pub free: bool,
    /// It is asked with short prompts.
    pub small_prompts: bool,
}

/// The models that run inside this program.
#[derive(Clone, Debug, Serialize)]
pub struct EmbeddedModels {
    /// This build can run them.
    pub built_in: bool,
    pub models: Vec<EmbeddedModel>,
}

/// One of them.
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
