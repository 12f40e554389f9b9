//! The part of an answer that is about a document.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::reading::read;
use conclave::domain::ids::AgentId;
use serde_json::{Value, json};

use crate::reading::panel::labels;

const TWO: AnswerForm = AnswerForm::Findings {
    questions: 2,
    claims: 1,
    is_brief: false,
};

/// Returns what is read of the findings in a position that has these fields too; null if the answer
/// is unreadable.
fn read_with(form: AnswerForm, fields: &Value) -> Value {
    let mut answer = json!({
        "position": "So.",
        "key_points": ["a", "b"],
        "rationale": "Because.",
        "confidence": 0.8,
    });
    let members = fields.as_object().unwrap().clone();
    answer.as_object_mut().unwrap().extend(members);
    let kind = (AnswerKind::Independent, form);
    let reading = read(
        kind,
        &answer.to_string(),
        &AgentId::from("security"),
        &labels(),
    );
    let content = reading
        .content
        .map(|content| serde_json::to_value(content).unwrap());
    content.map_or(Value::Null, |content| content["findings"].clone())
}

#[test]
fn answers_are_read_in_every_layout() {
    let item = json!({"outcome": "answered", "text": "A day.", "dissent": ""});
    let expected = json!({"answers": {"Q1": {"outcome": "answered", "text": "A day."}}});
    for answers in [
        json!({"Q1": item}),
        json!({"q1": {"status": "Answered", "answer": "A day."}}),
        json!({"1": item}),
        json!({"Question 1": item, "Q2": {"outcome": "perhaps", "text": "No."}}),
        json!([{"question": "Q1", "outcome": "ANSWERED", "text": "A day."}]),
        json!([{"label": 1, "outcome": "answered", "text": "A day.", "dissent": null}]),
    ] {
        let read = read_with(TWO, &json!({"answers": answers, "new_questions": []}));
        assert_eq!(read, expected, "{answers}");
    }
}

#[test]
fn every_part_is_read() {
    let fields = json!({
        "answers": {
            "Q1": {"outcome": "open", "text": "Figures are missing.", "dissent": "Ops has some."},
            "Q2": {"outcome": "deferred to a person", "text": "Taste."},
        },
        "contradicted": [{"claim": "C1", "reason": "It is bcrypt."}, {"claim": "all", "reason": "x"}],
        "new_questions": [{"text": "Who signs?", "blocker": true}, "Who pays?"],
    });
    let expected = json!({
        "answers": {
            "Q1": {"outcome": "open", "text": "Figures are missing.", "dissent": "Ops has some."},
            "Q2": {"outcome": "deferred", "text": "Taste."},
        },
        "contradicted": [{"claim": "C1", "reason": "It is bcrypt."}],
        "new_questions": [
            {"text": "Who signs?", "blocker": true},
            {"text": "Who pays?", "blocker": false},
        ],
    });
    assert_eq!(read_with(TWO, &fields), expected);
}

#[test]
fn an_answer_without_the_form_is_unreadable() {
    for fields in [
        json!({}),
        json!({"answers": {}}),
        json!({"answers": {"Q1": "A day."}}),
        json!({"answers": {"the first": {"outcome": "open", "text": "x"}}}),
    ] {
        assert_eq!(read_with(TWO, &fields), Value::Null, "{fields}");
    }
    assert_eq!(read_with(AnswerForm::Items, &json!({})), Value::Null);
    let lists = json!({"settled": ["A."], "assumed": [], "open_questions": "Who?"});
    let expected = json!({"settled": ["A."], "open_questions": ["Who?"]});
    assert_eq!(read_with(AnswerForm::Items, &lists), expected);
}

#[test]
fn a_plain_question_has_no_findings() {
    let fields = json!({"answers": {"Q1": {"outcome": "open", "text": "x"}}});
    assert_eq!(read_with(AnswerForm::Plain, &fields), Value::Null);
}
