//! Properties of reading arbitrary texts and valid answers.

use conclave::consultation::anonymity::labels::Labels;
use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::reading::problem::{Problem, ProblemSeverity};
use conclave::consultation::reading::{keep_prose, read};
use conclave::domain::ids::AgentId;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::panel::labels;
use super::valid_answers::valid_answer;

fn kind() -> impl Strategy<Value = AnswerKind> {
    select(AnswerKind::ALL.to_vec())
}

/// Replaces labels by seats, as an artifact does.
fn with_seats(value: &Value, labels: &Labels) -> Value {
    match value {
        Value::String(text) if text.starts_with("Expert ") => labels
            .resolve(text)
            .map_or_else(|| value.clone(), |seat| json!(seat)),
        Value::Array(items) => items.iter().map(|item| with_seats(item, labels)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, item)| (key.clone(), with_seats(item, labels)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Whether `content` has everything in `answer`; it may have more fields.
fn holds(content: &Value, answer: &Value) -> bool {
    match (content, answer) {
        (Value::Object(content), Value::Object(answer)) => answer.iter().all(|(key, item)| {
            key == "challenger" || content.get(key).is_some_and(|field| holds(field, item))
        }),
        (Value::Array(content), Value::Array(answer)) => {
            content.len() == answer.len()
                && content
                    .iter()
                    .zip(answer)
                    .all(|(content, answer)| holds(content, answer))
        }
        _ => content == answer,
    }
}

fn check(kind: AnswerKind, text: &str) -> Vec<Problem> {
    let reading = read(
        (kind, AnswerForm::Plain),
        text,
        &AgentId::from("security"),
        &labels(),
    );
    let fatal = reading
        .problems
        .iter()
        .any(|problem| problem.severity == ProblemSeverity::Error);
    assert_eq!(reading.content.is_none(), fatal, "{:?}", reading.problems);
    keep_prose(kind, text, &AgentId::from("security"));
    reading.problems
}

fn fragment() -> impl Strategy<Value = &'static str> {
    let words = [
        "\"position\"",
        "confidence",
        "\"challenges\":",
        "{\"answer\":\"{",
    ];
    let marks = [
        "{", "}", "[", "]", "\"", "'", ",", ":", "\\", "\\u", "\n", " ", "```", "json", "<think>",
        "</think>", "position", "0.8", "-", "85%", "true", "null", "NaN", "//", "/*", "*/", "“",
        "”", "é", "Expert A",
    ];
    select([&words[..], &marks].concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_are_read_without_panic(
        kind in kind(),
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        check(kind, &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_mix_of_json_fragments_is_read_without_panic(
        kind in kind(),
        pieces in proptest::collection::vec(fragment(), 0..60),
    ) {
        check(kind, &pieces.concat());
    }

    #[test]
    fn valid_answer_is_read_completely_without_problems(
        (kind, answer) in valid_answer(),
        pretty in any::<bool>(),
    ) {
        let text = if pretty {
            serde_json::to_string_pretty(&answer).unwrap()
        } else {
            answer.to_string()
        };
        let reading = read((kind, AnswerForm::Plain), &text, &AgentId::from("security"), &labels());
        prop_assert_eq!(&reading.problems, &[]);
        let content = serde_json::to_value(&reading.content).unwrap();
        let expected = with_seats(&answer, &labels());
        prop_assert!(holds(&content, &expected), "{} became {}", answer, content);
    }

    #[test]
    fn truncated_answer_is_never_accepted_as_complete(
        (kind, answer) in valid_answer(),
        end in any::<proptest::sample::Index>(),
        fenced in any::<bool>(),
    ) {
        let text = answer.to_string();
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
        let cut = text.get(..*end.get(&ends)).unwrap();
        let cut = if fenced { format!("```json\n{cut}") } else { cut.to_owned() };
        let problems = check(kind, &cut);
        prop_assert!(problems.iter().any(Problem::is_cut_off), "{} gave {:?}", cut, problems);
    }

    #[test]
    fn edited_answer_is_read_without_panic(
        (kind, answer) in valid_answer(),
        at in any::<proptest::sample::Index>(),
        removed in 0_usize..4,
        inserted in "[{}\\[\\]\",:'\\\\ a0é]{0,3}",
    ) {
        let text: Vec<char> = answer.to_string().chars().collect();
        let from = at.index(text.len());
        let before = text.iter().take(from).copied();
        let after = text.iter().skip(from + removed).copied();
        let edited: String = before.chain(inserted.chars()).chain(after).collect();
        check(kind, &edited);
    }
}
