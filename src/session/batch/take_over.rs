//! Consultations that an earlier process began: finished ones are read, interrupted ones resumed.

use super::ConsultationOutcome;
use crate::config::paths::Home;
use crate::consultation::plan::ControlRequest;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::error::{Error, whole};
use crate::files::log::LockPolicy;
use crate::records::files::ConsultationFiles;
use crate::records::journal::{ends, is_being_written, read_journal};
use crate::session::load;
use crate::session::resume::{InterruptedConsultation, is_complete, open_id};
use crate::session::run::Session;
use crate::setup::plan::resume::{PreparedResume, ResumeSources};

/// What is left to do of a consultation that an earlier process began.
#[derive(Debug)]
pub enum TakeOver {
    /// Nothing: its files hold the outcome.
    Finished(Box<ConsultationOutcome>),
    /// The calls that its journal lacks.
    Resume(Box<Session>, Option<Box<StoredRecord>>),
    /// Everything, for this reason.
    Repeat(String),
}

/// Takes over a consultation. `request` must be approved in advance.
///
/// # Errors
///
/// When another process is running it.
pub(super) async fn take_over(
    id: &ConsultationId,
    sources: &ResumeSources<'_>,
    request: &ControlRequest,
    clock: Clock,
) -> Result<TakeOver, Error> {
    let logs = sources.home.logs_folder();
    let files = ConsultationFiles::in_folder(&logs, id);
    if is_being_written(&files.journal) {
        return Err(Error::usage(format!("another process is running {id}"))
            .hint("wait until that process has ended, or end it"));
    }
    let is_finished = match ends::ending(&files.journal) {
        Ok(ending) => is_complete(&files, ending),
        Err(error) => return Ok(TakeOver::Repeat(format!("it has no journal: {error}"))),
    };
    let taken = if is_finished {
        finished(id, &files, sources).map(|outcome| TakeOver::Finished(Box::new(outcome)))
    } else {
        // The caller's run has a lock of its own.
        match open_id(id.clone(), &logs, Some(LockPolicy::Trust), sources.face) {
            Ok(interrupted) => resumed(interrupted, sources, request, clock)
                .await
                .map(|session| {
                    TakeOver::Resume(
                        Box::new(session),
                        load::record_of(sources.home, id).map(Box::new),
                    )
                }),
            Err(error) => Err(error),
        }
    };
    Ok(taken.unwrap_or_else(|error| TakeOver::Repeat(whole(error.source()))))
}

/// Returns whether the files of this home hold its outcome.
pub(in crate::session) fn is_finished_here(id: &ConsultationId, home: &Home) -> bool {
    let files = ConsultationFiles::in_folder(&home.logs_folder(), id);
    ends::ending(&files.journal).is_ok_and(|ending| is_complete(&files, ending))
}

fn finished(
    id: &ConsultationId,
    files: &ConsultationFiles,
    sources: &ResumeSources<'_>,
) -> Result<ConsultationOutcome, Error> {
    let record = load::load(&sources.home.logs_folder(), id)?;
    let events = read_journal(&files.journal).map_err(Error::failed)?;
    let transcript = Transcript::fold(&events)
        .ok_or_else(|| Error::failed("the first event of its journal is missing"))?;
    Ok(ConsultationOutcome {
        transcript,
        record,
        warnings: Vec::new(),
        refusal: None,
    })
}

/// Prepares what is left of a consultation, if its cost is agreed to or needs no consent.
pub async fn resumed(
    interrupted: InterruptedConsultation,
    sources: &ResumeSources<'_>,
    request: &ControlRequest,
    clock: Clock,
) -> Result<Session, Error> {
    let (plan, transcript) = (interrupted.plan(), &interrupted.transcript);
    let PreparedResume {
        mut terms,
        providers,
        consent,
        ..
    } = sources
        .prepare(plan, transcript, request, clock.now())
        .await?;
    if let Some(consent) = consent {
        let how = consent.unasked(|| {
            let (short, cost) = (interrupted.id.short(), consent.remaining.cost);
            let problem = format!("what is left of {short} needs consent, at about {cost}");
            Error::usage(problem).hint(format!("continue it with `conclave resume {short}`"))
        })?;
        consent.give(how, &mut terms);
    }
    Ok(interrupted.session(terms, providers, clock))
}
