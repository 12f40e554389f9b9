//! `conclave consult`: asks a panel one question and prints its answer.

mod question;
pub(crate) mod follow_up;
pub(crate) mod resume;

use super::face::answer::check_output;
use super::flags::consent_mode;
use super::flags::{
    ContextFlags, ControlFlags, DebateFlags, OutputFlags, PanelFlags, SendingFlags, short_help,
};
use super::{App, block_on, face};
use crate::commands::inventory::setup::offer;
use crate::consultation::policy::consent::ConsentMode;
use crate::error::Error;
use crate::setup::context::earlier::EarlierContext;
use crate::setup::context::sources::{ReadSources, read_sources};
use crate::setup::plan::Planner;
use crate::setup::request::{QuestionRequest, TemplateRequest};
use crate::terminal::output::excerpt::print_question;
use crate::terminal::prompt::StdinUse;

use self::follow_up::FollowUp;

/// Ask a panel of models a question and print the answer
#[derive(Debug, clap::Args)]
#[command(mut_args(short_help(&[
    "follow_up", "personas", "model", "judge", "context", "file", "quick", "dry_run", "yes", "max_cost",
    "json", "output",
])))]
#[command(after_help = "\
Examples:
  conclave consult \"Should we use OAuth or JWT?\"
  conclave consult - < question.txt
  conclave consult --follow-up \"And for mobile?\" 01m7zh45
  conclave consult --json \"…\" | jq .recommendation
  conclave consult --personas security,performance,@web \"…\"
  conclave consult --personas auto \"…\"
  conclave consult --panel \"security=claude-opus-5-5,architect=gpt-6.1-sol\" \"…\"
  conclave consult --model claude-code:sonnet --model codex:gpt-5.5 \"…\"

Keys and the home: `conclave --help`. Exit codes: `conclave man`. What is spent without asking, \
and other defaults: `conclave config show`.")]
pub struct Args {
    /// The question, in one argument or in several words; `-` reads it from standard input. With
    /// --follow-up, the ID of the earlier consultation [default: last]
    #[arg(value_name = "QUESTION")]
    question: Vec<String>,

    /// Ask this question as a follow-up to an earlier consultation, with its panel and judge
    #[arg(long, value_name = "QUESTION")]
    follow_up: Option<String>,

    #[command(flatten)]
    panel: PanelFlags,

    /// Do not save this consultation
    #[arg(short, long)]
    no_log: bool,

    #[command(flatten)]
    context: ContextFlags,

    #[command(flatten)]
    debate: DebateFlags,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    sending: SendingFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let (environment, printer) = (app.environment, app.printer);
    args.context.check_question(args.question_words())?;
    args.context.check_words(args.question_words())?;
    let question = question::read(args.question_words(), printer)?;
    check_output(args.output.output.as_deref())?;
    let earlier = match args.follow_up {
        Some(_) => follow_up::load(&args.question, app)?,
        None => FollowUp::default(),
    };
    let context = args.context.request(question.input)?;
    let ReadSources {
        texts,
        project,
        uses_stdin,
    } = read_sources(&context, environment, printer)?;
    let spending = args.control.spending;
    let consent_mode = consent_mode(spending.yes, printer, StdinUse::of(uses_stdin));
    if consent_mode == ConsentMode::Interactive && !spending.dry_run && !args.no_log {
        offer(app)?;
    }
    let request = TemplateRequest {
        follows_up: earlier.record,
        unmasked: args.sending.no_scrub,
        panel: args.panel.request(),
        no_fallbacks: false,
        debate: args.debate.request(),
        control: args.control.request(consent_mode),
        material: args.output.material(),
        dry_run: spending.dry_run,
        notices: earlier.notices,
    };
    let EarlierContext { sources, project } = earlier.context.followed_by(texts, project);
    let planner = Planner::new(environment, printer, app.clock.now())?;
    let template = block_on(planner.template(request))??;
    let prepared = template.plan(QuestionRequest {
        question: question.text,
        sources,
        project,
    })?;
    if question.is_unseen {
        print_question(&prepared.plan.question, printer);
    }
    let is_logged = !args.no_log;
    face::start(
        (&planner, &template, prepared),
        app,
        &args.output,
        is_logged,
        None,
    )
}

impl Args {
    /// Beside `--follow-up`, the others name a consultation.
    fn question_words(&self) -> &[String] {
        self.follow_up
            .as_ref()
            .map_or(self.question.as_slice(), std::slice::from_ref)
    }
}
