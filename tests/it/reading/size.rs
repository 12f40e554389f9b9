//! Large answers, and shapes that make a naive reader slow or overflow its stack.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::reading::problem::ProblemSeverity;
use conclave::consultation::reading::{Reading, keep_prose, read};
use conclave::domain::answer::artifact::Content;
use conclave::domain::ids::AgentId;

use super::panel::labels;

const MEGABYTE: usize = 1 << 20;

fn independent(text: &str) -> Reading {
    read(
        (AnswerKind::Independent, AnswerForm::Plain),
        text,
        &AgentId::from("security"),
        &labels(),
    )
}

#[test]
fn megabyte_of_rationale_is_read_completely() {
    let words = "word ".repeat(MEGABYTE / 5);
    let answer = serde_json::json!({
        "position": "Stay.",
        "key_points": ["Cost"],
        "rationale": words,
        "confidence": 0.7,
    });
    let reading = independent(&answer.to_string());
    assert_eq!(reading.problems, []);
    let Some(Content::Independent(content)) = reading.content else {
        panic!("no content")
    };
    assert_eq!(content.rationale, words.trim());
    assert!(
        content.prose_excerpt.chars().count() <= 501,
        "{}",
        content.prose_excerpt.len()
    );
}

#[test]
fn megabyte_of_prose_becomes_the_position() {
    let words = "word ".repeat(MEGABYTE / 5);
    assert_eq!(independent(&words).content, None);
    let Content::Independent(content) =
        keep_prose(AnswerKind::Independent, &words, &AgentId::from("security"))
    else {
        panic!("other kind")
    };
    assert_eq!(content.position, words.trim());
    let Content::Synthesis(content) = keep_prose(AnswerKind::Synthesis, &words, &AgentId::Judge)
    else {
        panic!("other kind")
    };
    assert!(content.prose_excerpt.len() < 10_000);
}

#[test]
fn large_malformed_answers_are_read_fast_without_stack_overflow() {
    // Deep enough to overflow any stack, and long enough to expose quadratic time.
    let size = MEGABYTE / 8;
    let objects = [
        "{\"position\":",
        "{\"position\":\"",
        "{\"position\":\"x\"}",
        "{\"answer\":\"{",
        "{\"a\":\"x",
        "</think>{",
    ];
    let marks = [
        "[", "{", "\"", "\\", "'", "[{", "{\"a\":", "{\"a\":[", "{a:", "{/*", "{//", "<think>",
        "```\n", "{\"a\" ", "\"\n", "[[1],", "{}", "\\u", "“", "{“", "x{\\\"", " ", "\u{0}", "é",
    ];
    for piece in objects.into_iter().chain(marks) {
        let (text, part) = (
            piece.repeat(size / piece.len()),
            piece.repeat(size / 4 / piece.len()),
        );
        for text in [
            text,
            format!("{{\"position\": \"{part}"),
            format!("{{\"position\": \"Stay.\", \"key_points\": {part}"),
        ] {
            let reading = independent(&text);
            let fatal = reading
                .problems
                .iter()
                .any(|problem| problem.severity == ProblemSeverity::Error);
            assert_eq!(reading.content.is_none(), fatal, "{piece}");
        }
    }
}
