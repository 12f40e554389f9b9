//! A face of plain data in place of the terminal: it runs a consultation, a benchmark with two
//! consultations at once, and a refinement, and takes every question, note and progress of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use conclave::benchmark::event::RunBegun;
use conclave::benchmark::result::CaseResult;
use conclave::benchmark::run::RunId;
use conclave::config::env::Environment;
use conclave::consultation::event::{Answer, Envelope, StateName};
use conclave::consultation::machine::Question;
use conclave::consultation::plan::options::Rounds;
use conclave::consultation::plan::{Control, ControlRequest};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::prompt::filter::PromptMaterial;
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::{CallId, ConsultationId};
use conclave::domain::money::Cost;
use conclave::domain::stored_record::StoredRecord;
use conclave::engine::clock::Clock;
use conclave::engine::host;
use conclave::engine::ports::{
    BoxFuture, Confirmation, Delta, Face, LongWork, Person, Subscriber, SubscriberError,
    WorkProgress,
};
use conclave::error::Error;
use conclave::records::refinements::{RefinementStore, SpecFile};
use conclave::records::runs::RunStore;
use conclave::refinement::event::{BatchFinished, Extraction, Integrated, LoopBegun, TextHash};
use conclave::refinement::mask::TextMask;
use conclave::session::batch::driver::BatchDriver;
use conclave::session::batch::{Batch, BatchTerms, RunCeiling};
use conclave::session::benchmark::arms::ArmPlanner;
use conclave::session::benchmark::cases::CaseBook;
use conclave::session::benchmark::driver::BenchmarkDriver;
use conclave::session::benchmark::progress::RunProgress;
use conclave::session::benchmark::request::BenchmarkRequest;
use conclave::session::index::{self, IndexQueue, RebuildTime};
use conclave::session::refinement::driver::RefinementDriver;
use conclave::session::refinement::progress::{IterationPlan, LoopProgress};
use conclave::session::refinement::request::{RefinementRequest, RefinementTerms};
use conclave::session::refinement::templates::RefinementTemplates;
use conclave::session::run::{self, MonthRule, Participants, Session, SharedResources};
use conclave::session::storage::Storage;
use conclave::setup::context::sources::ProjectTerms;
use conclave::setup::plan::Planner;
use conclave::setup::request::{DebateRequest, PanelRequest, QuestionRequest, TemplateRequest};
use conclave::stopping::batch::conditions::StopConditions;
use conclave::stopping::convergence::{Preset, QuestionKey};
use conclave::suites;
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer as Reply, On, ProviderServer};

const MODEL: &str = "openai:gpt-6.1-sol";

const RUNS_ALL: &str = "face::a_face_of_plain_data_runs_everything";

