//! The form in which a model is asked, and what a refusal teaches about it. Pure.
//!
//! Models differ in what they take. A request begins in the best form that is known; a refusal that
//! names a part of it leads to a lesser form, which is kept for all later calls to that model.
//! Whether a refused call is made again is not decided here.

mod adjustment;
mod limits;
mod parameters;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::consultation::protocol::call::{Ask, join};
use crate::domain::tokens::estimate_tokens;

use crate::domain::dialect::{JsonMode, Quirks, TokensField};

pub use crate::domain::dialect::Structure;
pub use adjustment::{Adjustment, Refusal};
pub use limits::Window;
pub use parameters::Parameters;

/// An answer in less room than this is none: a prompt that leaves no more does not fit.
pub const LEAST_ROOM: u64 = 256;

/// The form of a request to one model. What is learnt only ever makes it lesser, so learning comes
/// to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub structure: Structure,
    /// Whether there is a step between schema and prompt.
    pub json_mode: JsonMode,
    pub tokens_field: TokensField,
    /// The other name has been tried, and refused.
    pub tokens_field_swapped: bool,
    pub system: SystemPlace,
    /// The model's context in tokens, where it is known beforehand.
    pub context: Option<u64>,
    /// Most tokens of an answer, where the model has refused more.
    pub most_room: Option<u64>,
    /// What prompt and answer must fit in together, where the server has refused more.
    pub window: Option<Window>,
    /// Fields that the model does not take, as paths in the body: `temperature`,
    /// `generationConfig.topK`.
    pub left_out: BTreeSet<String>,
}

/// Where the system prompt goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemPlace {
    /// Its own, which most servers have.
    Own,
    /// Before the user's message, for models whose template knows no system role.
    UserMessage,
}

impl Form {
    /// The form to begin with.
    pub fn new(structure: Structure, quirks: Quirks) -> Self {
        Self {
            structure,
            json_mode: quirks.json_mode,
            tokens_field: quirks.tokens_field,
            tokens_field_swapped: false,
            system: SystemPlace::Own,
            context: None,
            most_room: None,
            window: None,
            left_out: BTreeSet::new(),
        }
    }

    /// Most tokens of the answer to this call: what was wanted, as far as the model gives it.
    pub fn room(&self, ask: &Ask) -> u64 {
        let left = self.window.as_ref().map(|window| window.room(ask));
        [self.most_room, left]
            .into_iter()
            .flatten()
            .fold(ask.max_output_tokens, u64::min)
            .max(1)
    }

    /// The system prompt, unless it goes elsewhere, and the user's message.
    ///
    /// Servers refuse their JSON mode, or write blanks for ever, when no message asks for JSON.
    pub fn messages(&self, ask: &Ask) -> (Option<String>, String) {
        let (mut system, user) = (ask.prompt.system(), ask.prompt.user());
        let says_json = |text: &str| text.to_ascii_lowercase().contains("json");
        if self.structure == Structure::JsonObject && !says_json(&system) && !says_json(&user) {
            system = join([&system, &"Answer with one JSON object.".to_owned()]);
        }
        match self.system {
            SystemPlace::Own if !system.is_empty() => (Some(system), user),
            SystemPlace::Own => (None, user),
            SystemPlace::UserMessage => (None, join([&system, &user])),
        }
    }

    /// Lays the user's parameters over a request's body and takes out what the model does not take.
    pub fn complete(&self, body: &mut Value, parameters: serde_json::Map<String, Value>) {
        parameters::lay_over(body, parameters);
        for path in &self.left_out {
            parameters::remove(body, path);
        }
    }
}

/// The paths of a body's fields and of the fields of its objects, the inner ones first.
pub fn parts(body: &Value) -> Vec<String> {
    body.as_object().map(parameters::paths).unwrap_or_default()
}

/// Our own count of a call's prompt.
pub fn prompt_tokens(ask: &Ask) -> u64 {
    estimate_tokens(&ask.prompt.text())
}
