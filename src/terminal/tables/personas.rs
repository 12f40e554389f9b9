//! The list of personas as `conclave personas` shows it: plain data, which is also its JSON, and
//! its screen.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::terminal::document::{self, Fact, Line, Part, fact, titled};
use crate::terminal::output::style::{Paint, Tone};

/// All personas, sets and named panels.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PersonaList {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// In the order of their ids.
    pub personas: Vec<ListedPersona>,
    /// Persona ids by the name of their set.
    pub sets: BTreeMap<String, Vec<String>>,
    /// Panels by name.
    pub panels: BTreeMap<String, ListedPanel>,
    /// The setting for panels without personas: personas and `@sets`, or `auto` alone; `None` for
    /// the default seats.
    pub default_personas: Option<Vec<String>>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedPersona {
    /// As `--personas` accepts it; names and aliases work as well.
    pub id: String,
    pub name: String,
    pub aliases: Vec<String>,
    /// The role in a sentence; may be empty.
    pub brief: String,
    #[cfg_attr(test, schemars(extend("enum" = ["built_in", "file", "settings"])))]
    pub origin: &'static str,
    /// Its file, as a path in the home.
    pub file: Option<String>,
    /// The model used where a panel names the persona without a model.
    pub model: Option<String>,
    /// The system prompt.
    pub prompt: String,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedPanel {
    /// `persona=provider:model`.
    pub seats: Vec<String>,
    pub judge: Option<String>,
}

/// Returns the screen for a terminal of this width; `None` does not wrap.
pub fn screen(list: &PersonaList, width: Option<usize>, paint: Paint) -> String {
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
    let mut title = Line::from(persona.name.clone());
    if persona.origin != "built_in" {
        let origin = Line::toned(Tone::Quiet, origin(persona));
        title = title.and("  ", []).then(origin);
    }
    let mut fact = fact(persona.id.clone(), title);
    let brief = Some(&persona.brief).filter(|brief| !brief.is_empty());
    fact.values.extend(brief.map(Line::foreign));
    if !persona.aliases.is_empty() {
        let aliases = format!("also: {}", persona.aliases.join(", "));
        fact.values.push(Line::toned(Tone::Quiet, aliases));
    }
    let model = persona.model.as_ref();
    fact.values
        .extend(model.map(|model| Line::of("played by {}", [model])));
    fact
}

/// Returns the screen of one persona for a terminal of this width; `None` does not wrap.
pub fn one(persona: &ListedPersona, width: Option<usize>, paint: Paint) -> String {
    let facts = [
        ("Origin", origin(persona)),
        ("Aliases", persona.aliases.join(", ")),
        ("Model", persona.model.clone().unwrap_or_default()),
        ("Brief", persona.brief.clone()),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let parts = [
        Part::Heading(
            3,
            Line::from(persona.id.clone()).and("  {}", [&persona.name]),
        ),
        Part::Facts(facts.map(|(label, value)| fact(label, value)).collect()),
        Part::Foreign(persona.prompt.clone()),
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
            id: "skeptic".to_owned(),
            name: "Skeptic".to_owned(),
            aliases: vec!["contrarian".to_owned(), "red team".to_owned()],
            brief: "You look for what is assumed.".to_owned(),
            origin: "built_in",
            file: None,
            model: None,
            prompt: "You look for the claim on which it rests.\n\n- Ask for the base rate first.\n"
                .to_owned(),
        };
        assert_eq!(
            one(&persona, Some(30), Paint::Plain),
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
        let whole = one(&persona, None, Paint::Plain);
        assert!(whole.ends_with(&persona.prompt), "{whole}");
    }
}
