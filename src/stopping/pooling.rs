//! How likely an answer is right when several voices support or oppose it, each sure to a degree, and all prone to the same errors.
//!
//! The log-odds of the voices are added, as if they were independent, and the sum is shrunk by the design effect of samples that go
//! together: n voices whose errors correlate by ρ tell as much as n / (1 + (n−1)·ρ) independent ones.
//!
//! Invariants: one more in favour never makes it less likely, nor does one in favour that is surer; however many agree, the result stays
//! below what [`MOST_OF_ONE_VOICE`] and the correlation allow.

/// The most that one voice is taken to know.
///
/// With ρ = 0.44, panels of five and of seven models that all agreed were right in 90.9 % and 92.0 % of cases (MMLU-Pro, replayed on
/// recorded answers). Both come from the same voice: ln(0.909 / 0.091) over 1.81 effective voices and ln(0.92 / 0.08) over 1.92 are 1.27,
/// which are the log-odds of 0.78.
pub const MOST_OF_ONE_VOICE: f64 = 0.78;

/// One that has said how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    pub stands: Stands,
    /// From 0 to 1. `None` when it did not say: then it carries no weight.
    pub confidence: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    For,
    Against,
}

/// The probability that the answer is right, above 0 and below 1.
pub fn pooled(voices: &[Voice], correlation: f64) -> f64 {
    let sum: f64 = voices.iter().map(|voice| voice.log_odds()).sum();
    let share = effective_voters(voices.len(), correlation) / number(voices.len().max(1));
    sigmoid(share * sum).clamp(f64::EPSILON, 1.0 - f64::EPSILON)
}

/// How many independent voices tell as much as so many that go together by `correlation`, from 0 to 1.
pub fn effective_voters(voters: usize, correlation: f64) -> f64 {
    let voters = number(voters);
    voters / (1.0 + (voters - 1.0).max(0.0) * correlation)
}

impl Voice {
    fn log_odds(self) -> f64 {
        // One that is less sure than a coin has not said what else it holds, so it does not speak for the other side.
        let odds = self.confidence.map_or(0.0, |confidence| logit(confidence.clamp(0.5, MOST_OF_ONE_VOICE)));
        match self.stands {
            Stands::For => odds,
            Stands::Against => -odds,
        }
    }
}

fn logit(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[expect(clippy::cast_precision_loss, reason = "nobody seats 2^53 experts")]
fn number(count: usize) -> f64 {
    count as f64
}
