//! What the panel proposes for blockers that stay open: answers that are not confident enough.

use std::collections::BTreeMap;

use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::stopping::convergence::QuestionKey;

use super::iteration::IterationRecord;
use super::refinement_loop::RefinementLoop;

/// The best answer to an open blocker: that of the highest confidence, and the newest of those.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockerProposal<'l> {
    /// The blocker was kept by it.
    pub change: &'l ItemChange,
    pub answer: &'l str,
    pub source: &'l FindingSource,
}

impl RefinementLoop {
    /// Returns the proposals for the blockers that the last merge leaves open, in the order of
    /// their changes.
    pub fn blocker_proposals(&self) -> Vec<BlockerProposal<'_>> {
        let Some(last) = self.merges().next_back() else {
            return Vec::new();
        };
        let mut newest: BTreeMap<&QuestionKey, &ItemChange> = BTreeMap::new();
        for change in self.changes() {
            newest.insert(&change.item, change);
        }
        let is_open = |change: &&ItemChange| {
            let is_kept = change.kind == ChangeKind::Kept && change.is_about_blocker();
            is_kept && last.measure.questions.contains(&change.item)
        };
        let mut blockers: Vec<&ItemChange> = newest.into_values().filter(is_open).collect();
        blockers.sort_by_key(|change| change.number);
        let proposals = blockers.into_iter();
        proposals
            .filter_map(|change| self.proposal(change))
            .collect()
    }

    fn proposal<'l>(&'l self, change: &'l ItemChange) -> Option<BlockerProposal<'l>> {
        let written = self.iterations.iter();
        let written = written.filter(|iteration| iteration.written().is_some());
        let findings = written.flat_map(IterationRecord::findings);
        let answers = findings.filter_map(|findings| {
            let answer = answer_to(&change.item, findings)?;
            let source = &findings.source;
            Some(BlockerProposal {
                change,
                answer,
                source,
            })
        });
        answers.max_by(|one, other| {
            let confidence = |proposal: &BlockerProposal<'_>| proposal.source.confidence;
            let (one, other) = (confidence(one), confidence(other));
            one.unwrap_or(-1.0).total_cmp(&other.unwrap_or(-1.0))
        })
    }
}

fn answer_to<'f>(question: &QuestionKey, findings: &'f BatchFindings) -> Option<&'f str> {
    let mut findings = findings.findings.iter();
    let answer = findings.find(|finding| {
        matches!(finding, PanelFinding::Answered { question: answered, .. } if answered == question)
    });
    answer.map(PanelFinding::words)
}
