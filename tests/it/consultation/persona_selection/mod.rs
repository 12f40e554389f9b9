//! Persona selection by the helper: the resulting panel, its log, and failures, which cost no more
//! than the selection.

mod panel;
mod failures;
mod resume;

use conclave::consultation::event::{PanelEvent, PanelSelection};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::transcript::summary::Status;

use crate::consultation::prelude::*;
use crate::support::script::personas;

pub(super) const SELECTION: &str = r#"{"task_type":"accessibility review","reason":"Blind users.","personas":["accessibility","skeptic","testing"]}"#;

fn helper() -> ModelRef {
    ModelRef::new("mistral", "ministral-8b-latest")
}

/// Returns the usual plan with personas that the helper selects.
pub(super) fn selection_plan() -> Plan {
    let mut plan = plan();
    plan.debate.selectable_personas = personas(&plan.templates);
    plan.debate.helper = Some(helper());
    let price = *plan.prices.0.values().next().unwrap();
    plan.prices.0.insert(helper(), price);
    plan
}

/// Returns the only selection in the log.
fn selection(player: &Player) -> PanelSelection {
    let mut selections = player
        .log
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Panel(PanelEvent::PersonasSelected(selection)) => Some((**selection).clone()),
            _ => None,
        });
    let selection = selections.next().expect("the personas are selected");
    assert!(selections.next().is_none(), "they are selected once");
    selection
}

fn seats(player: &Player) -> Vec<String> {
    player
        .machine
        .plan()
        .panel
        .seats
        .iter()
        .map(|seat| seat.id.to_string())
        .collect()
}

/// Answers the persona selection with this outcome, and all other asks validly.
fn helper_replies(outcome: Outcome) -> impl FnMut(&Ask) -> Outcome {
    move |ask| {
        if ask.answer == AnswerKind::PersonaSelection {
            outcome.clone()
        } else {
            good(ask)
        }
    }
}

/// Plays to completion and checks that the log replays to the machine.
fn play(plan: Plan, mut answers: impl FnMut(&Ask) -> Outcome) -> Player {
    let mut player = Player::started(plan);
    let end = player.finish(&mut answers);
    assert_eq!(end, StateName::Complete, "{}", player.log_text());
    assert_eq!(replay(&player.log).unwrap().consultation, player.machine);
    player
}

fn assert_usual_panel(player: &Player, why: &str) {
    assert_eq!(seats(player), ["security", "architecture", "pragmatic"]);
    let selection = selection(player);
    assert_eq!(selection.chosen_by, None);
    assert!(
        selection.notes.iter().any(|note| note.contains(why)),
        "{why}: {:?}",
        selection.notes
    );
    let transcript = fold(player);
    assert_eq!(transcript.status(), Status::Complete, "{why}");
    assert_eq!(transcript.degradations(), [""; 0], "{why}");
    assert!(!player.log_text().contains("cost:ceiling_reached"));
}
