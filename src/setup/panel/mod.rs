//! The panel: its seats and its judges.
//!
//! [`spec`] completes the request from the settings, [`context`] holds what there is to select
//! from, and [`select`] puts both together.

pub mod spec;
pub mod context;

use std::collections::BTreeSet;

use crate::domain::ids::ModelRef;
use crate::domain::model::program::of_vendors;
use crate::domain::model::vendors::{self, Vendor};
use crate::domain::panel::{Panel, Persona, Seat, check_seats, seated};
use crate::error::Error;
use crate::text::clean::count;

use self::context::{SelectionContext, default_seats};
use self::spec::{EXAMPLE, PanelSpec, PersonaChoice};
use super::personas::PersonaEntry;

/// A panel of fewer seats gets a notice.
const USUAL_SEATS: usize = 3;

/// A panel, with notices for the user before anything is spent.
#[derive(Debug, PartialEq, Eq)]
pub struct SelectedPanel {
    pub panel: Panel,
    /// The personas that the helper model selects from; empty when the personas are given.
    pub selectable_personas: Vec<Persona>,
    pub notices: Vec<String>,
}

pub fn select(spec: &PanelSpec, context: &SelectionContext<'_>) -> Result<SelectedPanel, Error> {
    let seats = match (&spec.panel, spec.models.as_slice()) {
        (Some(_), [_, ..]) => {
            return Err(Error::usage("`--panel` and `--model` both name the models")
                .hint("use one of the two"));
        }
        (Some(panel), []) => parse_seats(panel, context)?,
        (None, models) => seats_of_personas(&spec.personas, models, context)?,
    };
    let judges = match &spec.judge {
        Some(names) => names
            .split(',')
            .map(|name| context.model(name))
            .collect::<Result<Vec<_>, _>>()?,
        None => context.default_judges(&seats),
    };
    let panel = Panel { seats, judges };
    let notices = notices(&panel, spec, context);
    let selectable_personas = match &spec.personas {
        PersonaChoice::Auto(_) => context.personas.personas(),
        PersonaChoice::Usual | PersonaChoice::Named(_) | PersonaChoice::ByDefault(_) => Vec::new(),
    };
    Ok(SelectedPanel {
        panel,
        selectable_personas,
        notices,
    })
}

/// Reads `persona=provider:model,…`.
fn parse_seats(panel: &str, context: &SelectionContext<'_>) -> Result<Vec<Seat>, Error> {
    let mut seats = Vec::new();
    let entries = panel.split(',').map(str::trim);
    let entries = entries.filter(|entry| !entry.is_empty());
    check_seats(entries.clone().count()).map_err(Error::usage)?;
    for entry in entries {
        let (persona, model) = entry.split_once('=').ok_or_else(|| {
            Error::usage(format!(
                "`{entry}` does not name a seat as `persona=provider:model`"
            ))
            .hint(format!("for example: `--panel {EXAMPLE}`"))
        })?;
        seats.push((
            context.personas.find(persona)?.persona.clone(),
            context.model(model)?,
        ));
    }
    if seats.is_empty() {
        Err(Error::usage("the panel has no seat")
            .hint("name at least one `persona=provider:model`"))
    } else {
        Ok(seated(seats))
    }
}

/// Each is played by its persona's own model, else by the one named for it, else by one that is
/// chosen.
fn seats_of_personas(
    personas: &PersonaChoice,
    models: &[String],
    context: &SelectionContext<'_>,
) -> Result<Vec<Seat>, Error> {
    let mut entries = match personas {
        PersonaChoice::Named(entries) | PersonaChoice::ByDefault(entries) => entries.clone(),
        // The personas that are selected later take over these seats with their models.
        PersonaChoice::Auto(entries) => {
            let mut entries = entries.clone();
            for entry in &mut entries {
                entry.model = None;
            }
            entries
        }
        PersonaChoice::Usual => Vec::new(),
    };
    if entries.is_empty() {
        let usual = default_seats().map(|(id, _)| context.personas.find(id).cloned());
        entries = usual.collect::<Result<_, _>>()?;
    }
    check_seats(entries.len().max(models.len())).map_err(Error::usage)?;
    let is_given = matches!(personas, PersonaChoice::Named(_));
    let named = models.iter().map(|name| context.model(name));
    let named: Vec<ModelRef> = named.collect::<Result<_, _>>()?;
    let (models, seats) = (named.len(), entries.len());
    if models > 1 && is_given && models != seats {
        let seats = count(seats, "seat");
        let error = format!("`--personas` names {seats}, and `--model` {models}");
        return Err(Error::usage(error)
            .hint("give one model for each persona, in their order, or a single one for all"));
    }
    if models > 1 {
        // As many seats as models, unless the personas are given.
        entries = entries.into_iter().cycle().take(models).collect();
    }
    let own = |(at, entry): (usize, &PersonaEntry)| match (&entry.model, named.as_slice()) {
        (Some(model), _) => context
            .model(model)
            .map(Some)
            .map_err(|error| error.hint(format!("or change it for `{}`", entry.persona.id))),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only.clone())),
        (None, several) => Ok(several.get(at).cloned()),
    };
    let own = entries.iter().enumerate().map(own);
    let own: Vec<Option<ModelRef>> = own.collect::<Result<_, _>>()?;
    let ids: Vec<&str> = entries
        .iter()
        .map(|entry| entry.persona.id.as_str())
        .collect();
    let models = context.fill(&ids, own)?;
    let personas = entries.iter().map(|entry| entry.persona.clone());
    Ok(seated(personas.zip(models)))
}

/// The end of the notice on a panel of few seats.
pub const SMALL_PANEL: &str = "is small: three or more seats are usual";

fn notices(panel: &Panel, spec: &PanelSpec, context: &SelectionContext<'_>) -> Vec<String> {
    let mut notices = Vec::new();
    if panel.seats.len() < USUAL_SEATS {
        notices.push(format!("a panel of {} {SMALL_PANEL}", panel.seats.len()));
    }
    // One reseller's key gives models of several families.
    let unasked = !spec.names_all_models();
    let selectable: Vec<_> = context.selectable().collect();
    if let (true, [only]) = (unasked && panel.is_one_family(), selectable.as_slice()) {
        let others = default_seats().filter(|(_, vendor)| vendor.id != only.id.as_str());
        let variable = |vendor: &Vendor| vendor.key_variables.first().copied().unwrap_or_default();
        let others: Vec<&str> = others.map(|(_, vendor)| variable(vendor)).collect();
        notices.push(format!(
            "only {} has a key: with {} as well, models of other families would join the panel",
            vendors::name(&only.id),
            others.join(" or ")
        ));
    }
    let programs = context.usual_programs.iter().map(|model| &model.provider);
    let programs: BTreeSet<_> = programs.map(vendors::name).collect();
    if unasked && selectable.is_empty() && !programs.is_empty() {
        let names = programs.iter().copied().collect::<Vec<_>>().join(" and ");
        notices.push(format!("Using {names}: no API key is set"));
        let mut others = of_vendors().filter(|it| !programs.contains(&*it.name));
        if let (true, Some(other)) = (panel.is_one_family(), others.next()) {
            notices.push(format!(
                "only {names} is logged in: with {}, or a vendor's key, as well, models of other \
                 families would join the panel",
                other.name
            ));
        }
    }
    let models: BTreeSet<&ModelRef> = panel.models().collect();
    let notice = |model| context.catalog.notices(model, context.now);
    notices.extend(models.into_iter().filter_map(notice));
    notices
}

#[cfg(test)]
mod tests;
