//! Answers as models write them, compared by every matcher.

mod blind;
mod choices;
mod numbers;
mod texts;
mod properties;

use super::AnswerKey;
use crate::benchmark::case::{Case, CaseId, ErrorRate, Matcher};

/// A case, a text, the final answer that it states (empty without one, `*` for any), and whether
/// that is right.
#[derive(Clone)]
struct AnswerRow(Case, String, String, bool);

/// Reads rows, one a line: `expected | answer + text` for a right answer, and `-` in the place of
/// `+` for a wrong one. In a text, `\n` is a line break.
fn table(case_of: impl Fn(&str) -> Case, rows: &str) -> Vec<AnswerRow> {
    let row = |line: &str| {
        let line = format!(" {} ", line.trim_start());
        let right = line.find(" + ").unwrap_or(usize::MAX);
        let wrong = line.find(" - ").unwrap_or(usize::MAX);
        let (head, text) = line.split_at(right.min(wrong));
        let (expected, answer) = head.rsplit_once(" |").unwrap_or(("", head));
        let plain = |text: &str| text.trim().replace("\\n", "\n");
        AnswerRow(
            case_of(&plain(expected)),
            plain(text.split_at(3).1),
            plain(answer),
            right < wrong,
        )
    };
    rows.lines().map(row).collect()
}

/// Rows that may be read otherwise than labelled.
const MAX_MISREAD: usize = 1;

#[test]
fn labelled_answers_are_read_as_a_person_reads_them() {
    let groups = [
        blind::blind_answers_are_read_as_a_person_reads_them(),
        choices::stated_options_are_read_whatever_is_around_them(),
        choices::texts_that_take_no_option_or_two_are_no_answer(),
        choices::options_are_read_without_a_statement_where_only_one_is_meant(),
        choices::letters_and_texts_are_of_the_same_option(),
        choices::options_that_are_numbers_are_read_as_numbers(),
        choices::options_may_be_words_letters_or_parts_of_each_other(),
        numbers::numbers_are_read_in_every_notation(),
        numbers::the_number_that_answers_is_found(),
        numbers::tolerances_are_exact(),
        numbers::numbers_are_read_as_whole_phrases_or_not_at_all(),
        texts::exact_answers_differ_only_in_what_surrounds_them(),
        texts::contained_words_and_patterns_are_found_in_the_statement_or_the_text(),
        texts::transcriptions_stand_after_the_marker(),
    ];
    let rows: Vec<AnswerRow> = groups.into_iter().flatten().collect();
    let wrong: Vec<String> = rows.iter().filter_map(misread).collect();
    assert!(
        rows.len() >= 635 && wrong.len() <= MAX_MISREAD,
        "{} of {} read:\n{}",
        rows.len() - wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// Describes how a row is read, if not as expected.
fn misread(AnswerRow(case, text, answer, is_right): &AnswerRow) -> Option<String> {
    let key = AnswerKey::for_case(case).unwrap();
    let graded = key.grade(text).unwrap();
    let extracted = key.extract(text).map(|answer| answer.text.clone());
    let extracted = extracted.unwrap_or_default();
    let is_read = answer == "*" || extracted == *answer;
    (!is_read || graded.is_right != *is_right).then(|| {
        let right = if graded.is_right { "right" } else { "wrong" };
        format!("{text:?} is read as {extracted:?}, {right}; expected {answer:?}")
    })
}

fn case(expected: &str, matcher: Matcher) -> Case {
    Case {
        id: CaseId::parse("case").unwrap(),
        question: "What is it?".to_owned(),
        context: None,
        files: Vec::new(),
        expected: vec![expected.to_owned()],
        matcher,
        tags: Vec::new(),
        source: None,
    }
}

fn choice(options: &[&str], expected: &str) -> Case {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    case(expected, Matcher::Choice { options })
}

fn numeric(expected: &str, absolute: f64, relative: f64) -> Case {
    case(expected, Matcher::Numeric { absolute, relative })
}

fn is(expected: &str) -> Case {
    numeric(expected, 0.0, 0.0)
}

fn exact(expected: &str) -> Case {
    case(expected, Matcher::Exact)
}

fn contains(expected: &str) -> Case {
    case(expected, Matcher::Contains)
}

/// A transcription after its highest error rate: `0.05 the text`.
fn similar_to(expected: &str) -> Case {
    let (at_most, expected) = expected.split_once(' ').unwrap();
    similar(expected, at_most.parse().unwrap())
}

fn similar(expected: &str, at_most: f64) -> Case {
    let measure = ErrorRate::Cer;
    case(expected, Matcher::Similarity { measure, at_most })
}
