//! Words that texts are read by. They stand in tables beside the code.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The tests read each file.
pub fn load<T: DeserializeOwned + Default>(file: &str) -> T {
    toml::from_str(file).unwrap_or_default()
}

/// Words or phrases, in lower case.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct WordList(Vec<String>);

impl WordList {
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word)
    }

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

/// Lists by their names, which code takes from the file as they stand there.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct WordLists(pub BTreeMap<String, WordList>);

impl WordLists {
    pub fn list(&self, name: &str) -> &WordList {
        static NONE: WordList = WordList(Vec::new());
        let list = self.0.get(name);
        debug_assert!(list.is_some(), "there is no list `{name}`");
        list.unwrap_or(&NONE)
    }
}
