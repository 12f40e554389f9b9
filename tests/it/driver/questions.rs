//! What is asked of the person: it holds up nothing, and what is taken away is not answered.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::call::FailureClass;
use conclave::consultation::event::{Envelope, Event, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::{Answer, Effect, Input, Question};
use conclave::domain::money::MicroUsd;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::driver::{Begin, Driver};
use conclave::engine::ports::{BoxFuture, Person};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::scripted::{Says, Stage, no_interrupts};
use crate::support::script::{good, hinted, plan};

const SECOND: Duration = Duration::from_secs(1);

/// Thinks for ever, and counts the questions that are put and taken away.
#[derive(Debug, Default)]
struct Silent {
    asked: Mutex<Vec<Question>>,
    withdrawn: AtomicUsize,
}

struct CountsDrops<'a>(&'a AtomicUsize);

impl Drop for CountsDrops<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Person for Silent {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let _counted = CountsDrops(&self.withdrawn);
            self.asked.lock().unwrap().push(question.clone());
            std::future::pending().await
        })
    }
}

/// The second vendor is limited once; everyone answers after a second.
fn stage() -> Stage {
    let limited = || (SECOND, hinted(FailureClass::RateLimit, "too many requests", 2 * SECOND));
    Stage::new()
        .provider("anthropic", |asked| (SECOND, good(asked.ask)))
        .provider("openai", move |asked| if asked.nth == 1 { limited() } else { (SECOND, good(asked.ask)) })
        .provider("google", |asked| (SECOND, good(asked.ask)))
}

fn pulse() -> Effect {
    Effect::Question(Box::new(Question::Pulse { waiting: Vec::new() }))
}

/// A consultation that has begun, and what it wants done, with a question on top that the machine knows nothing of.
fn begun(plan: Plan, and: impl IntoIterator<Item = Effect>) -> (Consultation, Begin) {
    let mut consultation = Consultation::new(plan);
    let mut effects = consultation.handle(Timestamp(0), Input::Start);
    effects.extend(and);
    let control = Box::new(consultation.plan().control.clone());
    let begin = Begin::Again {
        effects,
        timers: std::collections::BTreeSet::new(),
        lost: Vec::new(),
        last_at: Timestamp(0),
        control,
        tool_version: "0.0.0".to_owned(),
    };
    (consultation, begin)
}

async fn run(
    stage: &Stage,
    person: &dyn Person,
    interrupts: mpsc::UnboundedReceiver<()>,
    (mut consultation, begin): (Consultation, Begin),
) -> (StateName, Vec<Envelope>) {
    let driver = Driver { clock: Clock::starting(Timestamp(0)), providers: stage.providers(), subscribers: Vec::new(), person, interrupts };
    let history = driver.run(&mut consultation, begin).await;
    (consultation.state(), history)
}

#[tokio::test(start_paused = true)]
async fn calls_and_timers_are_served_while_a_question_is_open() {
    let (stage, person) = (stage(), Silent::default());
    let (state, history) = run(&stage, &person, no_interrupts(), begun(plan(), [pulse()])).await;
    assert_eq!(state, StateName::Complete);
    assert!(history.iter().any(|envelope| matches!(envelope.event, Event::CallRetried { wait_ms: 2_000, .. })), "a timer has run out");
    assert_eq!(
        (stage.attempts().len(), stage.began.elapsed()),
        (10, 8 * SECOND),
        "five steps, and a wait of 2 s for one that is tried again"
    );
    assert_eq!((person.asked.lock().unwrap().len(), person.withdrawn.load(Ordering::SeqCst)), (1, 1), "it ends with the run");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_is_served_while_a_question_is_open() {
    let (stage, person) = (stage(), Silent::default());
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let ((state, _), ()) = tokio::join!(run(&stage, &person, interrupts, begun(plan(), [pulse()])), async {
        sleep(SECOND / 2).await;
        interrupt.send(()).unwrap();
    });
    assert_eq!((state, stage.began.elapsed()), (StateName::Aborted, SECOND / 2));
    assert_eq!(person.withdrawn.load(Ordering::SeqCst), 1);
}

/// The machine waits for consent, and the question about it has been asked and taken away.
fn asked_and_withdrawn() -> (Consultation, Begin) {
    let mut plan = plan();
    plan.control.consent.always_allow_under = MicroUsd::ZERO;
    begun(plan, [Effect::Withdraw])
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_with_the_withdrawal_goes_nowhere() {
    for person in [Says::at_once(Answer::Yes), Says::after(SECOND, Answer::Yes)] {
        let stage = stage();
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let ((state, history), ()) = tokio::join!(run(&stage, &person, interrupts, asked_and_withdrawn()), async {
            sleep(60 * SECOND).await;
            interrupt.send(()).unwrap();
        });
        assert_eq!((state, stage.began.elapsed(), stage.attempts().len()), (StateName::Aborted, 60 * SECOND, 0), "{person:?}");
        assert!(!history.iter().any(|envelope| matches!(envelope.event, Event::UserConsent { approved: true, .. })));
    }
}
