//! What a loop starts from: the document, the loops before, who works on it, and the estimate.

use std::num::NonZeroUsize;

use crate::commands::face;
use crate::config::paths::Home;
use crate::consultation::policy::consent::ConsentRule;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::Error;
use crate::files::write::check_writable;
use crate::records::refinements::{LockedRefinement, RefinementStore, SpecFile};
use crate::refinement::batches::{BatchLimits, QuestionBatch, batches};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{LoopBegun, RefinementEvent, RefinementEventKind, TextHash};
use crate::refinement::state::{
    DocumentNow, IterationRecord, NextStep, RefinementLoop, RefinementState, RefinementStateError,
};
use crate::session::refinement::earlier_spend::missing_spending;
use crate::session::refinement::estimate::{LoopAhead, LoopEstimate};
use crate::session::refinement::request::{DocumentForm, RefinementRequest, RefinementTerms};
use crate::session::refinement::templates::{RefinementPlanner, RefinementTemplates};
use crate::setup::context::project::read_project;
use crate::setup::context::request::Scrubbing;
use crate::setup::context::sources::{ReadSources, StdinState, read_sources};
use crate::setup::plan::Planner;
use crate::setup::request::Purpose;
use crate::stopping::convergence::Criteria;
use crate::terminal::prompt::StdinUse;

use super::files::{parse, read_text};
use super::store::unreadable;
use super::target::{LoopEntry, Target, choose};
use super::{Args, RefineCommand};

/// The confidence from which an answer is of high confidence, unless a flag says otherwise.
const HIGH_FROM: f64 = 0.80;

/// What is known before any model is prepared.
#[derive(Debug)]
pub(super) struct Starting {
    pub(super) criteria: Criteria,
    pub(super) terms: RefinementTerms,
    pub(super) store: RefinementStore,
    pub(super) target: Target,
    pub(super) entry: LoopEntry,
    /// The text of the source.
    pub(super) source_text: String,
    /// The loops in the log; the last one is continued if it is resumed.
    pub(super) state: Option<RefinementState>,
    is_restart: bool,
    /// The events with which a loop is resumed. `state` has them, the log lacks them.
    pub(super) resumption: Vec<RefinementEventKind>,
}

impl Starting {
    /// Reads the document and its log, and decides which file is written. A run gets the lock of
    /// the log, if there is one and a loop is to be driven.
    pub(super) fn read(
        command: &RefineCommand<'_>,
        clock: Clock,
    ) -> Result<(Self, Option<LockedRefinement>), Error> {
        let args = command.args;
        let criteria = args.convergence.criteria()?;
        let source = SpecFile::at(&args.spec);
        let source_text = read_text(&source)?;
        parse(&source, &source_text)?;
        let store = RefinementStore::beside(&args.spec);
        let mut state = store.load().map_err(unreadable)?;
        let (target, entry) = choose(
            &args.target,
            &source,
            &source_text,
            state.as_ref(),
            &criteria,
        )?;
        let is_run = entry != LoopEntry::Ended && !args.action.dry_run;
        let locked = match &state {
            Some(state) if is_run => Some(lock(&store, state, clock)?),
            Some(_) | None => None,
        };
        let resumption = match (entry, &mut state) {
            (LoopEntry::Resume, Some(state)) => {
                let home = Home::find(command.environment).map_err(Error::usage)?;
                resume(state, criteria, &home, clock.now()).map_err(Error::failed)?
            }
            (LoopEntry::Resume, None) | (LoopEntry::New | LoopEntry::Ended, _) => Vec::new(),
        };
        let starting = Self {
            criteria,
            terms: args.terms(),
            store,
            target,
            entry,
            source_text,
            state,
            is_restart: args.target.restart,
            resumption,
        };
        Ok((starting, locked))
    }

    /// Returns the loop that is resumed.
    pub(super) fn resumed(&self) -> Option<&RefinementLoop> {
        let is_resumed = self.entry == LoopEntry::Resume;
        let state = self.state.as_ref().filter(|_| is_resumed);
        state.map(RefinementState::current)
    }

    /// Returns the loop before a new one, unless the user said that it does not count.
    pub(super) fn earlier(&self) -> Option<&RefinementLoop> {
        let is_new = self.entry == LoopEntry::New && !self.is_restart;
        let state = self.state.as_ref().filter(|_| is_new);
        state.map(RefinementState::current)
    }

    /// Checks that the output and the log can be written.
    pub(super) fn check_target(&self) -> Result<(), Error> {
        let folder = &self.store.files().folder;
        if !folder.exists() {
            check_writable(folder).map_err(|error| {
                Error::usage(error).hint(
                    "the log of a loop is kept beside the document: copy that to a folder that \
                     you can write to",
                )
            })?;
        }
        let (resumed, state) = (self.resumed(), self.state.as_ref());
        self.target
            .check(&self.source_text, resumed, state, &self.store)
    }

