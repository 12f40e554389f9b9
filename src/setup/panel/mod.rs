//! Who sits on the panel and who judges, from flags, settings, the keys that are there and the
//! catalogue.

use std::collections::BTreeSet;

use super::local_servers::Servers;
use super::personas::{Known, PersonaRegistry};
use crate::config::names::likely;
use crate::config::panels::NamedPanel;
use crate::config::personas::AUTO;
use crate::config::settings::Settings;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::{Panel, Persona, Seat, seated};
use crate::domain::time::Timestamp;
use crate::domain::vendors::{self, USUAL_JUDGE, VENDORS, Vendor};
use crate::error::Error;
use crate::providers::catalog::{Model, ModelCatalog};
use crate::terminal::output::format::count;

use super::provider_access::Reach;

/// The personas of the default seats, each with the vendor that plays it when all keys are there.
fn default_seats() -> impl Iterator<Item = (&'static str, &'static Vendor)> {
    VENDORS
        .iter()
        .filter_map(|vendor| Some((vendor.default_persona?, vendor)))
}

/// A panel of fewer seats is a weak one.
const USUAL_SEATS: usize = 3;

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// `security=anthropic:claude-sonnet-5-5,…`
    pub panel: Option<String>,
    /// Models by seat; a single one plays every seat.
    pub models: Vec<String>,
    pub personas: Personas,
    /// The judge and its fallbacks, separated by commas.
    pub judge: Option<String>,
}

/// Who is to sit where no panel is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Personas {
    /// Those of the default seats.
    #[default]
    Usual,
    /// These, each in a seat of its own.
    Named(Vec<Known>),
    /// These as far as there are seats for them, and again where there are more.
    ByDefault(Vec<Known>),
    /// Whom the clerk chooses. Until then these, or those of the default seats.
    Auto(Vec<Known>),
}

/// What there is to choose from.
#[derive(Debug)]
pub(crate) struct Choices<'a> {
    pub catalog: &'a ModelCatalog,
    pub personas: &'a PersonaRegistry,
    /// All providers but the embedded model's, in the order in which they fill a panel.
    pub reached: &'a [Reach],
    /// The embedded model that is used when there is no key; `None` in a build without it.
    pub local: Option<ModelRef>,
    /// The servers on the user's own machine, as far as this run needs them.
    pub servers: &'a Servers,
    pub now: Timestamp,
}

/// A panel with what is to be said about it before anything is spent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub panel: Panel,
    /// Out of whom the personas are chosen for the question; nobody where they are given.
    pub selectable_personas: Vec<Persona>,
    pub notices: Vec<String>,
}

/// What the command line says of the panel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags<'a> {
    pub panel: Option<&'a str>,
    pub models: &'a [String],
    pub judge: Option<&'a str>,
    /// One persona or set after the other, or `auto`.
    pub personas: Option<&'a str>,
}

impl Wanted {
    /// What the flags say, else the settings. The judge of a panel with a name comes after the flag
    /// and before the settings.
    pub(crate) fn of(
        flags: Flags<'_>,
        settings: &Settings,
        catalogue: &PersonaRegistry,
    ) -> Result<Self, Error> {
        if flags.panel.is_some() && flags.personas.is_some() {
            return Err(
                Error::usage("`--panel` and `--personas` both name the personas")
                    .hint("use one of the two"),
            );
        }
        let is_open = flags.models.is_empty() && flags.personas.is_none();
        let usual = || {
            settings
                .panel
                .as_ref()
                .filter(|_| is_open)
                .map(|seats| seats.join(","))
        };
        let panel = flags.panel.map(ToOwned::to_owned).or_else(usual);
        let named = panel
            .as_deref()
            .filter(|panel| is_name(panel))
            .map(|name| named(name.trim(), settings))
            .transpose()?;
        let judge = flags
            .judge
            .or(named.and_then(|named| named.judge.as_deref()))
            .or(settings.judge.as_deref());
        let panel = named.map(|named| named.seats.join(",")).or(panel);
        let personas = if panel.is_some() {
            Personas::Usual
        } else {
            Personas::of(flags.personas, settings, catalogue)?
        };
        Ok(Self {
            panel,
            models: flags.models.to_vec(),
            personas,
            judge: judge.map(ToOwned::to_owned),
        })
    }

