//! Who sits on the panel and who judges, from flags, settings, the keys that are there and the catalogue.

use std::collections::BTreeSet;

use crate::commands::servers::Servers;
use crate::config::secrets;
use crate::consultation::prompt::Templates;
use crate::domain::ids::{ModelRef, ProviderId, SeatId};
use crate::domain::panel::{Panel, Persona, Seat};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::providers::catalog::{Catalog, Model};
use crate::providers::vendors::{self, VENDORS};

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
    /// Vendors with a key, in the order in which they fill a panel.
    pub keyed: Vec<ProviderId>,
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
                .hint("for example: --panel \"security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol\"")
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
        if self.keyed.contains(provider) {
            return Ok(());
        }
        if let Some(checked) = self.servers.check(provider) {
            return checked;
        }
        match vendors::find(provider) {
            None => {
                let known: Vec<&str> = VENDORS.iter().map(|vendor| vendor.id).collect();
                Err(Error::usage(format!("no provider is called `{provider}`")).hint(format!("one of: {}, local", known.join(", "))))
            }
            Some(vendor) => {
                Err(Error::usage(format!("there is no key for {}", vendor.name)).hint(format!("set {}", key_variable(vendor.id))))
            }
        }
    }

    /// The models of the default seats: each seat its own vendor's first choice where there is a key, the best of what is left elsewhere.
    fn default_models(&self) -> Result<Vec<ModelRef>, Error> {
        if self.keyed.is_empty() {
            return match self.servers.default_model().or(self.local.as_ref()) {
                Some(model) => Ok(vec![model.clone(); USUAL_SEATS]),
                None => Err(no_models()),
            };
        }
        let mut taken = BTreeSet::new();
        let own = DEFAULT_SEATS.map(|(_, vendor)| {
            let vendor = ProviderId::new(vendor);
            let first = self.keyed.contains(&vendor).then(|| self.ranked(&vendor).first().map(|model| model.to_ref())).flatten();
            taken.extend(first.clone());
            first
        });
        let mut pool: Vec<&Model> = self.keyed.iter().flat_map(|vendor| self.ranked(vendor)).collect();
        pool.sort_by_key(|model| (model.tier, model.rank));
        let mut rest = pool.iter().map(|model| model.to_ref()).filter(|model| !taken.contains(model)).collect::<Vec<_>>().into_iter();
        let mut again = pool.iter().map(|model| model.to_ref()).cycle();
        own.into_iter().map(|own| own.or_else(|| rest.next()).or_else(|| again.next()).ok_or_else(no_models)).collect()
    }

    fn ranked(&self, vendor: &ProviderId) -> Vec<&Model> {
        self.catalog.defaults(vendor)
    }

    /// The best model of a vendor that has a key and no seat, else the panel's OpenAI model, else its best; then one of each other vendor.
    fn default_judges(&self, seats: &[Seat]) -> Vec<ModelRef> {
        let seated = |vendor: &ProviderId| seats.iter().any(|seat| seat.model.provider == *vendor);
        let outside =
            self.keyed.iter().filter(|vendor| !seated(vendor)).find_map(|vendor| self.ranked(vendor).first().map(|model| model.to_ref()));
        let usual = seats.iter().find(|seat| seat.model.provider.as_str() == USUAL_JUDGE).map(|seat| seat.model.clone());
        let best = seats
            .iter()
            .map(|seat| &seat.model)
            .min_by_key(|model| self.catalog.find(model).map_or((u8::MAX, None), |found| (found.tier, found.rank)));
        let mut judges: Vec<ModelRef> = outside.or(usual).or_else(|| best.cloned()).into_iter().collect();
        let firsts = self.keyed.iter().filter_map(|vendor| self.ranked(vendor).first().map(|model| model.to_ref()));
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
    secrets::VENDORS
        .iter()
        .find(|variables| variables.provider == vendor)
        .and_then(|variables| variables.keys.first())
        .copied()
        .unwrap_or_default()
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
    if let (true, [only]) = (wanted.panel.is_none() && wanted.models.is_empty() && panel.is_one_family(), choices.keyed.as_slice()) {
        let others: Vec<&str> =
            DEFAULT_SEATS.iter().filter(|(_, vendor)| *vendor != only.as_str()).map(|(_, vendor)| key_variable(vendor)).collect();
        notices.push(format!(
            "only {} has a key: with {} as well, models of other families would sit on the panel",
            vendors::name(only),
            others.join(" or ")
        ));
    }
    let models: BTreeSet<&ModelRef> = panel.seats.iter().map(|seat| &seat.model).chain(&panel.judges).collect();
    notices.extend(models.into_iter().filter_map(|model| choices.catalog.notices(model, choices.now)));
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: [&str; 3] = ["anthropic", "openai", "google"];
    const NOW: Timestamp = Timestamp(1_795_252_598_000);

    fn chosen(keyed: &[&str], wanted: &Wanted) -> Result<Chosen, Error> {
        let (catalog, templates) = (Catalog::builtin(), Templates::builtin());
        let (local, servers) = (Some(ModelRef::new("local", "small")), Servers::none());
        choose(
            wanted,
            &Choices {
                catalog: &catalog,
                templates: &templates,
                keyed: keyed.iter().map(|id| ProviderId::new(*id)).collect(),
                local,
                servers: &servers,
                now: NOW,
            },
        )
    }

    fn seats(chosen: &Chosen) -> Vec<String> {
        chosen.panel.seats.iter().map(|seat| format!("{}={}", seat.id, seat.model)).collect()
    }

    fn judges(chosen: &Chosen) -> Vec<String> {
        chosen.panel.judges.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn with_three_keys_each_seat_has_its_own_vendor_and_openai_judges() {
        let chosen = chosen(&THREE, &Wanted::default()).unwrap();
        assert_eq!(
            seats(&chosen),
            ["security=anthropic:claude-sonnet-5-5", "architecture=openai:gpt-6.1-sol", "pragmatic=google:gemini-4-argon"]
        );
        assert_eq!(judges(&chosen)[0], "openai:gpt-6.1-sol");
        assert_eq!(chosen.panel.judges.len(), 3);
        assert!(!chosen.panel.is_one_family());
    }

    #[test]
    fn with_one_key_the_seats_are_different_models_of_that_vendor_and_the_user_is_told_what_more_would_add() {
        let chosen = chosen(&["anthropic"], &Wanted::default()).unwrap();
        let models: BTreeSet<_> = chosen.panel.seats.iter().map(|seat| seat.model.clone()).collect();
        assert_eq!(models.len(), 3);
        assert!(chosen.panel.is_one_family());
        assert!(chosen.notices.iter().any(|notice| notice.contains("OPENAI_API_KEY")), "{:?}", chosen.notices);
    }

    #[test]
    fn the_key_of_any_vendor_alone_seats_three_of_its_models_and_a_resellers_three_families() {
        for (vendor, expected) in [
            ("xai", ["xai:grok-4.7", "xai:grok-4.6", "xai:grok-4.3"]),
            ("mistral", ["mistral:mistral-large-4", "mistral:mistral-medium-latest", "mistral:mistral-small-latest"]),
            ("openrouter", ["openrouter:anthropic/claude-sonnet-5.5", "openrouter:openai/gpt-6.1-sol", "openrouter:google/gemini-4-argon"]),
        ] {
            let chosen = chosen(&[vendor], &Wanted::default()).unwrap();
            let models: Vec<String> = chosen.panel.seats.iter().map(|seat| seat.model.to_string()).collect();
            assert_eq!(models, expected);
            assert_eq!(judges(&chosen)[0], expected[0]);
            let is_told = chosen.notices.iter().any(|notice| notice.contains("models of other families would sit"));
            assert_eq!(is_told, vendor != "openrouter", "{:?}", chosen.notices);
        }
    }

    #[test]
    fn with_two_keys_the_judge_comes_from_the_panel_and_every_seat_is_filled() {
        let chosen = chosen(&["anthropic", "google"], &Wanted::default()).unwrap();
        assert_eq!(seats(&chosen)[0], "security=anthropic:claude-sonnet-5-5");
        assert_eq!(seats(&chosen)[2], "pragmatic=google:gemini-4-argon");
        assert_eq!(chosen.panel.seats.len(), 3);
    }

    #[test]
    fn a_vendor_with_a_key_and_no_seat_judges() {
        let wanted =
            Wanted { models: vec!["claude-sonnet-5-5".into(), "claude-opus-5-5".into(), "gpt-6.1-sol".into()], ..Wanted::default() };
        assert_eq!(judges(&chosen(&THREE, &wanted).unwrap())[0], "google:gemini-4-argon");
    }

    #[test]
    fn without_a_key_the_local_model_plays_every_seat_and_judges() {
        let chosen = chosen(&[], &Wanted::default()).unwrap();
        assert_eq!(seats(&chosen), ["security=local:small", "architecture=local:small", "pragmatic=local:small"]);
        assert_eq!(judges(&chosen), ["local:small"]);
    }

    #[test]
    fn a_listed_panel_takes_aliases_and_lets_a_persona_sit_twice() {
        let wanted = Wanted {
            panel: Some("security=anthropic:claude-x, architect=openai:gpt-y,security=gpt-6.1-sol".into()),
            judge: Some("gpt-6.1-sol,claude-opus-5-5".into()),
            ..Wanted::default()
        };
        let chosen = chosen(&THREE, &wanted).unwrap();
        assert_eq!(seats(&chosen), ["security=anthropic:claude-x", "architecture=openai:gpt-y", "security-2=openai:gpt-6.1-sol"]);
        assert_eq!(chosen.panel.seats[2].name(), "Security Expert 2");
        assert_eq!(judges(&chosen), ["openai:gpt-6.1-sol", "anthropic:claude-opus-5-5"]);
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_the_way_out() {
        for (panel, message, hint) in [
            ("nobody=gpt-6.1-sol", "no persona is called `nobody`", "security"),
            ("security", "`security` does not name a seat as `persona=provider:model`", "--panel"),
            ("security=acme:x", "no provider is called `acme`", "anthropic"),
            ("security=openai:x", "there is no key for OpenAI", "OPENAI_API_KEY"),
            (" , ", "the panel has no seat", "at least one"),
        ] {
            let error = chosen(&["anthropic"], &Wanted { panel: Some(panel.into()), ..Wanted::default() }).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(error.hints()[0].contains(hint), "{:?}", error.hints());
        }
    }
}