    /// Returns the document that the next iteration works on, with the sections that were extracted
    /// from a plain one.
    pub(super) fn working_document(&self) -> Result<SpecDocument, Error> {
        let document = self.read_document()?;
        match self.resumed() {
            None => Ok(document),
            Some(resumed) => {
                let prepared = resumed.prepared(&document).map_err(Error::failed)?;
                parse(self.working_file(), &prepared.text)
            }
        }
    }

    /// Returns that document as it stands in its file.
    pub(super) fn read_document(&self) -> Result<SpecDocument, Error> {
        let file = self.working_file();
        if *file == self.target.source {
            return parse(file, &self.source_text);
        }
        parse(file, &read_text(file)?)
    }

    pub(super) fn working_file(&self) -> &SpecFile {
        self.target.working_file(self.resumed())
    }

    /// Returns the beginning of a new loop.
    pub(super) fn begun(&self) -> LoopBegun {
        let (source, output) = self.target.names();
        LoopBegun {
            source,
            output,
            document: TextHash::of(&self.source_text),
            criteria: self.criteria,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Returns the document with everything that needs no call: what was found and not merged, and
    /// the front matter.
    pub(super) fn known_text(&self, clock: Clock) -> Result<String, Error> {
        let document = &self.read_document()?;
        if self.entry == LoopEntry::Ended || self.missing_end()?.is_some() {
            return Ok(document.text().to_owned());
        }
        let merged = |refined: &RefinementLoop| {
            refined
                .merge(document, self.terms.high_from)
                .map(|merge| merge.text)
                .map_err(Error::failed)
        };
        if let Some(resumed) = self.resumed() {
            let has_all = resumed.last_written().is_some();
            if has_all && resumed.pending_findings().is_empty() {
                return Ok(document.text().to_owned());
            }
            return merged(resumed);
        }
        let begun = RefinementEventKind::Begun(Box::new(self.begun()));
        let state = RefinementState::begin(&RefinementEvent::new(clock.now(), begun));
        merged(state.map_err(Error::failed)?.current())
    }

    /// Returns what earlier processes of a resumed loop have spent.
    pub(super) fn spent(&self) -> MicroUsd {
        self.resumed()
            .map_or(MicroUsd::ZERO, |resumed| resumed.spend().cost.known)
    }

    fn ahead<'d>(&self, document: &'d SpecDocument) -> Result<LoopAhead<'d>, Error> {
        let limits = self.terms.batches;
        let most = self.criteria.max_iterations;
        let (next, iterations) = match (self.entry, self.resumed()) {
            (LoopEntry::Ended, _) => (Vec::new(), 0),
            (LoopEntry::Resume, _) if self.missing_end()?.is_some() => (Vec::new(), 0),
            (LoopEntry::Resume, Some(resumed)) => {
                let done = resumed.merges().count() as u64;
                (self.due(resumed)?, most.saturating_sub(done).max(1))
            }
            (LoopEntry::New | LoopEntry::Resume, _) => (batches(document, limits), most),
        };
        Ok(LoopAhead {
            document,
            next,
            limits,
            iterations,
        })
    }

    /// Returns the document as a resumed loop finds it.
    fn document_now(&self, resumed: &RefinementLoop) -> Result<DocumentNow, Error> {
        let Target { source, output, .. } = &self.target;
        let output = if output == source {
            Some(TextHash::of(&self.source_text))
        } else if output.exists() {
            Some(TextHash::of(&read_text(output)?))
        } else {
            None
        };
        DocumentNow::of(resumed, &self.read_document()?, output, self.terms.batches)
            .map_err(Error::failed)
    }

    /// Returns the events that a resumed loop lacks, if its last merge is in the document and has
    /// decided it.
    pub(super) fn missing_end(&self) -> Result<Option<Vec<RefinementEventKind>>, Error> {
        let Some(resumed) = self.resumed() else {
            return Ok(None);
        };
        let merge = resumed.open_iteration().and_then(IterationRecord::decided);
        let is_last = merge.is_some_and(|merge| merge.evaluation.stops());
        Ok(match resumed.next_step(&self.document_now(resumed)?) {
            NextStep::End => Some(vec![RefinementEventKind::Ended]),
            NextStep::RecordWritten { document } if is_last => Some(vec![
                RefinementEventKind::DocumentWritten { document },
                RefinementEventKind::Ended,
            ]),
            NextStep::RecordWritten { .. }
            | NextStep::Extract { .. }
            | NextStep::StartIteration { .. }
            | NextStep::Ask { .. }
            | NextStep::Wait
            | NextStep::Integrate { .. }
            | NextStep::Write { .. }
            | NextStep::Stop { .. }
            | NextStep::Rest => None,
        })
    }

