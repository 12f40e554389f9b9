//! Loops that are killed after any step and resumed.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::refinement::event::RefinementEventKind;
use crate::refinement::finding::BatchFindings;
use crate::refinement::state::{LoopPhase, RefinementState};

use super::player::{DOCUMENT, Player, folded};

const PLAIN: &str = "# Store\n\nOrders are kept for a year. One region may be enough.\n";

fn played(document: &str, jobs: usize, seed: u64) -> Player {
    let mut player = Player::new(document, jobs, seed);
    player.play();
    player
}

/// Plays, and kills the process after each of these numbers of steps.
fn played_with_kills(document: &str, jobs: usize, seed: u64, kills: &[usize]) -> Player {
    let mut player = Player::new(document, jobs, seed);
    for steps in kills {
        for _ in 0..*steps {
            player.step();
        }
        if player.current().phase != LoopPhase::Open {
            return player;
        }
        // What the dead process knew beside its log and the file is gone.
        player.state = folded(&player.log);
        player.resume();
    }
    player.play();
    player
}

fn all_findings(state: &RefinementState) -> Vec<BatchFindings> {
    let iterations = state.current().iterations.iter();
    let mut findings: Vec<BatchFindings> = iterations
        .flat_map(|iteration| iteration.findings().cloned().collect::<Vec<_>>())
        .collect();
    findings.sort_by_key(|findings| findings.source.consultation.clone());
    findings
}

fn assert_same(one: &Player, other: &Player) {
    assert_eq!(one.file, other.file);
    assert_eq!(all_findings(&one.state), all_findings(&other.state));
    let changes = |player: &Player| player.current().changes().cloned().collect::<Vec<_>>();
    assert_eq!(changes(one), changes(other));
    assert_eq!(one.current().spend(), other.current().spend());
    assert_eq!(one.current().evaluation(), other.current().evaluation());
}

#[test]
fn a_loop_ends_when_its_document_has_converged() {
    let player = played(DOCUMENT, 2, 1);
    assert_eq!(player.current().phase, LoopPhase::Ended);
    assert!(player.current().evaluation().unwrap().stops());
    let expected = Some(RefinementEventKind::Ended);
    assert_eq!(player.log.last().map(|event| event.kind.clone()), expected);
}

#[test]
fn a_plain_document_gets_sections_in_its_first_iteration() {
    let player = played(PLAIN, 2, 1);
    assert_eq!(player.current().phase, LoopPhase::Ended);
    assert_eq!(player.current().extractions.len(), 1);
    let changes = player.current().changes();
    assert!(
        changes
            .map(|change| change.number)
            .eq(1..=player.current().changes().count() as u64)
    );
    assert!(player.file.contains("## Open Questions"), "{}", player.file);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_killed_loop_ends_as_an_uninterrupted_one(
        is_plain: bool,
        jobs in 1..4usize,
        seed: u64,
        kills in prop::collection::vec(0..25usize, 0..5),
    ) {
        static UNINTERRUPTED: LazyLock<[Player; 2]> =
            LazyLock::new(|| [DOCUMENT, PLAIN].map(|document| played(document, 1, 0)));
        let document = if is_plain { PLAIN } else { DOCUMENT };
        let killed = played_with_kills(document, jobs, seed, &kills);
        assert_same(&killed, &UNINTERRUPTED[usize::from(is_plain)]);
        // Each event is applied to what its predecessors make: every prefix folds.
        prop_assert_eq!(folded(&killed.log), killed.state);
    }
}
