//! Menus of past consultations, for commands that are given no id on a terminal.

use jiff::tz::TimeZone;

use super::Archive;
use crate::commands::runtime::until_interrupted;
use crate::domain::history::HistoryRow;
use crate::domain::ids::ConsultationId;
use crate::error::{Error, Exit};
use crate::records::history::{self, Filter};
use crate::records::index::Index;
use crate::session::index;
use crate::terminal::output::format::dollars;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};
use crate::terminal::prompt::{StdinUse, can_ask};
use crate::text::clean::one_line;

/// Most consultations in a menu, the newest. Older ones are found with `history list --search`.
const MOST_OFFERED: usize = 100;

/// Returns whether there is a terminal that can show menus.
pub(super) fn can_pick(printer: &Printer) -> bool {
    can_ask(printer, StdinUse::Free) && printer.err_traits().is_animated
}

/// Returns the consultation of this name. Without a name, a menu asks for one if there is a
/// terminal that can show it, and otherwise it is the last; `None` after Esc.
pub(super) fn named_or_picked(
    name: Option<&str>,
    archive: &Archive<'_>,
) -> Result<Option<ConsultationId>, Error> {
    let printer = archive.printer;
    let has_menu = can_pick(printer) && printer.out_traits().is_terminal;
    let entries = if name.is_none() && has_menu {
        newest(archive)?
    } else {
        Vec::new()
    };
    if entries.is_empty() {
        return archive.find(name.unwrap_or("last")).map(Some);
    }
    let items = items(&entries);
    let chosen = until_interrupted(printer, interrupted, async {
        let dialogue = Dialogue::open(printer);
        picked(dialogue.select("Show", &items, 0).await)
    })?;
    let entry = chosen.and_then(|at| entries.into_iter().nth(at));
    Ok(entry.map(|entry| entry.consultation_id))
}

/// Asks for any number of consultations; none after Esc.
pub(super) fn pick_several(archive: &Archive<'_>, prompt: &str) -> Result<Vec<HistoryRow>, Error> {
    let entries = newest(archive)?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let items = items(&entries);
    let ticked = vec![false; items.len()];
    let chosen = until_interrupted(archive.printer, interrupted, async {
        let dialogue = Dialogue::open(archive.printer);
        picked(dialogue.select_several(prompt, &items, &ticked).await)
    })?;
    let chosen = chosen.unwrap_or_default();
    let entries = entries.into_iter().enumerate();
    let chosen = entries.filter(|(at, _)| chosen.contains(at));
    Ok(chosen.map(|(_, entry)| entry).collect())
}

fn newest(archive: &Archive<'_>) -> Result<Vec<HistoryRow>, Error> {
    let query = |index: &mut Index| {
        history::list(&index.connection, &Filter::default(), Some(MOST_OFFERED))
    };
    index::with(&archive.home, archive.printer, query)
}

/// Returns the answer; `None` after Esc.
fn picked<T>(answer: Result<T, DialogueError>) -> Result<Option<T>, Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(DialogueError::Cancelled) => Ok(None),
        Err(DialogueError::Interrupted) => Err(interrupted()),
        Err(error @ DialogueError::Terminal(_)) => {
            Err(Error::failed(error).hint("name an id, which `conclave history list` shows"))
        }
    }
}

fn interrupted() -> Error {
    Error::new(Exit::Interrupted, "interrupted")
}

/// Returns a line for each: time, confidence, cost and question. The menu cuts it at its width.
fn items(entries: &[HistoryRow]) -> Vec<String> {
    let zone = TimeZone::system();
    let item = |entry: &HistoryRow| {
        let began = jiff::Timestamp::from_millisecond(entry.timestamp.0).map_or_else(
            |_| entry.timestamp.date(),
            |at| {
                let local = at.to_zoned(zone.clone());
                local.strftime("%Y-%m-%d %H:%M").to_string()
            },
        );
        let stated = entry
            .confidence
            .map(|stated| format!("{:.0}%", stated * 100.0));
        let cost = entry.cost.and_then(|cost| cost.cost()).map(dollars);
        let (stated, cost) = (stated.unwrap_or_default(), cost.unwrap_or_default());
        let question = one_line(&entry.question);
        format!("{began}  {stated:>4}  {cost:>7}  {question}")
    };
    entries.iter().map(item).collect()
}
