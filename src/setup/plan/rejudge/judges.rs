//! The judge of a rejudgement: the one that the user names, else the judge of the consultation,
//! else the default judge of such a panel.
//!
//! Answers from the user's own servers go to no vendor, unless the user names one of its models.

use std::collections::BTreeSet;

use crate::config::settings::Settings;
use crate::domain::ids::ModelRef;
use crate::domain::panel::Seat;
use crate::domain::stored_record::StoredRecord;
use crate::domain::vendors;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::setup::panel::context::SelectionContext;

/// Returns the judge and its fallbacks.
pub(super) fn judges(
    named: Option<&str>,
    record: &StoredRecord,
    seats: &[Seat],
    context: &SelectionContext<'_>,
) -> Result<Vec<ModelRef>, Error> {
    if let Some(names) = named {
        return names.split(',').map(|name| context.model(name)).collect();
    }
    let usual = if was_private(record, context) {
        let models = seats.iter().map(|seat| seat.model.clone());
        let own = models.filter(|model| context.is_own_server(&model.provider));
        own.collect()
    } else {
        context.default_judges(seats)
    };
    let judges = record.judge().into_iter().chain(usual);
    let mut judges: Vec<ModelRef> = judges.chain(context.embedded.clone()).collect();
    let mut met = BTreeSet::new();
    judges.retain(|judge| {
        context.check_provider(&judge.provider).is_ok() && met.insert(judge.clone())
    });
    // The embedded model judges only when no other model is left.
    if judges.iter().any(|judge| !judge.provider.is_local()) {
        judges.retain(|judge| !judge.provider.is_local() || record.judge().as_ref() == Some(judge));
    }
    if judges.is_empty() {
        let error = Error::usage("no model of this consultation can be asked now");
        return Err(error.hint("name a judge with `conclave history rejudge ID --judge MODEL`"));
    }
    Ok(judges)
}

/// Returns the models whose servers have to be found.
pub(super) fn candidates(
    named: Option<&str>,
    record: &StoredRecord,
    seats: &[Seat],
    catalog: &ModelCatalog,
) -> Vec<ModelRef> {
    let listed = named.into_iter().flat_map(|names| names.split(','));
    let named = listed.filter_map(|name| catalog.resolve(name.trim()).ok());
    let seated = seats.iter().map(|seat| seat.model.clone());
    named.chain(record.judge()).chain(seated).collect()
}

/// Returns the judge that the user names. The setting is for panels that are asked: the judge of
/// the consultation comes before it.
pub(super) fn named<'a>(
    flag: Option<&'a str>,
    record: &StoredRecord,
    settings: &'a Settings,
) -> Option<&'a str> {
    let is_open = record.judge().is_none() && record.agents.is_empty();
    flag.or(settings.judge.as_deref().filter(|_| is_open))
}

/// Returns whether every expert and the judge ran on the user's own servers.
pub(in crate::setup::plan) fn was_private(
    record: &StoredRecord,
    context: &SelectionContext<'_>,
) -> bool {
    let experts = record
        .agents
        .iter()
        .filter_map(|agent| record.model_of(agent));
    let mut asked = experts.chain(record.judge()).peekable();
    asked.peek().is_some()
        && asked.all(|ModelRef { provider, .. }| {
            // An unknown provider was one: only the settings can add providers.
            context.is_own_server(&provider) || vendors::find(provider.as_str()).is_none()
        })
}
