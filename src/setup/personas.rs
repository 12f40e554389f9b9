//! The registry of personas: the built-in ones, those in files of the home and those in the
//! settings, and their sets.
//!
//! Invariant: no two personas answer to the same name.

use std::collections::BTreeMap;

use crate::config::paths::Home;
use crate::config::personas::{AUTO, CustomPersona, SET_MARK};
use crate::config::setting::{PERSONA_SETS, PERSONAS};
use crate::config::settings::Settings;
use crate::consultation::prompt::Templates;
use crate::domain::names::likely;
use crate::domain::panel::{Persona, RESERVED_NAMES, bare};
use crate::error::Error;

/// The origin of a persona.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonaOrigin {
    BuiltIn,
    /// A file of the home, by its name in the folder of prompts.
    File(String),
    Settings,
}

/// A persona, where it is defined, and the model that plays it when a seat names only the persona.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaEntry {
    pub persona: Persona,
    pub origin: PersonaOrigin,
    pub model: Option<String>,
}

/// All personas that can sit on a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaRegistry {
    pub entries: Vec<PersonaEntry>,
    pub sets: BTreeMap<String, Vec<String>>,
}

impl PersonaRegistry {
    /// Settings replace files, and files replace built-in ones.
    pub fn new(templates: &Templates, settings: &Settings) -> Result<Self, Error> {
        let of_file = |(file, persona)| PersonaEntry {
            persona,
            origin: if templates.is_builtin(file) {
                PersonaOrigin::BuiltIn
            } else {
                PersonaOrigin::File(format!("{file}.md"))
            },
            model: None,
        };
        let mut entries: Vec<PersonaEntry> = templates.persona_files().map(of_file).collect();
        for (id, custom) in &settings.personas {
            let replaced = entries.iter().position(|other| other.persona.id == *id);
            let replaced = replaced.map(|at| entries.remove(at));
            entries.push(from_settings(id, custom, replaced.as_ref()));
        }
        entries.sort_by(|one, other| one.persona.id.cmp(&other.persona.id));
        let registry = Self {
            entries,
            sets: settings.persona_sets.clone(),
        };
        registry.check_names()?;
        registry.check_sets()?;
        Ok(registry)
    }

    #[cfg(test)]
    pub fn builtin() -> Self {
        Self::new(&Templates::builtin(), &Settings::default()).unwrap()
    }

    pub fn personas(&self) -> Vec<Persona> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.persona.clone()).collect()
    }

    pub fn find(&self, name: &str) -> Result<&PersonaEntry, Error> {
        self.called(name).ok_or_else(|| {
            let ids = self.entries.iter().map(|entry| entry.persona.id.as_str());
            let hint = match self.likely(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of: {}", ids.collect::<Vec<_>>().join(", ")),
            };
            Error::usage(format!("no persona is called `{}`", name.trim())).hint(hint)
        })
    }

    /// Returns the personas of a list of names and `@sets`, in its order.
    pub fn seats(&self, names: &[String]) -> Result<Vec<PersonaEntry>, Error> {
        let mut seats = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            if name == AUTO {
                return Err(Error::usage(
                    "`auto` lets a model select all personas, so it cannot be combined with names",
                ));
            }
            let Some(set) = name.strip_prefix(SET_MARK) else {
                seats.push(self.find(name)?.clone());
                continue;
            };
            for member in self.set(set)? {
                seats.push(self.find(member)?.clone());
            }
        }
        Ok(seats)
    }

    fn set(&self, name: &str) -> Result<&[String], Error> {
        self.sets.get(name).map(Vec::as_slice).ok_or_else(|| {
            let names: Vec<&str> = self.sets.keys().map(String::as_str).collect();
            let mut error = Error::usage(format!("no set of personas is called `{name}`"));
            if let Some(near) = likely(name, names.iter().copied()) {
                return error.hint(format!("did you mean `{SET_MARK}{near}`?"));
            }
            if !names.is_empty() {
                error = error.hint(format!("one of: {}", names.join(", ")));
            }
            error.hint(format!(
                "define it with `conclave config set {PERSONA_SETS}.{name} \
                 \"security,accessibility\"`"
            ))
        })
    }

    fn called(&self, name: &str) -> Option<&PersonaEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.persona.is_called(name))
    }

    fn likely(&self, name: &str) -> Option<&str> {
        let name = name.trim().to_lowercase();
        let names = self.entries.iter().flat_map(|entry| entry.persona.names());
        let near = likely(&name, names)?;
        self.called(near).map(|entry| entry.persona.id.as_str())
    }

    fn check_names(&self) -> Result<(), Error> {
        let mut met: BTreeMap<String, &PersonaEntry> = BTreeMap::new();
        for entry in &self.entries {
            for name in entry.persona.names() {
                let plain = bare(name);
                if RESERVED_NAMES.contains(&plain.as_str()) {
                    let error =
                        format!("a persona cannot be called `{name}`: the word is reserved");
                    let hint = format!("rename it in {}", entry.place());
                    return Err(Error::usage(error).hint(hint));
                }
                // Its own id and name may read alike.
                let other = met.insert(plain, entry);
                if let Some(other) = other.filter(|other| !std::ptr::eq(*other, entry)) {
                    return Err(clash(name, other, entry));
                }
            }
        }
        Ok(())
    }

    fn check_sets(&self) -> Result<(), Error> {
        for (set, names) in &self.sets {
            if let Some(name) = names.iter().find(|name| self.called(name).is_none()) {
                let near = self.likely(name);
                let meant = near.map(|near| format!("; did you mean `{near}`?"));
                let meant = meant.unwrap_or_default();
                let error = Error::usage(format!(
                    "the set `{set}` names `{name}`, and there is no such persona{meant}"
                ));
                return Err(error.hint("see the personas with `conclave personas`").hint(format!(
                    "change it with `conclave config set {PERSONA_SETS}.{set} \"…\"`, or remove it \
                     with `conclave config unset {PERSONA_SETS}.{set}`"
                )));
            }
        }
        Ok(())
    }
}

