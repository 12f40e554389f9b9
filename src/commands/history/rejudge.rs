//! `conclave history rejudge`: repeats the judge's work on stored answers, as a consultation of its
//! own in which no expert is asked. Its answer is the difference from the first judgement.

use super::Archive;
use crate::commands::completions::ids;
use crate::commands::completions::values::{Names::Models, completer};
use crate::commands::face::answer::check_output;
use crate::commands::flags::{ControlFlags, OutputFlags, consent_mode};
use crate::commands::{block_on, face};
use crate::error::Error;
use crate::session::load;
use crate::setup::plan::Planner;
use crate::setup::plan::from_record::prepare;
use crate::setup::request::{PanelRequest, TemplateRequest};
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
    #[arg(long, value_name = "MODEL[,FALLBACK…]", add = completer(Models))]
    judge: Option<String>,

    /// Do not save the rejudgement
    #[arg(short, long)]
    no_log: bool,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

pub(super) fn run(args: &Args, archive: &Archive<'_>) -> Result<(), Error> {
    let app = archive.app;
    check_output(args.output.output.as_deref())?;
    let found = archive.find(&args.id)?;
    let record = load::load(&archive.logs, &found)?;
    if record.independents().next().is_none() || record.question.trim().is_empty() {
        let id = found.short();
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
    let spending = args.control.spending;
    let consent_mode = consent_mode(spending.yes, archive.app.printer, StdinUse::Free);
    let for_models = load::load_for_models(&archive.logs, &found)?;
    // Without the context that the experts knew, another judgement could be due to that.
    let context = for_models.context.transpose().map_err(|why| {
        let id = found.short();
        Error::caused(format!("cannot judge {id} again"), why).hint(format!(
            "ask it again as a follow-up with `conclave consult --follow-up \"…\" {id}` and its \
             context"
        ))
    })?;
    let request = TemplateRequest {
        panel: PanelRequest {
            judge: args.judge.clone(),
            ..PanelRequest::default()
        },
        material: args.output.material(),
        control: args.control.request(consent_mode),
        dry_run: spending.dry_run,
        ..TemplateRequest::default()
    };
    let planner = Planner::new(app.environment, app.printer, app.clock.now())?;
    let (template, prepared) = block_on(prepare(
        &planner,
        &for_models.record,
        &request,
        context.unwrap_or_default(),
        for_models.follows_up,
    ))??;
    let consultation = (&planner, &template, prepared);
    face::start(consultation, app, &args.output, !args.no_log, Some(&record))
}
