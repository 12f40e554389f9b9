//! The progress of a refinement on standard error: on a terminal, the questions at work with their
//! experts, and a row; a line for each iteration, and with `--verbose` the rules of convergence and a
//! line for each consultation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::consultation::event::Envelope;
use crate::domain::cost::money::Cost;
use crate::domain::ids::{CallId, ConsultationId};
use crate::domain::time::Timestamp;
use crate::engine::ports::{Delta, Subscriber, SubscriberError};
use crate::refinement::event::{BatchFinished, Extraction, Integrated};
use crate::session::batch::Watch;
use crate::session::refinement::progress::{IterationPlan, LoopProgress};
use crate::stopping::convergence::QuestionKey;
use crate::terminal::output::convergence_tree::convergence_tree;
use crate::terminal::output::evaluation_text::wrapped_tree;
use crate::terminal::output::format::{amount, clock, count, dollars};
use crate::terminal::output::live_area::TerminalSize;
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::output::wrap::{cut_line, fitted_row};
use crate::text::clean::one_line;

use super::live_row::{LiveRow, ending, lock};
use super::live_view::LiveView;

/// Shows one loop. Dropping it clears the row.
#[derive(Debug)]
pub struct RefinementProgress(LiveRow<LoopCounts>);

/// What the row is made of.
#[derive(Debug, Default)]
struct LoopCounts {
    plan: IterationPlan,
    /// Consultations of the iteration that this process has finished.
    finished: u64,
    is_extracting: bool,
    cost: Cost,
    is_ending: bool,
    /// Questions of the iteration that this process has begun to ask.
    asked: usize,
    /// When the first consultation began.
    began: Option<Timestamp>,
    /// The consultations under way: what each is about, and its experts.
    at_work: BTreeMap<ConsultationId, (String, LiveView)>,
}

/// Follows a consultation under way.
#[derive(Debug)]
struct ConsultationWatch {
    counts: Arc<Mutex<LoopCounts>>,
    id: ConsultationId,
}

impl Subscriber for ConsultationWatch {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        let mut counts = lock(&self.counts);
        let elapsed = envelope.at.since(*counts.began.get_or_insert(envelope.at));
        if let Some(view) = counts.view(&self.id) {
            view.follow(&envelope.event, elapsed);
        }
        Ok(())
    }

    fn delta(&mut self, call: CallId, delta: &Delta) {
        if let Some(view) = lock(&self.counts).view(&self.id) {
            view.receive(call, delta);
        }
    }
}

impl RefinementProgress {
    pub fn new(printer: &Printer) -> Self {
        let counts = LoopCounts::default();
        Self(LiveRow::new(printer, counts, LoopCounts::lines))
    }
}

impl LoopProgress for RefinementProgress {
    fn watch(&self, consultation: &ConsultationId) -> Watch {
        let watch = ConsultationWatch {
            counts: Arc::clone(&self.0.counts),
            id: consultation.clone(),
        };
        Some(Box::new(watch))
    }

    fn extraction_started(&self, consultation: &ConsultationId) {
        self.0.counts().is_extracting = true;
        self.0
            .printer
            .note("Extracting the claims and questions of the document…");
        self.0.printer.detail(&format!("  {consultation}"));
    }

    fn extraction_finished(&self, extraction: &Extraction) {
        self.0.counts().is_extracting = false;
        match &extraction.error {
            None => {
                let claims = extraction.high.len() + extraction.medium.len();
                self.0.printer.note(&format!(
                    "  {} and {}",
                    count(claims, "claim"),
                    count(extraction.open.len(), "open question")
                ));
            }
            Some(error) => self.0.printer.warning(&format!("  none: {error}")),
        }
    }

    fn iteration_started(&self, plan: IterationPlan) {
        {
            let mut counts = self.0.counts();
            counts.plan = plan;
            counts.finished = 0;
            counts.at_work.clear();
            counts.asked = 0;
        }
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let work = match plan.questions {
            0 => "nothing to ask".to_owned(),
            questions => format!(
                "{} in {}",
                count(number(questions), "question"),
                count(number(plan.consultations), "consultation")
            ),
        };
        self.0.printer.note(&format!(
            "Iteration {} of at most {}: {work}",
            plan.iteration, plan.max_iterations
        ));
    }

    fn batch_started(&self, consultation: &ConsultationId, questions: &[QuestionKey]) {
        let view = LiveView::new(self.0.printer.err_traits().paint);
        self.0.counts().begin(consultation, questions, view);
        self.0.printer.detail(&format!(
            "  {consultation}: {}",
            count(questions.len(), "question")
        ));
    }

    fn batch_finished(&self, finished: &BatchFinished) {
        let id = &finished.consultation;
        {
            let mut counts = self.0.counts();
            counts.at_work.remove(id);
            counts.finished += 1;
        }
        let cost = amount(finished.spend.cost);
        match (&finished.findings, &finished.error) {
            (Some(findings), _) => {
                let read = count(findings.findings.len(), "finding");
                self.0.printer.detail(&format!("  {id}: {read} · {cost}"));
                for reason in &findings.source.degradations {
                    let reason = one_line(reason);
                    self.0.printer.note(&format!("  {id}: degraded: {reason}"));
                }
                if !findings.unread.is_empty() {
                    let questions = count(findings.unread.len(), "question");
                    self.0.printer.note(&format!(
                        "  {id}: the answer to {questions} could not be read"
                    ));
                }
            }
            (None, Some(error)) => {
                self.0
                    .printer
                    .warning(&format!("  {id}: no answer: {}", one_line(error)));
            }
            (None, None) => self.0.printer.warning(&format!("  {id}: no answer")),
        }
    }

