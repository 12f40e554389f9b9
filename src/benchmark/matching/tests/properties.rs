//! Properties of every matcher.

use proptest::prelude::*;

use super::{case, choice, contains, exact, numeric, similar};
use crate::benchmark::case::{Case, ErrorRate, Matcher};
use crate::benchmark::matching::transcription::{edits, error_rate, normalized};
use crate::benchmark::matching::{AnswerKey, asked_question};
use crate::domain::steps;

fn every_case() -> Vec<Case> {
    let judged = Matcher::Judge { rubric: None };
    vec![
        exact("Paris"),
        choice(&["Paris", "Lyon", "A"], "B"),
        choice(&["10", "-234", "1/2", "Paris"], "B"),
        contains("Paris"),
        case("Par.s", Matcher::Regex),
        numeric("-1234.5", 0.0, 0.01),
        similar("Paris is large", 0.1),
        case("Paris", judged),
    ]
}

/// Texts of the pieces that the matchers look for.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "ANSWER", ":", " ", "\n", "B", "(", ")", "**", "```", "1", "234", ",", ".", "-", "−", "/",
        "%", "e", "^", "{", "}", "\\boxed{", "\\frac{", "is", "not", "Paris", "or", "½", "²", "$",
        "\"", "…", "answer", "=", "×", "10", "<letter>", "é", "e\u{301}", "答え", "\u{a0}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn grades(text: &str) {
    for case in every_case() {
        let key = AnswerKey::for_case(&case).unwrap();
        let _ = key.grade(text);
        let _ = key
            .extract(text)
            .map(|answer| key.is_same(&answer, &answer));
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_matcher_panic(text in any::<String>(), pieces in pieces()) {
        grades(&text);
        grades(&pieces);
    }

    #[test]
    fn an_exact_answer_contains_the_expected_one(
        expected in "[a-zA-Z0-9éß '+#.-]{1,12}",
        before in pieces(),
    ) {
        prop_assume!(!expected.trim().is_empty());
        let text = format!("{before}\nANSWER: {expected}");
        let is_right = |case: &Case| {
            let key = AnswerKey::for_case(case).unwrap();
            key.grade(&text).unwrap().is_right
        };
        prop_assert!(!is_right(&exact(&expected)) || is_right(&contains(&expected)));
    }

    #[test]
    fn the_expected_answer_is_right(expected in "[a-zA-Z][a-zA-Z0-9 é]{0,20}[a-z0-9]") {
        let text = format!("It follows from this.\n\nANSWER: {expected}");
        let escaped = regex::escape(expected.trim());
        let cases = [
            exact(&expected),
            contains(&expected),
            case(&escaped, Matcher::Regex),
            similar(&expected, 0.0),
        ];
        for case in cases {
            let key = AnswerKey::for_case(&case).unwrap();
            prop_assert!(key.grade(&text).unwrap().is_right, "{:?}", case.matcher);
            prop_assert!(key.grade(&expected).unwrap().is_right, "{:?}", case.matcher);
        }
    }

    #[test]
    fn the_expected_number_is_right(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        for written in [format!("{number}"), format!("{number:e}")] {
            let key = AnswerKey::for_case(&numeric(&written, 0.0, 0.0)).unwrap();
            let text = format!("ANSWER: {number:e}");
            prop_assert!(key.grade(&text).unwrap().is_right, "{written} {text}");
        }
    }

    #[test]
    fn edits_are_counted_as_by_the_table(
        one in prop::collection::vec(0_u8..4, 0..200),
        other in prop::collection::vec(0_u8..4, 0..200),
    ) {
        let expected = strsim::generic_levenshtein(&one, &other);
        prop_assert_eq!(edits(&one, other.iter().copied()), expected);
        prop_assert_eq!(edits(&other, one.iter().copied()), expected);
        prop_assert!(expected >= one.len().abs_diff(other.len()));
        prop_assert!(expected <= one.len().max(other.len()));
    }

    #[test]
    fn equal_texts_have_no_errors(text in any::<String>()) {
        let text = normalized(&text);
        prop_assert!(error_rate(ErrorRate::Cer, &text, &text) <= 0.0);
        prop_assert!(error_rate(ErrorRate::Wer, &text, &text) <= 0.0);
    }
}

#[test]
fn long_transcriptions_are_compared_as_wholes() {
    let line = "The quick brown fox jumps over the lazy dog, again and again. ";
    let expected = line.repeat(330);
    let answer = expected.replace("quick", "quack").replace("lazy ", "");
    let (expected, answer) = (normalized(&expected), normalized(&answer));
    assert!(expected.chars().count() > 20_000);
    let edited = edits(&expected.chars().collect::<Vec<_>>(), answer.chars());
    assert_eq!(edited, 330 * 6);
    let all_wrong = "x".repeat(20_000);
    let rate = error_rate(ErrorRate::Cer, &all_wrong, &expected);
    assert!((0.9..=1.0).contains(&rate), "{rate}");
}

