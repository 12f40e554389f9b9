//! The terminal as the face of a run: progress and questions on standard error, Ctrl-C, the stream
//! of events, and the answer at the end. `consult`, `resume` and `history rejudge` share it.

mod abort_error;
pub(crate) mod answer;
pub(crate) mod consent;
pub(crate) mod preview;
pub(crate) mod batch;

use serde_json::Value;

use crate::commands::config::edit::save_threshold;
use crate::commands::flags::{AnswerFormat, OutputFlags};
use crate::commands::{App, block_on, cannot_start};
use crate::config::paths::Home;
use crate::consultation::event::{Answer, StateName};
use crate::consultation::machine::Question;
use crate::consultation::policy::consent::ConsentRule;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ConsultationId;
use crate::domain::record::rejudgement::Rejudgement;
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::ports::{Person, Subscriber};
use crate::engine::{host, interrupts};
use crate::error::{Error, Exit};
use crate::records::files::events_file::EventsFile;
use crate::session::index::{IndexQueue, IndexSender, RebuildTime};
use crate::session::run::{self, Participants, RunOutcome, Session, SharedResources};
use crate::session::storage::Storage;
use crate::session::traces::TraceExporter;
use crate::setup::plan::Planner;
use crate::setup::plan::template::{PlanTemplate, PreparedPlan};
use crate::setup::settings;
use crate::terminal::document::screen;
use crate::terminal::progress::ProgressReporter;
use crate::terminal::prompt::keyboard::Keyboard;
use crate::terminal::prompt::person::TerminalPerson;
use crate::terminal::report::{NextSteps, of_rejudgement, page, rejudge, report, summary};
use crate::text::clean::pretty_json;

use self::abort_error::aborted;
use self::answer::AnswerText;
use self::consent::{GateDecision, announce};

/// A template without providers is shown instead of run.
pub(crate) fn start(
    (planner, template, prepared): (&Planner<'_>, &PlanTemplate, PreparedPlan),
    app: App<'_>,
    output: &OutputFlags,
    is_logged: bool,
    rejudged: Option<&StoredRecord>,
) -> Result<(), Error> {
    let PreparedPlan { mut plan, findings } = prepared;
    let (home, printer) = (&planner.sources.home, app.printer);
    announce(plan.scrubbing.as_deref(), &findings, printer);
    if template.providers.is_empty() {
        let estimate = plan.estimate()?;
        let control = &plan.control;
        let consent = GateDecision::of(control, &estimate, control.max_cost);
        let addresses = &template.addresses;
        return preview::consultation::show(&plan, &estimate, addresses, consent, output, app);
    }
    let face = TerminalFace::open(home, app, output)?;
    let storage = if is_logged {
        Storage::begin(home, &mut plan, printer)
    } else {
        Storage::nowhere(&mut plan)
    };
    let providers = template.providers.clone();
    let session = Session::new(plan, providers, storage, app.clock);
    face.run(session, rejudged)
}

/// Shows one run on the terminal.
#[derive(Debug)]
pub(crate) struct TerminalFace<'a> {
    home: &'a Home,
    app: App<'a>,
    output: &'a OutputFlags,
    events: Option<EventsFile>,
}

impl<'a> TerminalFace<'a> {
    /// Opens the file of `--events`, so that a run does not begin without it.
    pub(crate) fn open(
        home: &'a Home,
        app: App<'a>,
        output: &'a OutputFlags,
    ) -> Result<Self, Error> {
        Ok(Self {
            home,
            app,
            output,
            events: match output.events.as_deref() {
                None => None,
                Some(path) if path.as_os_str() == "-" => {
                    Some(EventsFile::new(app.printer.stderr_writer()))
                }
                Some(path) => Some(EventsFile::create(path).map_err(Error::usage)?),
            },
        })
    }

