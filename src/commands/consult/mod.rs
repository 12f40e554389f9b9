//! `conclave consult`: asks a panel one question and gives its answer.

mod debate;
mod dry_run;
pub(crate) mod flags;
mod question;
mod setup;

use crate::config::env::Environment;
use crate::consultation::Consultation;
use crate::engine::clock::Clock;
use crate::engine::driver::RunStart;
use crate::error::Error;
use crate::terminal::output::printer::{Printer, Verbosity};

use crate::session::finish::{self, Keeping};
use crate::session::run::{self, Run};
use flags::{ControlFlags, DebateFlags, OutputFlags};

/// Ask a panel of models a question; the answer is on standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave consult \"Should we use OAuth or JWT?\"
  conclave consult --format json \"…\" | jq .recommendation
  conclave consult - < question.txt
  conclave consult --personas security,performance,@web \"…\"
  conclave consult --personas auto \"…\"
  conclave consult --panel \"security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol\" \"…\"")]
pub struct Args {
    /// The question; `-` reads it from standard input
    question: Option<String>,

    /// Who sits on the panel: `persona=provider:model`, separated by commas; or the name of a panel
    /// in the settings
    #[arg(long, value_name = "SEATS|NAME")]
    panel: Option<String>,

    /// Who sits: personas and `@sets`, separated by commas; or `auto`, and a model chooses for the
    /// question
    #[arg(long, value_name = "PERSONAS|auto")]
    personas: Option<String>,

    /// The model of a seat, given once for each seat in order; given only once it plays every seat
    #[arg(short, long, value_name = "MODEL")]
    model: Vec<String>,

    /// The judge, and after it the models that stand in for it, separated by commas
    #[arg(long, value_name = "MODEL[,FALLBACK…]")]
    judge: Option<String>,

    /// Show what would go to which vendor, its tokens and its cost, and send nothing
    #[arg(long)]
    dry_run: bool,

    /// Keep nothing of this consultation in the home
    #[arg(short, long)]
    no_log: bool,

    #[command(flatten)]
    debate: DebateFlags,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    output: OutputFlags,
}

impl Args {
    pub(crate) fn verbosity(&self) -> Verbosity {
        self.output.verbosity()
    }
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let question = question::read(args.question.as_deref())?;
    if let Some(output) = &args.output.output {
        finish::check_output(output)?;
    }
    let clock = Clock::system();
    let consent_mode = run::consent_mode(&args.control, printer, question.input);
    let setup = setup::prepare(
        args,
        environment,
        printer,
        question.text,
        consent_mode,
        clock.now(),
    )?;
    if args.dry_run {
        return dry_run::show(&setup, &args.output, printer);
    }

    let run = Run::prepare(&setup.home, environment, &args.output, printer)?;
    let keeping = if args.no_log {
        Keeping::Nothing
    } else {
        Keeping::open(&setup.home, &setup.plan.id, printer)
    };
    run.carry_out(
        (Consultation::new(setup.plan), RunStart::New),
        clock,
        &setup.providers,
        Vec::new(),
        keeping,
    )
}
