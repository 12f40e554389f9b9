mod elsewhere;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::take_over::{TakeOver, take_over};
use super::*;
use crate::config::env::Environment;
use crate::consultation::event::{Abort, AbortReason, Envelope, StateName};
use crate::consultation::plan::ControlRequest;
use crate::consultation::plan::options::{DebateOptions, Rounds};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Ask, Outcome, Reply, StopReason};
use crate::domain::cost::pricing::{Price, PriceList, Rates};
use crate::domain::cost::tokens::Usage;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::{Panel, Seat};
use crate::domain::time::Timestamp;
use crate::engine::ports::silent::SilentFace;
use crate::engine::ports::{BoxFuture, OnDelta, Provider, SubscriberError};
use crate::records::history;
use crate::records::index::Index;
use crate::records::journal::ends::{self, JournalEnding};
use crate::setup::plan::Planner;

const PROVIDER: &str = "scripted";
const ANSWER: &str = r#"{"position":"Use OAuth.","key_points":["Tokens can be revoked."],"rationale":"Revocation decides it.","confidence":0.8}"#;

/// A provider that answers after ten milliseconds, or never.
#[derive(Debug)]
struct Scripted {
    /// Later calls are never answered.
    answers: usize,
    asked: Mutex<Vec<AnswerKind>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

impl Default for Scripted {
    fn default() -> Self {
        Self {
            answers: usize::MAX,
            asked: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        }
    }
}

impl Scripted {
    fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Provider for Scripted {
    fn ask<'a>(&'a self, ask: &'a Ask, _: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let calls = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(ask.answer);
                asked.len()
            };
            if calls > self.answers {
                std::future::pending::<()>().await;
            }
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_in_flight.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            Ok(Reply {
                text: ANSWER.to_owned(),
                stop: StopReason::End,
                usage: Usage {
                    input: 1_000,
                    output: 100,
                    ..Usage::default()
                },
                served_model: None,
                reported_cost: None,
                plan: None,
            })
        })
    }
}

/// A batch in a home of its own, whose consultations have one seat and one round.
struct BatchHome {
    home: Home,
    provider: Arc<Scripted>,
    providers: Providers,
    control: Control,
    interrupt: mpsc::UnboundedSender<()>,
    interrupts: Option<mpsc::UnboundedReceiver<()>>,
    executor: Option<Arc<dyn Executor>>,
    _folder: tempfile::TempDir,
}

impl BatchHome {
    fn new(provider: Scripted) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = Arc::new(provider);
        let by_id: Arc<dyn Provider> = provider.clone();
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        Self {
            home: Home::at(folder.path()),
            provider,
            providers: BTreeMap::from([(ProviderId::new(PROVIDER), by_id)]),
            control: Control {
                pulse: None,
                ..Control::usual(ConsentMode::PreApproved)
            },
            interrupt,
            interrupts: Some(interrupts),
            executor: None,
            _folder: folder,
        }
    }

    fn batch(&mut self, ceiling: Option<RunCeiling>) -> Batch<'static, usize> {
        let home: &'static Home = Box::leak(Box::new(self.home.clone()));
        let control: &'static Control = Box::leak(Box::new(self.control.clone()));
        let terms = BatchTerms {
            home,
            clock: Clock::starting(Timestamp(1_795_252_598_000)),
            seed: 7,
            ceiling: ceiling.unwrap_or_default(),
            control,
            month_rule: MonthRule::Limited,
            traces: None,
            interrupts: self.interrupts.take().unwrap(),
            executor: self.executor.clone(),
            report: |record| {
                assert_ne!(record.question, "fail", "the report of this one fails");
                String::new()
            },
        };
        Batch::new(terms).unwrap()
    }

    /// A call costs $0.0012, and could cost some cents.
    fn plan(&self, number: usize) -> Plan {
        let model = ModelRef::new(PROVIDER, "m");
        let panel = Panel {
            seats: vec![Seat::named("pragmatic", "Pragmatist", model.clone())],
            judges: vec![model.clone()],
        };
        let price = Price {
            base: Rates {
                input: MicroUsd(1_000_000),
                output: MicroUsd(2_000_000),
                cache_read: None,
                cache_write: None,
            },
            long_context: None,
        };
        let id = ConsultationId::from_unique(&format!("01BATCH{number:02}"));
        Plan {
            debate: DebateOptions {
                rounds: Rounds::new(1).unwrap(),
                ..DebateOptions::default()
            },
            prices: PriceList([(model, price)].into_iter().collect()),
            in_flight: BTreeMap::from([(ProviderId::new(PROVIDER), 4)]),
            ..Plan::new(
                id,
                "Should I use OAuth or JWT?",
                panel,
                self.control.clone(),
            )
        }
    }

    fn start_all(&self, batch: &mut Batch<'_, usize>, count: usize) {
        for number in 0..count {
            batch.start(number, self.plan(number), &self.providers, None);
        }
    }

    /// Takes a consultation over as a later process.
    async fn take_over(&self, id: &ConsultationId) -> Result<TakeOver, Error> {
        let environment = Environment::of([
            ("CONCLAVE_HOME", self.home.path().to_str().unwrap()),
            ("CONCLAVE_LOCAL_SERVERS", "none"),
        ]);
        let now = Timestamp(1_795_252_599_000);
        let planner = Planner::new(&environment, &SilentFace, now).unwrap();
        let request = ControlRequest::new(ConsentMode::PreApproved);
        take_over(
            id,
            &planner.resume_sources(),
            &request,
            Clock::starting(now),
        )
        .await
    }

    fn journal_ending(&self, number: usize) -> JournalEnding {
        let id = self.plan(number).id;
        let journal = self.home.logs_folder().join(format!("{id}.jsonl"));
        ends::ending(&journal).unwrap()
    }
}

