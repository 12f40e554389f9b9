//! Answers that are words, patterns and transcriptions.

use super::{AnswerRow, case, contains, exact, similar};
use crate::benchmark::case::{Case, ErrorRate, Matcher};

fn pattern(expected: &str) -> Case {
    case(expected, Matcher::Regex)
}

fn words(expected: &str, at_most: f64) -> Case {
    let measure = ErrorRate::Wer;
    case(expected, Matcher::Similarity { measure, at_most })
}

pub(super) fn exact_answers_differ_only_in_what_surrounds_them() -> Vec<AnswerRow> {
    vec![
        AnswerRow(exact("Paris"), "ANSWER: paris", "paris", true),
        AnswerRow(exact("Paris"), "Paris.", "Paris", true),
        AnswerRow(exact("Paris"), "**Paris**", "Paris", true),
        AnswerRow(exact("Paris"), "ANSWER: «Paris»", "Paris", true),
        AnswerRow(exact("Paris"), "ANSWER: (Paris)", "Paris", true),
        AnswerRow(exact("Paris"), "The answer is Paris.", "Paris", true),
        AnswerRow(exact("Paris"), "\\boxed{\\text{Paris}}", "Paris", true),
        AnswerRow(
            exact("Paris"),
            "The capital of France is Paris.",
            "*",
            false,
        ),
        AnswerRow(
            exact("Paris"),
            "ANSWER: Paris, Texas",
            "Paris, Texas",
            false,
        ),
        AnswerRow(exact("Paris"), "ANSWER: not Paris", "not Paris", false),
        AnswerRow(exact("Paris"), "ANSWER: Paris or Lyon", "*", false),
        AnswerRow(exact("don't panic"), "ANSWER: Don’t panic!", "*", true),
        AnswerRow(exact("C++"), "ANSWER: C", "C", false),
        AnswerRow(exact("C++"), "ANSWER: `C++`", "C++", true),
        AnswerRow(
            exact("snake_case"),
            "ANSWER: `snake_case`",
            "snake_case",
            true,
        ),
        AnswerRow(exact("New York"), "ANSWER: new\u{a0} york", "*", true),
        AnswerRow(exact("U.S."), "ANSWER: U.S. Virgin Islands", "*", false),
        AnswerRow(exact("Zoë"), "ANSWER: Zoe\u{308}", "Zoë", true),
        AnswerRow(exact(";"), "ANSWER: `;`", "*", true),
        AnswerRow(exact(";"), "ANSWER: ,", ",", false),
        AnswerRow(
            exact("Paris"),
            "The question is hard. There are many arguments for many cities, of which one may \
             be Paris, or not.",
            "",
            false,
        ),
    ]
}

pub(super) fn contained_words_and_patterns_are_found_in_the_statement_or_the_text() -> Vec<AnswerRow>
{
    vec![
        AnswerRow(contains("Paris"), "It is Paris, I think.", "*", true),
        AnswerRow(contains("Paris"), "Parisian cafés", "*", false),
        AnswerRow(
            contains("Eiffel Tower"),
            "the **Eiffel** Tower in Paris",
            "*",
            true,
        ),
        AnswerRow(contains("Eiffel Tower"), "the Eiffel\nTower", "*", true),
        AnswerRow(
            contains("Paris"),
            "Paris is large. ANSWER: Lyon",
            "Lyon",
            false,
        ),
        AnswerRow(contains("東京"), "首都は東京です。", "*", true),
        AnswerRow(contains("C++"), "Use C++17.", "*", true),
        AnswerRow(contains("3.5"), "It is 13.5 m", "*", false),
        AnswerRow(contains("no"), "nothing", "*", false),
        AnswerRow(
            pattern(r"^\d{4}-\d{2}-\d{2}$"),
            "ANSWER: 2024-02-29",
            "2024-02-29",
            true,
        ),
        AnswerRow(
            pattern(r"^\d{4}-\d{2}-\d{2}$"),
            "It was 2024-02-29.",
            "*",
            false,
        ),
        AnswerRow(
            pattern(r"(?i)\bstraße\b"),
            "Die STRAßE ist lang.",
            "*",
            true,
        ),
        AnswerRow(pattern("gr[ae]y"), "a grey cat", "*", true),
        AnswerRow(
            pattern("SELECT .* FROM"),
            "ANSWER:\n```sql\nSELECT a FROM b\n```",
            "*",
            true,
        ),
        AnswerRow(pattern("cat"), "ANSWER: dog\n\nNot a cat.", "dog", false),
    ]
}

pub(super) fn transcriptions_stand_after_the_marker() -> Vec<AnswerRow> {
    vec![
        AnswerRow(
            similar("Hello, world", 0.0),
            "ANSWER: Hello, world",
            "Hello, world",
            true,
        ),
        AnswerRow(
            similar("Hello, world", 0.0),
            "ANSWER: \"Hello, world\"",
            "Hello, world",
            true,
        ),
        AnswerRow(
            similar("Hello, world", 0.0),
            "```\nHello, world\n```",
            "Hello, world",
            true,
        ),
        AnswerRow(
            similar("Hello, world", 0.0),
            "ANSWER:\n\nHello,\n  world\n",
            "*",
            true,
        ),
        AnswerRow(
            similar("Hello, world", 0.0),
            "ANSWER: hello, world",
            "*",
            false,
        ),
        AnswerRow(
            similar("Hello, world", 0.1),
            "ANSWER: hello, world",
            "*",
            true,
        ),
        AnswerRow(similar("one\n\ntwo", 0.0), "ANSWER: one\n\ntwo", "*", true),
        AnswerRow(
            similar("one", 0.5),
            "ANSWER: one and many more words",
            "*",
            false,
        ),
        AnswerRow(
            words("the cat sat on the mat", 0.2),
            "ANSWER: the cat sat in the mat",
            "*",
            true,
        ),
        AnswerRow(
            words("the cat sat on the mat", 0.1),
            "ANSWER: the cat sat in the mat",
            "*",
            false,
        ),
        AnswerRow(
            words("the cat", 0.0),
            "I cannot read the picture.",
            "*",
            false,
        ),
    ]
}
