//! `conclave history outcome`: what became of an answer, as the user says afterwards. Calibration
//! counts on it.

use crate::domain::ids::ConsultationId;
use crate::domain::outcome::{Grade, Outcome, SCHEMA_VERSION};
use crate::domain::stored_record::Completion;
use crate::engine::clock::Clock;
use crate::error::Error;
use crate::records::files::ConsultationRef;
use crate::records::index::store;
use crate::records::outcomes;
use crate::terminal::markdown::escape::one_line;

use super::{Past, reading};

/// Say what became of an answer
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave history outcome last right
  conclave history outcome 01m7zh45 mixed --note \"right about the risk, wrong about the cost\"
  conclave history outcome 01m7zh45 --clear

What is said of many answers shows how far stated confidence can be trusted: conclave consult-stats --calibration")]
pub(super) struct Args {
    /// The consultation: its id, a beginning of it, one of its files, or `last`
    id: String,

    /// Whether the answer held; `mixed` counts as half
    #[arg(value_enum, required_unless_present = "clear")]
    outcome: Option<OutcomeArg>,

    /// Why, in your own words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    /// Take back what was said
    #[arg(long, conflicts_with_all = ["outcome", "note"])]
    clear: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OutcomeArg {
    Right,
    Wrong,
    Mixed,
}

impl From<OutcomeArg> for Outcome {
    fn from(outcome: OutcomeArg) -> Self {
        match outcome {
            OutcomeArg::Right => Self::Right,
            OutcomeArg::Wrong => Self::Wrong,
            OutcomeArg::Mixed => Self::Mixed,
        }
    }
}

pub(super) fn run(args: &Args, past: &Past<'_>) -> Result<(), Error> {
    let found = past.find(&args.id)?;
    let Some(outcome) = args.outcome.map(Outcome::from) else {
        outcomes::remove(&past.logs, &found.stem).map_err(Error::failed)?;
        index(past, &found, None);
        past.printer
            .note(&format!("{}: nobody has said what became of it", found.id));
        return Ok(());
    };
    let record = reading::read(&past.logs, &found)?.record;
    if record.completion() != Completion::Completed || record.recommendation.is_none() {
        return Err(Error::usage(format!(
            "{} has no answer that could be right or wrong",
            found.id
        )));
    }
    let note = args
        .note
        .as_deref()
        .map(str::trim)
        .filter(|note| !note.is_empty())
        .map(ToOwned::to_owned);
    let grade = Grade {
        schema_version: SCHEMA_VERSION.to_owned(),
        consultation_id: ConsultationId::from_unique(found.id.trim_start_matches("consult-")),
        outcome,
        note,
        at: Clock::system().now(),
    };
    outcomes::write(&past.logs, &found.stem, &grade).map_err(Error::failed)?;
    index(past, &found, Some(&grade));
    past.printer.note(&format!(
        "{}: {} ({})",
        found.id,
        outcome.name(),
        one_line(&record.question)
    ));
    Ok(())
}

/// The file counts; an index that cannot be written learns it when it is made anew.
fn index(past: &Past<'_>, found: &ConsultationRef, grade: Option<&Grade>) {
    let written = past.index().and_then(|index| {
        store::set_outcome(index.connection(), &found.id, grade).map_err(Error::failed)
    });
    if let Err(error) = written {
        past.printer.warning(&format!(
            "the index was not told: {error}; make it anew: conclave consult-stats --rebuild-index"
        ));
    }
}
