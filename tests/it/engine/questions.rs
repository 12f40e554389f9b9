//! Questions to the user: they delay nothing, and withdrawn questions get no answer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    Answer, CallEvent, Envelope, Event, PulseAnswer, PulseEvent, StateName,
};
use conclave::consultation::machine::replay::Interruption;
use conclave::consultation::machine::{Effect, Input, Question};
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::time::Timestamp;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{BoxFuture, Person};
use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;

use super::scripted_providers::{
    ScriptedCall, Stage, drive, driver, interrupted_after, no_interrupts,
};
use crate::support::script::{failure_with_hint, good, plan};

const SECOND: Duration = Duration::from_secs(1);

/// Never answers, and counts the questions and the withdrawals.
#[derive(Debug, Default)]
struct SilentUser {
    questions: Mutex<Vec<Question>>,
    withdrawn: AtomicUsize,
}

struct CountsDrops<'a>(&'a AtomicUsize);

impl Drop for CountsDrops<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Person for SilentUser {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let _counted = CountsDrops(&self.withdrawn);
            self.questions.lock().unwrap().push(question.clone());
            std::future::pending().await
        })
    }
}

/// Starts providers that answer after a second; the second one is rate-limited once.
fn stage() -> Stage {
    Stage::answering(SECOND).provider("openai", |call| {
        let limited = failure_with_hint(FailureClass::RateLimit, "too many", 2 * SECOND);
        (
            SECOND,
            if call.nth == 1 {
                limited
            } else {
                good(call.ask)
            },
        )
    })
}

fn pulse() -> Effect {
    Effect::Question(Box::new(Question::Pulse {
        waiting: Vec::new(),
        may_go_on_without: false,
    }))
}

/// Starts a consultation and returns its effects plus these, which the machine did not emit.
fn started(plan: Plan, and: impl IntoIterator<Item = Effect>) -> (Consultation, RunStart) {
    let mut consultation = Consultation::new(plan);
    let mut effects = consultation.handle(Timestamp(0), Input::Start);
    // Requests are made again.
    effects.retain(|effect| !matches!(effect, Effect::Request(_)));
    effects.extend(and);
    let terms = Box::new(consultation.plan().control.clone().into());
    let begin = RunStart::Resume {
        interruption: Interruption {
            effects,
            ..Interruption::default()
        },
        terms,
        tool_version: "0.0.0".to_owned(),
    };
    (consultation, begin)
}

async fn run(
    stage: &Stage,
    person: &dyn Person,
    interrupts: mpsc::UnboundedReceiver<()>,
    (mut consultation, begin): (Consultation, RunStart),
) -> (StateName, Vec<Envelope>) {
    let driver = Driver {
        interrupts,
        ..driver(stage.providers(), person)
    };
    let history = drive(driver, &mut consultation, begin).await;
    (consultation.state(), history)
}

#[tokio::test(start_paused = true)]
async fn open_question_does_not_block_calls_and_timers() {
    let (stage, person) = (stage(), SilentUser::default());
    let (ended, history) = run(&stage, &person, no_interrupts(), started(plan(), [pulse()])).await;
    assert_eq!(ended, StateName::Complete);
    let is_retry = |envelope: &Envelope| {
        matches!(
            envelope.event,
            Event::Call(CallEvent::Retried { wait_ms: 2_000, .. })
        )
    };
    assert!(history.iter().any(is_retry), "a timer fires");
    // Five steps, and a wait of 2 s before a retry.
    assert_eq!(stage.attempts().len(), 10);
    assert_eq!(stage.began.elapsed(), 8 * SECOND);
    // The question ends with the run.
    assert_eq!(person.questions.lock().unwrap().len(), 1);
    assert_eq!(person.withdrawn.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn open_question_does_not_block_an_interrupt() {
    let (stage, person) = (stage(), SilentUser::default());
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let ((ended, _), ()) = tokio::join!(
        run(&stage, &person, interrupts, started(plan(), [pulse()])),
        interrupted_after(SECOND / 2, interrupt)
    );
    assert_eq!(ended, StateName::Aborted);
    assert_eq!(stage.began.elapsed(), SECOND / 2);
    assert_eq!(person.withdrawn.load(Ordering::SeqCst), 1);
}

/// Answers no when it is notified.
#[derive(Debug, Default)]
struct RefusingUser {
    when: Notify,
}

impl Person for RefusingUser {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            self.when.notified().await;
            Answer::No
        })
    }
}

/// Runs a consultation whose Round 1 takes 61 s, with a pulse after 60 s that the user answers with
/// no at this time.
async fn run_with_pulse(no: Duration) -> (StateName, Vec<PulseAnswer>) {
    let takes = |call: ScriptedCall<'_>| {
        let seconds = if call.ask.answer.round() == 1 { 61 } else { 1 };
        (seconds * SECOND, good(call.ask))
    };
    let stage = Stage::new()
        .provider("anthropic", takes)
        .provider("openai", takes)
        .provider("google", takes);
    let mut plan = plan();
    plan.control.pulse = Some(60 * SECOND);
    let person = RefusingUser::default();
    let start = (Consultation::new(plan), RunStart::New);
    let run = run(&stage, &person, no_interrupts(), start);
    let say = async {
        sleep(no).await;
        person.when.notify_one();
    };
    // The notification comes after the driver's poll, so that it finds this answer together with
    // those of the experts.
    let ((ended, history), ()) = tokio::join!(biased; run, say);
    let answers = history.iter().filter_map(|envelope| match envelope.event {
        Event::Pulse(PulseEvent::Answered { answer, .. }) => Some(answer),
        _ => None,
    });
    (ended, answers.collect())
}

#[tokio::test(start_paused = true)]
async fn answers_at_or_after_the_withdrawal_are_ignored() {
    let timely = run_with_pulse(Duration::from_millis(60_500)).await;
    assert_eq!(timely, (StateName::Aborted, vec![PulseAnswer::Cancel]));
    for no in [61, 62, 70] {
        let late = run_with_pulse(no * SECOND).await;
        assert_eq!(late, (StateName::Complete, vec![PulseAnswer::Superseded]));
    }
}

#[tokio::test(start_paused = true)]
async fn question_withdrawn_in_the_same_step_is_never_asked() {
    let (stage, person) = (stage(), SilentUser::default());
    let start = started(plan(), [pulse(), Effect::Withdraw]);
    let (ended, _) = run(&stage, &person, no_interrupts(), start).await;
    assert_eq!(ended, StateName::Complete);
    assert_eq!(person.questions.lock().unwrap().len(), 0);
}
