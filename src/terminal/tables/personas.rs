//! The list of personas as `conclave personas` shows it: plain data, which is also its JSON, and
//! its screen.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::columns::hanging;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::style::Paint;

/// All personas, sets and named panels.
#[derive(Clone, Debug, Serialize)]
pub struct PersonaList {
    pub schema_version: &'static str,
    pub personas: Vec<ListedPersona>,
    /// Persona ids by the name of their set.
    pub sets: BTreeMap<String, Vec<String>>,
    /// Panels by name, one `persona=provider:model` for each seat.
    pub panels: BTreeMap<String, ListedPanel>,
    /// The personas of the settings for panels without any; `None` for the default seats.
    pub default_personas: Option<Vec<String>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ListedPersona {
    pub id: String,
    pub name: String,
    pub aliases: Vec<String>,
    /// The prompt in a sentence; may be empty.
    pub brief: String,
    /// `built_in`, `file` or `settings`.
    pub origin: &'static str,
    /// Its file, as a path in the home.
    pub file: Option<String>,
    /// The model used where a panel names the persona without a model.
    pub model: Option<String>,
    /// The prompt of the model.
    pub prompt: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ListedPanel {
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

/// Returns the screen of one persona.
pub fn one(persona: &ListedPersona, paint: Paint) -> String {
    let mut text = format!("{}  {}\n", paint.bold(&persona.id), one_line(&persona.name));
    let mut put = |label: &str, value: &str| {
        let _ = writeln!(text, "{label}: {}", one_line(value));
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
    let _ = writeln!(text, "\n{}", persona.prompt.trim());
    text
}

fn origin(persona: &ListedPersona) -> String {
    match (&persona.file, persona.origin) {
        (Some(file), _) => format!("from {file}"),
        (None, "settings") => "from the settings".to_owned(),
        (None, _) => "built in".to_owned(),
    }
}
