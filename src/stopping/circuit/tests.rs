use std::time::Duration;

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
fn the_default_rule_matches_the_specification() {
    assert_eq!(CircuitRule::default(), RULE);
}

#[test]
fn three_failures_in_a_row_open_the_circuit_for_thirty_seconds() {
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
fn five_failures_among_ten_calls_open_the_circuit() {
    // Nine calls, and first failures that have left the window.
    for calls in [".xx.xx.x.", ".xx.xx..x", "xx.xx......x.x.x"] {
        assert_eq!(after(calls).state(at(15)), CircuitState::Closed, "{calls}");
    }
    let (failures, of) = (5, 10);
    let half = WhyOpen::Share { failures, of };
    assert_eq!(after("..xx.xx..x").state(at(9)), open(39, half));
}

#[test]
fn a_successful_probe_after_the_rest_closes_the_circuit() {
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
fn a_failed_probe_opens_the_circuit_for_a_whole_rest() {
    let mut circuit = after("xxx");
    circuit.begin(&RULE, at(40));
    circuit.failed(&RULE, at(40), at(45));
    assert_eq!(circuit.state(at(45)), open(75, WhyOpen::ProbeFailed));
}

#[test]
fn a_lost_probe_is_replaced_and_the_last_probe_decides() {
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
fn only_a_dropped_probe_returns_a_permit() {
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
fn results_of_earlier_calls_are_ignored() {
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
    let (failures, of) = (5, 10);
    for (why, expected) in [
        (WhyOpen::Consecutive { failures }, "5 calls in a row failed"),
        (
            WhyOpen::Share { failures, of },
            "5 of the last 10 calls failed",
        ),
        (WhyOpen::ProbeFailed, "the probe call failed too"),
    ] {
        assert_eq!(why.to_string(), expected);
    }
}

#[derive(Clone, Debug)]
enum CircuitStep {
    Pass(u64),
    RunStart,
    Succeed(prop::sample::Index),
    Fail(prop::sample::Index),
    Drop(prop::sample::Index),
}

fn step() -> impl Strategy<Value = CircuitStep> {
    prop_oneof![
        3 => (1..60_000u64).prop_map(CircuitStep::Pass),
        4 => Just(CircuitStep::RunStart),
        1 => any::<prop::sample::Index>().prop_map(CircuitStep::Succeed),
        3 => any::<prop::sample::Index>().prop_map(CircuitStep::Fail),
        1 => any::<prop::sample::Index>().prop_map(CircuitStep::Drop),
    ]
}

proptest! {
    #[test]
    fn the_circuit_never_grants_early_and_never_has_two_probes(
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let (mut circuit, mut now) = (Circuit::default(), at(0));
        let (mut calls, mut probes): (Vec<Timestamp>, Vec<Timestamp>) = (Vec::new(), Vec::new());
        let mut last_probe = None;
        for step in steps {
            let (before, was) = (circuit.state(now), circuit.clone());
            let take = |calls: &mut Vec<Timestamp>, at: prop::sample::Index| {
                (!calls.is_empty()).then(|| calls.remove(at.index(calls.len())))
            };
            match step {
                CircuitStep::Pass(ms) => now = now.after(Duration::from_millis(ms)),
                CircuitStep::RunStart => {
                    let permit = circuit.permit(now);
                    prop_assert_eq!(&circuit, &was, "asking changes nothing");
                    prop_assert_eq!(circuit.begin(&RULE, now), permit);
                    match permit {
                        Permit::Granted => prop_assert_eq!(before, CircuitState::Closed),
                        Permit::Probe => {
                            prop_assert!(
                                matches!(before, CircuitState::HalfOpen { .. }),
                                "a probe while it is not half-open"
                            );
                            prop_assert!(
                                probes.iter().all(|probe| now.since(*probe) >= RULE.permit),
                                "a second probe"
                            );
                            probes.push(now);
                            last_probe = Some(now);
                        }
                        Permit::Refused { until } => {
                            prop_assert!(until > now && before != CircuitState::Closed);
                        }
                    }
                    if permit == Permit::Granted || permit == Permit::Probe {
                        calls.push(now);
                    }
                }
                CircuitStep::Succeed(index) => {
                    if let Some(began) = take(&mut calls, index) {
                        circuit.succeeded(&RULE, began, now);
                        let expected = if probes.contains(&began) {
                            CircuitState::Closed
                        } else {
                            before
                        };
                        prop_assert_eq!(
                            circuit.state(now),
                            expected,
                            "a probe's success closes, and no other changes anything"
                        );
                    }
                }
                CircuitStep::Fail(index) => {
                    if let Some(began) = take(&mut calls, index) {
                        circuit.failed(&RULE, began, now);
                        if last_probe == Some(began) {
                            let until = now.after(RULE.rest);
                            prop_assert_eq!(
                                circuit.state(now),
                                CircuitState::Open {
                                    until,
                                    why: WhyOpen::ProbeFailed
                                }
                            );
                        } else if before != CircuitState::Closed {
                            prop_assert_eq!(circuit.state(now), before);
                        }
                    }
                }
                CircuitStep::Drop(index) => {
                    if let Some(began) = take(&mut calls, index) {
                        circuit.abandoned(began);
                        prop_assert_eq!(
                            circuit.state(now),
                            before,
                            "a dropped call is no judgement"
                        );
                        probes.retain(|probe| *probe != began);
                    }
                }
            }
            if !matches!(circuit.state(now), CircuitState::HalfOpen { .. }) {
                probes.clear();
                last_probe = None;
            }
            if let CircuitState::Open { until, .. } = circuit.state(now) {
                prop_assert!(
                    until <= now.after(RULE.rest),
                    "it rests no longer than the rule says"
                );
            }
            let stored = serde_json::to_string(&circuit).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Circuit>(&stored).unwrap(), &circuit);
        }
    }
}