/// Returns the consultations in the order in which they finish.
async fn run_to_end(batch: &mut Batch<'_, usize>) -> Vec<FinishedConsultation<usize>> {
    let mut all = Vec::new();
    while let Some(update) = batch.next().await {
        if let BatchUpdate::Finished(finished) = update {
            all.push(*finished);
        }
    }
    all
}

fn transcript(finished: &FinishedConsultation<usize>) -> &Transcript {
    &finished.result.as_ref().unwrap().transcript
}

fn spent(all: &[FinishedConsultation<usize>]) -> MicroUsd {
    let costs = all.iter().map(|finished| transcript(finished).total().cost);
    costs.map(|cost| cost.known).sum()
}

#[tokio::test(start_paused = true)]
async fn limit_of_a_provider_holds_over_all_consultations() {
    let mut batch_home = BatchHome::new(Scripted::default());
    let mut batch = batch_home.batch(None);
    batch_home.start_all(&mut batch, 12);
    assert_eq!(batch.in_flight(), 12);
    let all = run_to_end(&mut batch).await;
    assert_eq!(all.len(), 12);
    for finished in &all {
        assert_eq!(transcript(finished).state, StateName::Complete);
    }
    // No judge, no helper, no retry.
    assert_eq!(batch_home.provider.calls(), 12);
    assert_eq!(batch_home.provider.most_in_flight.load(Ordering::SeqCst), 4);
    assert_eq!(spent(&all), MicroUsd(12 * 1_200));
}

#[tokio::test(start_paused = true)]
async fn ceiling_over_all_consultations_is_never_exceeded() {
    let mut batch_home = BatchHome::new(Scripted::default());
    let limit = MicroUsd(60_000);
    let mut batch = batch_home.batch(Some(RunCeiling {
        name: "suite",
        limit: Some(limit),
        used: MicroUsd(10_000),
    }));
    batch_home.start_all(&mut batch, 50);
    let all = run_to_end(&mut batch).await;
    let spent = spent(&all);
    assert!(spent > MicroUsd::ZERO);
    assert!(spent + MicroUsd(10_000) <= limit, "{spent}");
    let aborts = all
        .iter()
        .map(|finished| transcript(finished).abort.as_ref());
    let reached: Vec<&Abort> = aborts.flatten().collect();
    assert!(!reached.is_empty());
    for abort in reached {
        assert_eq!(abort.reason, AbortReason::CostCeiling);
        assert!(abort.message.contains("suite"), "{}", abort.message);
    }
}

#[tokio::test(start_paused = true)]
async fn first_interrupt_lets_consultations_in_flight_finish() {
    let mut batch_home = BatchHome::new(Scripted::default());
    let mut batch = batch_home.batch(None);
    batch_home.start_all(&mut batch, 8);
    batch_home.interrupt.send(()).unwrap();
    let update = batch.next().await;
    assert!(matches!(
        update,
        Some(BatchUpdate::Interrupted(InterruptStage::Drain))
    ));
    assert!(batch.interrupt.borrow().is_some());
    let all = run_to_end(&mut batch).await;
    assert_eq!(all.len(), 8);
    for finished in &all {
        assert_eq!(transcript(finished).state, StateName::Complete);
    }
}

