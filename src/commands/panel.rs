//! Who sits on the panel and who judges, from flags, settings, the keys that are there and the catalogue.

use std::collections::BTreeSet;

use crate::commands::servers::Servers;
use crate::config::keys::likely;
use crate::config::panels::NamedPanel;
use crate::config::secrets;
use crate::config::settings::Settings;
use crate::consultation::prompt::Templates;
use crate::domain::ids::{ModelRef, ProviderId, SeatId};
use crate::domain::panel::{Panel, Persona, Seat};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::providers::catalog::{Catalog, Model};
use crate::providers::vendors::{self, Place};

use super::reach::Reach;

/// The personas of the default seats, each with the vendor that plays it when all keys are there.
const DEFAULT_SEATS: [(&str, &str); 3] = [("security", "anthropic"), ("architecture", "openai"), ("pragmatic", "google")];

/// Judges where the panel has none of its own to offer, as the original design has it.
const USUAL_JUDGE: &str = "openai";

/// A panel of fewer seats is a weak one.
const USUAL_SEATS: usize = DEFAULT_SEATS.len();

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// `security=anthropic:claude-sonnet-5-5,…`
    pub panel: Option<String>,
    /// Models by seat; a single one plays every seat.
    pub models: Vec<String>,
    /// The judge and its fallbacks, separated by commas.
    pub judge: Option<String>,
}

/// What there is to choose from.
#[derive(Debug)]
pub(crate) struct Choices<'a> {
    pub catalog: &'a Catalog,
    pub templates: &'a Templates,
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
    pub notices: Vec<String>,
}

/// What the command line says of the panel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags<'a> {
    pub panel: Option<&'a str>,
    pub models: &'a [String],
    pub judge: Option<&'a str>,
}

impl Wanted {
    /// What the flags say, else the settings. The judge of a panel with a name comes after the flag and before the settings.
    pub(crate) fn of(flags: Flags<'_>, settings: &Settings) -> Result<Self, Error> {
        let usual = || settings.panel.as_ref().filter(|_| flags.models.is_empty()).map(|seats| seats.join(","));
        let panel = flags.panel.map(ToOwned::to_owned).or_else(usual);
        let named = panel.as_deref().filter(|panel| is_name(panel)).map(|name| named(name.trim(), settings)).transpose()?;
        let judge = flags.judge.or(named.and_then(|named| named.judge.as_deref())).or(settings.judge.as_deref());
        let panel = named.map(|named| named.seats.join(",")).or(panel);
        Ok(Self { panel, models: flags.models.to_vec(), judge: judge.map(ToOwned::to_owned) })
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
        let error = match (likely(name, names()), names().collect::<Vec<_>>().as_slice()) {
            (Some(near), _) => error.hint(format!("did you mean `{near}`?")),
            (None, []) => error.hint(format!("give it seats: conclave config set panels.{name} {EXAMPLE}")),
            (None, names) => error.hint(format!("one of: {}", names.join(", "))),
        };
        error.hint(format!("or name the seats: --panel {EXAMPLE}"))
    })
}

const EXAMPLE: &str = "\"security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol\"";

/// Puts the panel together.
pub(crate) fn choose(wanted: &Wanted, choices: &Choices<'_>) -> Result<Chosen, Error> {
    let seats = match (&wanted.panel, wanted.models.as_slice()) {
        (Some(_), [_, ..]) => return Err(Error::usage("`--panel` and `--model` both name the models").hint("use one of the two")),
        (Some(panel), []) => listed(panel, choices)?,
        (None, [only]) => {
            let model = choices.model(only)?;
            by_default_personas(std::iter::repeat_n(model, USUAL_SEATS), choices)?
        }
        (None, [_, ..]) => {
            let models: Vec<ModelRef> = wanted.models.iter().map(|name| choices.model(name)).collect::<Result<_, _>>()?;
            by_default_personas(models, choices)?
        }
        (None, []) => by_default_personas(choices.default_models()?, choices)?,
    };
    let judges = match &wanted.judge {
        Some(names) => names.split(',').map(|name| choices.model(name)).collect::<Result<Vec<_>, _>>()?,
        None => choices.default_judges(&seats),
    };
    let panel = Panel { seats, judges };
    let notices = notices(&panel, wanted, choices);
    Ok(Chosen { panel, notices })
}

