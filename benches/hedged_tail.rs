//! Hedging against a provider whose every twentieth answer is slow: the answer times of a panel's
//! one seat with and without hedging, and the additional requests.
//!
//! ```text
//! cargo bench --bench hedged_tail                 1,000 consultations with hedging and as many without; about 3 minutes
//! cargo bench --bench hedged_tail -- 200 0.1      200 of each, and a second of the model is 100 ms
//! ```
//!
//! All delays are scaled to a twentieth: an answer takes 3 to 5 s, a slow one 30 s, and a call is
//! hedged after 10 s. The program's own time is not scaled, so it counts twentyfold. The seat's
//! model and its fallback have the same tail, drawn from a seed, and both runs of a pair draw the
//! same delays. A consultation of one seat makes five calls, of which one may be hedged: if both
//! answers of the seat are slow, it waits for the second. The judge answers at once and is not
//! counted. Eight consultations run concurrently, each with its own server; they wait nearly all
//! the time.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench fails by panicking"
)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::time::{Duration, Instant};

use conclave::consultation::event::{AgentEvent, CallEvent, Envelope, Event};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::hedging::{HedgeRule, NoHedge};
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::engine::ports::{Subscriber, SubscriberError};

use support::engine;
use support::figures::{self, Figures, Limit, milliseconds};
use support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};
use support::requests::settled;

/// The percentage of slow answers.
const SLOW_PERCENT: f64 = 5.0;
/// The range of a usual answer, in seconds.
const USUAL_TIME: (f64, f64) = (3.0, 5.0);
/// In seconds.
const SLOW_TIME: f64 = 30.0;
/// In seconds.
const HEDGE_AFTER: f64 = 10.0;
/// The seat answers in Round 1 and in Round 3.
const ANSWERS: usize = 2;
/// The number of concurrent consultations.
const CONCURRENT: u32 = 8;

fn main() {
    let repetitions = figures::argument(0).unwrap_or(1_000.0);
    let scale = figures::argument(1).unwrap_or(0.05);
    println!(
        "{repetitions} consultations of each kind, times scaled by {scale}; all figures in ms unless they say otherwise"
    );
    let (without, with) = std::thread::scope(|scope| {
        let series = |seed| {
            scope.spawn(move || {
                run_pairs(
                    u64::from(seed),
                    (repetitions / f64::from(CONCURRENT)).ceil(),
                    scale,
                )
            })
        };
        let threads: Vec<_> = (0..CONCURRENT).map(series).collect();
        let pairs = threads.into_iter().map(|thread| thread.join().unwrap());
        pairs
            .reduce(|(without, with), (also_without, also_with)| {
                (without.and(also_without), with.and(also_with))
            })
            .unwrap()
    });
    let limit = HEDGE_AFTER * scale * 1e3 + 1.3 * without.answers.median();
    figures::heading("A seat's answer");
    figures::row("with hedging", &with.answers, Limit::of_p99(limit));
    figures::row("without", &without.answers, Limit::NONE);
    figures::heading("Requests for the seat");
    figures::single("without hedging", without.requests, None);
    figures::single(
        "more with hedging, %",
        (with.requests / without.requests - 1.0) * 100.0,
        Some(10.0),
    );
    figures::single(
        "calls not hedged, as the run's quarter was used up",
        with.quota_used,
        None,
    );
    figures::single("calls not hedged for another reason", with.not_hedged, None);
    figures::heading("From the winner's end until the loser was seen closed");
    figures::row(
        "in the same run",
        &with.closed,
        Limit {
            median: Some(100.0),
            p99: Some(100.0),
        },
    );
}

/// Runs consultations alternately without and with hedging.
fn run_pairs(seed: u64, repetitions: f64, scale: f64) -> (SeriesReport, SeriesReport) {
    let (mut without, mut with) = (SeriesReport::default(), SeriesReport::default());
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut done = 0.0;
    while done < repetitions {
        let times = AnswerTimes {
            seat: draw(&mut dice, scale),
            fallback: draw(&mut dice, scale),
        };
        without.add(consult(&times, None));
        with.add(consult(
            &times,
            Some(Duration::from_secs_f64(HEDGE_AFTER * scale)),
        ));
        done += 1.0;
    }
    (without, with)
}

/// The answer times of a pair of runs, in the order of the requests.
struct AnswerTimes {
    /// Of the seat's own model.
    seat: [Duration; ANSWERS],
    /// Of its fallback.
    fallback: [Duration; ANSWERS],
}

