//! The list of past consultations as `conclave history` shows it.

mod screen;

pub use self::screen::{below, date, screen};

use crate::domain::history::{HistoryRow, RunStatus};
use crate::terminal::output::format::dollars;
use crate::terminal::output::style::Paint;

fn painted(status: RunStatus, paint: Paint) -> String {
    let name = status.name();
    match status {
        RunStatus::Completed => name.to_owned(),
        RunStatus::Declined => paint.dim(name),
        RunStatus::Aborted | RunStatus::Unfinished => paint.yellow(name),
        RunStatus::Running => paint.cyan(name),
    }
}

fn confidence(row: &HistoryRow) -> Option<String> {
    row.confidence
        .map(|confidence| format!("{:.0}%", confidence * 100.0))
}

fn cost(row: &HistoryRow) -> Option<String> {
    row.cost.and_then(|cost| cost.cost()).map(dollars)
}
