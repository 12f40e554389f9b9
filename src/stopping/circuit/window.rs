//! The window of the last results of calls to a provider, and when they open its circuit.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::rule::CircuitRule;
use super::state::WhyOpen;

/// The last results of calls while the circuit is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWindow {
    /// Failures since the last success.
    in_a_row: u32,
    /// The last results, the oldest first.
    results: VecDeque<CallResult>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallResult {
    Success,
    Failure,
}

impl CallWindow {
    pub(super) fn succeeded(&mut self, rule: &CircuitRule) {
        self.in_a_row = 0;
        self.remember(rule, CallResult::Success);
    }

    /// Records a failure and returns the reason for opening, if it is one too many.
    pub(super) fn failed(&mut self, rule: &CircuitRule) -> Option<WhyOpen> {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.remember(rule, CallResult::Failure);
        self.why_open(rule)
    }

    fn remember(&mut self, rule: &CircuitRule, result: CallResult) {
        self.results.push_back(result);
        let window = usize::try_from(rule.of_at_least).unwrap_or(usize::MAX);
        while self.results.len() > window {
            self.results.pop_front();
        }
    }

    fn why_open(&self, rule: &CircuitRule) -> Option<WhyOpen> {
        if self.in_a_row >= rule.consecutive {
            return Some(WhyOpen::Consecutive {
                failures: self.in_a_row,
            });
        }
        let is_failure = |result: &&CallResult| **result == CallResult::Failure;
        let failures = count(self.results.iter().filter(is_failure).count());
        let of = count(self.results.len());
        let too_many = u64::from(failures) * 100 >= u64::from(of) * u64::from(rule.share_percent);
        (of > 0 && of >= rule.of_at_least && too_many).then_some(WhyOpen::Share { failures, of })
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
