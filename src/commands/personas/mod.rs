//! `conclave personas`: who can sit on a panel, under which names, and in which sets and panels.
//!
//! The JSON has a published schema: `schemas/personas.schema.json`.

use clap::Subcommand;

use crate::commands::config;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::prompt::Templates;
use crate::domain::text::clean;
use crate::error::Error;
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::personas::{ListedPanel, ListedPersona, PersonaList, one, screen};

use crate::setup::personas::{Known, Origin, PersonaRegistry};

/// The version of the JSON.
const SCHEMA_VERSION: &str = "1.0";

/// List the personas that can sit on a panel, their sets, and your panels
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Your own are settings or files:
  conclave config set personas.hebrew_linguist.prompt \"You are a linguist who reads Hebrew.\"
  conclave config set persona_sets.web \"security,accessibility,performance\"
A file prompts/personas/NAME.md in the home, with `version`, `id` and `name` between two lines
`---`, is a persona too. One with the id of a built-in persona takes its place.")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Write JSON; its schema is schemas/personas.schema.json
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Print one persona with its whole prompt
    Show {
        /// Its id, its name or an alias
        persona: String,
    },
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let settings = config::load(&home, environment)?;
    let catalogue = PersonaRegistry::of(&templates(&home)?, &settings)?;
    let face = printer.out_traits();
    let shown = match &args.action {
        Some(Action::Show { persona }) => {
            let found = listed(catalogue.find(persona)?);
            // A prompt may hold what steers a terminal; in a pipe, the text is exact.
            let prompt = if face.is_terminal {
                clean(&found.prompt)
            } else {
                found.prompt.clone()
            };
            one(&ListedPersona { prompt, ..found }, face.paint)
        }
        None if args.json => {
            serde_json::to_string_pretty(&list(&catalogue, &settings)).map_err(Error::failed)?
                + "\n"
        }
        None => screen(
            &list(&catalogue, &settings),
            face.is_terminal.then_some(face.width),
            face.paint,
        ),
    };
    printer.result(&shown).map_err(Error::failed)
}

/// The templates in force: the built-in ones with the files of the home laid over them.
pub(crate) fn templates(home: &Home) -> Result<Templates, Error> {
    let mut templates = Templates::builtin();
    for (name, text) in home.prompt_overrides().map_err(Error::usage)? {
        let file = home.path().join("prompts").join(format!("{name}.md"));
        templates.override_with(&name, &text).map_err(|error| {
            Error::usage(error).hint(format!("fix or remove {}", file.display()))
        })?;
    }
    Ok(templates)
}

fn list(catalogue: &PersonaRegistry, settings: &Settings) -> PersonaList {
    let id_of = |name: &String| {
        catalogue
            .find(name)
            .map_or_else(|_| name.clone(), |known| known.persona.id.clone())
    };
    let sets = catalogue
        .sets()
        .iter()
        .map(|(set, members)| (set.clone(), members.iter().map(id_of).collect()));
    let panels = settings.panels.iter().map(|(name, panel)| {
        let listed = ListedPanel {
            seats: panel.seats.clone(),
            judge: panel.judge.clone(),
        };
        (name.clone(), listed)
    });
    PersonaList {
        schema_version: SCHEMA_VERSION,
        personas: catalogue.known().iter().map(listed).collect(),
        sets: sets.collect(),
        panels: panels.collect(),
        default_personas: settings.default_personas.clone(),
    }
}

fn listed(known: &Known) -> ListedPersona {
    let (origin, file) = match &known.origin {
        Origin::BuiltIn => ("built_in", None),
        Origin::File(file) => ("file", Some(format!("prompts/{file}"))),
        Origin::Settings => ("settings", None),
    };
    let persona = known.persona.clone();
    ListedPersona {
        id: persona.id,
        name: persona.name,
        aliases: persona.aliases,
        brief: persona.brief,
        origin,
        file,
        model: known.model.clone(),
        prompt: persona.prompt,
    }
}
