//! Logs of refinements, and the reports that are made from them.

use conclave::domain::record::log::Fold as _;
use conclave::refinement::event::RefinementEvent;
use conclave::refinement::report::RefinementReport;
use conclave::refinement::state::{LoopPhase, RefinementState};
use conclave::stopping::evaluation::Class;
use conclave::terminal::report::refinement::changes_markdown;

use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/refine.schema.json");
/// As the first version wrote it: an extraction, a failed consultation, a stop and a resume.
const VERSION_1: &str = include_str!("../../data/refinement/version_1/log.jsonl");

fn state(events: usize) -> RefinementState {
    let mut lines = VERSION_1.lines().take(events);
    let mut event = || {
        let line = lines.next()?;
        Some(serde_json::from_str::<RefinementEvent>(line).unwrap())
    };
    let mut state = RefinementState::begin(&event().unwrap()).unwrap();
    while let Some(event) = event() {
        state.apply(&event).unwrap();
    }
    state
}

#[test]
fn logs_of_version_1_stay_readable() {
    let state = state(usize::MAX);
    assert_eq!(state.current().phase, LoopPhase::Ended);
    assert_eq!(state.current().resumes.len(), 1);
    let evaluation = state.current().evaluation().unwrap();
    assert_eq!(evaluation.class(), Some(Class::Converged));
}

#[test]
fn logs_are_written_as_they_were_read() {
    for line in VERSION_1.lines() {
        let event: RefinementEvent = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn reports_of_all_stages_match_the_schema() {
    for events in 1..=VERSION_1.lines().count() {
        let report = RefinementReport::of(state(events).current());
        schema::check(SCHEMA, &serde_json::to_value(report).unwrap());
    }
}

#[test]
fn report_has_the_decision_and_every_change() {
    let report = RefinementReport::of(state(usize::MAX).current());
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn changes_are_a_document_for_people() {
    insta::assert_snapshot!(changes_markdown(&state(usize::MAX)));
}