#[test]
fn what_runs_without_a_terminal_writes_nothing_to_the_output_of_its_process() {
    let run = Command::new(std::env::current_exe().unwrap())
        .args([RUNS_ALL, "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8(run.stdout).unwrap(),
        String::from_utf8(run.stderr).unwrap(),
    );
    assert!(run.status.success(), "{stdout}{stderr}");
    let own = ["running 1 test", RUNS_ALL, "test result: ok. 1 passed"];
    let foreign = stdout.lines().filter(|line| {
        let is_own = own.iter().any(|own| line.contains(own));
        !line.is_empty() && !is_own
    });
    assert_eq!(foreign.collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(stderr, "");
}

#[test]
#[ignore = "the test of its output runs it, in a process of its own"]
fn a_face_of_plain_data_runs_everything() {
    let server = ProviderServer::start();
    let home = Conclave::at(&server).without("CI");
    let environment = Environment::of(home.variables().clone());
    let face = PlainFace::default();
    let planner = Planner::new(&environment, &face, Clock::system().now()).unwrap();
    let runtime = host::runtime().unwrap();
    runtime.block_on(async {
        consult(&face, &planner).await;
        Box::pin(benchmark(&face, &planner, &server, home.folder())).await;
        Box::pin(refine(&face, &planner, &server, home.folder())).await;
    });

    let told = face.told();
    for said in [
        "asked: consent",
        "work: IndexRebuild",
        "consultation:completed",
        "text of an answer",
        "cases: 2 at once",
        "case: c1 Approved",
        "case: c2 Approved",
        "run: spent",
        "iteration 1 of 5: 1 questions",
        "batch: begun with 1",
        "batch: finished",
        "integrated: 1",
        "loop: spent",
    ] {
        assert!(told.contains(said), "not told `{said}`: {told:#?}");
    }
    assert!(
        told.iter().any(|said| said.starts_with("note: ")),
        "{told:#?}"
    );
}

/// Asks a panel of one, with a person who consents.
async fn consult(face: &PlainFace, planner: &Planner<'_>) {
    let template = planner.template(template(ConsentMode::Interactive));
    let template = template.await.unwrap();
    let prepared = template.plan(QuestionRequest {
        question: "Should orders be kept in SQLite?".to_owned(),
        ..QuestionRequest::default()
    });
    let (clock, home) = (Clock::system(), &planner.sources.home);
    let mut plan = prepared.unwrap().plan;
    let storage = Storage::begin(home, &mut plan, face);
    let session = Session::new(plan, template.providers.clone(), storage, clock);
    let index = IndexQueue::start(home, clock.now());
    let control = session.control();
    let shared = SharedResources::new(home, control, clock, 1, index.sender()).unwrap();
    let mut events = FaceEvents(face);
    let (_interrupt, interrupts) = mpsc::unbounded_channel();
    let participants = Participants {
        subscribers: vec![&mut events],
        person: face,
        interrupts,
        report,
    };
    let outcome = run::run(session, participants, shared).await.unwrap();
    index.finish(RebuildTime::Now, face);
    std::fs::write(home.index_file(), "damaged").unwrap();
    index::open(home, face).unwrap();
    assert_eq!(outcome.transcript.state, StateName::Complete);
    assert!(outcome.stored.unwrap().record.is_file());
}

/// Runs two cases at once.
async fn benchmark(
    face: &PlainFace,
    planner: &Planner<'_>,
    server: &ProviderServer,
    folder: &Path,
) {
    let case = |id: &str| {
        let input = format!("Which letter follows {id}?");
        json!({"id": id, "input": input, "target": "B", "choices": ["one", "two"]}).to_string()
    };
    let path = folder.join("suite.jsonl");
    std::fs::write(&path, [case("c1"), case("c2")].join("\n")).unwrap();
    let right =
        json!({"position": "ANSWER: B", "key_points": [], "rationale": "", "confidence": 0.9});
    server.on(
        On::containing("Which letter"),
        Reply::text(right.to_string()),
    );
    let suite = suites::read(&path).unwrap();
    let request = BenchmarkRequest {
        single: Some(MODEL.to_owned()),
        ..BenchmarkRequest::default()
    };
    let selected = request.terms(&suite, Vec::new()).unwrap();
    let book = CaseBook::new(&suite, &selected).unwrap();
    let arms = ArmPlanner {
        planner,
        consent_mode: ConsentMode::PreApproved,
        dry_run: false,
        needs_grader: book.needs_grader(),
    };
    let arms = arms.prepare(&request).await.unwrap();
    let clock = Clock::system();
    let begun = RunBegun {
        run: RunId::from_unique("01"),
        terms: request.terms(&suite, arms.terms()).unwrap(),
        conditions: StopConditions::default(),
    };
    let store = RunStore::in_folder(planner.sources.home.runs_folder());
    let control = arms.templates().next().unwrap().common.control.clone();
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    *face.interrupt.lock().unwrap() = Some(interrupt);
    let driver = BenchmarkDriver {
        run: store.create(clock.now(), begun).unwrap(),
        book: &book,
        arms: &arms,
        batch: BatchDriver {
            planner,
            control: ControlRequest::default(),
            jobs: 2,
            clock,
        },
        progress: face,
    };
    let run = Box::pin(driver.drive(batch(planner, &control, interrupts))).await;
    assert_eq!(run.unwrap().state().results.len(), 2);
}

/// Has the open question of a document answered.
async fn refine(face: &PlainFace, planner: &Planner<'_>, server: &ProviderServer, folder: &Path) {
    let path = folder.join("SPEC.md");
    let text = "# Spec\n\n## High Confidence\n\n- It is a service.\n\n## Open Questions\n\n- Where are keys kept?\n";
    std::fs::write(&path, text).unwrap();
    let position = json!({
        "position": "In a vault.", "key_points": [], "rationale": "", "confidence": 0.9,
        "answers": {"Q1": {"outcome": "answered", "text": "In a vault.", "dissent": ""}},
    });
    server.on(
        On::containing("Where are keys kept"),
        Reply::text(position.to_string()),
    );
    let request = RefinementRequest {
        template: template(ConsentMode::PreApproved),
        sources: Vec::new(),
        project: ProjectTerms::default(),
        document: "SPEC.md".to_owned(),
        is_plain: false,
    };
    let templates = RefinementTemplates::prepare(planner, request);
    let templates = templates.await.unwrap();
    let clock = Clock::system();
    let mut criteria = Preset::default().criteria();
    criteria.max_iterations = 5;
    let begun = LoopBegun {
        source: "SPEC.md".to_owned(),
        output: "SPEC.md".to_owned(),
        document: TextHash::of(text),
        criteria,
        tool_version: "0".to_owned(),
    };
    let store = RefinementStore::beside(&path);
    let control = templates.panel.common.control.clone();
    let (_interrupt, interrupts) = mpsc::unbounded_channel();
    let driver = RefinementDriver {
        refinement: store.begin(clock.now(), begun, text).unwrap(),
        source: SpecFile::at(&path),
        output: SpecFile::at(&path),
        templates: &templates,
        batch: BatchDriver {
            planner,
            control: templates.resume_control.clone(),
            jobs: 2,
            clock,
        },
        terms: RefinementTerms {
            batch_size: 1.try_into().unwrap(),
            high_from: Confidence::new(0.8).unwrap(),
        },
        mask: TextMask::default(),
        progress: face,
        changes: |_| String::new(),
    };
    let ended = Box::pin(driver.drive(batch(planner, &control, interrupts))).await;
    assert!(ended.unwrap().state().current().evaluation().is_some());
    let refined = std::fs::read_to_string(&path).unwrap();
    assert!(refined.contains("In a vault."), "{refined}");
}

fn template(consent_mode: ConsentMode) -> TemplateRequest {
    TemplateRequest {
        panel: PanelRequest::alone(MODEL),
        debate: DebateRequest {
            rounds: Rounds::new(1),
            ..DebateRequest::default()
        },
        control: ControlRequest {
            consent_mode,
            ..ControlRequest::default()
        },
        material: PromptMaterial::Filtered,
        ..TemplateRequest::default()
    }
}

fn batch<'a, K: Send + 'static>(
    planner: &'a Planner<'_>,
    control: &'a Control,
    interrupts: mpsc::UnboundedReceiver<()>,
) -> Batch<'a, K> {
    let batch: Result<_, Error> = Batch::new(BatchTerms {
        home: &planner.sources.home,
        clock: Clock::system(),
        seed: 1,
        ceiling: RunCeiling::default(),
        control,
        month_rule: MonthRule::Limited,
        interrupts,
        report,
    });
    batch.unwrap()
}

fn report(record: &StoredRecord) -> String {
    record.id.clone()
}

/// What was said, asked and shown, each once.
#[derive(Debug, Default)]
struct PlainFace {
    told: Mutex<BTreeSet<String>>,
    /// Interrupts the benchmark once two cases are in flight: it notes that it waits for them.
    interrupt: Mutex<Option<mpsc::UnboundedSender<()>>>,
}

/// The events of a consultation for the face.
#[derive(Debug)]
struct FaceEvents<'a>(&'a PlainFace);

