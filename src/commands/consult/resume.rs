//! `conclave resume`: resumes an interrupted consultation from its journal alone. Finished calls
//! are not repeated, and question, panel and prompts are those it began with, even if the files
//! they came from have changed. Prices, addresses and keys are today's.

use crate::commands::App;
use crate::commands::completions::ids;
use crate::commands::face::TerminalFace;
use crate::commands::face::answer::check_output;
use crate::commands::face::consent::agree;
use crate::commands::flags::consent_mode;
use crate::commands::flags::{ControlFlags, OutputFlags};
use crate::commands::runtime;
use crate::consultation::event::{Answer, StateName};
use crate::consultation::transcript::Transcript;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::files::log::LockPolicy;
use crate::records::index::Index;
use crate::session::resume;
use crate::setup::plan::resume::{PreparedResume, ResumeSources};
use crate::setup::plan::sources::Connections;
use crate::setup::settings;
use crate::terminal::output::excerpt::print_question;
use crate::terminal::output::format::{amount, count};
use crate::terminal::prompt::StdinUse;

/// Resume an interrupted consultation; finished calls are not repeated
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave resume
  conclave resume 01kb5x
  conclave resume last --max-cost 2.00 --yes")]
pub(crate) struct Args {
    /// The consultation: its id, a unique prefix, one of its files, or `last` [default: the newest
    /// that can be resumed]
    #[arg(add = ids::unanswered())]
    id: Option<String>,

    /// Resume on a file system without locks, where another process may still be running the
    /// consultation
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let (environment, printer) = (app.environment, app.printer);
    check_output(args.output.output.as_deref())?;
    settings::check_certificates(environment)?;
    let home = app.home()?;
    let settings = settings::load(&home, environment)?;
    let face = TerminalFace::open(&home, app, &args.output)?;
    let unlocked = if args.force {
        LockPolicy::Trust
    } else {
        LockPolicy::Refuse
    };
    let interrupted = {
        // The index only resolves names, which the folder of logs does as well.
        let named = args.id.as_deref();
        let index = named.and_then(|_| Index::open(&home.index_file()).ok());
        resume::open(
            &home.logs_folder(),
            index.as_ref(),
            named,
            unlocked,
            printer,
        )?
    };
    let consent_mode = consent_mode(args.control.spending.yes, printer, StdinUse::Free);
    let (plan, transcript) = (interrupted.plan(), &interrupted.transcript);
    let clock = Clock::system();
    let connections = Connections::new(&settings);
    let sources = ResumeSources {
        home: &home,
        environment,
        settings: &settings,
        face: printer,
        connections: &connections,
    };
    let request = args.control.request(consent_mode);
    let PreparedResume {
        mut terms,
        providers,
        consent,
    } = runtime::block_on(sources.prepare(plan, transcript, &request, clock.now()))??;
    printer.note(&announcement(transcript));
    print_question(&transcript.terms.question, printer);
    if let Some(consent) = consent {
        let (rule, id) = (terms.control.consent, &interrupted.id);
        let gate = consent.gate.as_ref();
        let how = gate.map(|gate| {
            let remaining = &consent.remaining;
            agree(
                gate,
                remaining,
                &rule,
                consent.counted,
                &format!("conclave resume {id} "),
                |why| match face.ask(remaining, why, rule)? {
                    Answer::Yes | Answer::Always(_) => Ok(()),
                    Answer::No | Answer::Fail | Answer::GoOnWithout | Answer::Gone => {
                        let error = Error::new(Exit::Declined, "Consultation cancelled by user");
                        Err(error.hint(format!("resume it with `conclave resume {id}`")))
                    }
                },
            )
        });
        // Without consent, the consultation stays as it is.
        consent.give(how.transpose()?.flatten(), &mut terms);
    }
    let session = interrupted.session(terms, providers, clock);
    face.run(session, None)
}

/// Returns where the run resumes, how many calls are done, and what was spent.
fn announcement(transcript: &Transcript) -> String {
    let id = &transcript.id;
    if transcript.state == StateName::Complete {
        return format!("{id} is complete; only its results are missing");
    }
    let round = match transcript.incomplete_rounds().first() {
        Some(round) => format!("Round {round} of {}", transcript.planned_rounds()),
        None => "all rounds done".to_owned(),
    };
    let answered = transcript.calls.iter().filter(|call| call.error.is_none());
    let calls = match answered.count() {
        0 => "no call done".to_owned(),
        done => format!("{} done", count(done, "call")),
    };
    format!(
        "Resuming {id} ({round}, {calls}, {} spent so far)",
        amount(transcript.total().cost)
    )
}
