//! `conclave personas`: lists the personas, their names, sets and panels.
//!
//! The JSON has a published schema: `schemas/personas.schema.json`.

use std::collections::BTreeMap;

use clap::Subcommand;
use serde::Serialize;

use crate::commands::App;
use crate::commands::completions::values::{Names::Personas, completer};
use crate::commands::flags::JsonFlags;
use crate::config::personas::NamedPanel;
use crate::config::settings::Settings;
use crate::domain::panel::Persona;
use crate::error::Error;
use crate::setup::personas::{PersonaEntry, PersonaOrigin, PersonaRegistry, templates};
use crate::setup::settings;
use crate::terminal::document::{self, Fact, Line, Part, fact, titled};
use crate::terminal::output::style::{Paint, Tone};

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
        #[arg(add = completer(Personas))]
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
    PersonaList {
        schema_version: "1.0",
        personas: personas.entries.iter().map(listed).collect(),
        sets: sets.collect(),
        panels: settings.panels.clone(),
        default_personas: settings.default_personas.clone(),
    }
}

fn listed(entry: &PersonaEntry) -> ListedPersona {
    let (origin, file) = match &entry.origin {
        PersonaOrigin::BuiltIn => ("built_in", None),
        PersonaOrigin::File(file) => ("file", Some(format!("prompts/{file}"))),
        PersonaOrigin::Settings => ("settings", None),
    };
    ListedPersona {
        persona: entry.persona.clone(),
        origin,
        file,
        model: entry.model.clone(),
    }
}

/// All personas, sets and named panels.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PersonaList {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    /// In the order of their ids.
    personas: Vec<ListedPersona>,
    /// Persona ids by the name of their set.
    sets: BTreeMap<String, Vec<String>>,
    /// Panels by name.
    panels: BTreeMap<String, NamedPanel>,
    /// The setting for panels without personas: personas and `@sets`, or `auto` alone; `None` for
    /// the default seats.
    default_personas: Option<Vec<String>>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedPersona {
    #[serde(flatten)]
    persona: Persona,
    #[cfg_attr(test, schemars(extend("enum" = ["built_in", "file", "settings"])))]
    origin: &'static str,
    /// Its file, as a path in the home.
    file: Option<String>,
    /// The model used where a panel names the persona without a model.
    model: Option<String>,
}

/// `None` does not wrap.
fn screen(list: &PersonaList, width: Option<usize>, paint: Paint) -> String {
    let mut parts = vec![Part::Facts(list.personas.iter().map(described).collect())];
    let sets = list.sets.iter();
    let sets = sets.map(|(name, members)| fact(format!("@{name}"), members.join(", ")));
    let panels = list.panels.iter().map(|(name, panel)| {
        let judge = panel.judge.as_deref().unwrap_or_default();
        fact(
            name.clone(),
            Line::from(panel.seats.join(", ")).with("; judge {}", judge),
        )
    });
    for (title, facts) in [
        ("Sets, for --personas", sets.collect::<Vec<_>>()),
        ("Panels, for --panel", panels.collect()),
    ] {
        let facts = Some(Part::Facts(facts.clone())).filter(|_| !facts.is_empty());
        parts.extend(titled(3, title, facts));
    }
    let default = list.default_personas.as_ref();
    parts.extend(default.map(|personas| {
        let line = Line::of("Without --personas: {}", [&personas.join(", ")]);
        Part::Paragraph(line)
    }));
    document::screen(&parts, width, paint)
}

fn described(persona: &ListedPersona) -> Fact {
    let ListedPersona { persona: shown, .. } = persona;
    let mut title = Line::from(shown.name.clone());
    if persona.origin != "built_in" {
        let origin = Line::toned(Tone::Quiet, origin(persona));
        title = title.and("  ", []).then(origin);
    }
    let mut fact = fact(shown.id.clone(), title);
    let brief = Some(&shown.brief).filter(|brief| !brief.is_empty());
    fact.values.extend(brief.map(Line::foreign));
    if !shown.aliases.is_empty() {
        let aliases = format!("also: {}", shown.aliases.join(", "));
        fact.values.push(Line::toned(Tone::Quiet, aliases));
    }
    let model = persona.model.as_ref();
    fact.values
        .extend(model.map(|model| Line::of("played by {}", [model])));
    fact
}

/// `None` does not wrap.
fn one(persona: &ListedPersona, width: Option<usize>, paint: Paint) -> String {
    let ListedPersona {
        persona: shown,
        model,
        ..
    } = persona;
    let facts = [
        ("Origin", origin(persona)),
        ("Aliases", shown.aliases.join(", ")),
        ("Model", model.clone().unwrap_or_default()),
        ("Brief", shown.brief.clone()),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let parts = [
        Part::Heading(3, Line::from(shown.id.clone()).and("  {}", [&shown.name])),
        Part::Facts(facts.map(|(label, value)| fact(label, value)).collect()),
        Part::Foreign(shown.prompt.clone()),
    ];
    document::screen(&parts, width, paint)
}

fn origin(persona: &ListedPersona) -> String {
    match (&persona.file, persona.origin) {
        (Some(file), _) => format!("from {file}"),
        (None, "settings") => "from the settings".to_owned(),
        (None, _) => "built in".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<PersonaList>("personas", "What `conclave personas --json` prints");
    }

    #[test]
    fn persona_is_wrapped_between_words_on_a_terminal() {
        let persona = ListedPersona {
            persona: Persona {
                id: "skeptic".to_owned(),
                name: "Skeptic".to_owned(),
                aliases: vec!["contrarian".to_owned(), "red team".to_owned()],
                brief: "You look for what is assumed.".to_owned(),
                prompt: "You look for the claim on which it rests.\n\n\
                         - Ask for the base rate first.\n"
                    .to_owned(),
            },
            origin: "built_in",
            file: None,
            model: None,
        };
        assert_eq!(
            one(&persona, Some(30), Paint::PLAIN),
            "skeptic  Skeptic\n\
             Origin  built in\n\
             Aliases  contrarian, red team\n\
             Brief  You look for what is\n  \
             assumed.\n\
             \n\
             You look for the claim on\n\
             which it rests.\n\
             \n\
             • Ask for the base rate\n  \
             first.\n"
        );
        let whole = one(&persona, None, Paint::PLAIN);
        assert!(whole.ends_with(&persona.persona.prompt), "{whole}");
    }
}
