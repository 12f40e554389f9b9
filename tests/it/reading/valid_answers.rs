//! Random answers that follow their schema.

use conclave::consultation::protocol::answer::AnswerKind;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

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

/// Returns a valid answer, which has no problems.
pub(super) fn valid_answer() -> impl Strategy<Value = (AnswerKind, Value)> {
    prop_oneof![
        independent().prop_map(|answer| (AnswerKind::Independent, answer)),
        synthesis().prop_map(|answer| (AnswerKind::Synthesis, answer)),
        revision().prop_map(|answer| (AnswerKind::Revision, answer)),
        cross_exam().prop_map(|answer| (AnswerKind::CrossExam, answer)),
        verdict().prop_map(|answer| (AnswerKind::Verdict, answer)),
        menu().prop_map(|answer| (AnswerKind::Menu, answer)),
    ]
}

fn independent() -> impl Strategy<Value = Value> {
    let fields = (text(), texts(), text(), confidence());
    fields.prop_map(|(position, key_points, rationale, confidence)| {
        json!({
            "position": position,
            "key_points": key_points,
            "rationale": rationale,
            "confidence": confidence,
        })
    })
}

fn synthesis() -> impl Strategy<Value = Value> {
    let point = (text(), confidence()).prop_map(|(point, confidence)| {
        json!({
            "point": point,
            "supporting_agents": ["Expert A", "Expert C"],
            "confidence": confidence,
        })
    });
    let viewpoints = list(
        (expert(), text()).prop_map(|(agent, view)| json!({ "agent": agent, "viewpoint": view })),
    );
    let tension = (text(), viewpoints, severity()).prop_map(|(topic, viewpoints, severity)| {
        json!({ "topic": topic, "viewpoints": viewpoints, "severity": severity })
    });
    let fields = (list(point), list(tension), texts());
    fields.prop_map(|(points, tensions, order)| {
        json!({ "consensus_points": points, "tensions": tensions, "priority_order": order })
    })
}

fn challenges() -> impl Strategy<Value = Vec<Value>> {
    let fields = (expert(), expert(), text(), texts(), severity());
    list(
        fields.prop_map(|(challenger, target, challenge, evidence, severity)| {
            json!({
                "challenger": challenger,
                "target_agent": target,
                "challenge": challenge,
                "evidence": evidence,
                "severity": severity,
            })
        }),
    )
}

fn rebuttals() -> impl Strategy<Value = Vec<Value>> {
    list((expert(), text()).prop_map(|(agent, text)| json!({ "agent": agent, "rebuttal": text })))
}

fn cross_exam() -> impl Strategy<Value = Value> {
    let fields = (challenges(), rebuttals(), texts());
    fields.prop_map(|(challenges, rebuttals, mut unresolved)| {
        // Without a challenge, nothing is unresolved.
        if challenges.is_empty() {
            unresolved.clear();
        }
        json!({ "challenges": challenges, "rebuttals": rebuttals, "unresolved": unresolved })
    })
}

fn revision() -> impl Strategy<Value = Value> {
    let reasons = list(
        (expert(), text()).prop_map(|(agent, text)| json!({ "agent": agent, "argument": text })),
    );
    let position = (any::<bool>(), reasons, text(), confidence());
    let fields = (challenges(), rebuttals(), position);
    fields.prop_map(
        |(challenges, rebuttals, (changed, because_of, position, confidence))| {
            json!({
                "challenges": challenges,
                "rebuttals": rebuttals,
                "changed": changed,
                "because_of": because_of,
                "revised_position": position,
                "revised_confidence": confidence,
            })
        },
    )
}

fn evidence() -> impl Strategy<Value = Vec<Value>> {
    list((text(), expert(), text()).prop_map(
        |(claim, agent, quote)| json!({ "claim": claim, "agent": agent, "quote": quote }),
    ))
}

fn dissent() -> impl Strategy<Value = Value> {
    (expert(), text(), severity()).prop_map(|(agent, concern, severity)| {
        json!({ "agent": agent, "concern": concern, "severity": severity })
    })
}

fn verdict() -> impl Strategy<Value = Value> {
    let fields = (text(), evidence(), dissent(), text(), confidence());
    fields.prop_map(|(summary, evidence, dissent, recommendation, confidence)| {
        json!({
            "summary": summary,
            "evidence": evidence,
            "dissent": [dissent],
            "recommendation": recommendation,
            "confidence": confidence,
        })
    })
}

fn menu() -> impl Strategy<Value = Value> {
    let fields = (text(), text(), texts(), texts(), text(), confidence());
    let option = fields.prop_map(|(option, description, pros, cons, best_when, confidence)| {
        json!({
            "option": option,
            "description": description,
            "pros": pros,
            "cons": cons,
            "best_when": best_when,
            "confidence": confidence,
        })
    });
    let options = proptest::collection::vec(option, 1..4);
    let fields = (text(), options, evidence(), list(dissent()), text());
    fields.prop_map(|(summary, options, evidence, dissent, recommendation)| {
        json!({
            "summary": summary,
            "recommendations": options,
            "evidence": evidence,
            "dissent": dissent,
            "recommendation": recommendation,
        })
    })
}
