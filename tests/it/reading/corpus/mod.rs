//! Answers as models write them, in `corpus/`: the content of each, its problems, and that no word
//! is lost.
//!
//! A case is a line `=== name`, lines of expectations, a line `---`, and the answer.
//! `kept /pointer json` is a part of the content, `kept nothing` an answer that needs a repair,
//! `note` a problem (all of them, in order), `drops` words that the content may omit. `⟦7⟧` is the
//! character U+0007.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::reading::{keep_prose, read};
use conclave::domain::ids::AgentId;

use super::panel::labels;

struct Case {
    kind: AnswerKind,
    name: String,
    expected: Vec<String>,
    answer: String,
}

fn cases(kind: AnswerKind, text: &str) -> Vec<Case> {
    let case = |block: &str| {
        let (head, answer) = block
            .split_once("\n---\n")
            .unwrap_or_else(|| panic!("no answer in {block}"));
        let mut lines = head.lines();
        let name = lines.next().unwrap().to_owned();
        Case {
            kind,
            name,
            expected: lines.map(str::to_owned).collect(),
            answer: characters(answer),
        }
    };
    format!("\n{text}")
        .split("\n=== ")
        .filter(|block| !block.trim().is_empty())
        .map(case)
        .collect()
}

fn characters(text: &str) -> String {
    let mut parts = text.split('⟦');
    let mut decoded = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('⟧').unwrap();
        decoded.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        decoded.push_str(rest);
    }
    decoded
}

fn corpus() -> Vec<Case> {
    [
        cases(AnswerKind::Independent, include_str!("independent.txt")),
        cases(AnswerKind::Synthesis, include_str!("synthesis.txt")),
        cases(AnswerKind::Revision, include_str!("revision.txt")),
        cases(AnswerKind::CrossExam, include_str!("cross_exam.txt")),
        cases(AnswerKind::Verdict, include_str!("verdict.txt")),
        cases(AnswerKind::Menu, include_str!("menu.txt")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3)
        .map(str::to_lowercase)
        .collect()
}

/// All words in the strings of a value.
fn texts(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => words(text),
        serde_json::Value::Array(items) => items.iter().flat_map(texts).collect(),
        serde_json::Value::Object(members) => members.values().flat_map(texts).collect(),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            Vec::new()
        }
    }
}

/// Returns the words of an answer that are not content: field names, escapes and literals.
fn scaffold(kind: AnswerKind) -> Vec<String> {
    let mut scaffold = words(&kind.schema(AnswerForm::Plain).to_string());
    scaffold.extend(words(
        "think json null none true false high moderate minor critical percent",
    ));
    scaffold
}

#[test]
fn corpus_answers_are_read_with_all_problems_reported() {
    let mut wrong = Vec::new();
    let all = corpus();
    assert!(all.len() >= 75, "{} cases", all.len());
    for case in &all {
        let reading = read(
            (case.kind, AnswerForm::Plain),
            &case.answer,
            &AgentId::from("security"),
            &labels(),
        );
        let content = serde_json::to_value(&reading.content).unwrap();
        let note = |problem: &conclave::consultation::reading::problem::Problem| {
            format!(
                "note {} `{}` {}",
                serde_json::to_value(problem.severity)
                    .unwrap()
                    .as_str()
                    .unwrap()
                    .to_owned(),
                problem.field,
                problem.what
            )
        };
        let notes: Vec<String> = reading.problems.iter().map(note).collect();
        let expected: Vec<&String> = case
            .expected
            .iter()
            .filter(|line| line.starts_with("note "))
            .collect();
        let mut complaints = Vec::new();
        if notes.iter().collect::<Vec<_>>() != expected {
            complaints.push(notes.join("\n"));
        }
        for line in case
            .expected
            .iter()
            .filter_map(|line| line.strip_prefix("kept "))
        {
            let kept = match line.split_once(' ') {
                Some((pointer, json)) => {
                    content.pointer(pointer) == Some(&serde_json::from_str(json).expect(json))
                }
                None => line == "nothing" && content.is_null(),
            };
            if !kept {
                complaints.push(format!("not kept: {line}\n  but {content}"));
            }
        }
        if !complaints.is_empty() {
            wrong.push(format!(
                "=== {}/{}\n{}",
                case.kind.name(),
                case.name,
                complaints.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn reading_loses_no_word_of_an_answer() {
    let agent = AgentId::from("security");
    let mut losses = Vec::new();
    for case in corpus() {
        let reading = read(
            (case.kind, AnswerForm::Plain),
            &case.answer,
            &agent,
            &labels(),
        );
        let mut kept =
            texts(&serde_json::to_value(keep_prose(case.kind, &case.answer, &agent)).unwrap());
        if let Some(content) = &reading.content {
            // Readable content holds the words itself; problems may quote unusable ones.
            kept = texts(&serde_json::to_value(content).unwrap());
            kept.extend(
                reading
                    .problems
                    .iter()
                    .flat_map(|problem| words(&format!("{} {}", problem.field, problem.what))),
            );
        }
        let dropped = case
            .expected
            .iter()
            .filter_map(|line| line.strip_prefix("drops"))
            .flat_map(words)
            .collect::<Vec<_>>();
        let scaffold = scaffold(case.kind);
        let is_lost = |word: &String| {
            !kept.contains(word) && !dropped.contains(word) && !scaffold.contains(word)
        };
        let lost: Vec<String> = words(&case.answer).into_iter().filter(is_lost).collect();
        if !lost.is_empty() {
            losses.push(format!("{}/{} loses {lost:?}", case.kind.name(), case.name));
        }
    }
    assert!(losses.is_empty(), "{losses:#?}");
}
