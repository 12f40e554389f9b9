//! The helper's comparison after Round 3: how far each expert's position has moved. One call covers
//! all experts and runs beside the judge's task, which does not wait for it.
//!
//! Invariant: its outcome changes nothing in the rest of the consultation.

use crate::domain::answer::artifact::{Independent, Revision};
use crate::domain::ids::{AgentId, SeatId};

use crate::consultation::analysis::wording::is_unchanged;
use crate::consultation::anonymity::labels::Labels;
use crate::consultation::event::{AgentError, AgentEvent, AgentFailure, Event};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::prompt::Pair;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::TaskSet;

/// Starts the comparison if it is enabled, a helper model is available, and positions differ in
/// their words.
pub(crate) fn send(
    step: &mut StepContext<'_>,
    tasks: &mut TaskSet,
    independents: &[Independent],
    revisions: &[Revision],
) {
    let helper = AgentId::Helper;
    let Some(model) = step.run.candidates(step.plan, &helper).into_iter().next() else {
        return;
    };
    let pairs = pairs(&step.plan.labels(), independents, revisions);
    if pairs.is_empty() || !step.plan.debate.asks_for(AnswerKind::Comparison) {
        return;
    }
    let answer = AnswerKind::Comparison;
    if let Err(error) = tasks.try_send(step, &helper, answer, |prompter| {
        prompter.comparison(&pairs)
    }) {
        step.emit(Event::Agent(AgentEvent::Failed(AgentFailure {
            name: step.plan.agent_name(&helper),
            agent_id: helper,
            round_number: answer.round(),
            answer,
            model,
            error: AgentError {
                class: None,
                message: error.to_string(),
            },
        })));
    }
}

pub(crate) fn keep(emitter: &mut Emitter<'_>, tasks: &mut TaskSet) {
    for outcome in tasks.take_outcomes_for(AnswerKind::Comparison) {
        if let Ok(answer) = outcome.result {
            emitter.emit_artifact(answer.content, answer.degraded);
        }
    }
}

/// Returns the pairs of positions that differ, in the order of their labels, so that the helper
/// does not see the order of the panel.
fn pairs(labels: &Labels, independents: &[Independent], revisions: &[Revision]) -> Vec<Pair> {
    let of = |seat: &SeatId| {
        let held = independents.iter().find(|held| held.agent_id == *seat)?;
        let revision = revisions
            .iter()
            .find(|revision| revision.agent_id == *seat)?;
        (!is_unchanged(held, revision)).then(|| pair(labels.label(seat), held, revision))
    };
    labels.order.iter().filter_map(of).collect()
}

/// Reasons are included only if both have one: a reason on one side alone would look like a change.
fn pair(label: String, held: &Independent, revision: &Revision) -> Pair {
    let first = [held.key_points.first(), Some(&held.rationale)]
        .into_iter()
        .flatten()
        .find(|reason| !reason.trim().is_empty());
    let later = revision
        .because_of
        .iter()
        .map(|because| &because.argument)
        .find(|argument| !argument.trim().is_empty());
    let (mut before, mut after) = (held.position.clone(), revision.revised_position.clone());
    if let Some((first, later)) = first.zip(later) {
        before.extend(["\nMain reason: ", first]);
        after.extend(["\nMain reason: ", later]);
    }
    Pair {
        label,
        before,
        after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answer::artifact::Because;
    use crate::domain::ids::ModelRef;
    use crate::domain::panel::Seat;

    fn held(agent: &str, position: &str, point: &str) -> Independent {
        Independent {
            agent_id: SeatId::new(agent),
            position: position.into(),
            key_points: vec![point.into()],
            rationale: "r".into(),
            ..Independent::default()
        }
    }

    fn revision(agent: &str, revised_position: &str, because_of: Vec<Because>) -> Revision {
        Revision {
            agent_id: SeatId::new(agent),
            revised_position: revised_position.into(),
            changed: Some(true),
            because_of,
            ..Revision::default()
        }
    }

    fn labels() -> Labels {
        let seat = |id| Seat::named(id, id, ModelRef::new("scripted", "m"));
        Labels::draw(&["one", "two", "three"].map(seat), 7)
    }

    #[test]
    fn only_differing_positions_are_compared_in_label_order() {
        let labels = labels();
        let independents = ["one", "two", "three"].map(|agent| held(agent, "Use OAuth.", "k"));
        let revisions = [
            revision("one", "Use JWT.", vec![]),
            revision("two", "use OAuth", vec![]),
            revision("three", "Use keys.", vec![]),
        ];
        let pairs = pairs(&labels, &independents, &revisions);
        let named: Vec<&str> = pairs.iter().map(|pair| pair.label.as_str()).collect();
        let mut wanted = ["one", "three"].map(|agent| labels.label(&SeatId::new(agent)));
        wanted.sort();
        assert_eq!(named, wanted);
        assert!(pairs.iter().all(|pair| pair.before == "Use OAuth."));
        assert_eq!(super::pairs(&labels, &independents, &[]), []);
    }

    #[test]
    fn a_reason_is_shown_on_both_sides_or_on_none() {
        let because = |argument: &str| {
            vec![Because {
                agent: "two".into(),
                argument: argument.into(),
            }]
        };
        let with = pair(
            "A".into(),
            &held("one", "X.", "speed"),
            &revision("one", "Y.", because("safety")),
        );
        let expected = ("X.\nMain reason: speed", "Y.\nMain reason: safety");
        assert_eq!((with.before.as_str(), with.after.as_str()), expected);
        let without = pair(
            "A".into(),
            &held("one", "X.", "speed"),
            &revision("one", "Y.", because(" ")),
        );
        let expected = ("X.", "Y.");
        assert_eq!((without.before.as_str(), without.after.as_str()), expected);
    }
}