/// Reads `persona=provider:model,…`.
fn listed(panel: &str, choices: &Choices<'_>) -> Result<Vec<Seat>, Error> {
    let mut seats = Seats::default();
    for entry in panel.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (persona, model) = entry.split_once('=').ok_or_else(|| {
            Error::usage(format!("`{entry}` does not name a seat as `persona=provider:model`"))
                .hint(format!("for example: --panel {EXAMPLE}"))
        })?;
        seats.add(choices.persona(persona)?, choices.model(model)?);
    }
    if seats.0.is_empty() {
        Err(Error::usage("the panel has no seat").hint("name at least one `persona=provider:model`"))
    } else {
        Ok(seats.0)
    }
}

fn by_default_personas(models: impl IntoIterator<Item = ModelRef>, choices: &Choices<'_>) -> Result<Vec<Seat>, Error> {
    let mut seats = Seats::default();
    for (model, (persona, _)) in models.into_iter().zip(DEFAULT_SEATS.iter().cycle()) {
        seats.add(choices.persona(persona)?, model);
    }
    Ok(seats.0)
}

/// Seats with ids that stay unique.
#[derive(Default)]
struct Seats(Vec<Seat>);

impl Seats {
    fn add(&mut self, persona: Persona, model: ModelRef) {
        let same = self.0.iter().filter(|seat| seat.persona.id == persona.id).count();
        let (id, name) = match same {
            0 => (persona.id.clone(), persona.name.clone()),
            n => (format!("{}-{}", persona.id, n + 1), format!("{} {}", persona.name, n + 1)),
        };
        self.0.push(Seat { id: SeatId::new(id), persona: Persona { name, ..persona }, model });
    }
}