    /// Returns what the next iteration of a resumed loop still has to ask.
    fn due(&self, resumed: &RefinementLoop) -> Result<Vec<QuestionBatch>, Error> {
        let now = self.document_now(resumed)?;
        Ok(match resumed.next_step(&now) {
            // What an earlier process has begun can still cost as much as a whole consultation.
            NextStep::Ask {
                left_over, batches, ..
            } => {
                let left_over = left_over.into_iter().map(|record| record.about.clone());
                left_over.chain(batches).collect()
            }
            NextStep::StartIteration { .. } | NextStep::Extract { .. } => now.batches.clone(),
            NextStep::Wait
            | NextStep::Integrate { .. }
            | NextStep::Write { .. }
            | NextStep::RecordWritten { .. }
            | NextStep::Stop { .. }
            | NextStep::End
            | NextStep::Rest => Vec::new(),
        })
    }
}

/// Locks loops, so that no other process works on the document before this one has ended.
fn lock(
    store: &RefinementStore,
    loaded: &RefinementState,
    clock: Clock,
) -> Result<LockedRefinement, Error> {
    let locked = store.open(clock.now()).map_err(unreadable)?;
    if locked.state() == loaded {
        return Ok(locked);
    }
    Err(
        Error::usage("another process has worked on the document since this one began")
            .hint("run the same command again"),
    )
}

/// Adds the events with which the last loop is resumed, and returns them.
fn resume(
    state: &mut RefinementState,
    criteria: Criteria,
    home: &Home,
    now: Timestamp,
) -> Result<Vec<RefinementEventKind>, RefinementStateError> {
    let add = |state: &mut RefinementState, event: &RefinementEventKind| {
        state.apply(&RefinementEvent::new(now, event.clone()))
    };
    let resumed = RefinementEventKind::Resumed { criteria };
    add(state, &resumed)?;
    let spending = missing_spending(state.current(), home);
    for event in &spending {
        add(state, event)?;
    }
    let mut events = vec![resumed];
    events.extend(spending);
    Ok(events)
}

/// The models that work on a document, and what they are expected to cost.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) templates: RefinementTemplates,
    pub(super) estimate: LoopEstimate,
    pub(super) ahead: LoopAhead<'a>,
    pub(super) rule: ConsentRule,
    pub(super) stdin: StdinState,
}

impl<'a> Prepared<'a> {
    /// Reads the context, and prepares models and estimate.
    pub(super) fn of(
        command: &RefineCommand<'a>,
        starting: &Starting,
        document: &'a SpecDocument,
        clock: Clock,
    ) -> Result<Self, Error> {
        let RefineCommand {
            args,
            environment,
            printer,
        } = *command;
        let context = args.context.request(StdinUse::Free)?;
        let ReadSources { mut texts, stdin } = read_sources(&context, environment, printer)?;
        let (project, described) = read_project(context.project.as_ref(), context.stance, printer)?;
        texts.extend(described);
        let consent_mode = face::consent_mode(args.control.yes, printer, stdin.usage());
        let (document_name, _) = starting.target.names();
        let request = RefinementRequest {
            panel: args.panel.request(),
            debate: args.rounds.request(),
            control: args.control.request(consent_mode),
            scrubbing: if args.no_scrub {
                Scrubbing::Off
            } else {
                Scrubbing::On
            },
            material: PromptMaterial::Filtered,
            purpose: if args.action.dry_run {
                Purpose::Preview
            } else {
                Purpose::Run
            },
            sources: texts,
            project,
            document: document_name,
            form: if document.has_sections() {
                DocumentForm::Sectioned
            } else {
                DocumentForm::Plain
            },
        };
        let planner = Planner::new(environment, printer, clock.now())?;
        let templates = {
            let refinement = RefinementPlanner { planner: &planner };
            face::block_on(refinement.prepare(&request))??
        };
        let ahead = starting.ahead(document)?;
        let estimate = LoopEstimate::of(&ahead, &templates)?;
        let rule = ConsentRule {
            consent_mode,
            ..templates.limits().consent
        };
        Ok(Self {
            planner,
            templates,
            estimate,
            ahead,
            rule,
            stdin,
        })
    }
}

impl Args {
    fn terms(&self) -> RefinementTerms {
        let questions = usize::try_from(self.questions.batch).ok();
        let usual = Confidence::new(HIGH_FROM).unwrap_or_default();
        RefinementTerms {
            batches: BatchLimits {
                questions: questions
                    .and_then(NonZeroUsize::new)
                    .unwrap_or(NonZeroUsize::MIN),
            },
            high_from: self.questions.high_confidence.unwrap_or(usual),
        }
    }
}
