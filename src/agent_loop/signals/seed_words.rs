//! The words that the original rules count, anywhere in the text.

use crate::stopping::exit_check::evidence::SeedWords;

const HEDGES: [&str; 4] = ["maybe", "might", "could", "approximately"];
const ASSURANCES: [&str; 3] = ["definitely", "assured", "guaranteed"];
const ERRORS: [(&str, &str); 7] = [
    ("error", "errors"),
    ("exception", "exceptions"),
    ("failed", "failed"),
    ("bug", "bugs"),
    ("issue", "issues"),
    ("problem", "problems"),
    ("mistake", "mistakes"),
];

/// Counts the words in a text as they stand there, in code and quotes too.
pub(super) fn count(text: &str) -> SeedWords {
    let mut words = SeedWords::default();
    let (mut hedges, mut assurances, mut errors) = ([false; 4], [false; 3], [false; 7]);
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        // Most words are not looked at further.
        let first = word.bytes().next().map(|byte| byte.to_ascii_lowercase());
        if !(3..=13).contains(&word.len())
            || !first.is_some_and(|first| b"acdefgilmpb".contains(&first))
        {
            continue;
        }
        let is = |other: &&str| word.eq_ignore_ascii_case(other);
        words.certain |= ["confident", "certainly", "absolutely"].iter().any(is);
        words.likely |= ["likely", "probably"].iter().any(is);
        for (seen, hedge) in hedges.iter_mut().zip(&HEDGES) {
            *seen |= is(hedge);
        }
        for (seen, assurance) in assurances.iter_mut().zip(&ASSURANCES) {
            *seen |= is(assurance);
        }
        for (seen, (one, many)) in errors.iter_mut().zip(&ERRORS) {
            *seen |= is(one) || is(many);
        }
    }
    words.hedges = number(&hedges);
    words.assurances = number(&assurances);
    words.error_words = number(&errors);
    words
}

/// Returns how many are seen; there are fewer than 256.
fn number(seen: &[bool]) -> u8 {
    seen.iter().map(|seen| u8::from(*seen)).sum()
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