fn draw(dice: &mut fastrand::Rng, scale: f64) -> [Duration; ANSWERS] {
    let (least, most) = USUAL_TIME;
    [(); ANSWERS].map(|()| {
        let usual = least + (most - least) * dice.f64();
        let seconds = if dice.f64() * 100.0 < SLOW_PERCENT {
            SLOW_TIME
        } else {
            usual
        };
        Duration::from_secs_f64(seconds * scale)
    })
}

/// The results of the consultations with or without hedging.
#[derive(Default)]
struct SeriesReport {
    answers: Figures,
    closed: Figures,
    requests: f64,
    quota_used: f64,
    not_hedged: f64,
}

impl SeriesReport {
    fn and(mut self, other: Self) -> Self {
        self.answers.0.extend(other.answers.0);
        self.closed.0.extend(other.closed.0);
        self.requests += other.requests;
        self.quota_used += other.quota_used;
        self.not_hedged += other.not_hedged;
        self
    }

    fn add(&mut self, (seat, requests): (SeatWatcher, Vec<RecordedRequest>)) {
        assert_eq!(
            seat.answers.len(),
            ANSWERS,
            "the seat answers every request"
        );
        self.answers.0.extend(seat.answers);
        for reason in seat.not_hedged {
            *(if reason == NoHedge::QuotaUsed {
                &mut self.quota_used
            } else {
                &mut self.not_hedged
            }) += 1.0;
        }
        let of_the_seat: Vec<_> = requests
            .into_iter()
            .filter(|request| request.model != "judge")
            .collect();
        for _ in &of_the_seat {
            self.requests += 1.0;
        }
        self.closed.0.extend(closed(&of_the_seat));
    }
}

/// Returns the milliseconds for which the loser of a hedge stayed open after the winner's end.
fn closed(requests: &[RecordedRequest]) -> Option<f64> {
    let at = requests
        .iter()
        .position(|request| request.vendor == Some(Vendor::Google))?;
    let (first, hedge) = (&requests[at - 1], &requests[at]);
    let (loser, winner) = if hedge.complete {
        (first, hedge)
    } else {
        (hedge, first)
    };
    assert!(winner.complete, "one of the two has answered");
    (!loser.complete).then(|| milliseconds(winner.finished.unwrap(), loser.finished.unwrap()))
}

fn consult(
    times: &AnswerTimes,
    hedge_after: Option<Duration>,
) -> (SeatWatcher, Vec<RecordedRequest>) {
    let server = ProviderServer::start();
    for (vendor, answers) in [
        (Vendor::Anthropic, times.seat),
        (Vendor::Google, times.fallback),
    ] {
        for (nth, delay) in (1..).zip(answers) {
            server.on(On::vendor(vendor).nth(nth), Answer::valid().delay(delay));
        }
    }
    let mut plan = engine::plan(1);
    plan.fallbacks = [(
        plan.panel.seats[0].id.clone(),
        vec![ModelRef::new("google", "backup")],
    )]
    .into();
    plan.control.hedge = HedgeRule {
        after: hedge_after,
        ..HedgeRule::default()
    };
    let mut seat = SeatWatcher::default();
    run(plan, &server, &mut seat);
    (seat, settled(&server))
}

fn run(plan: Plan, server: &ProviderServer, seat: &mut SeatWatcher) {
    let folder = support::folder();
    engine::run(plan, &engine::providers(&server.url()), folder.path(), seat);
}

/// Records the times of the seat's answers, and the reasons for calls without a hedge. Runs after
/// the journal.
#[derive(Debug, Default)]
struct SeatWatcher {
    asked: Option<Instant>,
    answers: Vec<f64>,
    not_hedged: Vec<NoHedge>,
}

impl Subscriber for SeatWatcher {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        match &envelope.event {
            Event::Agent(AgentEvent::Thinking { agent_id, .. }) if *agent_id != AgentId::Judge => {
                self.asked = Some(Instant::now());
            }
            Event::Agent(AgentEvent::Completed { agent_id, .. }) if *agent_id != AgentId::Judge => {
                self.answers.extend(
                    self.asked
                        .take()
                        .map(|asked| milliseconds(asked, Instant::now())),
                );
            }
            Event::Call(CallEvent::NotHedged { reason, .. }) => self.not_hedged.push(*reason),
            _ => {}
        }
        Ok(())
    }
}
