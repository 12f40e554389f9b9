//! Who judges anew: whom the user names, else the judge of then, else whoever would judge such a
//! panel now.
//!
//! What was kept to the user's own servers goes to no vendor, unless the user names one of its
//! models.

use std::collections::BTreeSet;

use crate::config::settings::Settings;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::Seat;
use crate::domain::stored_record::{RecordWriter, StoredRecord};
use crate::domain::vendors;
use crate::error::Error;
use crate::setup::panel::Choices;

/// The judge, and behind it those who stand in for it.
pub(super) fn judges(
    named: Option<&str>,
    record: &StoredRecord,
    seats: &[Seat],
    choices: &Choices<'_>,
) -> Result<Vec<ModelRef>, Error> {
    if let Some(names) = named {
        return names.split(',').map(|name| choices.model(name)).collect();
    }
    let usual = if was_kept_close(record, choices) {
        close(seats, choices)
    } else {
        choices.default_judges(seats)
    };
    let mut judges: Vec<ModelRef> = record
        .judge
        .iter()
        .cloned()
        .chain(usual)
        .chain(choices.local.clone())
        .collect();
    let mut met = BTreeSet::new();
    judges.retain(|judge| choices.can_be_asked(&judge.provider) && met.insert(judge.clone()));
    // The embedded model judges where nobody else is left, and stands in for nobody.
    if judges.iter().any(|judge| !judge.provider.is_local()) {
        judges.retain(|judge| !judge.provider.is_local() || record.judge.as_ref() == Some(judge));
    }
    if judges.is_empty() {
        let error = Error::usage("nobody who judged or answered then can be asked now");
        return Err(error.hint("name a judge: conclave history rejudge ID --judge MODEL"));
    }
    Ok(judges)
}

/// Models whose servers have to be looked for.
pub(super) fn candidates(
    named: Option<&str>,
    record: &StoredRecord,
    seats: &[Seat],
    choices: &crate::providers::catalog::ModelCatalog,
) -> Vec<ModelRef> {
    let named = named
        .into_iter()
        .flat_map(|names| names.split(','))
        .filter_map(|name| choices.resolve(name.trim()).ok());
    named
        .chain(record.judge.clone())
        .chain(seats.iter().map(|seat| seat.model.clone()))
        .collect()
}

/// What the settings say of the judge is for panels that are asked; who judged then comes first
/// here.
pub(super) fn named<'a>(
    flag: Option<&'a str>,
    record: &StoredRecord,
    settings: &'a Settings,
) -> Option<&'a str> {
    flag.or_else(|| {
        settings
            .judge
            .as_deref()
            .filter(|_| record.judge.is_none() && record.experts.is_empty())
    })
}

/// Neither an expert nor the judge was a vendor's.
pub(super) fn was_kept_close(record: &StoredRecord, choices: &Choices<'_>) -> bool {
    let mut asked = record
        .experts
        .iter()
        .filter_map(|expert| expert.model.as_ref())
        .chain(&record.judge)
        .peekable();
    asked.peek().is_some() && asked.all(|model| is_users_own(&model.provider, record, choices))
}

/// A provider that nobody knows any more was an address of the user's: this program only knows
/// others from the settings.
fn is_users_own(provider: &ProviderId, record: &StoredRecord, choices: &Choices<'_>) -> bool {
    let is_forgotten =
        record.writer == RecordWriter::Conclave && vendors::find(provider.as_str()).is_none();
    choices.is_users_own(provider) || is_forgotten
}

fn close(seats: &[Seat], choices: &Choices<'_>) -> Vec<ModelRef> {
    seats
        .iter()
        .map(|seat| seat.model.clone())
        .filter(|model| choices.is_users_own(&model.provider))
        .collect()
}
