//! The list of personas as `conclave personas` shows it: plain data, which is also its JSON, and
//! its screen.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::columns::hanging;
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::{fit, wrap_options};
use crate::text::clean::one_line;

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
    let mut text = String::new();
    let mut put = |head: &str, line: &str| {
        let indent = if head.is_empty() { 2 } else { 4 };
        text.push_str(&hanging(head, line, indent, width));
    };
    for persona in &list.personas {
        let mut title = one_line(&persona.name);
        if persona.origin != "built_in" {
            title = format!("{title}  {}", paint.dim(&origin(persona)));
        }
        put(&format!("{}  ", paint.bold(&persona.id)), &title);
        if !persona.brief.is_empty() {
            put("  ", &one_line(&persona.brief));
        }
        if !persona.aliases.is_empty() {
            let aliases = one_line(&persona.aliases.join(", "));
            put("  ", &paint.dim(&format!("also: {aliases}")));
        }
        if let Some(model) = &persona.model {
            put("  ", &format!("played by {}", one_line(model)));
        }
    }
    if !list.sets.is_empty() {
        put("", "");
        put("", &paint.bold("Sets, for --personas"));
        for (name, members) in &list.sets {
            put("  ", &format!("@{name}  {}", members.join(", ")));
        }
    }
    if !list.panels.is_empty() {
        put("", "");
        put("", &paint.bold("Panels, for --panel"));
        for (name, panel) in &list.panels {
            let seats = one_line(&panel.seats.join(", "));
            let judge = panel
                .judge
                .as_deref()
                .map(|judge| format!("; judge {}", one_line(judge)));
            put(
                "  ",
                &format!("{name}  {seats}{}", judge.unwrap_or_default()),
            );
        }
    }
    if let Some(personas) = &list.default_personas {
        put("", "");
        put(
            "",
            &format!("Without --personas: {}", one_line(&personas.join(", "))),
        );
    }
    text
}

/// Returns the screen of one persona for a terminal of this width; `None` does not wrap.
pub fn one(persona: &ListedPersona, width: Option<usize>, paint: Paint) -> String {
    let mut text = format!("{}  {}\n", paint.bold(&persona.id), one_line(&persona.name));
    let mut put = |label: &str, value: &str| {
        let line = format!("{label}: {}", one_line(value));
        let _ = writeln!(text, "{}", fit(&line, width));
    };
    put("Origin", &origin(persona));
    if !persona.aliases.is_empty() {
        put("Aliases", &persona.aliases.join(", "));
    }
    if let Some(model) = &persona.model {
        put("Model", model);
    }
    if !persona.brief.is_empty() {
        put("Brief", &persona.brief);
    }
    text.push('\n');
    for line in persona.prompt.trim().lines() {
        let _ = writeln!(text, "{}", prompt_line(line, width));
    }
    text
}

/// Wraps a line of a prompt: an item of a list hangs, a paragraph does not.
fn prompt_line(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if !line.trim_start().starts_with("- ") => {
            textwrap::fill(line, wrap_options(width))
        }
        Some(_) | None => fit(line, width),
    }
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
             Origin: built in\n\
             Aliases: contrarian, red team\n\
             Brief: You look for what is\n  \
             assumed.\n\
             \n\
             You look for the claim on\n\
             which it rests.\n\
             \n\
             - Ask for the base rate\n  \
             first.\n"
        );
        let whole = one(&persona, None, Paint::Plain);
        assert!(whole.ends_with(&persona.prompt), "{whole}");
    }
}
