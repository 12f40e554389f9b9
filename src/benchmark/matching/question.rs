//! The question as the models are asked it.

use crate::benchmark::case::{Case, Matcher};

/// Returns the question of a case with its options and the form of the final answer. The case's
/// context is not part of it: it is quoted apart from the question.
///
/// The form names the fields in which the protocol's answers stand, so that every round states an
/// answer that can be compared. It shows no example: small models copy it.
pub fn asked_question(case: &Case) -> String {
    let mut options = String::new();
    if let Matcher::Choice { options: texts } = &case.matcher {
        for (letter, option) in LETTERS.zip(texts) {
            options.extend(["\n", letter.encode_utf8(&mut [0; 4]), ") ", option.trim()]);
        }
        options.insert(0, '\n');
    }
    format!(
        "{}{options}\n\nEnd your position, and later every revised position, point of agreement and \
         recommendation that answers the question, with \"ANSWER:\" {} Write ANSWER in capitals in \
         every language.",
        case.question.trim(),
        form(&case.matcher)
    )
}

/// The letters of the options, in their order.
pub(super) const LETTERS: std::ops::RangeInclusive<char> = 'A'..='Z';

fn form(matcher: &Matcher) -> &'static str {
    match matcher {
        Matcher::Choice { .. } => "and the letter of one option.",
        Matcher::Numeric { .. } => {
            "and the number alone, in digits, with a point for decimals and without a unit."
        }
        Matcher::Exact | Matcher::Contains | Matcher::Regex | Matcher::All { .. } => {
            "and the answer alone, in as few words as it takes."
        }
        Matcher::Similarity { .. } => "and the whole transcription, word for word.",
        Matcher::Judge { .. } => "and the answer itself, without its reasons.",
    }
}
