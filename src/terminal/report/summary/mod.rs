//! What is left on the screen when a consultation is over: notices, the answer, what it rests on,
//! who objects, who changed their minds, the cost, and the next commands. The whole report has the
//! rest.
//!
//! Everything a model wrote is shown as plain text, but for the answer, which is rendered.

mod facts;

use std::borrow::Cow;

use console::measure_text_width;

use crate::domain::artifact::Verdict;
use crate::domain::rejudgement::{Judgement, Rejudgement};
use crate::domain::stored_record::{Completion, StoredRecord};
use crate::terminal::document;
use crate::terminal::markdown::render::{WIDEST, render};
use crate::terminal::output::format::{amount, model_address, stated};
use crate::terminal::output::style::Paint;
use crate::text::clean::one_line;

use super::rejudge::{held, recommendation};

/// The lines of the answer that are shown.
const ANSWER_LINES: usize = 12;

/// The lines of an item of a list, such as one objection.
const ITEM_LINES: usize = 2;

/// The lines of a single fact, such as the confidence with what it rests on.
const FACT_LINES: usize = 4;

/// The items of a row.
const ITEMS: usize = 3;

/// The options of a menu, or the positions without a verdict.
const LIST_ITEMS: usize = 5;

/// The width below which an item may have one line more.
const NARROW: usize = 60;

/// The columns of the labels.
const LABEL: usize = 12;

/// The commands that a summary points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NextSteps {
    /// Nothing is stored, or only the answer was asked for.
    #[default]
    None,
    /// The commands take this name of the consultation, such as `last`.
    Of(String),
}

/// A summary, ready to be laid out.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    notices: Vec<String>,
    heading: String,
    /// Markdown; contained.
    answer: String,
    rows: Vec<Row>,
    next: NextSteps,
    is_complete: bool,
}

/// A label with its texts.
#[derive(Clone, Debug)]
struct Row {
    label: &'static str,
    items: Vec<String>,
    /// The lines of an item; more are cut.
    most_lines: usize,
}

impl Summary {
    /// Summarizes a consultation, finished or not.
    pub fn of(record: &StoredRecord, next: NextSteps) -> Self {
        let verdict = record.verdict();
        let is_complete = record.completion() == Completion::Completed;
        let mut rows = vec![
            Row::one("Confidence", facts::confidence(record)),
            Row::one("Judge", facts::judge_passes(record)),
            Row::list("Positions", facts::positions(record), LIST_ITEMS),
            Row::list("Dissent", facts::dissent(record), ITEMS),
            Row::list("Open", facts::open_points(record), ITEMS),
            Row::list("Changes", facts::changes(record), ITEMS),
            Row::one("Cost", Some(facts::cost(record))),
        ];
        if let NextSteps::Of(_) = next {
            rows.push(Row::one("Saved as", Some(one_line(&record.id))));
        }
        rows.retain(|row| !row.items.is_empty());
        let is_menu = verdict.is_some_and(Verdict::is_menu);
        Self {
            notices: facts::notices(record),
            heading: if is_menu { "Options" } else { "Answer" }.to_owned(),
            answer: document::markdown(&facts::answer(record)),
            rows,
            next,
            is_complete,
        }
    }

    /// Summarizes a second judgement of stored answers.
    pub fn of_rejudgement(rejudgement: &Rejudgement, next: NextSteps) -> Self {
        let Rejudgement {
            before,
            after,
            cost,
            ..
        } = rejudgement;
        let judge = |side: &Judgement| side.judge.as_ref().map(model_address);
        let judges = judge(before)
            .zip(judge(after))
            .map(|(before, after)| changed(&before, &after));
        let confidence = match (&before.recommendation, &after.recommendation) {
            (Some(_), Some(_)) if after.options.is_empty() && before.options.is_empty() => Some(
                changed(&stated(before.confidence), &stated(after.confidence)),
            ),
            _ => None,
        };
        let mut rows = vec![
            Row::one("Verdict", Some(held(rejudgement))),
            Row::one("Judge", judges),
            Row::one("Confidence", confidence),
            Row::one("Cost", cost.map(amount)),
        ];
        if let NextSteps::Of(_) = next {
            rows.push(Row::one("Saved as", Some(one_line(&after.consultation_id))));
        }
        rows.retain(|row| !row.items.is_empty());
        Self {
            notices: Vec::new(),
            heading: "Answer now".to_owned(),
            answer: document::markdown(&recommendation(after)),
            rows,
            next,
            is_complete: true,
        }
    }

