//! `conclave personas`: lists the personas, their names, sets and panels.
//!
//! The JSON has a published schema: `schemas/personas.schema.json`.

use clap::Subcommand;

use crate::commands::flags::ListFormatFlag;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::error::Error;
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::personas::{ListedPanel, ListedPersona, PersonaList, one, screen};

use crate::setup::personas::{PersonaEntry, PersonaOrigin, PersonaRegistry, templates};
use crate::setup::settings;

/// The version of the JSON.
const SCHEMA_VERSION: &str = "1.0";

/// List the personas that can sit on a panel, their sets, and your panels
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Define your own in the settings:
  conclave config set personas.hebrew_linguist.prompt \"You are a linguist who reads Hebrew.\"
  conclave config set persona_sets.web \"security,accessibility,performance\"
or as a file prompts/personas/NAME.md in the home that begins with `version`, `id` and `name` \
between two lines `---`. A persona with the id of a built-in one replaces it.")]
pub struct Args {
    #[command(subcommand)]
    action: Option<PersonasAction>,

    /// Write JSON; its schema is schemas/personas.schema.json
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: ListFormatFlag,
}

#[derive(Clone, Debug, Subcommand)]
enum PersonasAction {
    /// Print one persona with its prompt
    Show {
        /// Its id, its name or an alias
        persona: String,
    },
}

impl Args {
    fn is_json(&self) -> bool {
        self.json || self.format.is_json()
    }
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let settings = settings::load(&home, environment)?;
    let personas = PersonaRegistry::new(&templates(&home)?, &settings)?;
    let face = printer.out_traits();
    let width = face.is_terminal.then_some(face.width);
    let shown = match &args.action {
        Some(PersonasAction::Show { persona }) => {
            let found = listed(personas.find(persona)?);
            one(&found, width, face.paint)
        }
        None if args.is_json() => {
            let list = list(&personas, &settings);
            return printer.json(&list).map_err(Error::failed);
        }
        None => screen(&list(&personas, &settings), width, face.paint),
    };
    printer.result(&shown).map_err(Error::failed)
}

fn list(personas: &PersonaRegistry, settings: &Settings) -> PersonaList {
    let id_of = |name: &String| {
        personas
            .find(name)
            .map_or_else(|_| name.clone(), |entry| entry.persona.id.clone())
    };
    let sets = personas
        .sets()
        .iter()
        .map(|(set, members)| (set.clone(), members.iter().map(id_of).collect()));
    let panels = settings.panels.iter().map(|(name, panel)| {
        let panel = panel.clone();
        let listed = ListedPanel {
            seats: panel.seats,
            judge: panel.judge,
        };
        (name.clone(), listed)
    });
    PersonaList {
        schema_version: SCHEMA_VERSION,
        personas: personas.entries().iter().map(listed).collect(),
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