    /// The models that personas bring with them, as far as these play them.
    pub(crate) fn models_of_personas(&self) -> impl Iterator<Item = &str> {
        let known: &[Known] = match &self.personas {
            Personas::Named(known) | Personas::ByDefault(known) => known,
            Personas::Usual | Personas::Auto(_) => &[],
        };
        known.iter().filter_map(|known| known.model.as_deref())
    }

    /// Whether every seat has a model without one being chosen for it.
    pub(crate) fn names_all_models(&self) -> bool {
        let personas = match &self.personas {
            Personas::Named(known) | Personas::ByDefault(known) => {
                known.iter().all(|known| known.model.is_some())
            }
            Personas::Usual | Personas::Auto(_) => false,
        };
        self.panel.is_some() || !self.models.is_empty() || personas
    }
}

impl Personas {
    pub(crate) fn of(
        flag: Option<&str>,
        settings: &Settings,
        catalogue: &PersonaRegistry,
    ) -> Result<Self, Error> {
        let set = settings.default_personas.as_deref();
        let is_auto = |names: &[String]| matches!(names, [only] if only.trim() == AUTO);
        let by_default = || match set {
            Some(names) if !is_auto(names) => catalogue.seats(names),
            Some(_) | None => Ok(Vec::new()),
        };
        let Some(flag) = flag else {
            return Ok(match set {
                None => Self::Usual,
                Some(names) if is_auto(names) => Self::Auto(Vec::new()),
                Some(_) => Self::ByDefault(by_default()?),
            });
        };
        let names: Vec<String> = flag
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(ToOwned::to_owned)
            .collect();
        if is_auto(&names) {
            return Ok(Self::Auto(by_default()?));
        }
        match catalogue.seats(&names)? {
            none if none.is_empty() => Err(Error::usage("`--personas` names nobody")
                .hint("see who there is: conclave personas")),
            known => Ok(Self::Named(known)),
        }
    }
}

/// A list of seats has a `=`; whatever else is said for a panel is meant to be a name.
fn is_name(panel: &str) -> bool {
    !panel.trim().is_empty() && !panel.contains(['=', ','])
}

fn named<'a>(name: &str, settings: &'a Settings) -> Result<&'a NamedPanel, Error> {
    settings.panels.get(name).ok_or_else(|| {
        let names = || settings.panels.keys().map(String::as_str);
        let error = Error::usage(format!("no panel is called `{name}`"));
        let error = match (
            likely(name, names()),
            names().collect::<Vec<_>>().as_slice(),
        ) {
            (Some(near), _) => error.hint(format!("did you mean `{near}`?")),
            (None, []) => error.hint(format!(
                "give it seats: conclave config set panels.{name} {EXAMPLE}"
            )),
            (None, names) => error.hint(format!("one of: {}", names.join(", "))),
        };
        error.hint(format!("or name the seats: --panel {EXAMPLE}"))
    })
}

const EXAMPLE: &str = "\"security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol\"";

/// Puts the panel together.
pub(crate) fn choose(wanted: &Wanted, choices: &Choices<'_>) -> Result<Chosen, Error> {
    let seats = match (&wanted.panel, wanted.models.as_slice()) {
        (Some(_), [_, ..]) => {
            return Err(Error::usage("`--panel` and `--model` both name the models")
                .hint("use one of the two"));
        }
        (Some(panel), []) => listed(panel, choices)?,
        (None, models) => by_personas(&wanted.personas, models, choices)?,
    };
    let judges = match &wanted.judge {
        Some(names) => names
            .split(',')
            .map(|name| choices.model(name))
            .collect::<Result<Vec<_>, _>>()?,
        None => choices.default_judges(&seats),
    };
    let panel = Panel { seats, judges };
    let notices = notices(&panel, wanted, choices);
    let selectable_personas = match &wanted.personas {
        Personas::Auto(_) => choices.personas.personas(),
        Personas::Usual | Personas::Named(_) | Personas::ByDefault(_) => Vec::new(),
    };
    Ok(Chosen {
        panel,
        selectable_personas,
        notices,
    })
}

