//! `conclave resume`: resumes an interrupted consultation from its journal alone. Finished calls
//! are not repeated, and question, panel and prompts are those it began with, even if the files
//! they came from have changed. Prices, addresses and keys are today's.

use crate::commands::completions::ids;
use crate::commands::face::answer::check_output;
use crate::commands::face::consent::{ConsentRequest, GateDecision};
use crate::commands::face::{TerminalFace, preview};
use crate::commands::flags::{ControlFlags, OutputFlags, consent_mode};
use crate::commands::{App, block_on};
use crate::consultation::event::{Answer, StateName};
use crate::consultation::policy::consent::Gate;
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::transcript::Transcript;
use crate::domain::cost::money::MicroUsd;
use crate::error::Error;
use crate::files::log::LockPolicy;
use crate::records::index::Index;
use crate::session::batch::RunCeiling;
use crate::session::resume;
use crate::setup::plan::resume::{PreparedResume, ResumeSources};
use crate::setup::plan::sources::Connections;
use crate::setup::settings;
use crate::terminal::output::excerpt::print_question;
use crate::terminal::output::format::{count, spent};
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
    let (environment, printer, output) = (app.environment, app.printer, &args.output);
    check_output(output.output.as_deref())?;
    settings::check_certificates(environment)?;
    let home = app.home()?;
    let settings = settings::load(&home, environment)?;
    let unlocked = if args.force {
        LockPolicy::Trust
    } else {
        LockPolicy::Refuse
    };
    let spending = args.control.spending;
    let locks = (!spending.dry_run).then_some(unlocked);
    let interrupted = {
        // The index only resolves names, which the folder of logs does as well.
        let named = args.id.as_deref();
        let index = named.and_then(|_| Index::open(&home.index_file()).ok());
        resume::open(&home.logs_folder(), index.as_ref(), named, locks, printer)?
    };
    let request = args
        .control
        .request(consent_mode(spending.yes, printer, StdinUse::Free));
    let (plan, transcript) = (interrupted.plan(), &interrupted.transcript);
    let clock = app.clock;
    let sources = ResumeSources {
        home: &home,
        environment,
        settings: &settings,
        face: printer,
        connections: &Connections::new(&settings, environment, &home),
        dry_run: spending.dry_run,
    };
    let prepared = sources.prepare(plan, transcript, &request, clock.now());
    let PreparedResume {
        mut terms,
        providers,
        addresses,
        consent,
    } = block_on(prepared)??;
    printer.note(&announcement(transcript));
    print_question(&transcript.terms.question, printer);
    let ceiling = RunCeiling {
        limit: terms.control.max_cost,
        used: consent.as_ref().map_or(MicroUsd::ZERO, |rest| rest.counted),
        ..RunCeiling::default()
    };
    if spending.dry_run {
        let (decision, rest) = match consent {
            Some(rest) => {
                let left = ceiling.left();
                // A consent does not lift the ceiling.
                let is_above = left.is_some_and(|left| rest.remaining.low.known > left);
                let is_decided = rest.gate.is_some() || transcript.consent.is_none() || is_above;
                let decision = if is_decided {
                    GateDecision::of(&terms.control, &rest.remaining, left)
                } else {
                    GateDecision::default()
                };
                (decision, rest.remaining)
            }
            None => (GateDecision::default(), Estimate::default()),
        };
        return preview::consultation::show(plan, &rest, &addresses, decision, output, app);
    }
    // A file that cannot be written is noticed before the question.
    let face = TerminalFace::open(&home, app, output)?;
    if let Some(consent) = consent {
        let id = interrupted.id.short();
        let request = ConsentRequest {
            estimate: &consent.remaining,
            rule: Some(&terms.control.consent),
            ceiling,
            command: &format!("conclave resume {id} "),
            declined: "Consultation cancelled by user",
        };
        let agreed = consent.gate.as_ref().map(|gate| match gate {
            Gate::Ask(why) => {
                let (rule, left) = (terms.control.consent, ceiling.left());
                match face.ask(request.estimate, why, rule, left)? {
                    Answer::Yes | Answer::Always(_) => Ok(Some(Consent::Asked)),
                    Answer::No | Answer::Fail | Answer::GoOnWithout | Answer::Gone => {
                        Err(Error::declined(request.declined)
                            .hint(format!("resume it with `conclave resume {id}`")))
                    }
                }
            }
            Gate::Pass(_) | Gate::Refuse(_) | Gate::AboveCeiling => request.agree(gate, printer),
        });
        // Without consent, the consultation stays as it is.
        consent.give(agreed.transpose()?.flatten(), &mut terms);
    }
    let session = interrupted.session(terms, providers, clock);
    face.run(session, None)
}

fn announcement(transcript: &Transcript) -> String {
    let id = transcript.id.short();
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
        spent(transcript.total().cost)
    )
}
