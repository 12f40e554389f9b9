//! The task items of a plan: list items of Markdown with a checkbox, in any bullet, number and
//! nesting; not in code, quotes or comments.
//!
//! Two things that look like task items do not count. Tables with marks have no agreed form: the
//! same ✅ means passed, supported or done. A list item that begins with an emoji is a note.

mod item;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::text::normal;
use crate::domain::hash;
use crate::stopping::exit_check::evidence::Checklist;
use crate::text::clean::front_matter;
use item::{ItemState, Sections, TaskItem, checkbox};

pub(super) use item::is_optional_label;

/// `None` if it has none that count.
pub fn read(plan: &str) -> Option<Checklist> {
    let plan = normal(plan);
    let body = front_matter(&plan)
        .and_then(|front| plan.get(front.end..))
        .unwrap_or(&plan);
    let mut reader = ChecklistReader::default();
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        reader.handle(event, body.get(range).unwrap_or_default());
    }
    reader.finish()
}

/// What is open in the text at the current event, and what was counted before it.
#[derive(Default)]
struct ChecklistReader {
    sections: Sections,
    /// The list items around the current event, outermost first.
    items: Vec<TaskItem>,
    quotes: usize,
    strikes: usize,
    /// The text of the current heading, or of the current paragraph outside lists.
    heading: Option<String>,
    paragraph: Option<String>,
    checklist: Checklist,
    /// The texts of completed items and of all, for their hashes.
    completed: Vec<String>,
    tasks: Vec<String>,
}

impl ChecklistReader {
    fn handle(&mut self, event: Event<'_>, source: &str) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes = self.quotes.saturating_sub(1),
            _ if self.quotes > 0 => {}
            Event::Start(Tag::Heading { .. }) => self.heading = Some(String::new()),
            Event::End(TagEnd::Heading(level)) => {
                let heading = self.heading.take().unwrap_or_default();
                if self.items.is_empty() {
                    self.sections.enter(level as u8, &heading);
                }
            }
            Event::Start(Tag::Paragraph) if self.items.is_empty() => {
                self.paragraph = Some(String::new());
            }
            Event::End(TagEnd::Paragraph) if self.items.is_empty() => {
                let paragraph = self.paragraph.take().unwrap_or_default();
                self.sections.note_label(&paragraph, source);
            }
            Event::End(TagEnd::Paragraph) | Event::Start(Tag::List(_)) => {
                if let Some(item) = self.items.last_mut() {
                    item.text_ended = true;
                }
            }
            Event::Start(Tag::CodeBlock(_)) => {
                if let Some(item) = self.items.last_mut() {
                    item.begin_code();
                }
            }
            Event::Start(Tag::Item) => {
                let parent = self.items.last();
                let in_section = || self.sections.is_optional();
                let item = TaskItem {
                    checkbox: checkbox(source),
                    in_optional: parent.map_or_else(in_section, TaskItem::is_optional),
                    in_cancelled: parent.is_some_and(TaskItem::is_cancelled),
                    ..TaskItem::default()
                };
                self.items.push(item);
            }
            Event::End(TagEnd::Item) => {
                if let Some(item) = self.items.pop() {
                    self.count(&item);
                }
            }
            Event::Start(Tag::Strikethrough) => self.strikes += 1,
            Event::End(TagEnd::Strikethrough) => self.strikes = self.strikes.saturating_sub(1),
            Event::Text(text) | Event::Code(text) => self.push(&text),
            Event::SoftBreak | Event::HardBreak => self.push(" "),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        } else if let Some(item) = self.items.last_mut() {
            item.push(text, self.strikes > 0);
        } else if let Some(paragraph) = &mut self.paragraph {
            paragraph.push_str(text);
        }
    }

    fn count(&mut self, item: &TaskItem) {
        let Some(state) = item.state() else { return };
        if item.is_optional() {
            return;
        }
        self.tasks.push(item.normal_text());
        match state {
            ItemState::Completed => {
                self.checklist.completed += 1;
                self.completed.push(item.normal_text());
            }
            ItemState::Open => {
                self.checklist.open += 1;
                self.checklist.open_blockers += u64::from(item.is_blocker());
            }
            ItemState::Cancelled => self.checklist.cancelled += 1,
        }
    }

    fn finish(mut self) -> Option<Checklist> {
        if self.checklist.total() == 0 {
            return None;
        }
        let hash = |mut texts: Vec<String>| {
            texts.sort_unstable();
            hash::sha256(&texts.join("\n"))
        };
        self.checklist.completed_set = hash(self.completed);
        self.checklist.tasks = hash(self.tasks);
        Some(self.checklist)
    }
}

#[cfg(test)]
mod tests;
