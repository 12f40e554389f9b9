//! Completion of models, personas, panels, and settings with their values. As with ids, a shell
//! waits for it: it never fails, and asks no server.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use self::Names::{LocalModels, Models, Panels, Personas, Settings, Values};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::setting::{self, Parts, SETTINGS, Setting};
use crate::domain::model::program::Program;
use crate::domain::model::vendors;
use crate::engine::clock::Clock;
use crate::providers::local::files::manifest::{GgufModel, MODELS};
use crate::setup::personas::{PersonaRegistry, templates};
use crate::setup::programs::ProgramList;
use crate::setup::settings;

/// What is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Models,
    LocalModels,
    Personas,
    Panels,
    Settings,
    /// Of the setting that stands before it.
    Values,
}

/// Of a list, the last entry is completed.
pub(crate) fn completer(names: Names) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let (head, last) = typed.split_at(typed.rfind([',', '=']).map_or(0, |at| at + 1));
        let names = names.find(&typed).unwrap_or_default().into_iter();
        let names = names.filter(|(name, _)| name.starts_with(last));
        let candidate = |(name, help): (String, String)| {
            CompletionCandidate::new(format!("{head}{name}")).help(Some(help.into()))
        };
        names.map(candidate).collect()
    })
}

impl Names {
    /// Each with what it is; `None` where the home cannot be read.
    fn find(self, typed: &str) -> Option<Vec<(String, String)>> {
        let environment = Environment::read();
        let home = Home::find(&environment).ok()?;
        let all = settings::load(&home, &environment).unwrap_or_default();
        Some(match self {
            Panels if !typed.contains('=') => {
                let yours = |name| (name, "your own panel".to_owned());
                all.panels.into_keys().map(yours).collect()
            }
            Models | Panels => {
                let today = Clock::system().now().day();
                let mut models = settings::catalog(&home).ok()?.models;
                models.retain(|model| !model.has_retired_by(today));
                let cloud = models.into_iter().map(|model| {
                    let full = model.to_ref().to_string();
                    let vendor = vendors::name(&model.provider).to_owned();
                    (if typed.contains(':') { full } else { model.id }, vendor)
                });
                let local = |(name, help)| (format!("local:{name}"), help);
                let local = LocalModels.find(typed)?.into_iter().map(local);
                let programs = ProgramList::load(&all, &environment, &home);
                let programs = programs.iter().flat_map(Program::usual_models);
                let programs = programs
                    .map(|model| (model.to_string(), vendors::name(&model.provider).into()));
                cloud.chain(programs).chain(local).collect()
            }
            LocalModels => {
                let named = |model: &GgufModel| (model.name.into(), model.good_for.into());
                MODELS.map(named).into()
            }
            Personas => {
                let PersonaRegistry { entries, sets } =
                    PersonaRegistry::new(&templates(&home).ok()?, &all).ok()?;
                let personas = entries.into_iter().map(|entry| entry.persona);
                let personas = personas.map(|persona| (persona.id, persona.name));
                let sets = sets.into_iter();
                let sets = sets.map(|(name, members)| (format!("@{name}"), members.join(", ")));
                let auto = ("auto".to_owned(), "selected by a model".to_owned());
                personas.chain(sets).chain([auto]).collect()
            }
            Settings => {
                let named = |setting: &Setting| (setting.name.into(), setting.help.into());
                SETTINGS.iter().map(named).collect()
            }
            Values => {
                let mut words = std::env::args_os().skip_while(|word| word != "set");
                let setting = words.nth(1).and_then(|word| setting::find(word.to_str()?));
                let setting = setting.filter(|setting| setting.parts == Parts::None)?;
                let is_list = setting.expects.starts_with('1');
                // The description has words in backticks.
                let is_word = |word: &&str| word.starts_with('`') || is_list && word.len() == 1;
                let words = setting.expects.split([' ', ',']).filter(is_word);
                match setting.name {
                    "panel" => Panels.find(typed)?,
                    "judge" => Models.find(typed)?,
                    "default_personas" => Personas.find(typed)?,
                    "local_model" => LocalModels.find(typed)?,
                    _ => words
                        .map(|word| (word.replace('`', ""), setting.help.into()))
                        .collect(),
                }
            }
        })
    }
}
