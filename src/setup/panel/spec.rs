//! What a panel is to be: the request, completed from the settings, with personas resolved and
//! models still by name.

use std::collections::BTreeSet;

use crate::config::personas::{AUTO, NamedPanel};
use crate::config::settings::Settings;
use crate::domain::ids::ModelRef;
use crate::domain::model::vendors::LocalServerKind;
use crate::domain::names::near_or_all;
use crate::error::Error;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::personas::{PersonaEntry, PersonaRegistry};
use crate::setup::provider_access::ProviderAccess;
use crate::setup::request::PanelRequest;

/// The panel to select.
#[derive(Clone, Debug, Default)]
pub struct PanelSpec {
    /// `security=anthropic:claude-sonnet-5-5,…`
    pub panel: Option<String>,
    /// Models by seat; a single one plays every seat.
    pub models: Vec<String>,
    pub personas: PersonaChoice,
    /// The judge and its fallbacks, separated by commas.
    pub judge: Option<String>,
}

/// The personas of a panel whose seats are not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PersonaChoice {
    /// Those of the default seats.
    #[default]
    Usual,
    /// These, each in a seat of its own.
    Named(Vec<PersonaEntry>),
    /// These, repeated when there are more seats, cut off when there are fewer.
    ByDefault(Vec<PersonaEntry>),
    /// Those that the helper model selects. Until then these, or those of the default seats.
    Auto(Vec<PersonaEntry>),
}

impl PanelSpec {
    /// The judge of a named panel comes after the request's and before the settings'.
    pub fn new(
        request: &PanelRequest,
        settings: &Settings,
        personas: &PersonaRegistry,
    ) -> Result<Self, Error> {
        if request.panel.is_some() && request.personas.is_some() {
            return Err(
                Error::usage("`--panel` and `--personas` both name the personas")
                    .hint("use one of the two"),
            );
        }
        let is_open = request.models.is_empty() && request.personas.is_none();
        let of_settings = settings.panel.as_ref().filter(|_| is_open);
        let panel = request.panel.clone();
        let panel = panel.or_else(|| of_settings.map(|seats| seats.join(",")));
        // Seats have a `=`; anything else is meant as the name of a panel.
        let is_name = |panel: &&str| !panel.trim().is_empty() && !panel.contains(['=', ',']);
        let name = panel.as_deref().filter(is_name);
        let named = name.map(|name| named_panel(name.trim(), settings));
        let named = named.transpose()?;
        let of_panel = named.and_then(|named| named.judge.as_deref());
        let judge = request.judge.as_deref().or(of_panel);
        let judge = judge.or(settings.judge.as_deref());
        let panel = named.map(|named| named.seats.join(",")).or(panel);
        let personas = if panel.is_some() {
            PersonaChoice::Usual
        } else {
            PersonaChoice::new(request.personas.as_deref(), settings, personas)?
        };
        Ok(Self {
            panel,
            models: request.models.clone(),
            personas,
            judge: judge.map(ToOwned::to_owned),
        })
    }

    fn models_of_personas(&self) -> impl Iterator<Item = &str> {
        let entries = self.personas.entries().iter();
        entries.filter_map(|entry| entry.model.as_deref())
    }

    /// Returns whether no model has to be chosen for any seat.
    pub fn names_all_models(&self) -> bool {
        let entries = self.personas.entries();
        let by_personas = !entries.is_empty() && entries.iter().all(|entry| entry.model.is_some());
        self.panel.is_some() || !self.models.is_empty() || by_personas
    }

    /// Returns whether models must be chosen, and no key is set.
    pub fn needs_keyless(&self, access_list: &[ProviderAccess]) -> bool {
        !access_list.iter().any(ProviderAccess::is_selectable) && !self.names_all_models()
    }

    /// The servers whose models are named, and any server when no model is named, no key is set and
    /// no program fills the panel.
    pub async fn find_servers(
        &self,
        access_list: &[ProviderAccess],
        usual_programs: &[ModelRef],
        search: ServerSearch,
    ) -> LocalServerSet {
        let by_default = usual_programs.is_empty() && self.needs_keyless(access_list);
        LocalServerSet::find(search, &self.local_models(), by_default).await
    }

    pub fn local_models(&self) -> BTreeSet<(LocalServerKind, String)> {
        let seats = self.panel.iter().flat_map(|panel| panel.split(','));
        let seats = seats.map(|seat| seat.split_once('=').map_or(seat, |(_, model)| model));
        let judges = self.judge.iter().flat_map(|judges| judges.split(','));
        let models = self.models.iter().map(String::as_str);
        let by_flags = seats.chain(models).chain(judges);
        let names = by_flags.chain(self.models_of_personas());
        let server_and_model = |name: &str| {
            let model: ModelRef = name.trim().parse().ok()?;
            Some((LocalServerKind::of(&model.provider)?, model.model))
        };
        names.filter_map(server_and_model).collect()
    }
}

impl PersonaChoice {
    fn entries(&self) -> &[PersonaEntry] {
        match self {
            Self::Named(entries) | Self::ByDefault(entries) => entries,
            Self::Usual | Self::Auto(_) => &[],
        }
    }

