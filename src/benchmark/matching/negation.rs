//! Decides whether a text names something only to deny it: "not B", "rather than B", "B is wrong".

use super::statement::words;
use super::words::tables;

/// Words that prefer something else to what follows them. Before a number they compare: "more
/// than 5", "over 9000".
const COMPARISONS: [&str; 5] = ["than", "over", "versus", "vs", "als"];

/// Two words that deny what follows them.
const PAIRED_DENIALS: [[&str; 2]; 5] = [
    ["instead", "of"],
    ["rule", "out"],
    ["rules", "out"],
    ["ruled", "out"],
    ["lieu", "of"],
];

/// Words after which a denial is over: "not B but C", "not only C".
const CONTRASTS: [&str; 5] = ["but", "only", "sondern", "mais", "sino"];

/// Verbs between a name and its refutation.
const VERBS: [&str; 13] = [
    "is", "was", "are", "were", "seems", "would", "ca", "cannot", "must", "ist", "war", "est", "es",
];

/// What is denied: a name, or a number, to which only a word directly before it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Option,
    Number,
}

/// Whether the part of a text from `start` to `end` is denied there.
pub(super) fn is_denied(text: &str, start: usize, end: usize, named: Named) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    is_denied_before(before, named) || is_refuted_after(after)
}

fn is_denied_before(before: &str, named: Named) -> bool {
    let clause = before.rsplit(is_clause_mark).next().unwrap_or_default();
    let words = clause_words(clause);
    let reach = match named {
        Named::Option => 3,
        Named::Number => 1,
    };
    let near = words.get(words.len().saturating_sub(reach)..);
    let near = near.unwrap_or_default();
    let contrast = near
        .iter()
        .rposition(|word| CONTRASTS.contains(&word.as_str()));
    let near = near.get(contrast.map_or(0, |at| at + 1)..);
    let near = near.unwrap_or_default();
    let is_denial = |word: &String| {
        tables().denials.has(word) || named == Named::Option && COMPARISONS.contains(&word.as_str())
    };
    let paired = words.get(words.len().saturating_sub(2)..);
    let is_paired = PAIRED_DENIALS
        .iter()
        .any(|denial| paired.is_some_and(|words| words == denial.as_slice()));
    let is_rather = paired.is_some_and(|words| words == ["rather", "than"].as_slice());
    near.iter().any(is_denial) || is_paired || is_rather
}

fn is_refuted_after(after: &str) -> bool {
    const REACH: usize = 3;
    // Brackets and emphasis belong to the name: "(B) is wrong".
    let clause = after.split(is_clause_mark).next().unwrap_or_default();
    let words = clause_words(clause);
    let Some((verb, rest)) = words.split_first() else {
        return false;
    };
    let mut rest = rest.iter().take(REACH);
    VERBS.contains(&verb.as_str())
        && (verb == "cannot" || rest.any(|word| tables().refutations.has(word)))
}

/// Returns the words in lower case, with "isn't" as "is" and "not".
fn clause_words(clause: &str) -> Vec<String> {
    let plain = clause.replace('’', "'").replace("n't", " not");
    words(&plain).map(|(_, word)| word.to_lowercase()).collect()
}

fn is_clause_mark(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '!' | '?' | '\n' | '—' | '。' | '，' | '；' | '：'
    )
}
