//! `conclave history rejudge`: repeats the judge's work on stored answers, as a consultation of its
//! own in which no expert is asked. Its answer is the difference from the first judgement.

use std::time::Duration;

use super::Archive;
use crate::commands::completions::ids;
use crate::commands::face::answer::check_output;
use crate::commands::face::scrubbing::announce;
use crate::commands::face::{self, TerminalFace};
use crate::commands::flags::{MAX_WAIT, ON_FAILURE, OutputFlags, choice, dollars};
use crate::commands::runtime;
use crate::config::env::Environment;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::context::Context;
use crate::domain::ids::ConsultationId;
use crate::domain::money::MicroUsd;
use crate::domain::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::error::Error;
use crate::records::context_file::ContextFileError;
use crate::session::load;
use crate::session::run::Session;
use crate::session::storage::Storage;
use crate::setup::context::earlier::EarlierContext;
use crate::setup::plan::Planner;
use crate::setup::plan::rejudge::{RejudgeRequest, prepare};
use crate::setup::request::ControlRequest;
use crate::terminal::prompt::keyboard::StdinUse;

/// Judge the answers of a consultation again and show what changes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Only the judge is asked, for Rounds 2 and 4. The experts' answers are the stored ones, in another \
order.

Examples:
  conclave history rejudge
  conclave history rejudge 01m7zh45 --judge claude-opus-5-5
  conclave history rejudge 01m7zh45 --yes --json | jq .held.consistent")]
pub(super) struct Args {
    /// The consultation: its id, a unique prefix, one of its files, or `last`
    #[arg(add = ids::all(), default_value = "last")]
    id: String,

    /// The judge and its fallback models, separated by commas [default: the judge of the
    /// consultation]
    #[arg(long, value_name = "MODEL[,FALLBACK…]")]
    judge: Option<String>,

    /// Do not save the rejudgement
    #[arg(short, long)]
    no_log: bool,

    /// Approve the cost, and answer yes to every other question
    #[arg(short, long, help_heading = "Control")]
    yes: bool,

    /// Make no call that could bring the cost above this amount [default: no ceiling]
    #[arg(long, value_name = "USD", value_parser = dollars, help_heading = "Control")]
    max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good [default: ask]
    #[arg(long, value_name = "ACTION", value_parser = choice(&ON_FAILURE), help_heading = "Control")]
    on_failure: Option<OnFailure>,

    /// End the run when a round takes longer than this [default: 3600 if you cannot be asked]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=MAX_WAIT),
        help_heading = "Control"
    )]
    max_wait: Option<u64>,

    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

impl Args {
    fn control(&self, consent_mode: ConsentMode) -> ControlRequest {
        ControlRequest {
            max_cost: self.max_cost,
            on_failure: self.on_failure,
            max_wait: self.max_wait.map(Duration::from_secs),
            ..ControlRequest::new(consent_mode)
        }
    }
}

pub(super) fn run(
    args: &Args,
    environment: &Environment,
    archive: &Archive<'_>,
) -> Result<(), Error> {
    check_output(args.output.output.as_deref())?;
    let found = archive.find(&args.id)?;
    let record = load::load(&archive.logs, &found)?.record;
    if record.independents().next().is_none() || record.question.trim().is_empty() {
        let id = &found;
        let why = match record.degradations.as_slice() {
            [] => "no expert answered in Round 1".to_owned(),
            reasons => reasons.join("; "),
        };
        return Err(
            Error::usage(format!("{id} has no answers to judge: {why}")).hint(format!(
                "see its question with `conclave history show {id}`"
            )),
        );
    }
    let (printer, clock) = (archive.printer, Clock::system());
    let consent_mode = face::consent_mode(args.yes, printer, StdinUse::Free);
    let for_models = load::load_for_models(&archive.logs, &found)?;
    let context = match for_models.context {
        Some(context) => context_of(&found, context, &for_models.record)?,
        None => EarlierContext::default(),
    };
    let request = RejudgeRequest {
        context,
        follows_up: for_models.follows_up,
        judge: args.judge.as_deref(),
        material: args.output.material(),
        control: args.control(consent_mode),
    };
    let planner = Planner::new(environment, printer, clock.now())?;
    let (template, prepared) = runtime::block_on(prepare(&planner, &for_models.record, request))??;
    if let Some(report) = &prepared.plan.scrubbing {
        announce(report, &prepared.findings, printer);
    }
    let home = &planner.sources.home;
    let face = TerminalFace::open(home, environment, &args.output, printer)?;
    let mut plan = prepared.plan;
    let storage = if args.no_log {
        Storage::nowhere(&mut plan)
    } else {
        Storage::begin(home, &mut plan, printer)
    };
    let session = Session::new(plan, template.providers.clone(), storage, clock);
    face.run(session, Some(&record))
}

/// Returns the context that the experts knew: without it, another judgement could be due to that.
fn context_of(
    found: &ConsultationId,
    context: Result<Context, ContextFileError>,
    record: &StoredRecord,
) -> Result<EarlierContext, Error> {
    let id = &found;
    let cannot = |source: ContextFileError| {
        Error::usage(NoContextError {
            id: id.to_string(),
            source,
        })
        .hint(format!(
            "ask it again as a follow-up with `conclave consult --follow-up \"…\" {id}` and its \
             context"
        ))
    };
    let context = context.map_err(cannot)?;
    EarlierContext::of(&context, record.project_context.as_ref()).ok_or_else(|| {
        Error::usage(format!(
            "cannot judge {id} again: another version of the program stored its context"
        ))
    })
}

#[derive(Debug, thiserror::Error)]
#[error("cannot judge {id} again")]
struct NoContextError {
    id: String,
    source: ContextFileError,
}
