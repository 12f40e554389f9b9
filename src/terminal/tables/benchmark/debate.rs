//! What the debate changed, and the debates that ended early.

use super::ReportScreen;
use crate::benchmark::report::debate::{AnswerChanges, EarlyStopFigures};
use crate::benchmark::report::words::cost_in_words;
use crate::benchmark::statistics::proportion::Proportion;

impl ReportScreen<'_> {
    pub(super) fn debate(&mut self) {
        let report = self.report;
        for arm in &report.arms {
            let Some(debate) = arm.debate else {
                continue;
            };
            let changes = [
                ("Round 1 vote to answer   ", debate.vote_to_verdict),
                ("Rounds 3 and 4           ", debate.synthesis_to_verdict),
                ("Experts, Round 1 to 3    ", debate.experts),
            ];
            let early_stops = arm.early_stops.filter(|stops| stops.stopped.whole() > 0);
            if early_stops.is_none() && changes.iter().all(|(_, changes)| changes.compared == 0) {
                continue;
            }
            self.screen.title("Debate of the panel");
            for (label, changes) in changes {
                if changes.compared > 0 {
                    self.labelled(label, &changes_in_words(changes));
                }
            }
            if let Some(stops) = early_stops {
                self.labelled("Early stops              ", &early_stops_in_words(stops));
            }
        }
    }
}

/// `3 fixed, 1 broken, 41 unchanged`.
fn changes_in_words(changes: AnswerChanges) -> String {
    format!(
        "{} wrong to right, {} right to wrong, {} unchanged",
        changes.wrong_to_right,
        changes.right_to_wrong,
        changes.unchanged()
    )
}

fn early_stops_in_words(stops: EarlyStopFigures) -> String {
    let right = |share: Proportion| format!("{} of {} right", share.part(), share.whole());
    let saved = if stops.saved_known > 0 {
        format!("; about {} saved", cost_in_words(stops.saved))
    } else {
        String::new()
    };
    format!(
        "{}; full debates: {}{saved}",
        right(stops.stopped),
        right(stops.full)
    )
}
