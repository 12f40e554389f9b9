//! Conformity, changes of the verdict and convergence.

use conclave::domain::answer::artifact::{Because, Content, Dissent, Magnitude, Severity};
use conclave::domain::answer::debate_value::ChangeMagnitude;

use super::{SEATS, content, contents, debate_value};
use crate::support::comparison::debate_events;

/// Whether the architect conforms when it moves to this position for these reasons, and these
/// agents support the strongest point.
fn conforms(supporters: &[&str], position: &str, because_of: &[(&str, &str)]) -> bool {
    let mut log = debate_events();
    for content in contents(&mut log) {
        match content {
            Content::Synthesis(synthesis) => {
                synthesis.consensus_points[0].supporting_agents =
                    supporters.iter().map(|agent| (*agent).to_owned()).collect();
            }
            Content::Revision(revision) if revision.agent_id.as_str() == "architecture" => {
                position.clone_into(&mut revision.revised_position);
                revision.because_of = because_of
                    .iter()
                    .map(|(agent, argument)| Because {
                        agent: (*agent).into(),
                        argument: (*argument).into(),
                    })
                    .collect();
            }
            Content::Comparison(comparison) => {
                for compared in &mut comparison.comparisons {
                    compared.magnitude = Magnitude::ModerateShift;
                }
            }
            _ => {}
        }
    }
    let value = debate_value(&log);
    value
        .agents
        .iter()
        .find(|agent| agent.agent_id.as_str() == "architecture")
        .unwrap()
        .conformity
}

#[test]
fn only_a_move_to_the_majority_without_an_argument_is_conformity() {
    let others = ["security", "pragmatic"];
    let closer = "Use OAuth, and keep tokens short-lived.";
    assert!(conforms(&others, closer, &[]));
    assert!(conforms(&others, closer, &[("security", " ")]));
    assert!(
        !conforms(&others, closer, &[("security", "They can be stolen.")]),
        "it names an argument"
    );
    assert!(
        !conforms(&others[..1], closer, &[]),
        "one of three is no majority"
    );
    assert!(
        !conforms(&["architecture", "security"], closer, &[]),
        "it already held that position"
    );
    assert!(
        !conforms(&others, "Use sessions.", &[]),
        "it moves elsewhere"
    );
    assert!(!conforms(&others, "Use OAuth.", &[]), "it did not change");
}

/// Returns whether the verdict changed the provisional answer of Round 2, and their similarity.
fn verdict_change(
    answer: &str,
    recommendation: &str,
    summary: &str,
) -> (Option<bool>, Option<f64>) {
    let mut log = debate_events();
    for content in contents(&mut log) {
        match content {
            Content::Synthesis(synthesis) => {
                let given = synthesis.provisional_answer.as_mut().unwrap();
                answer.clone_into(&mut given.answer);
            }
            Content::Verdict(verdict) => {
                recommendation.clone_into(&mut verdict.recommendation);
                summary.clone_into(&mut verdict.summary);
            }
            _ => {}
        }
    }
    let value = debate_value(&log);
    (
        value.verdict_changed_after_round_2,
        value.similarity_to_round_2,
    )
}

#[test]
fn verdict_change_is_judged_by_shared_words_or_left_unknown() {
    let answer = "Rotate signing keys every month, automatically.";
    assert_eq!(
        verdict_change(
            answer,
            "Rotate the signing keys each month by an automatic job.",
            ""
        ),
        (Some(false), Some(0.666_667))
    );
    assert_eq!(
        verdict_change(answer, "Automate it.", "Signing keys rotate every month."),
        (Some(false), Some(0.833_333))
    );
    assert_eq!(
        verdict_change(answer, "Buy a managed service.", "It does that by itself."),
        (Some(true), Some(0.0))
    );
    assert_eq!(
        verdict_change(answer, "Rotate keys by hand.", ""),
        (None, Some(0.333_333)),
        "medium similarity is unknown"
    );
    assert_eq!(
        verdict_change(
            answer,
            "Do not rotate signing keys every month automatically.",
            ""
        ),
        (None, Some(1.0)),
        "a negation may mean the opposite"
    );
    assert_eq!(verdict_change("", "Rotate keys.", ""), (None, None));
}

#[test]
fn convergence_is_the_share_of_experts_without_dissent() {
    let with = |dissenters: &[&str]| {
        let mut log = debate_events();
        for content in contents(&mut log) {
            if let Content::Verdict(verdict) = content {
                let dissent = |agent: &&str| Dissent {
                    agent: (*agent).into(),
                    concern: "x".into(),
                    severity: Severity::Low,
                };
                verdict.dissent = dissenters.iter().map(dissent).collect();
            }
        }
        debate_value(&log).convergence_score
    };
    assert_eq!(with(&[]), Some(1.0));
    assert_eq!(with(&["security", "security"]), Some(0.666_667));
    assert_eq!(with(&SEATS), Some(0.0));
    assert_eq!(with(&["stranger"]), None);
}

#[test]
fn expert_without_a_revision_has_an_unknown_change() {
    let mut log = debate_events();
    log.retain(|envelope| {
        let revision = content(envelope).and_then(Content::revision);
        revision.is_none_or(|revision| revision.agent_id.as_str() != "security")
    });
    let value = debate_value(&log);
    assert_eq!(value.agents[0].magnitude, ChangeMagnitude::Unknown);
    assert_eq!(value.agents_compared, Some(2));
    assert!(
        value.key_influencers.is_empty(),
        "the change that the argument caused is unknown"
    );
}
