//! Answers that are words, patterns and transcriptions.

use super::{Row, case, check, contains, exact, similar};
use crate::benchmark::case::{Case, ErrorRate, Matcher};

fn pattern(expected: &str) -> Case {
    case(expected, Matcher::Regex)
}

fn words(expected: &str, at_most: f64) -> Case {
    let measure = ErrorRate::Wer;
    case(expected, Matcher::Similarity { measure, at_most })
}

#[test]
fn exact_answers_differ_only_in_what_surrounds_them() {
    check(&[
        Row(exact("Paris"), "ANSWER: paris", "paris", true),
        Row(exact("Paris"), "Paris.", "Paris", true),
        Row(exact("Paris"), "**Paris**", "Paris", true),
        Row(exact("Paris"), "ANSWER: «Paris»", "Paris", true),
        Row(exact("Paris"), "ANSWER: (Paris)", "Paris", true),
        Row(exact("Paris"), "The answer is Paris.", "Paris", true),
        Row(exact("Paris"), "\\boxed{\\text{Paris}}", "Paris", true),
        Row(
            exact("Paris"),
            "The capital of France is Paris.",
            "*",
            false,
        ),
        Row(
            exact("Paris"),
            "ANSWER: Paris, Texas",
            "Paris, Texas",
            false,
        ),
        Row(exact("Paris"), "ANSWER: not Paris", "not Paris", false),
        Row(exact("Paris"), "ANSWER: Paris or Lyon", "*", false),
        Row(exact("don't panic"), "ANSWER: Don’t panic!", "*", true),
        Row(exact("C++"), "ANSWER: C", "C", false),
        Row(exact("C++"), "ANSWER: `C++`", "C++", true),
        Row(
            exact("snake_case"),
            "ANSWER: `snake_case`",
            "snake_case",
            true,
        ),
        Row(exact("New York"), "ANSWER: new\u{a0} york", "*", true),
        Row(exact("U.S."), "ANSWER: U.S. Virgin Islands", "*", false),
        Row(exact("Zoë"), "ANSWER: Zoe\u{308}", "Zoë", true),
        Row(exact(";"), "ANSWER: `;`", "*", true),
        Row(exact(";"), "ANSWER: ,", ",", false),
        Row(
            exact("Paris"),
            "The question is hard. There are many arguments for many cities, of which one may \
             be Paris, or not.",
            "",
            false,
        ),
    ]);
}

#[test]
fn contained_words_and_patterns_are_found_in_the_statement_or_the_text() {
    check(&[
        Row(contains("Paris"), "It is Paris, I think.", "*", true),
        Row(contains("Paris"), "Parisian cafés", "*", false),
        Row(
            contains("Eiffel Tower"),
            "the **Eiffel** Tower in Paris",
            "*",
            true,
        ),
        Row(contains("Eiffel Tower"), "the Eiffel\nTower", "*", true),
        Row(
            contains("Paris"),
            "Paris is large. ANSWER: Lyon",
            "Lyon",
            false,
        ),
        Row(contains("東京"), "首都は東京です。", "*", true),
        Row(contains("C++"), "Use C++17.", "*", true),
        Row(contains("3.5"), "It is 13.5 m", "*", false),
        Row(contains("no"), "nothing", "*", false),
        Row(
            pattern(r"^\d{4}-\d{2}-\d{2}$"),
            "ANSWER: 2024-02-29",
            "2024-02-29",
            true,
        ),
        Row(
            pattern(r"^\d{4}-\d{2}-\d{2}$"),
            "It was 2024-02-29.",
            "*",
            false,
        ),
        Row(
            pattern(r"(?i)\bstraße\b"),
            "Die STRAßE ist lang.",
            "*",
            true,
        ),
        Row(pattern("gr[ae]y"), "a grey cat", "*", true),
        Row(
            pattern("SELECT .* FROM"),
            "ANSWER:\n```sql\nSELECT a FROM b\n```",
            "*",
            true,
        ),
        Row(pattern("cat"), "ANSWER: dog\n\nNot a cat.", "dog", false),
    ]);
}

#[test]
fn transcriptions_stand_after_the_marker() {
    check(&[
        Row(
            similar("Hello, world", 0.0),
            "ANSWER: Hello, world",
            "Hello, world",
            true,
        ),
        Row(
            similar("Hello, world", 0.0),
            "ANSWER: \"Hello, world\"",
            "Hello, world",
            true,
        ),
        Row(
            similar("Hello, world", 0.0),
            "```\nHello, world\n```",
            "Hello, world",
            true,
        ),
        Row(
            similar("Hello, world", 0.0),
            "ANSWER:\n\nHello,\n  world\n",
            "*",
            true,
        ),
        Row(
            similar("Hello, world", 0.0),
            "ANSWER: hello, world",
            "*",
            false,
        ),
        Row(
            similar("Hello, world", 0.1),
            "ANSWER: hello, world",
            "*",
            true,
        ),
        Row(similar("one\n\ntwo", 0.0), "ANSWER: one\n\ntwo", "*", true),
        Row(
            similar("one", 0.5),
            "ANSWER: one and many more words",
            "*",
            false,
        ),
        Row(
            words("the cat sat on the mat", 0.2),
            "ANSWER: the cat sat in the mat",
            "*",
            true,
        ),
        Row(
            words("the cat sat on the mat", 0.1),
            "ANSWER: the cat sat in the mat",
            "*",
            false,
        ),
        Row(
            words("the cat", 0.0),
            "I cannot read the picture.",
            "*",
            false,
        ),
    ]);
}
