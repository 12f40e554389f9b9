//! The circuit breaker: stops calls to a provider that keeps failing, and lets one probe out after
//! a rest before calls resume.
//!
//! ```text
//! Closed ──too many failures──► Open ──rested: one probe goes out──► HalfOpen ──it succeeds──► Closed
//!                                 ▲                                    │
//!                                 └────────────── it fails ────────────┘
//! ```
//!
//! Results are counted in a sliding window of the last [`CircuitRule::of_at_least`] calls: by
//! number and not by time, because calls of a model are few and may take minutes. Every result
//! carries the start time of its call. Results of calls that began before the circuit last opened
//! or closed are ignored; slow calls make such stragglers common.
//!
//! Invariants: asking for a permit changes nothing; an open circuit grants nothing before its time;
//! at most one probe since it opened has a permit that has not expired.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

/// Conditions under which a circuit opens, and the length of its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitRule {
    /// Opens after this many failures in a row.
    pub consecutive: u32,
    /// Opens when this percentage of the last `of_at_least` calls failed.
    pub share_percent: u32,
    /// The length of the window; `share_percent` needs this many results.
    pub of_at_least: u32,
    /// The time after which an open circuit allows a probe.
    pub rest: Duration,
    /// The time after which a probe without a result is given up and another one may go out.
    pub permit: Duration,
}

impl Default for CircuitRule {
    /// 3 in a row, or half of the last 10; 30 s of rest. A probe without a result for 2 minutes
    /// counts as lost: calls time out after such a silence.
    fn default() -> Self {
        Self {
            consecutive: 3,
            share_percent: 50,
            of_at_least: 10,
            rest: Duration::from_secs(30),
            permit: Duration::from_secs(120),
        }
    }
}

/// One circuit; initially closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Circuit(CircuitStage);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
enum CircuitStage {
    Closed {
        since: Timestamp,
        /// Failures since the last success.
        in_a_row: u32,
        /// The last results, the oldest first.
        results: VecDeque<CallResult>,
    },
    Open {
        since: Timestamp,
        until: Timestamp,
        why: WhyOpen,
    },
    Probing {
        /// The start times of the first and the last probe since the circuit opened.
        first: Timestamp,
        last: Timestamp,
        /// The time from which another probe may go out.
        until: Timestamp,
        why: WhyOpen,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallResult {
    Success,
    Failure,
}

/// The reason why a circuit opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum WhyOpen {
    Consecutive {
        failures: u32,
    },
    Share {
        failures: u32,
        of: u32,
    },
    /// The probe after the rest failed.
    ProbeFailed,
}

/// The decision whether a call may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    Granted,
    /// Granted as the only call, to see whether the provider works again.
    Probe,
    /// Refused until this moment.
    Refused {
        until: Timestamp,
    },
}

/// The state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CircuitState {
    Closed,
    Open {
        until: Timestamp,
        why: WhyOpen,
    },
    /// After the rest: a probe may go out or is in flight.
    HalfOpen {
        why: WhyOpen,
    },
}

impl Circuit {
    /// Returns whether a call may go out now. [`Self::begin`] takes the permit.
    pub fn permit(&self, now: Timestamp) -> Permit {
        match &self.0 {
            CircuitStage::Closed { .. } => Permit::Granted,
            CircuitStage::Open { until, .. } | CircuitStage::Probing { until, .. }
                if now < *until =>
            {
                Permit::Refused { until: *until }
            }
            CircuitStage::Open { .. } | CircuitStage::Probing { .. } => Permit::Probe,
        }
    }

    /// Takes and returns the permit for a call, if it is granted.
    pub fn begin(&mut self, rule: &CircuitRule, now: Timestamp) -> Permit {
        let permit = self.permit(now);
        if permit == Permit::Probe {
            let until = now.after(rule.permit);
            match &mut self.0 {
                CircuitStage::Closed { .. } => {}
                CircuitStage::Open { why, .. } => {
                    self.0 = CircuitStage::Probing {
                        first: now,
                        last: now,
                        until,
                        why: *why,
                    }
                }
                CircuitStage::Probing {
                    last,
                    until: expires,
                    ..
                } => (*last, *expires) = (now, until),
            }
        }
        permit
    }