impl Choices<'_> {
    fn persona(&self, name: &str) -> Result<Persona, Error> {
        self.templates.persona(name).ok_or_else(|| {
            let known: Vec<String> = self.templates.personas().into_iter().map(|persona| persona.id).collect();
            Error::usage(format!("no persona is called `{}`", name.trim())).hint(format!("one of: {}", known.join(", ")))
        })
    }

    /// A model that the user named, at a provider that can be asked.
    fn model(&self, name: &str) -> Result<ModelRef, Error> {
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

    fn check_provider(&self, provider: &ProviderId) -> Result<(), Error> {
        if provider.is_local() {
            return match self.local {
                Some(_) => Ok(()),
                None => Err(Error::usage("this build has no local model").hint("build with it: cargo build --release --features local")),
            };
        }
        let Some(reach) = self.reached.iter().find(|reach| reach.id == *provider) else {
            let known: Vec<&str> = self.reached.iter().map(|reach| reach.id.as_str()).collect();
            return Err(Error::usage(format!("no provider is called `{provider}`"))
                .hint(format!("one of: {}, local", known.join(", ")))
                .hint(format!("or give it an address: conclave config set endpoints.{provider}.base_url URL")));
        };
        match reach.missing_key() {
            None => self.servers.check(reach),
            Some(variable) => Err(Error::usage(format!("there is no key for {}", vendors::name(provider))).hint(format!("set {variable}"))),
        }
    }

    /// The providers that models can be chosen from unasked: those that can be asked, but for servers that may not be running.
    fn keyed(&self) -> impl Iterator<Item = &Reach> {
        self.reached.iter().filter(|reach| reach.is_chosen_unasked())
    }

    fn is_keyed(&self, provider: &ProviderId) -> bool {
        self.keyed().any(|reach| reach.id == *provider)
    }

    /// The models of the default seats: each seat its own vendor's first choice where there is a key, the best of what is left elsewhere.
    fn default_models(&self) -> Result<Vec<ModelRef>, Error> {
        let Some(first) = self.keyed().next() else {
            return match self.servers.default_model().or(self.local.as_ref()) {
                Some(model) => Ok(vec![model.clone(); USUAL_SEATS]),
                None => Err(no_models()),
            };
        };
        let mut taken = BTreeSet::new();
        let own = DEFAULT_SEATS.map(|(_, vendor)| {
            let vendor = ProviderId::new(vendor);
            let first = self.is_keyed(&vendor).then(|| self.ranked(&vendor).first().map(|model| model.to_ref())).flatten();
            taken.extend(first.clone());
            first
        });
        let mut pool: Vec<&Model> = self.keyed().flat_map(|reach| self.ranked(&reach.id)).collect();
        if pool.is_empty() {
            return Err(Error::usage(format!("{} has no usual models to ask", vendors::name(&first.id)))
                .hint(format!("name one: --model {}:MODEL", first.id))
                .hint(format!(
                    "or set it for good: conclave config set panel \"security={0}:MODEL,architect={0}:MODEL,pragmatic={0}:MODEL\"",
                    first.id
                )));
        }
        pool.sort_by_key(|model| (model.tier, model.rank));
        let mut rest = pool.iter().map(|model| model.to_ref()).filter(|model| !taken.contains(model)).collect::<Vec<_>>().into_iter();
        let mut again = pool.iter().map(|model| model.to_ref()).cycle();
        own.into_iter().map(|own| own.or_else(|| rest.next()).or_else(|| again.next()).ok_or_else(no_models)).collect()
    }

    fn ranked(&self, vendor: &ProviderId) -> Vec<&Model> {
        self.catalog.defaults(vendor)
    }

    /// No vendor's: the embedded model, a server on the user's own machine, or an endpoint from the settings.
    fn is_users_own(&self, provider: &ProviderId) -> bool {
        let is_own = |reach: &Reach| reach.id == *provider && reach.place.is_none_or(|place| place == Place::OwnMachine);
        provider.is_local() || self.reached.iter().any(is_own)
    }

    /// The best model of a vendor that has a key and no seat, else the panel's OpenAI model, else its best; then one of each other vendor.
    ///
    /// A panel that is kept to the user's own servers judges itself: what is asked there goes to no vendor unasked.
    fn default_judges(&self, seats: &[Seat]) -> Vec<ModelRef> {
        if seats.iter().all(|seat| self.is_users_own(&seat.model.provider)) {
            let mut judges: Vec<ModelRef> = seats.iter().map(|seat| seat.model.clone()).collect();
            let mut met = BTreeSet::new();
            judges.retain(|judge| met.insert(judge.clone()));
            return judges;
        }
        let seated = |vendor: &ProviderId| seats.iter().any(|seat| seat.model.provider == *vendor);
        let outside =
            self.keyed().filter(|reach| !seated(&reach.id)).find_map(|reach| self.ranked(&reach.id).first().map(|model| model.to_ref()));
        let usual = seats.iter().find(|seat| seat.model.provider.as_str() == USUAL_JUDGE).map(|seat| seat.model.clone());
        let best = seats
            .iter()
            .map(|seat| &seat.model)
            .min_by_key(|model| self.catalog.find(model).map_or((u8::MAX, None), |found| (found.tier, found.rank)));
        let mut judges: Vec<ModelRef> = outside.or(usual).or_else(|| best.cloned()).into_iter().collect();
        // To stand in for a judge that may well answer is no reason to have a key unlocked.
        let at_hand = self.keyed().filter(|reach| seated(&reach.id) || !reach.has_costly_key());
        let firsts = at_hand.filter_map(|reach| self.ranked(&reach.id).first().map(|model| model.to_ref()));
        for model in firsts.chain(seats.iter().map(|seat| seat.model.clone())) {
            if !judges.contains(&model) {
                judges.push(model);
            }
        }
        judges
    }
}

/// The variable that a vendor's key is looked for in first.
fn key_variable(vendor: &str) -> &'static str {
    secrets::find(vendor).and_then(|variables| variables.keys.first()).copied().unwrap_or_default()
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
        notices.push(format!("a panel of {} is small: three or more seats are usual", panel.seats.len()));
    }
    // A reseller's key alone brings models of several families.
    let unasked = wanted.panel.is_none() && wanted.models.is_empty();
    if let (true, [only]) = (unasked && panel.is_one_family(), choices.keyed().collect::<Vec<_>>().as_slice()) {
        let others: Vec<&str> =
            DEFAULT_SEATS.iter().filter(|(_, vendor)| *vendor != only.id.as_str()).map(|(_, vendor)| key_variable(vendor)).collect();
        notices.push(format!(
            "only {} has a key: with {} as well, models of other families would sit on the panel",
            vendors::name(&only.id),
            others.join(" or ")
        ));
    }
    let models: BTreeSet<&ModelRef> = panel.seats.iter().map(|seat| &seat.model).chain(&panel.judges).collect();
    notices.extend(models.into_iter().filter_map(|model| choices.catalog.notices(model, choices.now)));
    notices
}

#[cfg(test)]
mod tests;
