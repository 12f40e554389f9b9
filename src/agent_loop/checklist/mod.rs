//! The task items of a plan: CommonMark list items with a checkbox.

use pulldown_cmark::{Event, Options, Parser};

use super::text::normal;
use crate::domain::hash;
use crate::stopping::exit_check::evidence::Checklist;

/// Reads the task items of a plan; `None` if it has none that count.
pub fn read(plan: &str) -> Option<Checklist> {
    let plan = normal(plan);
    let mut checklist = Checklist::default();
    let mut completed = Vec::new();
    for (event, range) in Parser::new_ext(&plan, Options::ENABLE_TASKLISTS).into_offset_iter() {
        match event {
            Event::TaskListMarker(true) => {
                checklist.completed += 1;
                let item = plan.get(range.start..).unwrap_or_default();
                completed.push(item.lines().next().unwrap_or_default());
            }
            Event::TaskListMarker(false) => checklist.open += 1,
            _ => {}
        }
    }
    completed.sort_unstable();
    checklist.completed_set = hash::sha256(&completed.join("\n"));
    (checklist.total() > 0).then_some(checklist)
}