/// Reads `persona=provider:model,…`.
fn listed(panel: &str, choices: &Choices<'_>) -> Result<Vec<Seat>, Error> {
    let mut seats = Vec::new();
    for entry in panel
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
    {
        let (persona, model) = entry.split_once('=').ok_or_else(|| {
            Error::usage(format!(
                "`{entry}` does not name a seat as `persona=provider:model`"
            ))
            .hint(format!("for example: --panel {EXAMPLE}"))
        })?;
        seats.push((
            choices.personas.find(persona)?.persona.clone(),
            choices.model(model)?,
        ));
    }
    if seats.is_empty() {
        Err(Error::usage("the panel has no seat")
            .hint("name at least one `persona=provider:model`"))
    } else {
        Ok(seated(seats))
    }
}

/// Seats that are named by their personas alone: each is played by its persona's own model, else by
/// the one that is named for it, else by one that is chosen for it.
fn by_personas(
    personas: &Personas,
    models: &[String],
    choices: &Choices<'_>,
) -> Result<Vec<Seat>, Error> {
    let usual = || {
        default_seats()
            .map(|(id, _)| choices.personas.find(id).cloned())
            .collect::<Result<Vec<Known>, Error>>()
    };
    let mut sitting = match personas {
        Personas::Named(known) => known.clone(),
        Personas::ByDefault(known) => known.clone(),
        // Whoever is chosen in the end sits where a model already is.
        Personas::Auto(known) => known
            .iter()
            .map(|known| Known {
                model: None,
                ..known.clone()
            })
            .collect(),
        Personas::Usual => Vec::new(),
    };
    if sitting.is_empty() {
        sitting = usual()?;
    }
    let is_given = matches!(personas, Personas::Named(_));
    let named: Vec<ModelRef> = models
        .iter()
        .map(|name| choices.model(name))
        .collect::<Result<_, _>>()?;
    match named.len() {
        models if models > 1 && is_given && models != sitting.len() => {
            return Err(Error::usage(format!(
                "`--personas` names {}, and `--model` {models}",
                count(sitting.len(), "seat")
            ))
            .hint("give one model for each persona, in their order, or a single one for all"));
        }
        // As many seats as models, unless the personas are given.
        models if models > 1 => sitting = sitting.into_iter().cycle().take(models).collect(),
        _ => {}
    }
    let own = |(at, known): (usize, &Known)| match (&known.model, named.as_slice()) {
        (Some(model), _) => choices
            .model(model)
            .map(Some)
            .map_err(|error| error.hint(format!("it is the model of `{}`", known.persona.id))),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only.clone())),
        (None, several) => Ok(several.get(at).cloned()),
    };
    let own: Vec<Option<ModelRef>> = sitting
        .iter()
        .enumerate()
        .map(own)
        .collect::<Result<_, _>>()?;
    let ids: Vec<&str> = sitting
        .iter()
        .map(|known| known.persona.id.as_str())
        .collect();
    let models = choices.fill(&ids, own)?;
    Ok(seated(
        sitting
            .iter()
            .map(|known| known.persona.clone())
            .zip(models),
    ))
}

