//! Random answers that follow their schema.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

const EXPERTS: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

/// Text with characters that are awkward in JSON.
fn text() -> impl Strategy<Value = String> {
    "[a-z0-9é专\"'{}\\[\\],:\\\\/ \n\t“”`-]{0,40}[a-z0-9]".prop_map(|text| text.trim().to_owned())
}

/// Returns a valid answer, which has no problems.
pub(super) fn valid_answer() -> impl Strategy<Value = (AnswerKind, Value)> {
    let kinds = vec![
        AnswerKind::Independent,
        AnswerKind::Synthesis,
        AnswerKind::Revision,
        AnswerKind::CrossExam,
        AnswerKind::Verdict,
        AnswerKind::Menu,
    ];
    select(kinds).prop_flat_map(|kind| {
        let answer = value("", &kind.schema(AnswerForm::Plain));
        answer.prop_map(move |mut answer| {
            // Without a challenge, nothing is unresolved.
            if kind == AnswerKind::CrossExam && answer["challenges"] == json!([]) {
                answer["unresolved"] = json!([]);
            }
            (kind, answer)
        })
    })
}

/// Returns a value of this schema for a field of this name.
fn value(name: &str, schema: &Value) -> BoxedStrategy<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return select(words.clone()).boxed();
    }
    // A verdict in doubt has a dissent, and a menu an option.
    let fewest = usize::from(["dissent", "recommendations"].contains(&name));
    match (schema["type"].as_str().unwrap(), name) {
        ("object", _) => {
            let fields = schema["properties"].as_object().unwrap().clone();
            let values: Vec<_> = fields.iter().map(|(name, of)| value(name, of)).collect();
            let names =
                move |values| -> Value { fields.keys().cloned().zip::<Vec<_>>(values).collect() };
            values.prop_map(names).boxed()
        }
        // One expert alone is no consensus.
        ("array", "supporting_agents") => {
            let some = subsequence(EXPERTS.to_vec(), 2..=EXPERTS.len());
            some.prop_map(|experts| json!(experts)).boxed()
        }
        ("array", _) => {
            let items = proptest::collection::vec(value("", &schema["items"]), fewest..4);
            items.prop_map(Value::from).boxed()
        }
        ("string", "agent" | "challenger" | "target_agent") => {
            select(&EXPERTS[..]).prop_map(Value::from).boxed()
        }
        ("string", _) => text().prop_map(Value::from).boxed(),
        ("number", _) => {
            let hundredths = (0_u32..=100).prop_map(|hundredths| f64::from(hundredths) / 100.0);
            hundredths.prop_map(Value::from).boxed()
        }
        ("boolean", _) => any::<bool>().prop_map(Value::from).boxed(),
        (other, name) => panic!("{name} is of type {other}"),
    }
}
