//! A strong secret is masked wherever the batch repeats it, also where no rule would look.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};

use super::value::entropy::shannon;

/// A shorter value could be a word of the text.
const SHORTEST: usize = 10;

/// The lowest entropy of a strong secret, in bits per byte.
const LOWEST_ENTROPY: f64 = 3.0;

/// Returns whether a value cannot be anything but the secret.
pub(super) fn is_strong(secret: &str) -> bool {
    let has = |is: fn(u8) -> bool| secret.bytes().any(is);
    secret.len() >= SHORTEST
        && has(|byte| byte.is_ascii_digit())
        && has(|byte| byte.is_ascii_alphabetic())
        && shannon(secret.as_bytes()) >= LOWEST_ENTROPY
}

/// Returns the finder of all these secrets; `None` if there is none.
pub(super) fn finder(secrets: &BTreeSet<&str>) -> Option<AhoCorasick> {
    if secrets.is_empty() {
        return None;
    }
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest);
    builder.build(secrets).ok()
}
