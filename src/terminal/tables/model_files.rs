//! The embedded models as `conclave model list` shows them.

use crate::terminal::document::{self, Part, Table, Tail};
use crate::terminal::output::style::Paint;

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
    let rows = models.iter().map(|model| {
        let status = if model.is_installed { "installed" } else { "-" };
        vec![
            model.name.to_owned(),
            status.to_owned(),
            model.size.clone(),
            model.licence.to_owned(),
            model.good_for.to_owned(),
        ]
    });
    let table = Table::with_tail(Tail::Wrapped, 2, &[""; 5], rows);
    let notes = notes
        .iter()
        .map(|note| Part::Paragraph(note.clone().into()));
    let parts: Vec<Part> = table.into_iter().chain(notes).collect();
    document::screen(&parts, width, Paint::Plain)
}
