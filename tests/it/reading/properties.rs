//! Properties of reading arbitrary texts and valid answers.

use conclave::consultation::anonymity::labels::Labels;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::reading::problem::{Problem, ProblemSeverity};
use conclave::consultation::reading::{keep_prose, read};
use conclave::domain::ids::AgentId;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::panel::labels;

fn kind() -> impl Strategy<Value = AnswerKind> {
    select(AnswerKind::ALL.to_vec())
}

/// Text with characters that are awkward in JSON.
fn text() -> impl Strategy<Value = String> {
    "[a-z0-9é专\"'{}\\[\\],:\\\\/ \n\t“”`-]{0,40}[a-z0-9]".prop_map(|text| text.trim().to_owned())
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(text(), 0..4)
}

fn expert() -> impl Strategy<Value = &'static str> {
    select(vec!["Expert A", "Expert B", "Expert C"])
}

fn confidence() -> impl Strategy<Value = f64> {
    (0_u32..=100).prop_map(|hundredths| f64::from(hundredths) / 100.0)
}

fn severity() -> impl Strategy<Value = &'static str> {
    select(vec!["low", "medium", "high"])
}

fn list(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::vec(item, 0..3)
}

/// A valid answer, which has no problems.
fn valid() -> impl Strategy<Value = (AnswerKind, Value)> {
    let independent = (text(), texts(), text(), confidence()).prop_map(|(position, points, rationale, confidence)| {
        (AnswerKind::Independent, json!({ "position": position, "key_points": points, "rationale": rationale, "confidence": confidence }))
    });
    let point = (text(), confidence())
        .prop_map(|(point, sure)| json!({ "point": point, "supporting_agents": ["Expert A", "Expert C"], "confidence": sure }));
    let views = list(
        (expert(), text()).prop_map(|(agent, view)| json!({ "agent": agent, "viewpoint": view })),
    );
    let tension = (text(), views, severity()).prop_map(
        |(topic, views, weight)| json!({ "topic": topic, "viewpoints": views, "severity": weight }),
    );
    let synthesis = (list(point), list(tension), texts()).prop_map(|(points, tensions, order)| {
        (
            AnswerKind::Synthesis,
            json!({ "consensus_points": points, "tensions": tensions, "priority_order": order }),
        )
    });
    let challenge = || {
        (expert(), expert(), text(), texts(), severity()).prop_map(|(from, to, challenge, evidence, weight)| {
            json!({ "challenger": from, "target_agent": to, "challenge": challenge, "evidence": evidence, "severity": weight })
        })
    };
    let rebuttal = || {
        list(
            (expert(), text())
                .prop_map(|(agent, text)| json!({ "agent": agent, "rebuttal": text })),
        )
    };
    let cross_exam =
        (list(challenge()), rebuttal(), texts()).prop_map(|(challenges, rebuttals, open)| {
            (
                AnswerKind::CrossExam,
                json!({ "challenges": challenges, "rebuttals": rebuttals, "unresolved": open }),
            )
        });
    let reasons = list(
        (expert(), text()).prop_map(|(agent, text)| json!({ "agent": agent, "argument": text })),
    );
    let revision = (list(challenge()), rebuttal(), any::<bool>(), reasons, text(), confidence()).prop_map(
        |(challenges, rebuttals, changed, because_of, position, confidence)| {
            (
                AnswerKind::Revision,
                json!({ "challenges": challenges, "rebuttals": rebuttals, "changed": changed, "because_of": because_of,
                    "revised_position": position, "revised_confidence": confidence }),
            )
        },
    );
    let evidence = list((text(), expert(), text()).prop_map(
        |(claim, agent, quote)| json!({ "claim": claim, "agent": agent, "quote": quote }),
    ))
    .boxed();
    let option = (text(), text(), texts(), texts(), text(), confidence()).prop_map(|(option, description, pros, cons, best_when, confidence)| {
        json!({ "option": option, "description": description, "pros": pros, "cons": cons, "best_when": best_when, "confidence": confidence })
    });
    let options = proptest::collection::vec(option, 1..4);
    let objections = list(
        (expert(), text(), severity())
            .prop_map(|(agent, concern, weight)| json!({ "agent": agent, "concern": concern, "severity": weight })),
    );
    let menu = (text(), options, evidence.clone(), objections, text()).prop_map(|(summary, options, evidence, dissent, how)| {
        (
            AnswerKind::Menu,
            json!({ "summary": summary, "recommendations": options, "evidence": evidence, "dissent": dissent, "recommendation": how }),
        )
    });
    let dissent = (expert(), text(), severity())
        .prop_map(|(agent, concern, weight)| json!([{ "agent": agent, "concern": concern, "severity": weight }]));
    let verdict = (text(), evidence, dissent, text(), confidence()).prop_map(|(summary, evidence, dissent, recommendation, confidence)| {
        (
            AnswerKind::Verdict,
            json!({ "summary": summary, "evidence": evidence, "dissent": dissent, "recommendation": recommendation, "confidence": confidence }),
        )
    });
    prop_oneof![independent, synthesis, revision, cross_exam, verdict, menu]
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
    let reading = read(kind, text, &AgentId::from("security"), &labels());
    let fatal = reading
        .problems
        .iter()
        .any(|problem| problem.severity == ProblemSeverity::Error);
    assert_eq!(reading.content.is_none(), fatal, "{:?}", reading.problems);
    keep_prose(kind, text, &AgentId::from("security"));
    reading.problems
}

const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    ",",
    ":",
    "\\",
    "\\u",
    "\n",
    " ",
    "```",
    "json",
    "<think>",
    "</think>",
    "position",
    "\"position\"",
    "confidence",
    "\"challenges\":",
    "0.8",
    "-",
    "85%",
    "true",
    "null",
    "NaN",
    "//",
    "/*",
    "*/",
    "“",
    "”",
    "é",
    "Expert A",
    "{\"answer\":\"{",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
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
        pieces in proptest::collection::vec(select(FRAGMENTS), 0..60),
    ) {
        check(kind, &pieces.concat());
    }

    #[test]
    fn valid_answer_is_read_completely_without_problems(
        (kind, answer) in valid(),
        pretty in any::<bool>(),
    ) {
        let text = if pretty {
            serde_json::to_string_pretty(&answer).unwrap()
        } else {
            answer.to_string()
        };
        let reading = read(kind, &text, &AgentId::from("security"), &labels());
        prop_assert_eq!(&reading.problems, &[]);
        let content = serde_json::to_value(&reading.content).unwrap();
        let expected = with_seats(&answer, &labels());
        prop_assert!(holds(&content, &expected), "{} became {}", answer, content);
    }

    #[test]
    fn truncated_answer_is_never_accepted_as_complete(
        (kind, answer) in valid(),
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
        (kind, answer) in valid(),
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