/// Progress that the face notes.
#[derive(Debug)]
struct Silent;

impl PlainFace {
    fn tell(&self, what: impl Into<String>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(what.into());
    }

    fn told(&self) -> BTreeSet<String> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.clone()
    }
}

impl Face for PlainFace {
    fn note(&self, line: &str) {
        self.tell(format!("note: {line}"));
    }

    fn detail(&self, line: &str) {
        self.tell(format!("detail: {line}"));
    }

    fn warning(&self, line: &str) {
        self.tell(format!("warning: {line}"));
    }

    fn lines(&self, text: &str) {
        self.tell(format!("lines: {text}"));
    }

    fn begin(&self, work: LongWork) -> Box<dyn WorkProgress> {
        self.tell(format!("work: {work:?}"));
        Box::new(Silent)
    }

    fn confirm<'a>(&'a self, _: Vec<String>, question: &'a str) -> BoxFuture<'a, Confirmation> {
        self.tell(format!("confirm: {question}"));
        Box::pin(async { Confirmation::Yes })
    }
}

impl WorkProgress for Silent {
    fn step(&mut self, _: &str) {}

    fn at(&mut self, _: u64, _: u64) {}
}

impl Person for PlainFace {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.tell(match question {
            Question::Consent { .. } => "asked: consent",
            Question::Pulse { .. } => "asked: pulse",
            Question::EarlyTermination { .. } => "asked: end",
            Question::Substitution { .. } => "asked: substitution",
        });
        Box::pin(async { Answer::Yes })
    }
}

