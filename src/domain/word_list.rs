//! Words that texts are read by. They stand in tables beside the code.

use std::ops::Deref;

use serde::Deserialize;

/// Words or phrases, in lower case.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct WordList(Vec<String>);

impl WordList {
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word)
    }

    /// Returns whether one of them occurs in a text.
    pub fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|known| text.contains(known.as_str()))
    }
}

impl Deref for WordList {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}
