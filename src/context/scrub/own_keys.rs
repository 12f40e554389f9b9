//! The keys that this program holds, found by value: plain, percent-encoded and as in JSON.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use aho_corasick::{AhoCorasick, MatchKind};
use secrecy::{ExposeSecret, SecretString};

/// Shorter values could be words.
const SHORTEST: usize = 8;

/// The forms of all own keys.
pub(super) struct OwnKeys(Option<AhoCorasick>);

impl OwnKeys {
    pub(super) fn new(keys: &[SecretString]) -> Self {
        let mut forms = BTreeSet::new();
        for key in keys {
            let key = key.expose_secret().trim();
            if key.len() >= SHORTEST {
                forms.insert(key.to_owned());
                forms.insert(percent_encoded(key));
                forms.insert(json_escaped(key));
            }
        }
        if forms.is_empty() {
            return Self(None);
        }
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest);
        Self(builder.build(forms).ok())
    }

    /// Returns the places of the keys in the text, in order.
    pub(super) fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let Some(keys) = &self.0 else {
            return Vec::new();
        };
        keys.find_iter(text)
            .map(|found| (found.start(), found.end()))
            .collect()
    }
}

impl fmt::Debug for OwnKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnKeys")
    }
}

/// Encodes what URLs encode in a query.
fn percent_encoded(key: &str) -> String {
    let mut encoded = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Returns the key as it stands between the quotes of a JSON string.
fn json_escaped(key: &str) -> String {
    let quoted = serde_json::Value::from(key).to_string();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(key).to_owned()
}
