//! Plays a loop without a panel: a driver that does one step at a time and can be killed after
//! each.

use crate::domain::record::log::Fold as _;
use std::num::NonZeroUsize;

use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::ConsultationId;
use crate::domain::random::SplitMix64;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::domain::time::Timestamp;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{
    BatchFinished, BatchStarted, Extraction, LoopBegun, RefinementEvent, RefinementEventKind,
    TextHash,
};
use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::refinement::state::{
    ConsultationStatus, DocumentNow, NextStep, RefinementLoop, RefinementState,
};
use crate::stopping::convergence::{Criteria, Preset};

/// Seven questions and two claims.
pub(super) const DOCUMENT: &str = "\
# Store

## High Confidence

- Orders are kept for a year

## Medium Confidence

- One region is enough

## Open Questions

- Question 1?
- Question 2?
- [BLOCKER] Question 3?
- Question 4?
- Question 5?
- Question 6?
- Question 7?
";

#[derive(Clone, Debug)]
pub(super) struct Player {
    pub(super) log: Vec<RefinementEvent>,
    pub(super) state: RefinementState,
    /// The document, which is changed in place.
    pub(super) file: String,
    /// How many consultations are in flight at most.
    pub(super) jobs: usize,
    /// Draws the consultation that finishes next.
    random: SplitMix64,
}

pub(super) fn criteria() -> Criteria {
    Preset::Balanced.criteria()
}

pub(super) fn begun(document: &str) -> RefinementEventKind {
    RefinementEventKind::Begun(Box::new(LoopBegun {
        source: "SPEC.md".to_owned(),
        output: "SPEC.md".to_owned(),
        document: TextHash::of(document),
        criteria: criteria(),
        tool_version: "0.1.0".to_owned(),
        fleet: None,
    }))
}

pub(super) fn event(kind: RefinementEventKind) -> RefinementEvent {
    RefinementEvent::new(Timestamp(1_700_000_000_000), kind)
}

pub(super) fn folded(log: &[RefinementEvent]) -> RefinementState {
    let (first, others) = log.split_first().unwrap();
    let mut state = RefinementState::begin(first).unwrap();
    for event in others {
        state.apply(event).unwrap();
    }
    state
}

/// What the loop does next with the document as it is now.
pub(super) fn next_step(player: &Player) -> NextStep<'_> {
    let (_, now) = player.now();
    player.current().next_step(&now)
}

impl Player {
    pub(super) fn new(document: &str, jobs: usize, seed: u64) -> Self {
        let first = event(begun(document));
        Self {
            state: RefinementState::begin(&first).unwrap(),
            log: vec![first],
            file: document.to_owned(),
            jobs,
            random: SplitMix64::new(seed),
        }
    }

    pub(super) fn record(&mut self, kind: RefinementEventKind) {
        let event = event(kind);
        self.state.apply(&event).unwrap();
        self.log.push(event);
    }

    pub(super) fn current(&self) -> &RefinementLoop {
        self.state.current()
    }

    pub(super) fn resume(&mut self) {
        self.record(RefinementEventKind::Resumed {
            criteria: criteria(),
        });
    }

    pub(super) fn now(&self) -> (SpecDocument, DocumentNow) {
        let document = SpecDocument::parse(&self.file).unwrap();
        let size = NonZeroUsize::new(3).unwrap();
        let output = Some(TextHash::of(&self.file));
        let now = DocumentNow::of(self.current(), &document, output, size).unwrap();
        (document, now)
    }

    /// Does the next step; false if there is none.
    pub(super) fn step(&mut self) -> bool {
        let (document, now) = self.now();
        let state = self.state.clone();
        let high_from = Confidence::new(0.8).unwrap();
        match state.current().next_step(&now) {
            NextStep::Extract { left_over } => self.extract(left_over, now.read),
            NextStep::StartIteration { iteration } => {
                self.record(RefinementEventKind::IterationStarted {
                    iteration,
                    document: now.read,
                });
            }
            NextStep::Ask {
                iteration,
                left_over,
                batches,
            } => {
                if self.in_flight().len() >= self.jobs {
                    self.finish_one();
                } else if let Some(record) = left_over.first() {
                    self.start(iteration, record.consultation.clone(), record.about.clone());
                } else {
                    let batch = batches[0].clone();
                    let id = self.unused_id(iteration, &batch);
                    self.start(iteration, id, batch);
                }
            }
            NextStep::Wait => self.finish_one(),
            NextStep::Integrate { .. } => {
                let merge = state.current().merge(&document, high_from).unwrap();
                self.record(RefinementEventKind::Integrated(Box::new(merge.event)));
            }
            NextStep::Write { merge } => {
                let again = state.current().merge(&document, high_from).unwrap();
                assert_eq!(again.event, *merge, "a merge is not repeatable");
                self.file = again.text;
            }
            NextStep::RecordWritten { document } => {
                self.record(RefinementEventKind::DocumentWritten { document });
            }
            NextStep::Stop { cause, message } => {
                self.record(RefinementEventKind::Stopped { cause, message });
            }
            NextStep::End => self.record(RefinementEventKind::Ended),
            NextStep::Rest => return false,
        }
        true
    }

