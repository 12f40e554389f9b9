//! `conclave consult`: asks a panel one question and gives its answer.

mod ending;
pub(crate) mod flags;
mod question;
mod setup;

use crate::commands::config::threshold;
use crate::config::env::Environment;
use crate::consultation::Consultation;
use crate::consultation::policy::consent::Standing;
use crate::domain::ids::ProviderId;
use crate::engine::clock::Clock;
use crate::engine::driver::Driver;
use crate::engine::interrupts;
use crate::engine::ports::Subscriber;
use crate::error::{Error, Exit};
use crate::providers::vendors;
use crate::records::events_file::EventsFile;
use crate::terminal::keyboard::{Keyboard, can_ask};
use crate::terminal::person::AtTerminal;
use crate::terminal::printer::{Printer, Verbosity};
use crate::terminal::progress::Progress;

use ending::Keeping;
use flags::{ControlFlags, OutputFlags};

/// Ask a panel of models a question; the answer is on standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave consult \"Should we use OAuth or JWT?\"
  conclave consult --format json \"…\" | jq .recommendation
  conclave consult - < question.txt
  conclave consult --panel \"security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol\" \"…\"")]
pub struct Args {
    /// The question; `-` reads it from standard input
    question: Option<String>,

    /// Who sits on the panel: `persona=provider:model`, separated by commas; or the name of a panel in the settings
    #[arg(long, value_name = "SEATS|NAME")]
    panel: Option<String>,

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
        ending::check_output(output)?;
    }
    let clock = Clock::system();
    let standing = match (args.control.yes, can_ask(printer, question.input)) {
        (true, _) => Standing::Granted,
        (false, true) => Standing::Askable,
        (false, false) => Standing::Unattended,
    };
    let setup = setup::prepare(args, environment, printer, question.text, standing, clock.now())?;

    let events_on_stderr = args.output.events.as_deref().is_some_and(|path| path.as_os_str() == "-");
    let mut events = events_file(&args.output, printer)?;
    let mut keeping = if args.no_log { Keeping::Nothing } else { Keeping::open(&setup.home, &setup.plan.id, printer) };
    let mut progress = if events_on_stderr { Progress::plain(printer.clone()) } else { Progress::new(printer.clone()) };

    if args.output.stream {
        progress = progress.with_judges_text();
    }
    let save_threshold = |amount| threshold::save(amount, &setup.home, environment, printer);
    let vendor_name = |provider: &ProviderId| vendors::name(provider).to_owned();

    let mut consultation = Consultation::new(setup.plan);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::failed)?;
    let history = runtime.block_on(async {
        let mut subscribers: Vec<&mut dyn Subscriber> = Vec::new();
        subscribers.extend(keeping.journal().map(|journal| journal as &mut dyn Subscriber));
        subscribers.extend(events.as_mut().map(|events| events as &mut dyn Subscriber));
        subscribers.push(&mut progress);
        let month = consultation.plan().control.consent.month;
        let person = AtTerminal::new(printer.clone(), Keyboard::controlling(), &save_threshold, &vendor_name, month);
        let interrupts = interrupts::listen(Exit::Interrupted.code()).map_err(Error::failed)?;
        let driver = Driver { clock, providers: &setup.providers, subscribers, person: &person, interrupts };
        Ok::<_, Error>(driver.run(&mut consultation).await)
    })?;
    drop(progress);
    let ended = ending::finish(&history, &args.output, keeping, printer);
    // A thread that still waits for an answer on the terminal, or a model that is still decoding, must not hold up the end.
    runtime.shutdown_background();
    ended
}

fn events_file(flags: &OutputFlags, printer: &Printer) -> Result<Option<EventsFile>, Error> {
    match flags.events.as_deref() {
        None => Ok(None),
        Some(path) if path.as_os_str() == "-" => Ok(Some(EventsFile::new(printer.stderr_writer()))),
        Some(path) => EventsFile::create(path).map(Some).map_err(Error::usage),
    }
}