    /// Records the success of a call that began at `began`. The success of any probe closes the
    /// circuit, even after its permit expired; so does that of a call that went out while the
    /// circuit was open.
    pub fn succeeded(&mut self, rule: &CircuitRule, began: Timestamp, now: Timestamp) {
        match &mut self.0 {
            CircuitStage::Closed {
                since,
                in_a_row,
                results,
            } if began >= *since => {
                *in_a_row = 0;
                remember(results, rule, CallResult::Success);
            }
            CircuitStage::Probing { first, .. } if began >= *first => {
                self.0 = CircuitStage::Closed {
                    since: now,
                    in_a_row: 0,
                    results: VecDeque::new(),
                };
            }
            CircuitStage::Open { since, .. } if began > *since => {
                self.0 = CircuitStage::Closed {
                    since: now,
                    in_a_row: 0,
                    results: VecDeque::new(),
                };
            }
            CircuitStage::Closed { .. }
            | CircuitStage::Open { .. }
            | CircuitStage::Probing { .. } => {}
        }
    }

    /// Records the failure of a call that began at `began`. Of several probes, the last one
    /// decides.
    pub fn failed(&mut self, rule: &CircuitRule, began: Timestamp, now: Timestamp) {
        let why = match &mut self.0 {
            CircuitStage::Closed {
                since,
                in_a_row,
                results,
            } if began >= *since => {
                *in_a_row = in_a_row.saturating_add(1);
                remember(results, rule, CallResult::Failure);
                why_open(rule, *in_a_row, results)
            }
            CircuitStage::Probing { last, .. } if began >= *last => Some(WhyOpen::ProbeFailed),
            CircuitStage::Closed { .. }
            | CircuitStage::Open { .. }
            | CircuitStage::Probing { .. } => None,
        };
        if let Some(why) = why {
            self.0 = CircuitStage::Open {
                since: now,
                until: now.after(rule.rest),
                why,
            };
        }
    }

    /// Records that a call that began at `began` was dropped, which says nothing about the
    /// provider. A probe's permit is returned.
    pub fn abandoned(&mut self, began: Timestamp) {
        match &mut self.0 {
            CircuitStage::Probing { last, until, .. } if began >= *last => *until = *last,
            CircuitStage::Closed { .. }
            | CircuitStage::Open { .. }
            | CircuitStage::Probing { .. } => {}
        }
    }

    pub fn state(&self, now: Timestamp) -> CircuitState {
        match &self.0 {
            CircuitStage::Closed { .. } => CircuitState::Closed,
            CircuitStage::Open { until, why, .. } if now < *until => CircuitState::Open {
                until: *until,
                why: *why,
            },
            CircuitStage::Open { why, .. } | CircuitStage::Probing { why, .. } => {
                CircuitState::HalfOpen { why: *why }
            }
        }
    }
}

fn remember(results: &mut VecDeque<CallResult>, rule: &CircuitRule, result: CallResult) {
    results.push_back(result);
    let window = usize::try_from(rule.of_at_least).unwrap_or(usize::MAX);
    while results.len() > window {
        results.pop_front();
    }
}

