//! The embedded models as `conclave model list` shows them: one line each where it fits, else the
//! facts beneath the name.

use super::columns::{columns, hanging};
use crate::terminal::output::wrap::widest;

/// An embedded model and its file.
#[derive(Clone, Debug)]
pub struct ModelFile {
    pub name: &'static str,
    pub is_installed: bool,
    /// Of the file: `491 MB`.
    pub size: String,
    pub licence: &'static str,
    pub good_for: &'static str,
}

/// Returns the models for a terminal of this width, with the notes beneath them; `None` does not
/// wrap.
pub fn screen(models: &[ModelFile], notes: &[String], width: Option<usize>) -> String {
    let rows: Vec<[String; 5]> = models.iter().map(cells).collect();
    let lines = columns(&rows, 2..3);
    let mut text = String::new();
    if width.is_none_or(|width| widest(&lines) <= width) {
        text.extend(lines.iter().flat_map(|line| [line.as_str(), "\n"]));
    } else {
        for model in models {
            let ModelFile {
                name,
                size,
                licence,
                good_for,
                ..
            } = model;
            let status = if model.is_installed {
                "installed, "
            } else {
                ""
            };
            text.push_str(&hanging("", name, 2, width));
            text.push_str(&hanging(
                "  ",
                &format!("{status}{size}, {licence}; {good_for}"),
                2,
                width,
            ));
        }
    }
    for note in notes {
        text.push_str(&hanging("", note, 2, width));
    }
    text
}

fn cells(model: &ModelFile) -> [String; 5] {
    let status = if model.is_installed { "installed" } else { "-" };
    [
        model.name.to_owned(),
        status.to_owned(),
        model.size.clone(),
        model.licence.to_owned(),
        model.good_for.to_owned(),
    ]
}
