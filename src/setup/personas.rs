//! All personas that there are: the built-in ones, those in files of the home and those in the
//! settings, and the sets of them.
//!
//! Invariant: no two personas answer to the same name.

use std::collections::BTreeMap;

use crate::config::names::likely;
use crate::config::personas::{AUTO, CustomPersona, SET_MARK};
use crate::config::setting::{PERSONA_SETS, PERSONAS};
use crate::config::settings::Settings;
use crate::consultation::prompt::Templates;
use crate::domain::panel::{Persona, RESERVED_NAMES, bare};
use crate::error::Error;

/// Where a persona is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    BuiltIn,
    /// A file of the home, by its name in the folder of prompts.
    File(String),
    Settings,
}

/// A persona, where it comes from, and the model that plays it wherever it sits by its name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) persona: Persona,
    pub(crate) origin: Origin,
    pub(crate) model: Option<String>,
}

/// Whoever can sit on a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PersonaRegistry {
    known: Vec<Known>,
    sets: BTreeMap<String, Vec<String>>,
}

impl PersonaRegistry {
    /// The settings come before the files, and files before what is built in.
    pub(crate) fn of(templates: &Templates, settings: &Settings) -> Result<Self, Error> {
        let mut known: Vec<Known> = Vec::new();
        for (file, persona) in templates.persona_files() {
            let origin = if templates.is_builtin(file) {
                Origin::BuiltIn
            } else {
                Origin::File(format!("{file}.md"))
            };
            known.push(Known {
                persona,
                origin,
                model: None,
            });
        }
        for (id, custom) in &settings.personas {
            let replaced = known
                .iter()
                .position(|other| other.persona.id == *id)
                .map(|at| known.remove(at));
            known.push(from_settings(id, custom, replaced.as_ref()));
        }
        known.sort_by(|one, other| one.persona.id.cmp(&other.persona.id));
        let catalogue = Self {
            known,
            sets: settings.persona_sets.clone(),
        };
        catalogue.check_names()?;
        catalogue.check_sets()?;
        Ok(catalogue)
    }

    #[cfg(test)]
    pub(crate) fn builtin() -> Self {
        Self::of(&Templates::builtin(), &Settings::default()).unwrap()
    }

    /// In the order of their ids.
    pub(crate) fn known(&self) -> &[Known] {
        &self.known
    }

    pub(crate) fn sets(&self) -> &BTreeMap<String, Vec<String>> {
        &self.sets
    }

    /// All of them, as the clerk chooses from them.
    pub(crate) fn personas(&self) -> Vec<Persona> {
        self.known
            .iter()
            .map(|known| known.persona.clone())
            .collect()
    }