    /// Lays it out for a terminal of `width` columns.
    pub fn render(&self, width: usize, paint: Paint) -> String {
        let room = width.saturating_sub(1).clamp(10, WIDEST);
        let mut lines = Vec::new();
        for notice in &self.notices {
            let wrapped = shortened(notice, room, ITEM_LINES, "   ");
            lines.extend(wrapped.iter().map(|line| paint.yellow(line)));
        }
        if !self.notices.is_empty() {
            lines.push(String::new());
        }
        lines.push(paint.heading(&self.heading));
        lines.extend(self.answer_lines(width, paint));
        lines.push(String::new());
        for row in &self.rows {
            lines.extend(row.lines(room, paint));
        }
        lines.extend(self.next_lines(room, paint));
        lines.join("\n") + "\n"
    }

    /// The answer, up to a bound.
    fn answer_lines(&self, width: usize, paint: Paint) -> Vec<String> {
        let rendered = render(&self.answer, width, paint);
        let mut lines: Vec<String> = rendered.trim_end().lines().map(str::to_owned).collect();
        // One line more is better than a line that says there is one.
        let left_out = lines.len().saturating_sub(ANSWER_LINES);
        if left_out > 1 {
            lines.truncate(ANSWER_LINES);
            let pointer = match &self.next {
                NextSteps::Of(name) => format!(": conclave history show {name}"),
                NextSteps::None => String::new(),
            };
            lines.push(paint.dim(&format!("… {left_out} more lines{pointer}")));
        }
        lines
    }

    fn next_lines(&self, room: usize, paint: Paint) -> Vec<String> {
        let NextSteps::Of(name) = &self.next else {
            return Vec::new();
        };
        let follow_up = match name.as_str() {
            "last" => "conclave consult --follow-up \"…\"".to_owned(),
            id => format!("conclave consult --follow-up \"…\" {id}"),
        };
        let mut steps = vec![(format!("conclave history show {name}"), "the whole report")];
        if self.is_complete {
            steps.push((
                format!("conclave history export {name} --open"),
                "as a page in the browser",
            ));
            steps.push((follow_up, "ask further"));
        }
        let widest = steps.iter().map(|(command, _)| measure_text_width(command));
        let column = widest.max().unwrap_or_default() + 2;
        let descriptions = steps.iter().map(|(_, what)| measure_text_width(what));
        let is_fitting = column + descriptions.max().unwrap_or_default() <= room;
        let step = |(command, what): (String, &str)| {
            if is_fitting {
                let blanks = " ".repeat(column - measure_text_width(&command));
                format!("{command}{blanks}{}", paint.dim(what))
            } else {
                command
            }
        };
        std::iter::once(String::new())
            .chain(steps.into_iter().map(step))
            .collect()
    }
}

impl Row {
    fn one(label: &'static str, text: Option<String>) -> Self {
        Self {
            label,
            items: text.into_iter().collect(),
            most_lines: FACT_LINES,
        }
    }

    /// Keeps the first items, and says how many more there are.
    fn list(label: &'static str, mut items: Vec<String>, most: usize) -> Self {
        let left_out = items.len().saturating_sub(most);
        if left_out > 0 {
            items.truncate(most);
            items.push(format!("… {left_out} more"));
        }
        Self {
            label,
            items,
            most_lines: ITEM_LINES,
        }
    }

    fn lines(&self, room: usize, paint: Paint) -> Vec<String> {
        // On a narrow screen, a column of labels leaves too little.
        let is_narrow = room < 4 * LABEL;
        let indent = if is_narrow { 2 } else { LABEL };
        let most_lines = self.most_lines + usize::from(room < NARROW);
        let mut lines = Vec::new();
        for item in &self.items {
            lines.extend(shortened(item, room - indent, most_lines, ""));
        }
        let mut labelled = Vec::new();
        if is_narrow {
            labelled.push(paint.bold(self.label));
        }
        for (at, line) in lines.iter().enumerate() {
            labelled.push(if at == 0 && !is_narrow {
                let blanks = " ".repeat(LABEL - self.label.len());
                format!("{}{blanks}{line}", paint.bold(self.label))
            } else {
                format!("{}{line}", " ".repeat(indent))
            });
        }
        labelled
    }
}

/// Wraps a text and cuts it behind a word with `…` where it has more than `most` lines.
fn shortened(text: &str, room: usize, most: usize, indent: &str) -> Vec<String> {
    let options = textwrap::Options::new(room)
        .subsequent_indent(indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, &options);
    let mut lines: Vec<String> = lines.into_iter().map(Cow::into_owned).collect();
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while measure_text_width(last) + 2 > room {
                let blank = last.trim_end().rfind(' ');
                let Some(shorter) = blank.and_then(|blank| last.get(..blank)) else {
                    break;
                };
                if shorter.trim().is_empty() {
                    break;
                }
                last.truncate(shorter.len());
            }
            let end = last.trim_end_matches([' ', ',', ';', ':']).len();
            last.truncate(end);
            last.push_str(" …");
        }
    }
    lines
}

fn changed(before: &str, after: &str) -> String {
    if before == after {
        after.to_owned()
    } else {
        format!("{before} → {after}")
    }
}
