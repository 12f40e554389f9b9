//! Computes the calibrated probability that the strongest point is right.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;
use crate::stopping::experience::Experience;
use crate::stopping::pooling::{Stands, Vote, effective_voters, pooled};

use super::{EarlyStop, Evidence, Statement, leading};

/// A probability and its basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Above 0 and below 1.
    pub probability: f64,
    pub basis: Basis,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The experts' confidences in Round 1, shrunk by the correlation of their errors.
    Pool {
        correlation: f64,
        effective_voters: f64,
    },
    /// The user's own graded answers with the same agreement.
    Experience { graded: usize, agreement: f64 },
}

/// Returns the calibrated probability of the strongest point; `None` without a point or an answer.
pub fn calibrated(rule: &EarlyStop, evidence: &Evidence) -> Option<Calibrated> {
    let point = evidence.points.get(leading(&evidence.points)?)?;
    if evidence.answered == 0 || evidence.statements.is_empty() {
        return None;
    }
    if let Some(experience) = Experience::of(&rule.experience) {
        let agreement = share(point.supporters, evidence.answered);
        let probability = experience.right_at(agreement)?;
        return Some(Calibrated {
            probability,
            basis: Basis::Experience {
                graded: experience.graded(),
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

#[expect(
    clippy::cast_precision_loss,
    reason = "a panel has far fewer than 2^53 seats"
)]
fn share(part: usize, of: usize) -> f64 {
    (part as f64 / of as f64).min(1.0)
}
