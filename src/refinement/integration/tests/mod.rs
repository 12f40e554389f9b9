//! What is done with each finding, and that each change can be undone by hand.

mod rules;
mod undo;

use std::collections::BTreeSet;

use crate::domain::answer::confidence::Confidence;
use crate::domain::ids::ConsultationId;
use crate::domain::steps;
use crate::refinement::change::ItemChange;
use crate::refinement::document::SpecDocument;
use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::refinement::mask::TextMask;
use crate::stopping::convergence::QuestionKey;

use super::{Integration, integrate};

const DOCUMENT: &str = "\
# Store

## High Confidence

- Orders are kept for a year

## Medium Confidence

- One region is enough

## Open Questions

- [NEW] Which database?
  - it must be open source
- [BLOCKER] Who pays?
- Which cache?
";

fn key(text: &str) -> QuestionKey {
    QuestionKey::of(text)
}

fn of(id: &str, confidence: Option<f64>, findings: Vec<PanelFinding>) -> BatchFindings {
    BatchFindings {
        source: FindingSource {
            consultation: ConsultationId::from_unique(id),
            confidence,
            calibrated: false,
            dissent: Vec::new(),
            degradations: Vec::new(),
        },
        findings,
        unread: Vec::new(),
    }
}

fn answered(question: &str, answer: &str) -> PanelFinding {
    PanelFinding::Answered {
        question: key(question),
        answer: answer.to_owned(),
        dissent: None,
    }
}

fn deferred(question: &str, reason: &str) -> PanelFinding {
    PanelFinding::Deferred {
        question: key(question),
        reason: reason.to_owned(),
    }
}

fn still_open(question: &str, reason: &str) -> PanelFinding {
    PanelFinding::StillOpen {
        question: key(question),
        reason: reason.to_owned(),
    }
}

fn contradicted(claim: &str, reason: &str) -> PanelFinding {
    PanelFinding::Contradicted {
        claim: key(claim),
        reason: reason.to_owned(),
    }
}

fn new(text: &str) -> PanelFinding {
    PanelFinding::NewQuestion {
        text: text.to_owned(),
        blocker: false,
    }
}

/// From where on an answer is of high confidence.
fn high() -> Confidence {
    Confidence::new(0.8).unwrap()
}

fn merged_with(
    document: &str,
    findings: &[BatchFindings],
    known: &BTreeSet<QuestionKey>,
) -> Integration {
    let document = SpecDocument::parse(document).unwrap();
    integrate(&document, findings, 1, high(), known.clone()).unwrap()
}

fn merged(document: &str, findings: &[BatchFindings]) -> Integration {
    merged_with(document, findings, &BTreeSet::new())
}

fn only(integration: &Integration) -> &ItemChange {
    assert_eq!(integration.changes.len(), 1, "{:#?}", integration.changes);
    &integration.changes[0]
}