impl Choices<'_> {
    /// A model that the user named, at a provider that can be asked.
    pub(crate) fn model(&self, name: &str) -> Result<ModelRef, Error> {
        let model = self.catalog.resolve(name.trim()).map_err(|unknown| {
            let hint = match unknown.suggestions.as_slice() {
                [] => "write it as `provider:model`".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            Error::usage(unknown).hint(hint)
        })?;
        self.check_provider(&model.provider)?;
        Ok(model)
    }

    /// Whether a provider can be asked now.
    pub(crate) fn can_be_asked(&self, provider: &ProviderId) -> bool {
        self.check_provider(provider).is_ok()
    }

    fn check_provider(&self, provider: &ProviderId) -> Result<(), Error> {
        if provider.is_local() {
            return match self.local {
                Some(_) => Ok(()),
                None => Err(Error::usage("this build has no local model")
                    .hint("build with it: cargo build --release --features local")),
            };
        }
        let Some(reach) = self.reached.iter().find(|reach| reach.id == *provider) else {
            let known: Vec<&str> = self.reached.iter().map(|reach| reach.id.as_str()).collect();
            return Err(Error::usage(format!("no provider is called `{provider}`"))
                .hint(format!("one of: {}, local", known.join(", ")))
                .hint(format!(
                    "or give it an address: conclave config set endpoints.{provider}.base_url URL"
                )));
        };
        match reach.missing_key() {
            None => self.servers.check(reach),
            Some(variable) => Err(Error::usage(format!(
                "there is no key for {}",
                vendors::name(provider)
            ))
            .hint(format!("set {variable}"))),
        }
    }

    /// The providers that models can be chosen from unasked: those that can be asked, but for
    /// servers that may not be running.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = &Reach> {
        self.reached
            .iter()
            .filter(|reach| reach.is_chosen_unasked())
    }

    fn is_keyed(&self, provider: &ProviderId) -> bool {
        self.keyed().any(|reach| reach.id == *provider)
    }

    /// Gives every seat a model that has none: that of a default persona its own vendor's first
    /// choice where there is a key; the others the best of what is left, of families that sit least
    /// often.
    fn fill(&self, personas: &[&str], own: Vec<Option<ModelRef>>) -> Result<Vec<ModelRef>, Error> {
        if let Some(all) = own.iter().cloned().collect::<Option<Vec<_>>>() {
            return Ok(all);
        }
        let Some(first) = self.keyed().next() else {
            let Some(model) = self.servers.default_model().or(self.local.as_ref()) else {
                return Err(no_models());
            };
            return Ok(own
                .into_iter()
                .map(|own| own.unwrap_or_else(|| model.clone()))
                .collect());
        };
        let mut seats = own;
        let mut met = BTreeSet::new();
        for (persona, seat) in personas.iter().zip(&mut seats) {
            let vendor = default_seats()
                .find(|(id, _)| id == persona)
                .map(|(_, vendor)| ProviderId::new(vendor.id));
            // Twice the same persona is wanted for two opinions.
            if let (None, Some(vendor), true) = (
                &seat,
                vendor.filter(|vendor| self.is_keyed(vendor)),
                met.insert(*persona),
            ) {
                *seat = self.ranked(&vendor).first().map(|model| model.to_ref());
            }
        }
        let mut pool: Vec<&Model> = self
            .keyed()
            .flat_map(|reach| self.ranked(&reach.id))
            .collect();
        if pool.is_empty() {
            return Err(Error::usage(format!("{} has no usual models to ask", vendors::name(&first.id)))
                .hint(format!("name one: --model {}:MODEL", first.id))
                .hint(format!(
                    "or set it for good: conclave config set panel \"security={0}:MODEL,architect={0}:MODEL,pragmatic={0}:MODEL\"",
                    first.id
                )));
        }
        pool.sort_by_key(|model| (model.tier, model.rank));
        for at in 0..seats.len() {
            let sits = |wanted: &ModelRef| {
                seats
                    .iter()
                    .flatten()
                    .filter(|model| *model == wanted)
                    .count()
            };
            let family_sits = |wanted: &ModelRef| {
                seats
                    .iter()
                    .flatten()
                    .filter(|model| family(model) == family(wanted))
                    .count()
            };
            let best = pool
                .iter()
                .map(|model| model.to_ref())
                .min_by_key(|model| (sits(model), family_sits(model)));
            if let Some(seat @ None) = seats.get_mut(at) {
                *seat = best;
            }
        }
        seats
            .into_iter()
            .map(|seat| seat.ok_or_else(no_models))
            .collect()
    }

    fn ranked(&self, vendor: &ProviderId) -> Vec<&Model> {
        self.catalog.defaults(vendor)
    }

    /// No vendor's: the embedded model, a server on the user's own machine, or an endpoint from the
    /// settings.
    pub(crate) fn is_users_own(&self, provider: &ProviderId) -> bool {
        let is_own = |reach: &Reach| reach.id == *provider && !reach.is_cloud();
        provider.is_local() || self.reached.iter().any(is_own)
    }

    /// It runs where the user has it, or is reached at an address of the user's.
    pub(crate) fn is_kept_close(&self, provider: &ProviderId) -> bool {
        let is_at_home = || {
            self.reached
                .iter()
                .any(|reach| reach.id == *provider && reach.is_at_home())
        };
        self.is_users_own(provider) || !is_at_home()
    }

    /// The best model of a vendor that has a key and no seat, else the panel's OpenAI model, else
    /// its best; then one of each other vendor.
    ///
    /// A panel that is kept to the user's own servers judges itself: what is asked there goes to no
    /// vendor unasked.
    pub(crate) fn default_judges(&self, seats: &[Seat]) -> Vec<ModelRef> {
        if seats
            .iter()
            .all(|seat| self.is_users_own(&seat.model.provider))
        {
            let mut judges: Vec<ModelRef> = seats.iter().map(|seat| seat.model.clone()).collect();
            let mut met = BTreeSet::new();
            judges.retain(|judge| met.insert(judge.clone()));
            return judges;
        }
        let seated = |vendor: &ProviderId| seats.iter().any(|seat| seat.model.provider == *vendor);
        let outside = self
            .keyed()
            .filter(|reach| !seated(&reach.id))
            .find_map(|reach| self.ranked(&reach.id).first().map(|model| model.to_ref()));
        let usual = seats
            .iter()
            .find(|seat| seat.model.provider.as_str() == USUAL_JUDGE)
            .map(|seat| seat.model.clone());
        let best = seats.iter().map(|seat| &seat.model).min_by_key(|model| {
            self.catalog
                .find(model)
                .map_or((u8::MAX, None), |found| (found.tier, found.rank))
        });
        let mut judges: Vec<ModelRef> = outside
            .or(usual)
            .or_else(|| best.cloned())
            .into_iter()
            .collect();
        // To stand in for a judge that may well answer is no reason to have a key unlocked.
        let at_hand = self
            .keyed()
            .filter(|reach| seated(&reach.id) || !reach.has_costly_key());
        let firsts =
            at_hand.filter_map(|reach| self.ranked(&reach.id).first().map(|model| model.to_ref()));
        for model in firsts.chain(seats.iter().map(|seat| seat.model.clone())) {
            if !judges.contains(&model) {
                judges.push(model);
            }
        }
        judges
    }
}

