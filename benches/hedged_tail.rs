//! What hedging makes of a provider of which every twentieth answer is slow: how long the one seat
//! of a panel takes for an answer, with hedging and without it in turns, and how many requests more
//! it costs.
//!
//! ```text
//! cargo bench --bench hedged_tail                 1,000 consultations with hedging and as many without; about 3 minutes
//! cargo bench --bench hedged_tail -- 200 0.1      200 of each, and a second of the model is 100 ms
//! ```
//!
//! Every time is scaled down alike, to a twentieth: an answer takes 3 to 5 s, a slow one 30 s, and
//! a call is hedged after 10 s. What the program itself takes is not: it counts twentyfold. Seat
//! and backup have the same tail, drawn from a seed, and both runs of a turn draw the same. A
//! consultation of one seat makes five calls, so that one of them may be hedged: should both
//! answers of the seat be slow, it waits for the second. The judge answers at once and is not
//! counted. Eight consultations run beside each other, each with a server of its own: nearly all
//! the time they wait.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench fails by panicking"
)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

#[expect(dead_code, reason = "the other benches use the rest")]
#[path = "support/engine.rs"]
mod engine;
#[expect(
    dead_code,
    unused_imports,
    clippy::panic,
    reason = "the tests use the rest"
)]
#[path = "../tests/it/support/provider_server/mod.rs"]
mod provider_server;
#[expect(dead_code, reason = "the other benches use the rest")]
mod support;

use std::time::{Duration, Instant};

use conclave::consultation::event::{AgentEvent, CallEvent, Envelope, Event};
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::hedging::{HedgeRule, NoHedge};
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::engine::ports::{Subscriber, SubscriberError};

use provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};
use support::figures::{self, Figures, Limit, milliseconds};
use support::settled;

/// Of a hundred answers.
const SLOW: f64 = 5.0;
/// Times in seconds.
const USUALLY: (f64, f64) = (3.0, 5.0);
const WHEN_SLOW: f64 = 30.0;
const HEDGE_AFTER: f64 = 10.0;
/// The seat answers in Round 1 and in Round 3.
const ANSWERS: usize = 2;
/// Consultations beside each other.
const LANES: u32 = 8;

fn main() {
    let repetitions = figures::argument(0).unwrap_or(1_000.0);
    let scale = figures::argument(1).unwrap_or(0.05);
    println!(
        "{repetitions} consultations of each kind, times scaled by {scale}; all figures in ms unless they say otherwise"
    );
    let (without, with) = std::thread::scope(|scope| {
        let series = |seed| {
            scope.spawn(move || {
                turns(
                    u64::from(seed),
                    (repetitions / f64::from(LANES)).ceil(),
                    scale,
                )
            })
        };
        let lanes: Vec<_> = (0..LANES).map(series).collect();
        let ended = lanes.into_iter().map(|lane| lane.join().unwrap());
        ended
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

/// Consultations without hedging and with it, in turns.
fn turns(seed: u64, repetitions: f64, scale: f64) -> (Series, Series) {
    let (mut without, mut with) = (Series::default(), Series::default());
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut done = 0.0;
    while done < repetitions {
        let drawn = Drawn {
            first: draw(&mut dice, scale),
            second: draw(&mut dice, scale),
        };
        without.add(consult(&drawn, None));
        with.add(consult(
            &drawn,
            Some(Duration::from_secs_f64(HEDGE_AFTER * scale)),
        ));
        done += 1.0;
    }
    (without, with)
}

/// How long the answers take, in the order in which they are asked for.
struct Drawn {
    /// The seat's own model.
    first: [Duration; ANSWERS],
    /// Its backup.
    second: [Duration; ANSWERS],
}

fn draw(dice: &mut fastrand::Rng, scale: f64) -> [Duration; ANSWERS] {
    let (least, most) = USUALLY;
    [(); ANSWERS].map(|()| {
        let usual = least + (most - least) * dice.f64();
        let seconds = if dice.f64() * 100.0 < SLOW {
            WHEN_SLOW
        } else {
            usual
        };
        Duration::from_secs_f64(seconds * scale)
    })
}

/// What the consultations of one kind came to.
#[derive(Default)]
struct Series {
    answers: Figures,
    closed: Figures,
    requests: f64,
    quota_used: f64,
    not_hedged: f64,
}

impl Series {
    fn and(mut self, other: Self) -> Self {
        self.answers.0.extend(other.answers.0);
        self.closed.0.extend(other.closed.0);
        self.requests += other.requests;
        self.quota_used += other.quota_used;
        self.not_hedged += other.not_hedged;
        self
    }

    fn add(&mut self, (seat, requests): (Seat, Vec<RecordedRequest>)) {
        assert_eq!(
            seat.answers.len(),
            ANSWERS,
            "the seat answers whenever it is asked"
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

/// How long the loser of a hedge stayed open.
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

fn consult(drawn: &Drawn, hedge_after: Option<Duration>) -> (Seat, Vec<RecordedRequest>) {
    let server = ProviderServer::start();
    for (vendor, answers) in [
        (Vendor::Anthropic, drawn.first),
        (Vendor::Google, drawn.second),
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
    let mut seat = Seat::default();
    run(plan, &server, &mut seat);
    (seat, settled(&server))
}

fn run(plan: Plan, server: &ProviderServer, seat: &mut Seat) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    engine::run(plan, &engine::providers(&server.url()), folder.path(), seat);
}

/// Records how long the seat takes, and why it was not hedged. Runs after the journal.
#[derive(Debug, Default)]
struct Seat {
    asked: Option<Instant>,
    answers: Vec<f64>,
    not_hedged: Vec<NoHedge>,
}

impl Subscriber for Seat {
    fn name(&self) -> &'static str {
        "seat"
    }

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