/// The built-in ones, overridden by the files of the home.
pub fn templates(home: &Home) -> Result<Templates, Error> {
    let mut templates = Templates::builtin();
    let overrides = home
        .prompt_overrides()
        .map_err(|error| Error::usage(error).hint("fix or remove it"))?;
    for (name, text) in &overrides {
        let file = home.path().join("prompts").join(format!("{name}.md"));
        templates.override_with(name, text).map_err(|error| {
            Error::usage(error).hint(format!("fix or remove {}", file.display()))
        })?;
    }
    Ok(templates)
}

impl PersonaEntry {
    fn place(&self) -> String {
        match &self.origin {
            PersonaOrigin::BuiltIn => "this program".to_owned(),
            PersonaOrigin::File(file) => format!("prompts/{file} of the home"),
            PersonaOrigin::Settings => format!("the setting `{PERSONAS}.{}`", self.persona.id),
        }
    }
}

fn clash(name: &str, one: &PersonaEntry, other: &PersonaEntry) -> Error {
    // Built-in personas cannot be changed.
    let is_builtin = other.origin == PersonaOrigin::BuiltIn;
    let changed = if is_builtin { one } else { other };
    let error = Error::usage(format!(
        "personas `{}` and `{}` both answer to `{name}`",
        one.persona.id, other.persona.id
    ));
    error.hint(format!("rename one of them in {}", changed.place()))
}