    pub(super) fn play(&mut self) {
        while self.step() {}
    }

    /// Returns the same id in each play of the same loop.
    fn unused_id(&self, iteration: u64, batch: &QuestionBatch) -> ConsultationId {
        let name = format!("{iteration}-{}", batch.questions[0].0.as_str()).replace(' ', "-");
        let open = self.current().open_iteration();
        let is_repeated = open.is_some_and(|open| {
            let mut failed = open.batches.iter();
            failed.any(|record| record.error.is_some())
        });
        let suffix = if is_repeated { "-again" } else { "" };
        ConsultationId::from_unique(&format!("{name}{suffix}"))
    }

    fn start(&mut self, iteration: u64, consultation: ConsultationId, batch: QuestionBatch) {
        self.record(RefinementEventKind::BatchStarted(Box::new(BatchStarted {
            iteration,
            consultation,
            batch,
        })));
    }

    fn extract(&mut self, left_over: Option<ConsultationId>, document: TextHash) {
        let running = self.current().extractions.iter();
        let is_running = running
            .clone()
            .any(|record| record.status == ConsultationStatus::InFlight);
        let consultation = left_over.unwrap_or_else(|| ConsultationId::from_unique("extraction"));
        assert!(!is_running, "an extraction is in flight");
        self.record(RefinementEventKind::ExtractionStarted {
            consultation,
            document,
        });
    }

    fn in_flight(&self) -> Vec<(ConsultationId, QuestionBatch)> {
        let iteration = self.current().open_iteration();
        let batches = iteration
            .into_iter()
            .flat_map(|iteration| &iteration.batches);
        batches
            .filter(|batch| batch.status == ConsultationStatus::InFlight)
            .map(|batch| (batch.consultation.clone(), batch.about.clone()))
            .collect()
    }

    fn finish_one(&mut self) {
        let extraction = self.current().extractions.last();
        if let Some(record) =
            extraction.filter(|record| record.status == ConsultationStatus::InFlight)
        {
            let questions = (1..=7).map(|number| format!("Question {number}?"));
            let extraction = Extraction {
                consultation: record.consultation.clone(),
                high: vec!["Orders are kept for a year".to_owned()],
                medium: vec!["One region is enough".to_owned()],
                open: questions.collect(),
                spend: spend(),
                error: None,
            };
            let finished = RefinementEventKind::ExtractionFinished(Box::new(extraction));
            return self.record(finished);
        }
        let running = self.in_flight();
        let at = usize::try_from(self.random.next_u64()).unwrap_or(0) % running.len();
        let (consultation, batch) = running[at].clone();
        let finished = BatchFinished {
            findings: Some(findings(&consultation, &batch)),
            consultation,
            spend: spend(),
            error: None,
        };
        self.record(RefinementEventKind::BatchFinished(Box::new(finished)));
    }
}

pub(super) fn spend() -> ConsultationSpend {
    ConsultationSpend {
        cost: Cost::exactly(MicroUsd(1_000)),
        in_doubt: MicroUsd::ZERO,
        calls: 4,
        input_tokens: 100,
        output_tokens: 10,
        estimated: false,
    }
}

/// What a panel finds depends on the questions alone.
pub(super) fn findings(consultation: &ConsultationId, batch: &QuestionBatch) -> BatchFindings {
    let mut findings = Vec::new();
    let mut unread = Vec::new();
    let mut confidence = 0.9;
    for (question, text) in &batch.questions {
        let question = question.clone();
        match text.bytes().find(u8::is_ascii_digit) {
            Some(b'1' | b'2') => findings.push(PanelFinding::Answered {
                question,
                answer: format!("yes to {text}"),
                dissent: None,
            }),
            Some(b'3') => findings.push(PanelFinding::StillOpen {
                question,
                reason: "the sources do not say".to_owned(),
            }),
            Some(b'4') => findings.push(PanelFinding::Deferred {
                question,
                reason: "it is a matter of taste".to_owned(),
            }),
            Some(b'5') => {
                confidence = 0.6;
                findings.push(PanelFinding::NewQuestion {
                    text: "Question 9?".to_owned(),
                    blocker: false,
                });
                unread.push(question);
            }
            Some(_) | None => unread.push(question),
        }
    }
    BatchFindings {
        source: FindingSource {
            consultation: consultation.clone(),
            confidence: Some(confidence),
            calibrated: false,
            dissent: Vec::new(),
            degradations: Vec::new(),
        },
        findings,
        unread,
    }
}