impl Subscriber for FaceEvents<'_> {
    fn event(&mut self, event: &Envelope) -> Result<(), SubscriberError> {
        let event = serde_json::to_value(&event.event).unwrap();
        self.0.tell(event["type"].as_str().unwrap());
        Ok(())
    }

    fn delta(&mut self, _: CallId, delta: &Delta) {
        if matches!(delta, Delta::Text(_)) {
            self.0.tell("text of an answer");
        }
    }
}

impl RunProgress for PlainFace {
    fn running(&self, running: usize) {
        self.tell(format!("cases: {running} at once"));
        let mut interrupt = self.interrupt.lock().unwrap();
        if let Some(interrupt) = interrupt.take_if(|_| running == 2) {
            interrupt.send(()).unwrap();
        }
    }

    fn spent(&self, _: Cost) {
        self.tell("run: spent");
    }

    fn ending(&self) {}

    fn finished(&self, result: &CaseResult, _: &str, _: bool, _: Duration) {
        self.tell(format!("case: {} {:?}", result.run.case, result.outcome));
    }
}

impl LoopProgress for PlainFace {
    fn extraction_started(&self, _: &ConsultationId) {}

    fn extraction_finished(&self, _: &Extraction) {}

    fn iteration_started(&self, plan: IterationPlan) {
        let IterationPlan {
            iteration,
            max_iterations,
            questions,
            ..
        } = plan;
        self.tell(format!(
            "iteration {iteration} of {max_iterations}: {questions} questions"
        ));
    }

    fn batch_started(&self, _: &ConsultationId, questions: &[QuestionKey]) {
        self.tell(format!("batch: begun with {}", questions.len()));
    }

    fn batch_finished(&self, _: &BatchFinished) {
        self.tell("batch: finished");
    }

    fn integrated(&self, integrated: &Integrated) {
        self.tell(format!("integrated: {}", integrated.changes.len()));
    }

    fn spent(&self, _: Cost) {
        self.tell("loop: spent");
    }

    fn ending(&self) {}
}
