//! The words that the original rules count, anywhere in the text.

use std::collections::HashSet;

use crate::agent_loop::text::TABLES;
use crate::stopping::exit_check::evidence::SeedWords;

/// Counts the words in a text as they stand there, in code and quotes too.
pub(super) fn count(text: &str) -> SeedWords {
    let lower = text.to_ascii_lowercase();
    let words: HashSet<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    // The forms of one word are counted once.
    let is_there = |forms: &&String| forms.split(' ').any(|form| words.contains(form));
    let count = |list: &str| {
        let count = TABLES.list(list).iter().filter(is_there).count();
        u8::try_from(count).unwrap_or(u8::MAX)
    };
    SeedWords {
        certain: count("seed_certain") > 0,
        likely: count("seed_likely") > 0,
        hedges: count("seed_hedges"),
        assurances: count("seed_assurances"),
        error_words: count("seed_errors"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_once_and_whole() {
        let words = |certain, likely, hedges, assurances, error_words| SeedWords {
            certain,
            likely,
            hedges,
            assurances,
            error_words,
        };
        for (text, expected) in [
            ("", words(false, false, 0, 0, 0)),
            (
                "I am confident this is correct. Task 1 done.",
                words(true, false, 0, 0, 0),
            ),
            (
                "I think this might work, but I'm not sure.",
                words(false, false, 1, 0, 0),
            ),
            ("measured under pressure", words(false, false, 0, 0, 0)),
            ("This is unlikely to work.", words(false, false, 0, 0, 0)),
            (
                "Probably. Definitely! DEFINITELY",
                words(false, true, 0, 1, 0),
            ),
            (
                "0 errors, no exceptions, nothing failed. Fixed the bug from issue #12; no problems or mistakes remain.",
                words(false, false, 0, 0, 7),
            ),
            ("error_count debugging issued", words(false, false, 0, 0, 0)),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
