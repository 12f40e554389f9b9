//! Computes the calibrated probability that the strongest point is right.

use super::{EarlyStop, Evidence, Statement, leading};
use crate::domain::confidence::{Basis, Calibrated, Confidence};
use crate::stopping::experience::Experience;
use crate::stopping::number;
use crate::stopping::pooling::{Stands, Vote, effective_voters, pooled};

/// Returns the calibrated probability of the strongest point; `None` without a point or an answer,
/// and if the judge's confidences carry no information.
pub fn calibrated(rule: &EarlyStop, evidence: &Evidence) -> Option<Calibrated> {
    let point = evidence.points.get(leading(&evidence.points)?)?;
    if evidence.uninformative_judge || evidence.answered == 0 || evidence.statements.is_empty() {
        return None;
    }
    if let Some(experience) = Experience::of(&rule.experience) {
        let agreement = (number(point.supporters) / number(evidence.answered)).min(1.0);
        let probability = experience.right_at(agreement)?;
        return Some(Calibrated {
            probability,
            basis: Basis::Experience {
                graded: experience.graded,
                agreement,
            },
        });
    }
    let votes: Vec<Vote> = evidence.statements.iter().map(vote).collect();
    let correlation = rule.correlation;
    let basis = Basis::Pool {
        correlation,
        effective_voters: effective_voters(votes.len(), correlation),
    };
    Some(Calibrated {
        probability: pooled(&votes, correlation),
        basis,
    })
}

fn vote(statement: &Statement) -> Vote {
    let stands = if statement.supports_leading {
        Stands::For
    } else {
        Stands::Against
    };
    Vote {
        stands,
        confidence: statement.confidence.map(Confidence::value),
    }
}