fn from_settings(
    id: &str,
    custom: &CustomPersona,
    replaced: Option<&PersonaEntry>,
) -> PersonaEntry {
    let replaced = replaced.map(|replaced| &replaced.persona.aliases);
    let aliases = custom.aliases.as_ref().or(replaced);
    PersonaEntry {
        persona: Persona {
            id: id.to_owned(),
            name: custom.name.clone(),
            prompt: custom.prompt.clone(),
            brief: custom.brief.clone().unwrap_or_default(),
            aliases: aliases.cloned().unwrap_or_default(),
        },
        origin: PersonaOrigin::Settings,
        model: custom.model.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::samples;

    fn registry(config: &str, files: &[(&str, &str)]) -> Result<PersonaRegistry, Error> {
        let mut templates = Templates::builtin();
        for (name, text) in files {
            templates.override_with(name, text).unwrap();
        }
        PersonaRegistry::new(&templates, &samples::settings(config))
    }

    fn shown(error: &Error) -> String {
        format!("{error}; {}", error.hints.join("; "))
    }

    fn refused(config: &str, files: &[(&str, &str)]) -> String {
        shown(&registry(config, files).unwrap_err())
    }

    const LAWYER: (&str, &str) = (
        "personas/lawyer",
        "---\nversion: v1\nid: lawyer\nname: Lawyer\naliases: legal\n---\nYou know the law.",
    );

    #[test]
    fn ten_personas_are_built_in_and_share_no_names() {
        let personas = PersonaRegistry::builtin();
        let entries = personas.entries;
        let ids: Vec<&str> = entries
            .iter()
            .map(|entry| entry.persona.id.as_str())
            .collect();
        let expected = [
            "accessibility",
            "architecture",
            "creative",
            "devops",
            "documentation",
            "performance",
            "pragmatic",
            "security",
            "skeptic",
            "testing",
        ];
        assert_eq!(ids, expected);
        let aliases: usize = entries
            .iter()
            .map(|entry| entry.persona.aliases.len())
            .sum();
        assert!(aliases >= 17, "{aliases}");
    }

    #[test]
    fn no_built_in_persona_mentions_another_or_a_model() {
        let personas = PersonaRegistry::builtin();
        let makers = [
            "claude",
            "gpt",
            "gemini",
            "openai",
            "anthropic",
            "google",
            "llama",
            "mistral",
            "grok",
        ];
        for PersonaEntry { persona, .. } in &personas.entries {
            let id = &persona.id;
            let text = format!("{} {}", persona.prompt, persona.brief).to_lowercase();
            let points = persona.prompt.matches("\n- ").count();
            assert!((1..=5).contains(&points), "{id}");
            assert!(!persona.brief.is_empty(), "{id}");
            let others = personas.entries.iter().map(|entry| &entry.persona);
            for other in others.filter(|other| other.id != *id) {
                let name = &other.name;
                assert!(
                    !text.contains(&name.to_lowercase()),
                    "{id} speaks of {name}"
                );
            }
            for maker in makers {
                assert!(!text.contains(maker), "{id} names {maker}");
            }
        }
    }

    #[test]
    fn settings_replace_files_and_files_replace_built_in_personas() {
        let config = r#"{"personas": {"lawyer": {"prompt": "Of the settings.", "model": "openai:x"}, "security": "Mine."}}"#;
        let found = registry(config, &[LAWYER]).unwrap();
        let lawyer = found.find("legal").unwrap();
        assert_eq!(lawyer.persona.prompt, "Of the settings.");
        assert_eq!(lawyer.origin, PersonaOrigin::Settings);
        assert_eq!(lawyer.model.as_deref(), Some("openai:x"));
        let mine = found.find("infosec").unwrap();
        assert_eq!(mine.persona.prompt, "Mine.");
        assert_eq!(mine.persona.brief, "");
        let file = registry("{}", &[LAWYER]).unwrap();
        assert_eq!(
            file.find("Lawyer").unwrap().origin,
            PersonaOrigin::File("personas/lawyer.md".to_owned())
        );
        assert_eq!(found.entries.len(), 11);
        assert_eq!(file.entries.len(), 11);
    }

    #[test]
    fn a_name_of_two_personas_is_refused_with_where_to_change_it() {
        assert_eq!(
            refused(
                r#"{"personas": {"vault": {"prompt": "p", "aliases": "Sec"}}}"#,
                &[]
            ),
            "personas `security` and `vault` both answer to `Sec`; rename one of them in the \
             setting `personas.vault`"
        );
        let refusal = refused(r#"{"personas": {"legal": "p"}}"#, &[LAWYER]);
        assert!(
            refusal.contains("in the setting `personas.legal`"),
            "{refusal}"
        );
        let twice = (
            "personas/other",
            "---\nversion: v1\nid: security\nname: Other\n---\nx",
        );
        assert!(refused("{}", &[twice]).contains("both answer to"));
        let judge = (
            "personas/boss",
            "---\nversion: v1\nid: boss\nname: The Boss\naliases: judge\n---\nx",
        );
        assert!(refused("{}", &[judge]).contains("cannot be called `judge`"));
    }

    #[test]
    fn sets_give_their_members_and_name_no_unknown_persona() {
        let config = r#"{"persona_sets": {"web": ["sec", "a11y", "performance"]}}"#;
        let found = registry(config, &[]).unwrap();
        let seats = |names: &[&str]| -> Result<Vec<String>, Error> {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let seats = found.seats(&names)?.into_iter();
            Ok(seats.map(|seat| seat.persona.id).collect())
        };
        assert_eq!(
            seats(&["skeptic", "@web", "skeptic"]).unwrap(),
            [
                "skeptic",
                "security",
                "accessibility",
                "performance",
                "skeptic"
            ]
        );
        assert_eq!(
            shown(&seats(&["@webb"]).unwrap_err()),
            "no set of personas is called `webb`; did you mean `@web`?"
        );
        assert_eq!(
            shown(&seats(&["securty"]).unwrap_err()),
            "no persona is called `securty`; did you mean `security`?"
        );
        assert!(shown(&seats(&["security", "auto"]).unwrap_err()).contains("cannot be combined"));
        let refusal = refused(r#"{"persona_sets": {"web": ["securty"]}}"#, &[]);
        assert!(refusal.starts_with(
            "the set `web` names `securty`, and there is no such persona; did you mean \
             `security`?; "
        ));
    }
}
