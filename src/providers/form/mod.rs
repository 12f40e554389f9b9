//! The form of requests to a model, and its adjustment after refusals. Pure.
//!
//! Models differ in the requests that they accept. A request starts in the best known form; a
//! refusal that names a part of it leads to a simpler form, which applies to all later calls to
//! that model. Retries are not decided here.

mod adjustment;
mod caching;
mod limits;
mod parameters;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, join};

use crate::domain::model::dialect::{JsonMode, Quirks, TokensField};

pub use crate::domain::model::dialect::Structure;
pub use adjustment::{Adjustment, Refusal};
pub use caching::CacheMark;
pub(super) use caching::content;
pub use limits::Window;
pub use parameters::Parameters;

/// The smallest useful output limit: a prompt that leaves fewer tokens does not fit.
pub const MIN_OUTPUT_TOKENS: u64 = 256;

/// The form of requests to one model. Invariant: an adjustment only simplifies it, so adjustments
/// end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub structure: Structure,
    /// Whether there is a JSON mode between schema and prompt.
    pub json_mode: JsonMode,
    pub tokens_field: TokensField,
    /// Whether the other field name was refused.
    pub tokens_field_swapped: bool,
    pub system: SystemPlace,
    /// The model's context in tokens, if known in advance.
    pub context: Option<u64>,
    /// The largest accepted output limit, if the model has refused a larger one.
    pub output_limit: Option<u64>,
    /// The limit of prompt and answer together, if the server has refused more.
    pub window: Option<Window>,
    /// Fields that the model refuses, as paths in the body: `temperature`, `generationConfig.topK`.
    pub left_out: BTreeSet<String>,
}

/// The place of the system prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemPlace {
    /// A message of its own, as most servers support.
    Own,
    /// Before the user's message, for models whose template knows no system role.
    UserMessage,
}

/// The texts of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// `None` if there is none, or it is part of the user's message.
    pub system: Option<String>,
    /// The user's message in blocks that follow each other without a break. The first of two is the
    /// context, which is cached.
    pub user: Vec<String>,
}

impl Form {
    pub fn new(structure: Structure, quirks: Quirks) -> Self {
        Self {
            structure,
            json_mode: quirks.json_mode,
            tokens_field: quirks.tokens_field,
            tokens_field_swapped: false,
            system: SystemPlace::Own,
            context: None,
            output_limit: None,
            window: None,
            left_out: BTreeSet::new(),
        }
    }

    /// The requested one, reduced to the known limits.
    pub fn max_output_tokens(&self, ask: &Ask) -> u64 {
        let left = self.window.as_ref().map(|window| window.output_tokens(ask));
        [self.output_limit, left]
            .into_iter()
            .flatten()
            .fold(ask.max_output_tokens, u64::min)
            .max(1)
    }

    /// Returns the texts of a request.
    ///
    /// In JSON mode, servers refuse the request or write endless blanks unless a message mentions
    /// JSON.
    pub fn messages(&self, ask: &Ask) -> Messages {
        let prompt = &ask.prompt;
        let is_cached = ask.cache_key.is_some();
        let mut system = prompt.system();
        let mut user = if is_cached {
            prompt.after_context()
        } else {
            prompt.user()
        };
        let says_json = |text: &str| text.to_ascii_lowercase().contains("json");
        if self.structure == Structure::JsonObject && !says_json(&system) && !says_json(&user) {
            // A cached beginning stays the same in all calls.
            let place = if is_cached { &mut user } else { &mut system };
            *place = join([place.as_str(), "Answer with one JSON object."]);
        }
        let mut beginning = is_cached.then(|| prompt.context.as_str().trim().to_owned());
        let system = match self.system {
            SystemPlace::Own => Some(system).filter(|system| !system.is_empty()),
            SystemPlace::UserMessage => {
                let first = beginning.as_mut().unwrap_or(&mut user);
                *first = join([system.as_str(), first]);
                None
            }
        };
        let beginning = beginning.map(|beginning| format!("{beginning}\n\n"));
        let user = beginning.into_iter().chain([user]).collect();
        Messages { system, user }
    }

    pub(super) fn chat_messages(&self, ask: &Ask, mark: Option<CacheMark>) -> Vec<Value> {
        let Messages { system, user } = self.messages(ask);
        let system = system.map(|system| json!({"role": "system", "content": system}));
        let user = json!({"role": "user", "content": content(user, mark)});
        system.into_iter().chain([user]).collect()
    }

    /// Merges the user's parameters into a request's body and removes the fields that the model
    /// refuses.
    pub fn complete(&self, body: &mut Value, parameters: serde_json::Map<String, Value>) {
        parameters::lay_over(body, parameters);
        for path in &self.left_out {
            parameters::remove(body, path);
        }
    }
}

/// A parameter stands behind the parameters directly inside it.
pub fn parts(body: &Value) -> Vec<String> {
    body.as_object().map(parameters::paths).unwrap_or_default()
}

pub fn prompt_tokens(ask: &Ask) -> u64 {
    ask.prompt.tokens().expected
}
