//! What the panel found and the document does not show: proposals for blockers, and consultations
//! with less than the whole panel.

use super::Desk;
use crate::support::provider_server::{Answer, On};
use crate::support::schema;

const BLOCKER: &str =
    "## High Confidence\n\n## Open Questions\n\n- [BLOCKER] Where are the keys kept?\n";

#[test]
fn open_blocker_is_shown_with_the_best_proposal() {
    let desk = Desk::with(BLOCKER).finds("Q1 ANSWERED: In the *vault*.");
    let output = desk.run_panel(&["--max-iterations", "2"]).ends_with(14);
    let (_, proposals) = output
        .stdout
        .split_once("\nBest proposals for open blockers (1)\n")
        .unwrap_or_else(|| panic!("{}", output.stdout));
    let line = proposals.lines().next().unwrap();
    let expected = "• [BLOCKER] Where are the keys kept? → In the vault. (";
    assert!(line.starts_with(expected), "{line}");
    assert!(line.contains("%, consult-"), "{line}");
    output.assert_stderr_contains("  0 changes: 0 high, 0 medium, 1 open");
    let changes = desk.read("SPEC.refine/changes.md");
    let (_, proposals) = changes
        .split_once("### Best proposals for open blockers\n\n- Change 2, ")
        .unwrap_or_else(|| panic!("{changes}"));
    let expected = ": In the *vault*. (consult-";
    assert!(proposals.contains(expected), "{proposals}");
}

#[test]
fn answered_blocker_has_no_proposal() {
    let desk = Desk::with(BLOCKER).finds("Q1 ANSWERED: In the vault.");
    let output = desk.run_panel(&["--high-confidence", "0.5"]).ends_with(0);
    assert!(output.stdout.contains("Answered (1)"), "{}", output.stdout);
    assert!(!output.stdout.contains("proposals"), "{}", output.stdout);
    assert!(!desk.read("SPEC.refine/changes.md").contains("proposals"));
}

#[test]
fn consultation_without_an_expert_is_marked_as_degraded() {
    let desk = Desk::with(BLOCKER).finds("Q1 ANSWERED: In the vault.");
    let refused = Answer::error(400, "invalid_request_error", "not today");
    let expert = On::containing("You are a security expert on a panel");
    desk.server.on(expert, refused);
    let terms = ["--high-confidence", "0.2", "--on-failure", "skip"];
    let output = desk.run_panel(&terms).ends_with(0);
    let reason = "Security Expert gave no answer in Round 1";
    output.assert_stderr_contains(&format!("degraded: {reason}"));
    let (_, degraded) = output
        .stdout
        .split_once("\nDegraded consultations (1)\n")
        .unwrap_or_else(|| panic!("{}", output.stdout));
    assert!(degraded.starts_with("• consult-"), "{degraded}");
    assert!(degraded.contains(reason), "{degraded}");
    let changes = desk.read("SPEC.refine/changes.md");
    let expected = format!("- Degraded: {reason}");
    assert!(changes.contains(&expected), "{changes}");
    let json = desk
        .run_panel(&[&terms[..], &["--json"]].concat())
        .ends_with(0)
        .json();
    schema::check(
        include_str!("../../../../../schemas/refine.schema.json"),
        &json,
    );
    let degradations = &json["iterations"][0]["consultations"][0]["degradations"];
    assert!(degradations[0].as_str().unwrap().starts_with(reason));
}
