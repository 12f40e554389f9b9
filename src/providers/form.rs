//! The form in which a model is asked, and what a refusal teaches about it. Pure.
//!
//! Models differ in what they take. A request begins in the best form that is known; a refusal that names a part of it leads to a lesser
//! form, which is kept for all later calls to that model.

use super::dialect::{Quirks, TokensField};

/// How the shape of an answer is asked for, from the best to what every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structure {
    /// The vendor is given the schema and holds the model to it.
    Schema,
    /// The vendor holds the model to JSON, the prompt says which.
    JsonObject,
    /// The prompt alone says what is wanted.
    Prompt,
}

/// The form of a request to one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub structure: Structure,
    pub tokens_field: TokensField,
}

impl Form {
    /// The form to begin with.
    pub fn new(structure: Structure, quirks: Quirks) -> Self {
        Self { structure, tokens_field: quirks.tokens_field }
    }
}
