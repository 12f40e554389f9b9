//! `conclave personas`: lists the personas, their names, sets and panels.
//!
//! The JSON has a published schema: `schemas/personas.schema.json`.

use clap::Subcommand;

use crate::commands::App;
use crate::commands::flags::JsonFlags;
use crate::config::settings::Settings;
use crate::error::Error;
use crate::terminal::tables::personas::{ListedPanel, ListedPersona, PersonaList, one, screen};

use crate::setup::personas::{PersonaEntry, PersonaOrigin, PersonaRegistry, templates};
use crate::setup::settings;

/// The version of the JSON.
const SCHEMA_VERSION: &str = "1.0";

/// List the personas that can sit on a panel, their sets, and your panels
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(mut_arg("json", |arg| arg.help("Write JSON; its schema is schemas/personas.schema.json")))]
#[command(after_help = "\
Define your own in the settings:
  conclave config set personas.hebrew_linguist.prompt \"You are a linguist who reads Hebrew.\"
  conclave config set persona_sets.web \"security,accessibility,performance\"
or as a file prompts/personas/NAME.md in the home that begins with `version`, `id` and `name` \
between two lines `---`. A persona with the id of a built-in one replaces it.")]
pub struct Args {
    #[command(subcommand)]
    action: Option<PersonasAction>,

    #[command(flatten)]
    json: JsonFlags,
}

#[derive(Clone, Debug, Subcommand)]
enum PersonasAction {
    /// Print one persona with its prompt
    Show {
        /// Its id, its name or an alias
        persona: String,
    },
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let home = app.home()?;
    let settings = settings::load(&home, app.environment)?;
    let personas = PersonaRegistry::new(&templates(&home)?, &settings)?;
    if let Some(PersonasAction::Show { persona }) = &args.action {
        let found = listed(personas.find(persona)?);
        return app.show(|width, paint| one(&found, width, paint));
    }
    let list = list(&personas, &settings);
    app.print(args.json.is_json(), &list, |width, paint| {
        screen(&list, width, paint)
    })
}

fn list(personas: &PersonaRegistry, settings: &Settings) -> PersonaList {
    let id_of = |name: &String| match personas.find(name) {
        Ok(entry) => entry.persona.id.clone(),
        Err(_) => name.clone(),
    };
    let sets = personas.sets.iter();
    let sets = sets.map(|(set, members)| (set.clone(), members.iter().map(id_of).collect()));
    let panels = settings.panels.iter().map(|(name, panel)| {
        let listed = ListedPanel {
            seats: panel.seats.clone(),
            judge: panel.judge.clone(),
        };
        (name.clone(), listed)
    });
    PersonaList {
        schema_version: SCHEMA_VERSION,
        personas: personas.entries.iter().map(listed).collect(),
        sets: sets.collect(),
        panels: panels.collect(),
        default_personas: settings.default_personas.clone(),
    }
}

fn listed(entry: &PersonaEntry) -> ListedPersona {
    let (origin, file) = match &entry.origin {
        PersonaOrigin::BuiltIn => ("built_in", None),
        PersonaOrigin::File(file) => ("file", Some(format!("prompts/{file}"))),
        PersonaOrigin::Settings => ("settings", None),
    };
    let persona = entry.persona.clone();
    ListedPersona {
        id: persona.id,
        name: persona.name,
        aliases: persona.aliases,
        brief: persona.brief,
        origin,
        file,
        model: entry.model.clone(),
        prompt: persona.prompt,
    }
}