#[test]
fn error_rates_are_the_standard_ones() {
    let cer = |answer, expected| error_rate(ErrorRate::Cer, answer, expected);
    let wer = |answer, expected| error_rate(ErrorRate::Wer, answer, expected);
    let is = |rate: f64, expected: f64| (rate - expected).abs() < 1e-12;
    assert!(is(cer("kitten", "sitting"), 3.0 / 7.0));
    assert!(is(cer("", "abc"), 1.0));
    assert!(is(cer("", ""), 0.0));
    assert!(is(cer("abc", ""), 1.0));
    assert!(is(wer("a b c d e f", "a b"), 2.0));
    assert!(is(wer("the cat sat", "the cat sat down"), 0.25));
}

#[test]
fn keys_refuse_expected_answers_that_do_not_fit() {
    let error = |case: &Case| AnswerKey::for_case(case).unwrap_err();
    let expected = "`many` is not one number";
    assert_eq!(error(&numeric("many", 0.0, 0.0)), expected);
    let expected = "`1 to 2` is not one number";
    assert_eq!(error(&numeric("1 to 2", 0.0, 0.0)), expected);
    let negative = numeric("1", -1.0, 0.0);
    assert_eq!(error(&negative), "a tolerance must be a number from 0 up");
    let unlimited = numeric("1", f64::NAN, 0.0);
    assert_eq!(error(&unlimited), "a tolerance must be a number from 0 up");
    let expected = "a choice has from 2 to 26 options, not 1";
    assert_eq!(error(&choice(&["x"], "A")), expected);
    assert_eq!(error(&choice(&["x", "x"], "A")), "option `x` occurs twice");
    let expected = "`z` is neither the letter of an option nor its text";
    assert_eq!(error(&choice(&["x", "y"], "z")), expected);
    let expected = "`A` is the letter of one option and the text of another";
    assert_eq!(error(&choice(&["B", "A"], "A")), expected);
    assert_eq!(error(&exact(" ")), "an expected answer is empty");
    let expected = "`(` is not a regular expression: unclosed group";
    assert_eq!(error(&case("(", Matcher::Regex)), expected);
}

#[test]
fn the_question_names_options_and_the_form_of_the_answer() {
    let asked = asked_question(&choice(&["Mars", " Venus "], "B"));
    assert_eq!(
        asked,
        "What is it?\n\nA) Mars\nB) Venus\n\nEnd your position, and later every revised position, \
         point of agreement and recommendation that answers the question, with \"ANSWER:\" and the \
         letter of one option. Write ANSWER in capitals in every language."
    );
    let forms: Vec<String> = every_case()
        .iter()
        .map(|case| {
            asked_question(case)
                .lines()
                .last()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    for form in &forms {
        assert!(form.contains("\"ANSWER:\" and the "), "{form}");
    }
}

#[test]
fn the_question_itself_is_no_answer() {
    for case in every_case() {
        let key = AnswerKey::for_case(&case).unwrap();
        if matches!(
            case.matcher,
            Matcher::Exact | Matcher::Choice { .. } | Matcher::Numeric { .. }
        ) {
            let answer = key.extract(&asked_question(&case));
            assert!(answer.is_none(), "{:?}: {answer:?}", case.matcher);
        }
    }
}

#[test]
fn steps_grow_with_the_length_of_an_answer_and_no_faster() {
    let option = |case: &Case| matches!(case.matcher, Matcher::Choice { .. });
    for unit in [
        "ANSWER: \n",
        "ANSWER: x\n",
        "ANSWER: <letter>\n",
        "ANSWER: x ",
        "the answer is ",
        "\\boxed{x} ",
        "1,2 ",
        "between 1 and ",
        "Paris ",
        "(B) ",
    ] {
        let cases = every_case().into_iter().chain([exact("x\ny")]);
        for case in cases.filter(|case| unit != "Paris " || option(case)) {
            let key = AnswerKey::for_case(&case).unwrap();
            let extract = |size: usize| {
                // What holds nothing to look at takes no step but to be read.
                steps::count(size);
                let _ = key.extract(&unit.repeat(size));
            };
            let what = format!("{unit:?} as {:?}", case.matcher);
            steps::assert_linear(extract, 300, &what);
        }
    }
}

#[test]
fn marks_around_an_answer_are_taken_off_as_far_as_anyone_puts_them() {
    let nested = |layers: usize| "\\boxed{".repeat(layers) + "Paris" + &"}".repeat(layers);
    let key = AnswerKey::for_case(&contains("Paris")).unwrap();
    assert!(key.grade(&nested(3)).unwrap().is_right);
    let peel = |layers: usize| drop(key.extract(&nested(layers)));
    steps::assert_linear(peel, 500, "nested boxes");
}

#[test]
fn transcription_that_no_one_can_compare_is_refused() {
    let long = AnswerKey::for_case(&similar(&"long ".repeat(20_001), 0.1)).unwrap_err();
    assert_eq!(
        long,
        "an expected transcription has 100005 characters, more than 100000"
    );
}
