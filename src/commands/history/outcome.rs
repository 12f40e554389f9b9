//! `conclave history outcome`: records whether an answer proved right. Calibration uses it.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::commands::completions::ids;
use crate::domain::ids::ConsultationId;
use crate::domain::record::outcome::{AnswerOutcome, Grade, SCHEMA_VERSION};
use crate::domain::record::stored_record::Completion;
use crate::error::Error;
use crate::records::index::store;
use crate::records::outcomes;
use crate::text::clean::one_line;

use super::Archive;
use crate::session::load;

/// Record whether an answer proved right or wrong
#[derive(Clone, Debug, clap::Args)]
#[command(override_usage = "\
conclave history outcome [OPTIONS] [ID] <OUTCOME>
       conclave history outcome --clear <ID>")]
#[command(after_help = "\
Examples:
  conclave history outcome right
  conclave history outcome 01m7zh45 mixed --note \"right about the risk, wrong about the cost\"
  conclave history outcome 01m7zh45 --clear

Once many answers are graded, `conclave consult-stats --calibration` shows how reliable stated \
confidence is.")]
pub(super) struct Args {
    /// The consultation: its id, a unique prefix, one of its files, or `last` [default: last]
    #[arg(add = ids::all())]
    id: Option<String>,

    /// Whether the answer proved right; `mixed` counts half
    #[arg(value_enum)]
    outcome: Option<AnswerOutcome>,

    /// The reason, in your own words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    /// Remove the recorded outcome
    #[arg(long, conflicts_with_all = ["outcome", "note"])]
    clear: bool,
}

impl ValueEnum for AnswerOutcome {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

/// A single outcome grades the newest consultation.
fn graded(args: &Args) -> Result<(&str, Option<AnswerOutcome>), Error> {
    let Some(name) = args.id.as_deref() else {
        return Err(if args.clear {
            Error::usage("`--clear` needs the name of a consultation")
                .hint("for the newest: `conclave history outcome last --clear`")
        } else {
            no_outcome("")
        });
    };
    if args.outcome.is_some() || args.clear {
        return Ok((name, args.outcome));
    }
    if let Ok(outcome) = AnswerOutcome::from_str(name, true) {
        return Ok(("last", Some(outcome)));
    }
    Err(no_outcome(&format!("{} ", one_line(name))))
}

/// `name` is the consultation's, with a blank.
fn no_outcome(name: &str) -> Error {
    Error::usage("no outcome is given").hint(format!(
        "for example: `conclave history outcome {name}right`; or `wrong`, `mixed`"
    ))
}

pub(super) fn run(args: &Args, archive: &Archive<'_>) -> Result<(), Error> {
    let (name, outcome) = graded(args)?;
    let found = archive.find(name)?;
    let Some(outcome) = outcome else {
        outcomes::remove(&archive.logs, &found).map_err(Error::failed)?;
        update_index(archive, &found, None);
        archive
            .app
            .printer
            .note(&format!("{}: no outcome recorded", found.short()));
        return Ok(());
    };
    let record = load::load(&archive.logs, &found)?;
    if record.completion() != Completion::Completed || record.recommendation.is_none() {
        return Err(Error::usage(format!(
            "{} has no answer that could be right or wrong",
            found.short()
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
        consultation_id: found.clone(),
        outcome,
        note,
        at: archive.app.clock.now(),
    };
    outcomes::write(&archive.logs, &found, &grade).map_err(Error::failed)?;
    update_index(archive, &found, Some(&grade));
    archive.app.printer.note(&format!(
        "{}: {} ({})",
        found.short(),
        outcome.name(),
        one_line(&record.question)
    ));
    Ok(())
}

/// The file is what counts: a rebuild of the index reads it.
fn update_index(archive: &Archive<'_>, found: &ConsultationId, grade: Option<&Grade>) {
    let written = archive.index().and_then(|index| {
        store::set_outcome(&index.connection, found.as_str(), grade).map_err(Error::failed)
    });
    if let Err(error) = written {
        archive.app.printer.warning(&format!(
            "the index was not updated: {error}; rebuild it with `conclave consult-stats \
             --rebuild-index`"
        ));
    }
}