fn why_open(rule: &CircuitRule, in_a_row: u32, results: &VecDeque<CallResult>) -> Option<WhyOpen> {
    if in_a_row >= rule.consecutive {
        return Some(WhyOpen::Consecutive { failures: in_a_row });
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (failures, of) = (
        count(
            results
                .iter()
                .filter(|result| **result == CallResult::Failure)
                .count(),
        ),
        count(results.len()),
    );
    let too_many = u64::from(failures) * 100 >= u64::from(of) * u64::from(rule.share_percent);
    (of > 0 && of >= rule.of_at_least && too_many).then_some(WhyOpen::Share { failures, of })
}

impl Default for CircuitStage {
    fn default() -> Self {
        // Since 1970, so that every first call counts.
        Self::Closed {
            since: Timestamp::default(),
            in_a_row: 0,
            results: VecDeque::new(),
        }
    }
}

impl fmt::Display for WhyOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Consecutive { failures } => write!(f, "{failures} calls in a row failed"),
            Self::Share { failures, of } => write!(f, "{failures} of the last {of} calls failed"),
            Self::ProbeFailed => f.write_str("the call that tried it again failed too"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULE: CircuitRule = CircuitRule {
        consecutive: 3,
        share_percent: 50,
        of_at_least: 10,
        rest: Duration::from_secs(30),
        permit: Duration::from_secs(120),
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1_000)
    }

    /// Makes one call a second: `.` succeeds, `x` fails.
    fn after(results: &str) -> Circuit {
        let mut circuit = Circuit::default();
        for (second, result) in (0..).zip(results.chars()) {
            assert_eq!(
                circuit.begin(&RULE, at(second)),
                Permit::Granted,
                "{results} at {second}"
            );
            match result {
                '.' => circuit.succeeded(&RULE, at(second), at(second)),
                _ => circuit.failed(&RULE, at(second), at(second)),
            }
        }
        circuit
    }

    fn open(until: i64, why: WhyOpen) -> CircuitState {
        CircuitState::Open {
            until: at(until),
            why,
        }
    }

    #[test]
    fn the_rule_is_that_of_the_specification() {
        assert_eq!(CircuitRule::default(), RULE);
    }

    #[test]
    fn three_failures_in_a_row_open_it_for_thirty_seconds() {
        assert_eq!(after("xx.xx").state(at(5)), CircuitState::Closed);
        let circuit = after(".xxx");
        assert_eq!(
            circuit.state(at(4)),
            open(33, WhyOpen::Consecutive { failures: 3 })
        );
        assert_eq!(
            circuit.permit(Timestamp(32_999)),
            Permit::Refused { until: at(33) }
        );
        assert_eq!(circuit.permit(at(33)), Permit::Probe);
    }

    #[test]
    fn half_of_the_last_ten_calls_open_it_and_fewer_calls_never_do() {
        assert_eq!(
            after(".xx.xx.x.").state(at(9)),
            CircuitState::Closed,
            "nine calls"
        );
        assert_eq!(
            after(".xx.xx..x").state(at(9)),
            CircuitState::Closed,
            "nine calls"
        );
        assert_eq!(
            after("..xx.xx..x").state(at(9)),
            open(
                39,
                WhyOpen::Share {
                    failures: 5,
                    of: 10
                }
            )
        );
        assert_eq!(
            after("xx.xx......x.x.x").state(at(15)),
            CircuitState::Closed,
            "the first failures have left the window"
        );
    }

    #[test]
    fn one_probe_goes_out_after_the_rest_and_its_success_closes_the_circuit() {
        let mut circuit = after("xxx");
        assert_eq!(
            circuit.begin(&RULE, at(31)),
            Permit::Refused { until: at(32) }
        );
        assert_eq!(circuit.begin(&RULE, at(40)), Permit::Probe);
        assert_eq!(
            circuit.state(at(41)),
            CircuitState::HalfOpen {
                why: WhyOpen::Consecutive { failures: 3 }
            }
        );
        assert_eq!(
            circuit.begin(&RULE, at(41)),
            Permit::Refused { until: at(160) }
        );
        circuit.succeeded(&RULE, at(40), at(50));
        assert_eq!(
            (circuit.state(at(50)), circuit.permit(at(50))),
            (CircuitState::Closed, Permit::Granted)
        );
        circuit.failed(&RULE, at(50), at(51));
        assert_eq!(
            circuit.state(at(51)),
            CircuitState::Closed,
            "the old failures are forgotten"
        );
    }

    #[test]
    fn a_probe_that_fails_opens_it_again_for_a_whole_rest() {
        let mut circuit = after("xxx");
        circuit.begin(&RULE, at(40));
        circuit.failed(&RULE, at(40), at(45));
        assert_eq!(circuit.state(at(45)), open(75, WhyOpen::ProbeFailed));
    }

    #[test]
    fn a_probe_that_never_reports_makes_room_for_another_whose_failure_counts() {
        let mut circuit = after("xxx");
        circuit.begin(&RULE, at(40));
        assert_eq!(
            circuit.begin(&RULE, Timestamp(159_999)),
            Permit::Refused { until: at(160) }
        );
        assert_eq!(circuit.begin(&RULE, at(160)), Permit::Probe);
        circuit.failed(&RULE, at(40), at(170));
        assert_eq!(
            circuit.permit(at(170)),
            Permit::Refused { until: at(280) },
            "the last probe decides"
        );
        let mut late = circuit.clone();
        late.succeeded(&RULE, at(40), at(175));
        assert_eq!(
            late.state(at(175)),
            CircuitState::Closed,
            "a late answer is an answer"
        );
        circuit.failed(&RULE, at(160), at(180));
        assert_eq!(circuit.state(at(180)), open(210, WhyOpen::ProbeFailed));
    }

    #[test]
    fn a_dropped_probe_gives_its_permit_back_and_other_dropped_calls_give_nothing() {
        let mut circuit = after("xxx");
        circuit.abandoned(at(1));
        assert_eq!(circuit.permit(at(10)), Permit::Refused { until: at(32) });
        circuit.begin(&RULE, at(40));
        circuit.abandoned(at(1));
        assert_eq!(circuit.permit(at(41)), Permit::Refused { until: at(160) });
        circuit.abandoned(at(40));
        assert_eq!(
            (circuit.permit(at(41)), circuit.begin(&RULE, at(41))),
            (Permit::Probe, Permit::Probe)
        );
    }

    #[test]
    fn calls_from_before_say_nothing_about_the_time_after() {
        let mut circuit = after("xxx");
        circuit.succeeded(&RULE, at(0), at(10));
        assert!(
            matches!(circuit.state(at(10)), CircuitState::Open { .. }),
            "while it is open"
        );
        circuit.begin(&RULE, at(40));
        circuit.failed(&RULE, at(0), at(41));
        circuit.succeeded(&RULE, at(0), at(41));
        assert!(
            matches!(circuit.state(at(41)), CircuitState::HalfOpen { .. }),
            "while a probe is under way"
        );
        circuit.succeeded(&RULE, at(40), at(42));
        for _ in 0..3 {
            circuit.failed(&RULE, at(2), at(43));
        }
        assert_eq!(
            circuit.state(at(43)),
            CircuitState::Closed,
            "after it has closed"
        );
    }

    #[test]
    fn the_reason_for_opening_is_described() {
        let reasons = [
            WhyOpen::Consecutive { failures: 3 },
            WhyOpen::Share {
                failures: 5,
                of: 10,
            },
            WhyOpen::ProbeFailed,
        ];
        assert_eq!(
            reasons.map(|why| why.to_string()),
            [
                "3 calls in a row failed",
                "5 of the last 10 calls failed",
                "the call that tried it again failed too"
            ]
        );
    }

    #[derive(Clone, Debug)]
    enum Step {
        Pass(u64),
        RunStart,
        Succeed(prop::sample::Index),
        Fail(prop::sample::Index),
        Drop(prop::sample::Index),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (1..60_000u64).prop_map(Step::Pass),
            4 => Just(Step::RunStart),
            1 => any::<prop::sample::Index>().prop_map(Step::Succeed),
            3 => any::<prop::sample::Index>().prop_map(Step::Fail),
            1 => any::<prop::sample::Index>().prop_map(Step::Drop),
        ]
    }

    proptest! {
        #[test]
        fn whatever_happens_it_never_grants_early_and_never_has_two_probes(steps in prop::collection::vec(step(), 0..200)) {
            let (mut circuit, mut now) = (Circuit::default(), at(0));
            let (mut calls, mut probes): (Vec<Timestamp>, Vec<Timestamp>) = (Vec::new(), Vec::new());
            let mut last_probe = None;
            for step in steps {
                let (before, was) = (circuit.state(now), circuit.clone());
                let take = |calls: &mut Vec<Timestamp>, at: prop::sample::Index| {
                    (!calls.is_empty()).then(|| calls.remove(at.index(calls.len())))
                };
                match step {
                    Step::Pass(ms) => now = now.after(Duration::from_millis(ms)),
                    Step::RunStart => {
                        let permit = circuit.permit(now);
                        prop_assert_eq!(&circuit, &was, "asking changes nothing");
                        prop_assert_eq!(circuit.begin(&RULE, now), permit);
                        match permit {
                            Permit::Granted => prop_assert_eq!(before, CircuitState::Closed),
                            Permit::Probe => {
                                prop_assert!(matches!(before, CircuitState::HalfOpen { .. }), "a probe while it is not half-open");
                                prop_assert!(probes.iter().all(|probe| now.since(*probe) >= RULE.permit), "a second probe");
                                probes.push(now);
                                last_probe = Some(now);
                            }
                            Permit::Refused { until } => prop_assert!(until > now && before != CircuitState::Closed),
                        }
                        if permit == Permit::Granted || permit == Permit::Probe {
                            calls.push(now);
                        }
                    }
                    Step::Succeed(index) => if let Some(began) = take(&mut calls, index) {
                        circuit.succeeded(&RULE, began, now);
                        let expected = if probes.contains(&began) { CircuitState::Closed } else { before };
                        prop_assert_eq!(circuit.state(now), expected, "a probe's success closes, and no other changes anything");
                    },
                    Step::Fail(index) => if let Some(began) = take(&mut calls, index) {
                        circuit.failed(&RULE, began, now);
                        if last_probe == Some(began) {
                            let until = now.after(RULE.rest);
                            prop_assert_eq!(circuit.state(now), CircuitState::Open { until, why: WhyOpen::ProbeFailed });
                        } else if before != CircuitState::Closed {
                            prop_assert_eq!(circuit.state(now), before);
                        }
                    },
                    Step::Drop(index) => if let Some(began) = take(&mut calls, index) {
                        circuit.abandoned(began);
                        prop_assert_eq!(circuit.state(now), before, "a dropped call is no judgement");
                        probes.retain(|probe| *probe != began);
                    },
                }
                if !matches!(circuit.state(now), CircuitState::HalfOpen { .. }) {
                    probes.clear();
                    last_probe = None;
                }
                if let CircuitState::Open { until, .. } = circuit.state(now) {
                    prop_assert!(until <= now.after(RULE.rest), "it rests no longer than the rule says");
                }
                let stored = serde_json::to_string(&circuit).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Circuit>(&stored).unwrap(), &circuit);
            }
        }
    }
}