    /// The report is stored all the same.
    pub(crate) fn run(
        mut self,
        session: Session,
        rejudged: Option<&StoredRecord>,
    ) -> Result<(), Error> {
        let runtime = host::runtime().map_err(cannot_start)?;
        let is_resumed = !session.earlier.is_empty();
        let index = IndexQueue::start(self.home, session.clock.now());
        let outcome = runtime.block_on(self.take_part(session, index.sender()));
        let mut stored = None;
        let shown = outcome.and_then(|outcome| {
            stored = outcome
                .stored
                .as_ref()
                .map(|_| outcome.transcript.id.clone());
            if let Some(warning) = &outcome.warning {
                self.app.printer.warning(warning);
            }
            // No next steps where nothing is stored, or where only the answer was asked for.
            let next = match &outcome.stored {
                Some(_) if self.output.quiet => NextSteps::None,
                // Others may have been started since.
                Some(_) if is_resumed => NextSteps::Of(outcome.transcript.id.short().to_owned()),
                Some(_) => NextSteps::Of("last".to_owned()),
                None => NextSteps::None,
            };
            self.show(&outcome, &next, rejudged)
        });
        let rebuild = if shown.is_ok() {
            RebuildTime::Now
        } else {
            RebuildTime::Later
        };
        index.finish(rebuild, self.app.printer);
        self.notify(shown.is_ok());
        if let Some(id) = stored {
            runtime.block_on(self.export(id));
        }
        // The end must not wait for a thread that still reads the terminal, or for a model that
        // still decodes.
        runtime.shutdown_background();
        shown
    }

    /// Sends the trace, if the settings ask for it. The answer is there: an interrupt ends only this.
    async fn export(&self, id: ConsultationId) {
        let (printer, screen) = (self.app.printer, self.app.printer.clone());
        let restore = move || screen.restore_terminal();
        let traces = TraceExporter::open(self.home, self.app.environment, printer);
        let interrupts = interrupts::listen(1, Exit::Interrupted.code(), restore);
        if let (Some(traces), Ok(mut interrupts)) = (traces, interrupts) {
            traces.send(id, Value::Null);
            traces.finish(&mut interrupts, printer).await;
        }
    }

    /// Calls the person back, if flag or setting ask for it.
    fn notify(&self, has_answer: bool) {
        let by_settings = || {
            settings::load_own(self.home, self.app.environment)
                .is_ok_and(|settings| settings.notify)
        };
        if self.output.notify || by_settings() {
            let text = if has_answer {
                "answer ready"
            } else {
                "no answer"
            };
            self.app
                .printer
                .notify(text, self.app.environment.text("TERM"));
        }
    }

    async fn take_part(
        &mut self,
        session: Session,
        index: IndexSender,
    ) -> Result<RunOutcome, Error> {
        let events = self.output.events.as_deref();
        let is_shared = events.is_some_and(|path| path.as_os_str() == "-");
        let printer = self.app.printer.clone();
        let mut progress = ProgressReporter::new(printer, is_shared, self.output.stream);
        progress.catch_up(&session.earlier, session.clock.now());
        let mut subscribers: Vec<&mut dyn Subscriber> = Vec::new();
        if let Some(events) = &mut self.events {
            subscribers.push(events);
        }
        subscribers.push(&mut progress);
        let (home, app) = (self.home, self.app);
        let person = TerminalPerson {
            printer: app.printer.clone(),
            keyboard: Keyboard::controlling(),
            save_threshold: &|amount| save_threshold(amount, home, app),
            consent_rule: session.control().consent,
            ceiling: session.control().max_cost,
        };
        let printer = app.printer.clone();
        let interrupts = interrupts::listen(1, Exit::Interrupted.code(), move || {
            printer.restore_terminal();
        });
        let participants = Participants {
            subscribers,
            person: &person,
            interrupts: interrupts.map_err(cannot_start)?,
            report,
        };
        let (control, clock, seed) = (session.control(), session.clock, session.plan().seed);
        let shared = SharedResources::new(self.home, control, clock, seed, index)?;
        run::run(session, participants, shared).await
    }