    /// The persona that a person means.
    pub(crate) fn find(&self, name: &str) -> Result<&Known, Error> {
        self.called(name).ok_or_else(|| {
            let ids: Vec<&str> = self
                .known
                .iter()
                .map(|known| known.persona.id.as_str())
                .collect();
            let error = Error::usage(format!("no persona is called `{}`", name.trim()));
            let error = match self.likely(name) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            };
            error.hint(format!("one of: {}", ids.join(", ")))
        })
    }

    /// The personas of a list of names and `@sets`, in its order.
    pub(crate) fn seats(&self, names: &[String]) -> Result<Vec<Known>, Error> {
        let mut seats = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            if name == AUTO {
                return Err(Error::usage(
                    "`auto` leaves the choice of all personas to a model, and stands alone",
                ));
            }
            match name.strip_prefix(SET_MARK) {
                Some(set) => {
                    for member in self.set(set)? {
                        seats.push(self.find(member)?.clone());
                    }
                }
                None => seats.push(self.find(name)?.clone()),
            }
        }
        Ok(seats)
    }

    fn set(&self, name: &str) -> Result<&[String], Error> {
        self.sets.get(name).map(Vec::as_slice).ok_or_else(|| {
            let names = || self.sets.keys().map(String::as_str);
            let error = Error::usage(format!("no set of personas is called `{name}`"));
            let make = format!(
                "make it: conclave config set {}.{name} \"security,accessibility\"",
                PERSONA_SETS
            );
            match (
                likely(name, names()),
                names().collect::<Vec<_>>().as_slice(),
            ) {
                (Some(near), _) => error.hint(format!("did you mean `{SET_MARK}{near}`?")),
                (None, []) => error.hint(make),
                (None, names) => error
                    .hint(format!("one of: {}", names.join(", ")))
                    .hint(make),
            }
        })
    }

    fn called(&self, name: &str) -> Option<&Known> {
        self.known
            .iter()
            .find(|known| known.persona.is_called(name))
    }

    fn likely(&self, name: &str) -> Option<&str> {
        let name = name.trim().to_lowercase();
        let near = likely(
            &name,
            self.known.iter().flat_map(|known| known.persona.names()),
        )?;
        self.called(near).map(|known| known.persona.id.as_str())
    }

    /// Every name must stand for one persona and for nothing else.
    fn check_names(&self) -> Result<(), Error> {
        let mut met: BTreeMap<String, &Known> = BTreeMap::new();
        for known in &self.known {
            for name in known.persona.names() {
                let plain = bare(name);
                if RESERVED_NAMES.contains(&plain.as_str()) {
                    let error = Error::usage(format!(
                        "a persona cannot be called `{name}`: that word stands for something else"
                    ));
                    return Err(error.hint(format!("call it otherwise in {}", known.place())));
                }
                match met.insert(plain, known) {
                    // Its own id and name may read alike.
                    Some(other) if !std::ptr::eq(other, known) => {
                        return Err(clash(name, other, known));
                    }
                    Some(_) | None => {}
                }
            }
        }
        Ok(())
    }

    fn check_sets(&self) -> Result<(), Error> {
        for (set, names) in &self.sets {
            if let Some(name) = names.iter().find(|name| self.called(name).is_none()) {
                let meant = self
                    .likely(name)
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                let error = Error::usage(format!(
                    "the set `{set}` names `{name}`, and no persona is called so{meant}"
                ));
                return Err(error.hint("see who there is: conclave personas").hint(format!(
                    "write it anew: conclave config set {0}.{set} \"…\"; or take it out: conclave config unset {0}.{set}",
                    PERSONA_SETS
                )));
            }
        }
        Ok(())
    }
}

impl Known {
    /// For people: where it is to be changed.
    fn place(&self) -> String {
        match &self.origin {
            Origin::BuiltIn => "this program".to_owned(),
            Origin::File(file) => format!("prompts/{file} of the home"),
            Origin::Settings => format!("the setting `{}.{}`", PERSONAS, self.persona.id),
        }
    }
}

fn clash(name: &str, one: &Known, other: &Known) -> Error {
    // What is built in cannot be changed.
    let changed = if other.origin == Origin::BuiltIn {
        one
    } else {
        other
    };
    let error = Error::usage(format!(
        "`{name}` is a name of two personas, `{}` and `{}`",
        one.persona.id, other.persona.id
    ));
    error.hint(format!(
        "give one of them other names: in {}",
        changed.place()
    ))
}