    pub fn new(
        requested: Option<&str>,
        settings: &Settings,
        personas: &PersonaRegistry,
    ) -> Result<Self, Error> {
        let set = settings.default_personas.as_deref();
        let is_auto = |names: &[String]| matches!(names, [only] if only.trim() == AUTO);
        let by_default = || match set {
            Some(names) if !is_auto(names) => personas.seats(names),
            Some(_) | None => Ok(Vec::new()),
        };
        let Some(requested) = requested else {
            return Ok(match set {
                None => Self::Usual,
                Some(names) if is_auto(names) => Self::Auto(Vec::new()),
                Some(_) => Self::ByDefault(by_default()?),
            });
        };
        let names = requested.split(',').map(str::trim).map(ToOwned::to_owned);
        let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        if is_auto(&names) {
            return Ok(Self::Auto(by_default()?));
        }
        match personas.seats(&names)? {
            none if none.is_empty() => Err(Error::usage("`--personas` names no persona")
                .hint("see the personas with `conclave personas`")),
            entries => Ok(Self::Named(entries)),
        }
    }
}

fn named_panel<'a>(name: &str, settings: &'a Settings) -> Result<&'a NamedPanel, Error> {
    settings.panels.get(name).ok_or_else(|| {
        let names: Vec<&str> = settings.panels.keys().map(String::as_str).collect();
        let hint = if names.is_empty() {
            format!("define it with `conclave config set panels.{name} {EXAMPLE}`")
        } else {
            near_or_all(name, &names)
        };
        Error::usage(format!("no panel is called `{name}`"))
            .hint(hint)
            .hint(format!("or name the seats: `--panel {EXAMPLE}`"))
    })
}

/// An example of seats, for hints.
pub(super) const EXAMPLE: &str =
    "\"security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol\"";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::samples::settings;

    fn spec(request: &PanelRequest, config: &str) -> Result<PanelSpec, Error> {
        PanelSpec::new(request, &settings(config), &PersonaRegistry::builtin())
    }

    fn of_panel(panel: Option<&str>, judge: Option<&str>) -> PanelRequest {
        PanelRequest {
            panel: panel.map(ToOwned::to_owned),
            judge: judge.map(ToOwned::to_owned),
            ..PanelRequest::default()
        }
    }

    #[test]
    fn a_panel_with_a_name_has_its_seats_and_its_judge() {
        let config = r#"{"panels": {"fast": {"seats": ["security=a:m"], "judge": "a:j"}, "slow": "security=b:m"}, "panel": "fast", "judge": "c:j"}"#;
        let complete = |panel: Option<&str>, judge: Option<&str>| {
            let spec = spec(&of_panel(panel, judge), config).unwrap();
            (spec.panel.unwrap(), spec.judge.unwrap())
        };
        let shown = |panel: &str, judge: &str| (panel.to_owned(), judge.to_owned());
        assert_eq!(complete(None, None), shown("security=a:m", "a:j"));
        assert_eq!(complete(None, Some("d:j")), shown("security=a:m", "d:j"));
        assert_eq!(complete(Some(" slow "), None), shown("security=b:m", "c:j"));
        assert_eq!(
            complete(Some("security=x:m"), None),
            shown("security=x:m", "c:j")
        );
        let models = PanelRequest {
            models: vec!["x:m".to_owned()],
            ..PanelRequest::default()
        };
        assert_eq!(
            spec(&models, config).unwrap().panel,
            None,
            "models that are named outweigh the settings"
        );
    }

    #[test]
    fn an_unknown_panel_name_is_refused_with_the_known_ones() {
        let hints = |config: &str, name: &str| {
            let error = spec(&of_panel(Some(name), None), config).unwrap_err();
            assert_eq!(error.to_string(), format!("no panel is called `{name}`"));
            error.hints[0].clone()
        };
        let config = r#"{"panels": {"fast": "security=a:m", "slow": "security=b:m"}}"#;
        assert_eq!(hints(config, "fats"), "did you mean `fast`?");
        assert_eq!(hints(config, "xyz"), "one of: fast, slow");
        assert!(hints("{}", "xyz").starts_with("define it with `conclave config set panels.xyz "));
    }

    #[test]
    fn flags_come_before_the_settings_and_a_panel_before_personas() {
        let ids = |personas: &PersonaChoice| match personas {
            PersonaChoice::Usual => "usual".to_owned(),
            PersonaChoice::Named(known) => format!("named {}", known.len()),
            PersonaChoice::ByDefault(known) => format!("default {}", known.len()),
            PersonaChoice::Auto(known) => format!("auto {}", known.len()),
        };
        let set = r#"{"default_personas": "skeptic,testing", "panel": "security=openai:x"}"#;
        let complete = |names: Option<&str>, config: &str| {
            let request = PanelRequest {
                personas: names.map(ToOwned::to_owned),
                ..PanelRequest::default()
            };
            let spec = spec(&request, config).unwrap();
            (spec.panel, ids(&spec.personas))
        };
        let seats = Some("security=openai:x".to_owned());
        assert_eq!(complete(None, set), (seats, "usual".to_owned()));
        let named = |personas: &str| (None, personas.to_owned());
        assert_eq!(complete(Some("devops"), set), named("named 1"));
        assert_eq!(complete(Some("auto"), set), named("auto 2"));
        let default = r#"{"default_personas": "skeptic,testing"}"#;
        assert_eq!(complete(None, default), named("default 2"));
        let auto = r#"{"default_personas": "auto"}"#;
        assert_eq!(complete(None, auto), named("auto 0"));
    }
}
