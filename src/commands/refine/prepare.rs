//! What a loop starts from: the document, the earlier loops, the panel, and the estimate.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::commands::face::batch::PreparedBatch;
use crate::commands::flags::{consent_mode, planned};
use crate::commands::{App, block_on};
use crate::consultation::plan::ControlRequest;
use crate::consultation::plan::options::DebateAnalysis;
use crate::domain::cost::money::MicroUsd;
use crate::domain::record::log::Fold as _;
use crate::engine::clock::Clock;
use crate::error::Error;
use crate::files::write::check_writable;
use crate::records::refinements::{LockedRefinement, RefinementStore, SpecFile};
use crate::refinement::batches::{QuestionBatch, batches};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{LoopBegun, RefinementEvent, RefinementEventKind, TextHash};
use crate::refinement::mask::TextMask;
use crate::refinement::state::{
    DocumentNow, IterationRecord, NextStep, RefinementLoop, RefinementState,
};
use crate::session::batch::RunCeiling;
use crate::session::batch::elsewhere::Elsewhere;
use crate::session::refinement::earlier_spend::missing_spending;
use crate::session::refinement::estimate::{LoopAhead, LoopEstimate};
use crate::session::refinement::request::{RefinementRequest, RefinementTerms};
use crate::session::refinement::templates::RefinementTemplates;
use crate::setup::context::scrubber;
use crate::setup::context::sources::{ReadSources, read_sources};
use crate::setup::plan::Planner;
use crate::setup::request::{DebateRequest, TemplateRequest};
use crate::stopping::convergence::Criteria;
use crate::terminal::prompt::StdinUse;

use super::Args;
use super::files::parse;
use super::target::{LoopEntry, Target, choose};

/// What is known before any model is prepared.
#[derive(Debug)]
pub(super) struct Starting<'a> {
    pub(super) args: &'a Args,
    pub(super) app: App<'a>,
    pub(super) clock: Clock,
    pub(super) criteria: Criteria,
    pub(super) terms: RefinementTerms,
    /// Masks the document's secrets in what is stored or shown of it.
    pub(super) mask: TextMask,
    pub(super) store: RefinementStore,
    pub(super) target: Target,
    pub(super) entry: LoopEntry,
    pub(super) source_text: String,
    /// The loops in the log; the last one is continued if it is resumed.
    pub(super) state: Option<RefinementState>,
    /// The events with which a loop is resumed. `state` has them, the log lacks them.
    pub(super) resumption: Vec<RefinementEventKind>,
}

impl<'a> Starting<'a> {
    /// A run gets the lock of the log, if there is one and a loop is to be driven.
    pub(super) fn read(
        args: &'a Args,
        spec: &Path,
        app: App<'a>,
    ) -> Result<(Self, Option<LockedRefinement>), Error> {
        let clock = app.clock;
        let criteria = args.convergence.criteria()?;
        let source = SpecFile::at(spec);
        let source_text = source.read()?;
        let mut mask = TextMask::default();
        if !args.sending.no_scrub {
            let scrubber = scrubber::load(app.environment)?;
            mask = TextMask::new(move |texts| scrubber.mask(texts));
        }
        parse(&source, &source_text, &mask)?;
        let store = RefinementStore::beside(spec);
        let state = store.load()?;
        let (target, entry) = choose(
            &args.target,
            &source,
            &source_text,
            state.as_ref(),
            &criteria,
        )?;
        let is_run = entry != LoopEntry::Ended && !args.control.spending.dry_run;
        let locked = match &state {
            Some(state) if is_run => Some(lock(&store, state, clock)?),
            Some(_) | None => None,
        };
        let questions = usize::try_from(args.questions.batch).ok();
        let mut starting = Self {
            args,
            app,
            clock,
            criteria,
            terms: RefinementTerms {
                batch_size: questions
                    .and_then(NonZeroUsize::new)
                    .unwrap_or(NonZeroUsize::MIN),
                high_from: args.questions.high_confidence,
            },
            mask,
            store,
            target,
            entry,
            source_text,
            state,
            resumption: Vec::new(),
        };
        if entry == LoopEntry::Resumed {
            starting.resume()?;
        }
        Ok((starting, locked))
    }

