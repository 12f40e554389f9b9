//! The keys that this program holds, found by value: plain, and as JSON and URLs write them, also
//! several times over, as JSON in a string of JSON does.

use std::cmp::Reverse;
use std::fmt;

use regex::bytes::{Regex, RegexBuilder};
use secrecy::{ExposeSecret, SecretString};

/// Shorter values could be words.
const SHORTEST: usize = 8;

/// All own keys in all forms.
pub(super) struct OwnKeys(Option<Regex>);

impl OwnKeys {
    pub(super) fn new(keys: &[SecretString]) -> Self {
        let keys = keys.iter().map(|key| key.expose_secret().trim());
        let mut keys: Vec<&str> = keys.filter(|key| key.len() >= SHORTEST).collect();
        // Of two that begin at one place, the longer one is meant.
        keys.sort_by_key(|key| Reverse(key.len()));
        let forms: Vec<String> = keys.into_iter().map(forms).collect();
        let regex = RegexBuilder::new(&forms.join("|")).unicode(false).build();
        Self(regex.ok().filter(|_| !forms.is_empty()))
    }

    /// In order.
    pub(super) fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let found = self
            .0
            .iter()
            .flat_map(|keys| keys.find_iter(text.as_bytes()));
        found.map(|found| (found.start(), found.end())).collect()
    }
}

impl fmt::Debug for OwnKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnKeys")
    }
}

/// Letters and digits are the same in all forms of a key.
fn forms(key: &str) -> String {
    let form = |c: char| {
        let text = c.to_string();
        let plain = if c == ' ' {
            "[ +]"
        } else {
            &regex::escape(&text)
        };
        if c.is_ascii_alphanumeric() || "-._~".contains(c) {
            return plain.to_owned();
        }
        let json = text.encode_utf16().map(|unit| format!(r"\\+u{unit:04x}"));
        let url = text.bytes().map(|byte| format!("%(?:25)*{byte:02x}"));
        let (json, url) = (json.collect::<String>(), url.collect::<String>());
        format!(r"(?:\\*{plain}|(?i:{json}|{url}))")
    };
    key.chars().map(form).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_keys_that_begin_alike_the_longer_one_is_found() {
        let keys = ["unlikely", "unlikely-custard"].map(SecretString::from);
        let found = OwnKeys::new(&keys).find("a unlikely-custard, unlikely");
        assert_eq!(found, [(2, 18), (20, 28)]);
    }
}
