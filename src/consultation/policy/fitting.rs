//! Fits calls to a ceiling: how much of what is left of it a call may reserve.
//!
//! A call reserves the most that it can cost. With the usual output limit that is many times what
//! it will cost, so that a ceiling would pay for few of the calls that it could pay for. Under a
//! ceiling a call reserves no more than its share, and its output limit follows from that.

use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::AgentId;

use super::estimate::{CallEstimate, Estimate};

/// The calls of a run that have not gone out, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpcomingCalls(Vec<CallEstimate>);

impl UpcomingCalls {
    pub fn new(calls: Vec<CallEstimate>) -> Self {
        Self(calls)
    }

    /// A call goes out. Those of earlier rounds that did not are left out for good.
    pub fn begin(&mut self, agent: &AgentId, answer: AnswerKind) {
        let is_it = |call: &CallEstimate| call.agent_id == *agent && call.answer == answer;
        self.0
            .retain(|call| call.round_number >= answer.round() && !is_it(call));
    }

    /// Returns what a call may reserve of what is left: its part of what later calls do not need,
    /// by what each call beside it needs at least. At least `least`, which is what it needs itself.
    pub fn share(
        &self,
        left: MicroUsd,
        agent: &AgentId,
        answer: AnswerKind,
        least: MicroUsd,
    ) -> MicroUsd {
        let beside = self.0.iter().filter(|call| call.answer == answer);
        let others = beside.filter(|call| call.agent_id != *agent);
        let others: MicroUsd = others.map(|call| call.least_reserve.known).sum();
        let later = self.0.iter().filter(|call| is_before(answer, call.answer));
        let later: Vec<&CallEstimate> = later.collect();
        let for_all = left.0.saturating_sub(needed(&later, |call| call.cost).0);
        let all = u128::from(least.0) + u128::from(others.0);
        let part = u128::from(for_all) * u128::from(least.0) / all.max(1);
        MicroUsd(u64::try_from(part).unwrap_or(u64::MAX)).max(least)
    }
}

/// The smallest ceilings that pay for a run: with short answers, and with those of the expected
/// length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SmallestCeilings {
    pub short: MicroUsd,
    pub expected: MicroUsd,
}

impl SmallestCeilings {
    /// Returns those of consultations that go out one after the other.
    pub fn of<'e>(consultations: impl IntoIterator<Item = &'e Estimate>) -> Self {
        let (mut all, mut before) = (Self::default(), Self::default());
        for estimate in consultations {
            let short = estimate.smallest_ceiling(|call| call.low);
            let short = short.max(estimate.low.known);
            let expected = estimate.smallest_ceiling(|call| call.cost);
            all.short = all.short.max(before.short + short);
            all.expected = all.expected.max(before.expected + expected);
            before.short += estimate.low.known;
            before.expected += estimate.cost.known;
        }
        all
    }

    /// Says why a ceiling is refused, and which ones are enough.
    pub fn refusal(self, ceiling: MicroUsd, what: &str) -> String {
        let [short, expected] = [self.short, self.expected].map(MicroUsd::up_to_cents);
        format!(
            "A ceiling of {ceiling:.2} does not pay for {what}: it takes {short:.2} with short \
             answers, and {expected:.2} with answers of the expected length; nothing was spent"
        )
    }
}

impl Estimate {
    /// Returns the smallest ceiling under which every call can go out, if each costs as `cost`
    /// says.
    pub fn smallest_ceiling(&self, cost: impl Fn(&CallEstimate) -> Cost) -> MicroUsd {
        needed(&self.calls.iter().collect::<Vec<_>>(), cost)
    }
}

/// Returns the least amount with which calls that go out one after the other all can: what those
/// before a call, and those beside it, will have cost, and what it needs itself. Calls of a helper
/// are left out where they do not fit.
fn needed(calls: &[&CallEstimate], cost: impl Fn(&CallEstimate) -> Cost) -> MicroUsd {
    let all = calls.iter().filter(|call| !call.answer.is_for_helper());
    let needs = all.map(|call| {
        let others = calls.iter().filter(|other| {
            is_before(other.answer, call.answer)
                || other.answer == call.answer && other.agent_id != call.agent_id
        });
        let others: MicroUsd = others.map(|other| cost(other).known).sum();
        others + call.least_reserve.known
    });
    needs.max().unwrap_or_default()
}

fn is_before(one: AnswerKind, other: AnswerKind) -> bool {
    let place = |kind| AnswerKind::ALL.iter().position(|known| *known == kind);
    place(one) < place(other)
}