    fn resume(&mut self) -> Result<(), Error> {
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        let home = self.app.home()?;
        let mut add = |state: &mut RefinementState, event: RefinementEventKind| {
            let applied = state.apply(&RefinementEvent::new(self.clock.now(), event.clone()));
            self.resumption.push(event);
            applied.map_err(Error::failed)
        };
        let criteria = self.criteria;
        add(state, RefinementEventKind::Resumed { criteria })?;
        for event in missing_spending(state.current(), &home) {
            add(state, event)?;
        }
        Ok(())
    }

    pub(super) fn resumed(&self) -> Option<&RefinementLoop> {
        let is_resumed = self.entry == LoopEntry::Resumed;
        let state = self.state.as_ref().filter(|_| is_resumed);
        state.map(RefinementState::current)
    }

    /// Returns the loop before a new one, unless the user said that it does not count.
    pub(super) fn earlier(&self) -> Option<&RefinementLoop> {
        let is_new = self.entry == LoopEntry::New && !self.args.target.restart;
        let state = self.state.as_ref().filter(|_| is_new);
        state.map(RefinementState::current)
    }

    pub(super) fn check_target(&self) -> Result<(), Error> {
        let folder = &self.store.files.folder;
        if !folder.exists() {
            check_writable(folder).map_err(|error| {
                Error::usage(error).hint(
                    "the log of a loop is kept beside the document: copy the document to a folder \
                     that you can write to",
                )
            })?;
        }
        let (resumed, state) = (self.resumed(), self.state.as_ref());
        self.target.check(
            &self.source_text,
            resumed,
            state,
            &self.store,
            &self.app.home()?,
        )
    }

    pub(super) fn read_document(&self) -> Result<SpecDocument, Error> {
        let file = self.working_file();
        if *file == self.target.source {
            return parse(file, &self.source_text, &self.mask);
        }
        parse(file, &file.read()?, &self.mask)
    }

    /// Returns that document with the sections that a resumed loop has extracted from a plain one.
    pub(super) fn extracted(&self, before: &SpecDocument) -> Result<Option<SpecDocument>, Error> {
        let Some(resumed) = self.resumed() else {
            return Ok(None);
        };
        let prepared = resumed.prepared(before).map_err(Error::failed)?;
        parse(self.working_file(), &prepared.text, &self.mask).map(Some)
    }

    pub(super) fn working_file(&self) -> &SpecFile {
        self.target.working_file(self.resumed())
    }

    pub(super) fn begun(&self, place: Option<&dyn Elsewhere>) -> LoopBegun {
        let (source, output) = self.target.names();
        LoopBegun {
            source,
            output,
            document: TextHash::of(&self.source_text),
            criteria: self.criteria,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            fleet: place.map(|place| place.name().to_owned()),
        }
    }

    /// `document` is the one in its file.
    pub(super) fn left(&self, document: &SpecDocument) -> Result<LoopLeft, Error> {
        let most = self.criteria.max_iterations;
        let Some(resumed) = self.resumed() else {
            let iterations = most;
            return Ok(match self.entry {
                LoopEntry::Ended => LoopLeft::End(Vec::new()),
                LoopEntry::New | LoopEntry::Resumed => LoopLeft::All { iterations },
            });
        };
        let Target { source, output, .. } = &self.target;
        let written = if output == source {
            Some(TextHash::of(&self.source_text))
        } else if output.exists() {
            Some(TextHash::of(&output.read()?))
        } else {
            None
        };
        let now = DocumentNow::of(resumed, document, written, self.terms.batch_size);
        let now = now.map_err(Error::failed)?;
        let merge = resumed.open_iteration().and_then(IterationRecord::decided);
        let is_last = merge.is_some_and(|merge| merge.evaluation.stops());
        let next = match resumed.next_step(&now) {
            NextStep::End => return Ok(LoopLeft::End(vec![RefinementEventKind::Ended])),
            NextStep::RecordWritten { document } if is_last => {
                let written = RefinementEventKind::DocumentWritten { document };
                return Ok(LoopLeft::End(vec![written, RefinementEventKind::Ended]));
            }
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
            | NextStep::Rest => Vec::new(),
        };
        let done = resumed.merges().count() as u64;
        let iterations = most.saturating_sub(done).max(1);
        Ok(LoopLeft::Some { next, iterations })
    }
}

