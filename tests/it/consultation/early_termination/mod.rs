//! Ends before the last round, with their states, calls and records.

mod offer;
mod policy;
mod guards;
mod rounds;
mod saving;

use conclave::consultation::event::{EarlyTermination, StateEvent};
use conclave::consultation::machine::Question;
use conclave::consultation::plan::Control;
use conclave::domain::answer::confidence::Confidence;
use conclave::stopping::early_termination::{Policy, TerminationRule};
use serde_json::json;

use crate::consultation::prelude::*;

const ALL_EXPERTS: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

const TWO_ROUNDS: [StateName; 5] = [
    StateName::Estimating,
    StateName::AwaitingConsent,
    StateName::Independent,
    StateName::Synthesis,
    StateName::Complete,
];
const ALL_ROUNDS: [StateName; 7] = [
    StateName::Estimating,
    StateName::AwaitingConsent,
    StateName::Independent,
    StateName::Synthesis,
    StateName::CrossExam,
    StateName::Verdict,
    StateName::Complete,
];

/// Returns a plan that may end early by this policy at this threshold.
pub(super) fn early_plan(policy: Policy, consent_mode: ConsentMode, threshold: f64) -> Plan {
    let plan = plan();
    let early_termination = TerminationRule {
        policy,
        threshold: Confidence::new(threshold).unwrap(),
        ..TerminationRule::usual()
    };
    let mut control = Control {
        early_termination,
        ..plan.control
    };
    control.consent.consent_mode = consent_mode;
    Plan { control, ..plan }
}

/// Returns a synthesis with points of these confidences, all supported by these experts, and with
/// tensions of these severities.
fn synthesis(confidences: &[f64], supporters: &[&str], tensions: &[&str]) -> Outcome {
    let point = |confidence: &f64| {
        json!({
            "point": format!("Point of {confidence}."),
            "supporting_agents": supporters,
            "confidence": confidence,
        })
    };
    let tension = |severity: &&str| {
        json!({
            "topic": format!("A {severity} one"),
            "viewpoints": [{"agent": "Expert B", "viewpoint": "No."}],
            "severity": severity,
        })
    };
    let synthesis = json!({
        "consensus_points": confidences.iter().map(point).collect::<Vec<_>>(),
        "tensions": tensions.iter().map(tension).collect::<Vec<_>>(),
        "priority_order": ["Cost"],
        "provisional_answer": {
            "answer": "The point of all.",
            "confidence": "72%",
            "would_change_it": "Another one",
        },
    });
    reply(&synthesis.to_string())
}

/// Answers every ask, with distinct expert answers, which trigger no rubber-stamp guard.
fn answers_with(synthesis: &Outcome) -> impl FnMut(&Ask) -> Outcome + use<> {
    let synthesis = synthesis.clone();
    move |ask| match ask.answer {
        AnswerKind::Synthesis => synthesis.clone(),
        _ => good(ask),
    }
}

/// Plays until the offer is made.
fn play_to_offer(plan: Plan, synthesis: &Outcome) -> Player {
    let mut player = Player::started(plan);
    let mut answers = answers_with(synthesis);
    while player.question.is_none() {
        let ask = player
            .open
            .first()
            .expect("a call is open until the question")
            .clone();
        player.pass(Duration::from_millis(100));
        player.answer(0, answers(&ask));
    }
    player
}

fn offer(player: &Player) -> EarlyTermination {
    match &player.question {
        Some(Question::EarlyTermination { findings, .. }) => (**findings).clone(),
        other => panic!("no offer: {other:?}"),
    }
}

fn play(plan: Plan, synthesis: &Outcome) -> Player {
    let mut player = Player::started(plan);
    player.finish(answers_with(synthesis));
    player
}

fn states(player: &Player) -> Vec<StateName> {
    player
        .log
        .iter()
        .filter_map(|envelope| {
            if let Event::State(StateEvent::Changed { to, .. }) = envelope.event {
                Some(to)
            } else {
                None
            }
        })
        .collect()
}

/// Returns the number of calls in each round.
fn calls(player: &Player) -> [usize; 4] {
    let transcript = fold(player);
    [1, 2, 3, 4].map(|round| {
        transcript
            .calls
            .iter()
            .filter(|call| call.round_number == round)
            .count()
    })
}

fn unmet_guards(findings: &EarlyTermination) -> Vec<String> {
    findings
        .evaluation
        .unmet_guards()
        .map(|rule| rule.name.clone())
        .collect()
}