#[tokio::test(start_paused = true)]
async fn second_interrupt_leaves_journals_that_can_be_resumed() {
    let mut batch_home = BatchHome::new(Scripted {
        answers: 4,
        ..Scripted::default()
    });
    let mut batch = batch_home.batch(None);
    batch_home.start_all(&mut batch, 8);
    for _ in 0..4 {
        let update = batch.next().await;
        assert!(matches!(update, Some(BatchUpdate::Finished(_))));
    }
    batch_home.interrupt.send(()).unwrap();
    batch_home.interrupt.send(()).unwrap();
    let all = run_to_end(&mut batch).await;
    assert_eq!(all.len(), 4);
    for finished in &all {
        let abort = transcript(finished).abort.as_ref().unwrap();
        assert_eq!(abort.reason, AbortReason::Interrupted);
        let ending = batch_home.journal_ending(finished.key);
        assert!(ending.is_resumable(), "{ending:?}");
    }
    assert_eq!(batch_home.provider.calls(), 8);
}

#[tokio::test(start_paused = true)]
async fn failure_of_one_consultation_leaves_the_others_alone() {
    let mut batch_home = BatchHome::new(Scripted::default());
    let mut batch = batch_home.batch(None);
    // The first has no place for its journal, the program fails in the second.
    let journal = format!("{}.jsonl", batch_home.plan(0).id);
    std::fs::create_dir_all(batch_home.home.logs_folder().join(journal)).unwrap();
    batch.start(0, batch_home.plan(0), &batch_home.providers, None);
    let failing = Plan {
        question: "fail".to_owned(),
        ..batch_home.plan(1)
    };
    batch.start(1, failing, &batch_home.providers, None);
    batch.start(2, batch_home.plan(2), &batch_home.providers, None);
    let all = run_to_end(&mut batch).await;
    let result = |key| {
        let finished = all.iter().find(|finished| finished.key == key).unwrap();
        let result = finished.result.as_ref();
        result.map(|outcome| outcome.transcript.state)
    };
    assert!(result(0).unwrap_err().to_string().contains("consult-logs"));
    assert_eq!(
        result(1).unwrap_err().to_string(),
        "the program failed while it wrote the record"
    );
    assert_eq!(result(2).unwrap(), StateName::Complete);
}

#[tokio::test(start_paused = true)]
async fn next_batch_adds_to_the_index_without_rebuilding_it() {
    let mut batch_home = BatchHome::new(Scripted::default());
    let mut batch = batch_home.batch(None);
    batch.start(0, batch_home.plan(0), &batch_home.providers, None);
    run_to_end(&mut batch).await;
    batch.finish(&SilentFace).await;
    // A rebuild would find no trace of it.
    let id = batch_home.plan(0).id;
    for suffix in ["jsonl", "json", "md"] {
        std::fs::remove_file(batch_home.home.logs_folder().join(format!("{id}.{suffix}"))).unwrap();
    }
    let (_, interrupts) = mpsc::unbounded_channel();
    batch_home.interrupts = Some(interrupts);
    let mut batch = batch_home.batch(None);
    batch.start(1, batch_home.plan(1), &batch_home.providers, None);
    run_to_end(&mut batch).await;
    batch.finish(&SilentFace).await;
    let index = Index::open(&batch_home.home.index_file()).unwrap();
    for number in 0..2 {
        let id = batch_home.plan(number).id;
        let listed = history::with_id(&index.connection, id.as_str()).unwrap();
        assert!(listed.is_some(), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn later_process_takes_over_what_is_finished_and_repeats_what_never_began() {
    let mut batch_home = BatchHome::new(Scripted::default());
    let mut batch = batch_home.batch(None);
    batch_home.start_all(&mut batch, 1);
    let all = run_to_end(&mut batch).await;
    let live = all[0].result.as_ref().unwrap();
    let taken = batch_home.take_over(&all[0].id).await.unwrap();
    let TakeOver::Finished(outcome) = taken else {
        panic!("{taken:?}");
    };
    assert_eq!(outcome.record, live.record);
    assert_eq!(outcome.transcript.calls, live.transcript.calls);
    let unknown = ConsultationId::from_unique("01NEVER");
    let taken = batch_home.take_over(&unknown).await.unwrap();
    assert!(matches!(taken, TakeOver::Repeat(_)), "{taken:?}");
}

#[tokio::test(start_paused = true)]
async fn consultation_that_another_process_runs_is_not_taken_over() {
    let batch_home = BatchHome::new(Scripted::default());
    let id = batch_home.plan(0).id;
    let _storage = Storage::create(&batch_home.home, &id).unwrap();
    let error = batch_home.take_over(&id).await.unwrap_err().to_string();
    assert_eq!(error, format!("another process is running {id}"));
}