fn from_settings(id: &str, custom: &CustomPersona, replaced: Option<&Known>) -> Known {
    let persona = Persona {
        id: id.to_owned(),
        name: custom.name.clone(),
        prompt: custom.prompt.clone(),
        brief: custom.brief.clone().unwrap_or_default(),
        aliases: custom
            .aliases
            .clone()
            .or_else(|| Some(replaced?.persona.aliases.clone()))
            .unwrap_or_default(),
    };
    Known {
        persona,
        origin: Origin::Settings,
        model: custom.model.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn catalogue(config: &str, files: &[(&str, &str)]) -> Result<PersonaRegistry, Error> {
        let settings = Settings::default()
            .with_file(Path::new("config.json"), config)
            .unwrap();
        let mut templates = Templates::builtin();
        for (name, text) in files {
            templates.override_with(name, text).unwrap();
        }
        PersonaRegistry::of(&templates, &settings)
    }

    fn told(error: &Error) -> String {
        format!("{error}; {}", error.hints().join("; "))
    }

    const LAWYER: (&str, &str) = (
        "personas/lawyer",
        "---\nversion: v1\nid: lawyer\nname: Lawyer\naliases: legal\n---\nYou know the law.",
    );

    #[test]
    fn ten_are_built_in_with_many_names_none_of_which_names_two() {
        let catalogue = PersonaRegistry::builtin();
        let ids: Vec<&str> = catalogue
            .known()
            .iter()
            .map(|known| known.persona.id.as_str())
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
        let aliases: usize = catalogue
            .known()
            .iter()
            .map(|known| known.persona.aliases.len())
            .sum();
        assert!(aliases >= 17, "{aliases}");
    }

    #[test]
    fn no_built_in_persona_speaks_of_another_or_of_a_model() {
        let catalogue = PersonaRegistry::builtin();
        for one in catalogue.known() {
            let text = format!("{} {}", one.persona.prompt, one.persona.brief).to_lowercase();
            assert!(
                (1..=5).contains(&one.persona.prompt.matches("\n- ").count())
                    && !one.persona.brief.is_empty(),
                "{}",
                one.persona.id
            );
            for other in catalogue
                .known()
                .iter()
                .filter(|other| other.persona.id != one.persona.id)
            {
                assert!(
                    !text.contains(&other.persona.name.to_lowercase()),
                    "{} speaks of {}",
                    one.persona.id,
                    other.persona.name
                );
            }
            for maker in [
                "claude",
                "gpt",
                "gemini",
                "openai",
                "anthropic",
                "google",
                "llama",
                "mistral",
                "grok",
            ] {
                assert!(!text.contains(maker), "{} names {maker}", one.persona.id);
            }
        }
    }

    #[test]
    fn settings_come_before_files_and_files_before_what_is_built_in() {
        let config = r#"{"personas": {"lawyer": {"prompt": "Of the settings.", "model": "openai:x"}, "security": "Mine."}}"#;
        let found = catalogue(config, &[LAWYER]).unwrap();
        let lawyer = found.find("legal").unwrap();
        assert_eq!(
            (lawyer.persona.prompt.as_str(), &lawyer.origin),
            ("Of the settings.", &Origin::Settings)
        );
        assert_eq!(lawyer.model.as_deref(), Some("openai:x"));
        let mine = found.find("infosec").unwrap();
        assert_eq!(
            (mine.persona.prompt.as_str(), mine.persona.brief.as_str()),
            ("Mine.", "")
        );
        let file = catalogue("{}", &[LAWYER]).unwrap();
        assert_eq!(
            file.find("Lawyer").unwrap().origin,
            Origin::File("personas/lawyer.md".to_owned())
        );
        assert_eq!((found.known().len(), file.known().len()), (11, 11));
    }

    #[test]
    fn a_name_that_two_would_answer_to_is_refused_with_where_to_change_it() {
        let error = catalogue(
            r#"{"personas": {"vault": {"prompt": "p", "aliases": "Sec"}}}"#,
            &[],
        )
        .unwrap_err();
        assert_eq!(
            told(&error),
            "`Sec` is a name of two personas, `security` and `vault`; give one of them other names: in the setting `personas.vault`"
        );
        let error = catalogue(r#"{"personas": {"legal": "p"}}"#, &[LAWYER]).unwrap_err();
        assert!(
            told(&error).contains("in the setting `personas.legal`"),
            "{}",
            told(&error)
        );
        let twice = (
            "personas/other",
            "---\nversion: v1\nid: security\nname: Other\n---\nx",
        );
        assert!(
            catalogue("{}", &[twice])
                .unwrap_err()
                .to_string()
                .contains("two personas")
        );
        let judge = (
            "personas/boss",
            "---\nversion: v1\nid: boss\nname: The Boss\naliases: judge\n---\nx",
        );
        assert!(
            catalogue("{}", &[judge])
                .unwrap_err()
                .to_string()
                .contains("cannot be called `judge`")
        );
    }

    #[test]
    fn sets_stand_for_their_members_and_name_nobody_unknown() {
        let config = r#"{"persona_sets": {"web": ["sec", "a11y", "performance"]}}"#;
        let found = catalogue(config, &[]).unwrap();
        let seats = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            found.seats(&names).map(|seats| {
                seats
                    .into_iter()
                    .map(|seat| seat.persona.id)
                    .collect::<Vec<_>>()
            })
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
            told(&seats(&["@webb"]).unwrap_err()),
            "no set of personas is called `webb`; did you mean `@web`?"
        );
        assert!(
            told(&seats(&["securty"]).unwrap_err())
                .contains("did you mean `security`?; one of: accessibility, ")
        );
        assert!(told(&seats(&["security", "auto"]).unwrap_err()).contains("stands alone"));
        let error = catalogue(r#"{"persona_sets": {"web": ["securty"]}}"#, &[]).unwrap_err();
        assert!(told(&error).starts_with(
            "the set `web` names `securty`, and no persona is called so; did you mean `security`?; "
        ));
    }
}
