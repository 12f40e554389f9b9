//! Phrases of languages that are written without blanks between words.

use super::phrase_match::{MatchContext, PhraseMatch};
use super::{LANGUAGES, Language};

/// Adds the phrases of these languages in a sentence.
pub(super) fn match_unspaced(sentence: &str, matches: &mut Vec<PhraseMatch>) {
    if !sentence.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')) {
        return;
    }
    for language in LANGUAGES
        .into_iter()
        .filter(|language| !language.has_blanks)
    {
        for (meaning, phrases) in language.phrases {
            for phrase in *phrases {
                for (at, _) in sentence.match_indices(phrase) {
                    let before = sentence.get(..at).unwrap_or_default();
                    let after = sentence.get(at + phrase.len()..).unwrap_or_default();
                    matches.push(PhraseMatch {
                        meaning: *meaning,
                        context: context(language, before, after),
                    });
                }
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
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    MatchContext {
        is_denied: has(clause, language.negators),
        is_conditional: has(before, language.conditions) || has(following, language.conditions),
        is_modal: has(clause, language.modals),
        has_exception: has(before, language.exceptions) || has(after, language.exceptions),
        is_of_part: has(before, language.parts),
        is_resolved: has(clause, language.resolutions),
    }
}