/// Who made a model, as far as its name tells: a reseller has the maker before a slash.
fn family(model: &ModelRef) -> &str {
    model
        .model
        .split_once('/')
        .map_or(model.provider.as_str(), |(maker, _)| maker)
}

/// The variable that a vendor's key is looked for in first.
fn key_variable(vendor: &Vendor) -> &'static str {
    vendor.key_variables.first().copied().unwrap_or_default()
}

fn no_models() -> Error {
    Error::usage("there is no model to ask: no key is set, no local server answers, and this build has no local model")
        .hint("set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
        .hint("or start a local server, such as Ollama")
        .hint("or build the local model in: cargo build --release --features local")
}

fn notices(panel: &Panel, wanted: &Wanted, choices: &Choices<'_>) -> Vec<String> {
    let mut notices = Vec::new();
    if panel.seats.len() < USUAL_SEATS {
        notices.push(format!(
            "a panel of {} is small: three or more seats are usual",
            panel.seats.len()
        ));
    }
    // A reseller's key alone brings models of several families.
    let unasked = !wanted.names_all_models();
    if let (true, [only]) = (
        unasked && panel.is_one_family(),
        choices.keyed().collect::<Vec<_>>().as_slice(),
    ) {
        let others: Vec<&str> = default_seats()
            .filter(|(_, vendor)| vendor.id != only.id.as_str())
            .map(|(_, vendor)| key_variable(vendor))
            .collect();
        notices.push(format!(
            "only {} has a key: with {} as well, models of other families would sit on the panel",
            vendors::name(&only.id),
            others.join(" or ")
        ));
    }
    let models: BTreeSet<&ModelRef> = panel
        .seats
        .iter()
        .map(|seat| &seat.model)
        .chain(&panel.judges)
        .collect();
    notices.extend(
        models
            .into_iter()
            .filter_map(|model| choices.catalog.notices(model, choices.now)),
    );
    notices
}

#[cfg(test)]
mod tests;
