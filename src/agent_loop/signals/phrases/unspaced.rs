//! Phrases of languages that are written without blanks between words.

use super::phrase_match::{MatchContext, PhraseMatch};
use super::{LANGUAGES, Language};

/// Adds the phrases of these languages in a sentence.
pub(super) fn match_unspaced(sentence: &str, matches: &mut Vec<PhraseMatch>) {
    if !sentence.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')) {
        return;
    }
    for language in LANGUAGES.iter().filter(|language| !language.has_blanks) {
        for phrase in &language.phrases {
            for (at, words) in sentence.match_indices(&phrase.words) {
                let before = sentence.get(..at).unwrap_or_default();
                let after = sentence.get(at + words.len()..).unwrap_or_default();
                matches.push(PhraseMatch {
                    meaning: phrase.means,
                    context: context(language, before, after),
                });
            }
        }
    }
}

fn context(language: &Language, before: &str, after: &str) -> MatchContext {
    let is_mark = |c: char| {
        matches!(
            c,
            '，' | '、' | ',' | '；' | ';' | '：' | ':' | '。' | '（' | '('
        )
    };
    let clause = before.rsplit(is_mark).next().unwrap_or_default();
    let following = after.split(is_mark).next().unwrap_or_default();
    let has = |text: &str, words: &[String]| words.iter().any(|word| text.contains(word.as_str()));
    MatchContext {
        is_denied: has(clause, &language.negators),
        is_conditional: has(before, &language.conditions) || has(following, &language.conditions),
        is_modal: has(clause, &language.modals),
        has_exception: has(before, &language.exceptions) || has(after, &language.exceptions),
        is_of_part: has(before, &language.parts),
        is_resolved: has(clause, &language.resolutions),
    }
}