/// What is left of a loop.
#[derive(Debug)]
pub(super) enum LoopLeft {
    /// No call: its last merge is in the document and has decided it. The log lacks these events.
    End(Vec<RefinementEventKind>),
    /// The next iteration still asks this.
    Some {
        next: Vec<QuestionBatch>,
        iterations: u64,
    },
    /// The next iteration asks everything that is open.
    All { iterations: u64 },
}

fn lock(
    store: &RefinementStore,
    loaded: &RefinementState,
    clock: Clock,
) -> Result<LockedRefinement, Error> {
    let locked = store.open(clock.now())?;
    if locked.state() == loaded {
        return Ok(locked);
    }
    let error = "another process has worked on the document since this one began";
    Err(Error::usage(error).hint("run the same command again"))
}

/// The models that work on a document, and what they are expected to cost.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) templates: RefinementTemplates,
    pub(super) estimate: LoopEstimate,
    pub(super) ahead: LoopAhead<'a>,
}

impl<'a> Prepared<'a> {
    pub(super) fn of(
        starting: &Starting<'a>,
        left: LoopLeft,
        document: &'a SpecDocument,
        place: Option<&dyn Elsewhere>,
    ) -> Result<Self, Error> {
        let (args, app) = (starting.args, starting.app);
        let (environment, printer) = (app.environment, app.printer);
        let context = args.context.request(StdinUse::Free)?;
        let ReadSources {
            texts,
            project,
            uses_stdin,
        } = read_sources(&context, environment, printer)?;
        let consent_mode =
            consent_mode(args.control.spending.yes, printer, StdinUse::of(uses_stdin));
        let (document_name, _) = starting.target.names();
        let request = RefinementRequest {
            template: TemplateRequest {
                panel: args.panel.request(),
                debate: DebateRequest {
                    // Whether positions changed is no part of a finding.
                    analysis: Some(DebateAnalysis::Off),
                    ..args.rounds.request()
                },
                control: ControlRequest {
                    max_cost: None,
                    ..args.control.request_for_many(consent_mode)?
                },
                unmasked: args.sending.no_scrub,
                dry_run: args.control.spending.dry_run || place.is_some(),
                ..TemplateRequest::default()
            },
            sources: texts,
            project,
            document: document_name,
            is_plain: !document.has_sections(),
        };
        let mut planner = Planner::new(environment, printer, starting.clock.now())?;
        let templates = planned(place, &mut planner, |planner| {
            block_on(RefinementTemplates::prepare(planner, request.clone()))?
        })?;
        let batch_size = starting.terms.batch_size;
        let (next, iterations) = match left {
            LoopLeft::End(_) => (Vec::new(), 0),
            LoopLeft::Some { next, iterations } => (next, iterations),
            LoopLeft::All { iterations } => (batches(document, batch_size), iterations),
        };
        let ahead = LoopAhead {
            document,
            next,
            batch_size,
            iterations,
        };
        let estimate = LoopEstimate::of(&ahead, &templates)?;
        Ok(Self {
            planner,
            templates,
            estimate,
            ahead,
        })
    }

    pub(super) fn batch<'b>(&'b self, starting: &Starting<'b>) -> Result<PreparedBatch<'b>, Error> {
        let resumed = starting.resumed();
        let ceiling = RunCeiling {
            name: "ceiling of the loop",
            limit: starting.args.control.spending.max_cost,
            used: resumed.map_or(MicroUsd::ZERO, |resumed| resumed.spend().counted()),
        };
        PreparedBatch::new(
            &self.planner,
            starting.app.printer,
            self.templates.templates(),
            &self.estimate.total,
            ceiling,
            starting.clock,
        )
    }
}