    pub(crate) fn ask(
        &self,
        estimate: &Estimate,
        why: &[GateReason],
        rule: ConsentRule,
        ceiling: Option<MicroUsd>,
    ) -> Result<Answer, Error> {
        let question = Question::Consent {
            estimate: estimate.clone(),
            why: why.to_vec(),
        };
        let (home, app) = (self.home, self.app);
        let person = TerminalPerson {
            printer: app.printer.clone(),
            keyboard: Keyboard::controlling(),
            save_threshold: &|amount| save_threshold(amount, home, app),
            consent_rule: rule,
            ceiling,
        };
        block_on(person.ask(&question))
    }

    fn show(
        &self,
        outcome: &RunOutcome,
        next: &NextSteps,
        rejudged: Option<&StoredRecord>,
    ) -> Result<(), Error> {
        let RunOutcome {
            transcript, stored, ..
        } = outcome;
        let id = &transcript.id;
        if let Some(abort) = &transcript.abort {
            let stored = stored.as_ref().filter(|_| transcript.has_progress());
            let is_shown = self.show_partial(outcome, next);
            if let Some(stored) = stored.filter(|_| !is_shown) {
                let record = stored.record.display();
                self.app
                    .printer
                    .note(&format!("💾 Partial results saved to: {record}"));
            }
            let is_resumable = stored.is_some_and(|stored| stored.is_journal_complete)
                && transcript.is_resumable();
            return Err(aborted(abort, transcript, is_resumable.then_some(id)));
        }
        if transcript.state != StateName::Complete {
            let state = transcript.state;
            return Err(Error::failed(format!(
                "the consultation ended in state {state}"
            )));
        }
        let (shown, short) = (self.show_answer(outcome, next, rejudged), id.short());
        let Some(stored) = stored else {
            return shown;
        };
        shown.map_err(|error| match self.output.output {
            None => error.hint(format!(
                "the answer is saved: `conclave history show {short}`"
            )),
            Some(_) => error,
        })?;
        self.app
            .printer
            .detail(&format!("Saved in {}", stored.record.display()));
        Ok(())
    }

    /// Returns whether a summary was shown: the reason for the abort matters more than a failure to
    /// write it.
    fn show_partial(&self, outcome: &RunOutcome, next: &NextSteps) -> bool {
        let face = self.app.printer.out_traits();
        let is_shown = face.is_terminal
            && self.output.format() == AnswerFormat::Markdown
            && self.output.output.is_none();
        let transcript = &outcome.transcript;
        if !is_shown || transcript.independents().next().is_none() {
            return false;
        }
        let summary = summary(&outcome.record, next);
        let text = screen(&summary, Some(face.width), face.paint);
        self.app.printer.result(&text).is_ok()
    }

    fn show_answer(
        &self,
        outcome: &RunOutcome,
        next: &NextSteps,
        rejudged: Option<&StoredRecord>,
    ) -> Result<(), Error> {
        let rejudgement = rejudged.map(|record| Rejudgement::of(record, &outcome.record));
        let markdown = rejudgement.as_ref().map(rejudge::markdown);
        let json = || {
            let json = match &rejudgement {
                Some(rejudgement) => pretty_json(rejudgement),
                None => pretty_json(&outcome.record),
            };
            json.map_err(Error::failed)
        };
        let summary = (!self.output.full).then(|| match &rejudgement {
            Some(rejudgement) => of_rejudgement(rejudgement, next),
            None => summary(&outcome.record, next),
        });
        let source = AnswerText {
            markdown: markdown.as_ref().unwrap_or(&outcome.report),
            summary: summary.as_deref(),
            json: &json,
            html: &|| page(&outcome.record),
            noun: "Answer",
        };
        answer::write(
            &source,
            self.output.format(),
            self.output.output.as_deref(),
            &self.output.pager.pager(self.app.environment),
            self.app.printer,
        )
    }
}

/// Draws the seed of the jitter of backoffs, which no log depends on.
pub(crate) fn seed() -> u64 {
    u64::try_from(ulid::Ulid::generate().random() & u128::from(u64::MAX)).unwrap_or_default()
}
