//! Phrases of languages that are written without blanks between words.

use super::{LANGUAGES, Language, Meaning, PhraseMatch};
use crate::text::clean::is_unspaced;
use crate::text::word_list::WordList;

/// The marks that end a clause.
const MARKS: [char; 10] = ['，', '、', ',', '；', ';', '：', ':', '。', '（', '('];

pub(super) fn matches(sentence: &str) -> Vec<PhraseMatch> {
    let mut matches = Vec::new();
    if !sentence.contains(is_unspaced) {
        return matches;
    }
    for language in LANGUAGES.iter().filter(|language| !language.has_blanks) {
        for row in &language.rows {
            for (at, words) in sentence.match_indices(&row.words) {
                let before = sentence.get(..at).unwrap_or_default();
                let after = sentence.get(at + words.len()..).unwrap_or_default();
                matches.push(phrase_match(language, row.means, before, after));
            }
        }
    }
    matches
}

fn phrase_match(language: &Language, meaning: Meaning, before: &str, after: &str) -> PhraseMatch {
    let clause = before.rsplit(MARKS).next().unwrap_or_default();
    let following = after.split(MARKS).next().unwrap_or_default();
    let has = |text: &str, words: &WordList| words.iter().any(|word| text.contains(word));
    PhraseMatch {
        meaning,
        is_denied: has(clause, &language.negators),
        is_conditional: has(before, &language.conditions) || has(following, &language.conditions),
        is_modal: has(clause, &language.modals),
        has_exception: has(before, &language.exceptions) || has(after, &language.exceptions),
        is_of_part: has(before, &language.parts),
        is_resolved: has(clause, &language.resolutions),
    }
}