    fn integrated(&self, integrated: &Integrated) {
        let changes = count(integrated.applied_changes(), "change");
        let line = match integrated.measure.counts {
            Some(counts) => format!(
                "  {changes}: {} high, {} medium, {} open · {}",
                counts.high,
                counts.medium,
                counts.open,
                dollars(self.0.counts().cost)
            ),
            None => format!("  {changes}"),
        };
        self.0.printer.note(&line);
        if self.0.printer.verbosity() == Verbosity::Verbose {
            let tree = convergence_tree(integrated.iteration, &integrated.evaluation);
            let lines = wrapped_tree(&tree.lines(), self.0.printer.err_traits());
            self.0.printer.lines(&lines.join("\n"));
        }
    }

    fn spent(&self, cost: Cost) {
        self.0.counts().cost = cost;
    }

    fn ending(&self) {
        self.0.counts().is_ending = true;
    }
}

impl LoopCounts {
    fn view(&mut self, id: &ConsultationId) -> Option<&mut LiveView> {
        self.at_work.get_mut(id).map(|(_, view)| view)
    }

    /// Titled `Question 1 of 7: which database (+2)`.
    fn begin(&mut self, id: &ConsultationId, questions: &[QuestionKey], view: LiveView) {
        let first = questions.first().map_or("", QuestionKey::as_str);
        let (number, all) = (self.asked + 1, self.plan.questions);
        let mut title = format!("Question {number} of {all}: {first}");
        if let more @ 1.. = questions.len().saturating_sub(1) {
            title.extend([" (+", &more.to_string(), ")"]);
        }
        self.asked += questions.len();
        self.at_work.insert(id.clone(), (title, view));
    }

    fn lines(&self, elapsed: Duration, size: TerminalSize) -> Vec<String> {
        let mut lines = Vec::new();
        let rows = size.rows / self.at_work.len().max(1);
        for (title, view) in self.at_work.values() {
            lines.push(cut_line(title, size.room()));
            lines.extend(view.lines(elapsed, TerminalSize { rows, ..size }));
        }
        lines.push(self.row(elapsed, size.room()));
        lines
    }

    fn row(&self, elapsed: Duration, width: usize) -> String {
        let plan = &self.plan;
        let work = match (self.is_extracting, plan.iteration) {
            (true, _) => "extracting".to_owned(),
            (false, 0) => "refine".to_owned(),
            (false, iteration) => format!("iteration {iteration}/{}", plan.max_iterations),
        };
        // The most important first.
        let mut segments = vec![work];
        if plan.consultations > 0 && !self.is_extracting {
            segments.push(format!(
                "{}/{} consultations",
                self.finished, plan.consultations
            ));
        }
        // Before the first result nothing is known of it: a plan may pay.
        segments.extend((self.cost != Cost::FREE).then(|| dollars(self.cost)));
        segments.push(clock(elapsed));
        segments.extend(ending(self.is_ending, self.at_work.len() as u64));
        fitted_row(&segments, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cost::money::MicroUsd;
    use crate::terminal::output::style::Paint;

    fn counts() -> LoopCounts {
        let mut counts = LoopCounts {
            plan: IterationPlan {
                iteration: 2,
                max_iterations: 5,
                questions: 7,
                consultations: 3,
            },
            finished: 1,
            cost: Cost::exactly(MicroUsd(420_000)),
            ..LoopCounts::default()
        };
        let batches = [
            ("consult-aaaaaaaa", "Which database? Why?"),
            ("consult-bbbbbbbb", "Who?"),
        ];
        for (id, questions) in batches {
            let keys: Vec<QuestionKey> = questions
                .split_inclusive('?')
                .map(QuestionKey::of)
                .collect();
            let id = ConsultationId::parse(id).unwrap();
            counts.begin(&id, &keys, LiveView::new(Paint::PLAIN));
        }
        counts
    }

    #[test]
    fn rows_name_the_questions_at_work() {
        let size = TerminalSize {
            columns: 80,
            rows: 24,
        };
        let lines = counts().lines(Duration::from_secs(72), size);
        assert_eq!(
            lines,
            [
                "Question 1 of 7: which database (+1)",
                "Question 3 of 7: who",
                "iteration 2/5 · 1/3 consultations · $0.42 · 1:12"
            ]
        );
    }

    fn row(counts: &LoopCounts, columns: usize) -> String {
        counts.row(Duration::from_secs(72), columns - 1)
    }

    #[test]
    fn row_has_what_fits_its_width() {
        let counts = counts();
        assert_eq!(
            row(&counts, 80),
            "iteration 2/5 · 1/3 consultations · $0.42 · 1:12"
        );
        assert_eq!(row(&counts, 40), "iteration 2/5 · 1/3 consultations");
        assert_eq!(row(&counts, 10), "iteratio…");
    }

    #[test]
    fn loop_that_is_stopping_says_what_still_runs() {
        let ending = LoopCounts {
            is_ending: true,
            ..counts()
        };
        assert!(row(&ending, 80).ends_with("· 1:12 · stopping, 2 still running"));
    }

    #[test]
    fn extraction_has_no_iteration() {
        let extracting = LoopCounts {
            is_extracting: true,
            ..LoopCounts::default()
        };
        assert_eq!(row(&extracting, 80), "extracting · 1:12");
    }
}
