//! `conclave resume`: resumes an interrupted consultation from its journal alone. Finished calls
//! are not repeated, and question, panel and prompts are those it began with, even if the files
//! they came from have changed. Prices, addresses and keys are today's.

use crate::commands::App;
use crate::commands::completions::ids;
use crate::commands::face::answer::check_output;
use crate::commands::face::batch::refused;
use crate::commands::face::{self, TerminalFace};
use crate::commands::flags::{ControlFlags, OutputFlags};
use crate::commands::runtime;
use crate::consultation::event::{Answer, StateName};
use crate::consultation::machine::Question;
use crate::consultation::policy::consent::{ConsentRule, Gate};
use crate::consultation::policy::estimate::Consent;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::records::event_log::NoLockPolicy;
use crate::records::index::Index;
use crate::session::resume;
use crate::setup::plan::connection::Connections;
use crate::setup::plan::resume::{PreparedResume, ResumeSources};
use crate::setup::plan::resume_consent::ResumeConsent;
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
    let App {
        environment,
        printer,
    } = app;
    check_output(args.output.output.as_deref())?;
    settings::check_certificates(environment)?;
    let home = app.home()?;
    let settings = settings::load(&home, environment)?;
    let face = TerminalFace::open(&home, environment, &args.output, printer)?;
    let unlocked = if args.force {
        NoLockPolicy::Trust
    } else {
        NoLockPolicy::Refuse
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
    let consent_mode = face::consent_mode(args.control.yes, printer, StdinUse::Free);
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
        let how = agree(&consent, &interrupted.id, terms.control.consent, &face)?;
        consent.give(how, &mut terms);
    }
    let session = interrupted.session(terms, providers, clock);
    face.run(session, None)
}

/// Asks for consent to what remains, if it is needed. Without it, the consultation stays as it is.
fn agree(
    consent: &ResumeConsent,
    id: &ConsultationId,
    rule: ConsentRule,
    face: &TerminalFace<'_>,
) -> Result<Option<Consent>, Error> {
    let remaining = &consent.remaining;
    match &consent.gate {
        // At the ceiling, the machine stops by itself.
        None | Some(Gate::AboveCeiling) => Ok(None),
        Some(Gate::Pass(how)) => Ok(Some(*how)),
        Some(Gate::Ask(why)) => {
            let question = Question::Consent {
                estimate: remaining.clone(),
                why: why.clone(),
            };
            match face.ask(&question, rule)? {
                Answer::Yes | Answer::Always(_) => Ok(Some(Consent::Asked)),
                Answer::No | Answer::Fail | Answer::GoOnWithout | Answer::Gone => {
                    let cancelled = "Consultation cancelled by user";
                    Err(Error::new(Exit::Declined, cancelled)
                        .hint(format!("resume it with `conclave resume {id}`")))
                }
            }
        }
        Some(Gate::Refuse(why)) => {
            let error =
                "The cost of what remains needs consent, and there is no terminal to ask on";
            let approval = format!(
                "the estimate is {:.2}: agree to it with `conclave resume {id} --yes`",
                remaining.cost
            );
            Err(refused(error, &approval, rule, why))
        }
    }
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
