//! The text of one judge's call as prose while it is written: headings in the words of the report,
//! a line for each statement, the experts by name. Field names, numbers and the marks of JSON are
//! left out. Returns text to print and prints nothing itself.
//!
//! Each time, the whole text so far becomes prose, and only the new end of the prose is returned.

use serde_json::Value;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::names::{with_names, with_names_so_far};
use crate::consultation::reading::unfinished::{AnswerPart, parts};
use crate::domain::ids::ModelRef;
use crate::terminal::output::format::model_name;
use crate::terminal::output::style::Paint;
use crate::text::clean::{clean, one_line};

/// Before a statement, and before text that continues it.
const INDENT: &str = "   ";
const DEEPER: &str = "     ";

/// The text of one call.
#[derive(Debug)]
pub(super) struct JudgeProse {
    /// Text is printed in whole lines narrower than this, as the live area is drawn below them;
    /// `None` prints it as it arrives.
    wrap_at: Option<usize>,
    paint: Paint,
    labels: Option<Labels>,
    title: String,
    /// As the model writes it.
    answer: String,
    is_ended: bool,
    /// The prose that was returned.
    shown: String,
}

impl JudgeProse {
    /// The labels of the experts are shown as their names.
    pub(super) fn new(
        wrap_at: Option<usize>,
        paint: Paint,
        model: &ModelRef,
        labels: Option<Labels>,
    ) -> Self {
        Self {
            wrap_at,
            paint,
            labels,
            title: format!("⚖️ Judge ({}):\n", one_line(&model_name(model))),
            answer: String::new(),
            is_ended: false,
            shown: String::new(),
        }
    }

    pub(super) fn write(&mut self, piece: &str) {
        self.answer.push_str(piece);
    }

    pub(super) fn end(&mut self) {
        self.is_ended = true;
    }

    pub(super) fn has_text(&self) -> bool {
        !self.answer.is_empty()
    }

    pub(super) fn take(&mut self) -> String {
        let prose = self.prose();
        let new = match prose.strip_prefix(&self.shown) {
            Some(new) => new.to_owned(),
            // In broken JSON, what follows can change the meaning of what was shown.
            None if !self.is_ended => return String::new(),
            None => {
                let lines = prose.lines().zip(self.shown.lines());
                let same = lines.take_while(|(line, shown)| line == shown).count();
                let rest = prose.split_inclusive('\n').skip(same);
                let line_break = Some("\n").filter(|end| !self.shown.ends_with(end));
                line_break.into_iter().chain(rest).collect()
            }
        };
        self.shown = prose;
        new
    }

    fn prose(&self) -> String {
        let parts = parts(&self.answer);
        let mut prose = Prose {
            call: self,
            text: String::new(),
            section: "",
            is_menu: false,
            heading: None,
            speaker: None,
            supporters: Vec::new(),
        };
        for (at, part) in parts.iter().enumerate() {
            match part {
                AnswerPart::Prose(text) => {
                    let is_open = at + 1 == parts.len() && !self.is_ended;
                    prose.field("", "", text, is_open);
                }
                AnswerPart::Object(value, open) => {
                    let open = if self.is_ended { 0 } else { *open };
                    prose.value(value, open, None, "");
                }
            }
        }
        if self.is_ended {
            prose.end_object();
        }
        prose.text
    }
}

/// The place of a value in the prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueLayout {
    /// A text, with the indents of its first line and of the others, what stands before it and its
    /// expert, and the quotation marks around it.
    Text([&'static str; 2], [&'static str; 3]),
    /// Names the expert of the statement that follows.
    Speaker,
    /// Names the expert to which the statement that follows is addressed.
    Addressee,
    /// Names an expert behind the statement before.
    Supporter,
    Hidden,
}

impl ValueLayout {
    fn of(section: &str, name: &str) -> Self {
        const PARAGRAPH: ValueLayout = ValueLayout::Text([INDENT; 2], [""; 3]);
        match (section, name) {
            (_, "agent" | "challenger") => Self::Speaker,
            (_, "target_agent") => Self::Addressee,
            (_, "supporting_agents") => Self::Supporter,
            (_, "severity") => Self::Hidden,
            ("challenges", "evidence") => Self::Text([DEEPER; 2], ["– ", "", ""]),
            (_, "viewpoint" | "description") => Self::Text([DEEPER; 2], [""; 3]),
            (_, "best_when") => Self::Text([DEEPER; 2], ["Best when: ", "", ""]),
            (_, "pros") => Self::Text([DEEPER; 2], ["+ ", "", ""]),
            (_, "cons") => Self::Text([DEEPER; 2], ["− ", "", ""]),
            (_, "quote") => Self::Text([DEEPER; 2], ["", "“", "”"]),
            (_, "would_change_it") => Self::Text([INDENT; 2], ["It would change with: ", "", ""]),
            ("summary" | "recommendation" | "provisional_answer", _) => PARAGRAPH,
            _ if heading(section, false).is_none() => PARAGRAPH,
            _ => Self::Text([INDENT, DEEPER], ["• ", "", ""]),
        }
    }
}

/// `None` for an unknown one.
fn heading(section: &str, is_menu: bool) -> Option<&'static str> {
    Some(match section {
        "consensus_points" => "Agreement",
        "tensions" => "Tensions",
        "priority_order" => "What decides",
        "challenges" => "Challenges",
        "rebuttals" => "Rebuttals",
        "unresolved" => "Open points",
        "provisional_answer" => "Provisional answer",
        "summary" => "Summary",
        "evidence" => "Evidence",
        "dissent" => "Dissent",
        "recommendations" => "Options",
        "recommendation" if is_menu => "How to choose",
        "recommendation" => "Answer",
        _ => return None,
    })
}

/// The prose of what has arrived of a call.
struct Prose<'a> {
    call: &'a JudgeProse,
    text: String,
    /// The field of the whole answer that the last value is part of.
    section: &'a str,
    is_menu: bool,
    /// Stands before the next text.
    heading: Option<&'static str>,
    /// The expert of the next statement of an object.
    speaker: Option<String>,
    /// The experts behind the last statement of an object.
    supporters: Vec<String>,
}

impl<'a> Prose<'a> {
    fn value(&mut self, value: &'a Value, open: usize, section: Option<&'a str>, name: &'a str) {
        let open_at = |at, length| open.saturating_sub(1) * usize::from(at + 1 == length);
        match value {
            Value::String(text) => self.field(section.unwrap_or_default(), name, text, open > 0),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, open_at(at, items.len()), section, name);
                }
            }
            Value::Object(members) => {
                for (at, (name, member)) in members.iter().enumerate() {
                    let section = section.or(Some(name));
                    self.value(member, open_at(at, members.len()), section, name);
                }
                if open == 0 && section.is_some() {
                    self.end_object();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn field(&mut self, section: &'a str, name: &str, text: &str, is_open: bool) {
        if section != self.section {
            self.end_object();
            self.heading = heading(section, self.is_menu);
            self.is_menu |= section == "recommendations";
            self.section = section;
        }
        match ValueLayout::of(section, name) {
            ValueLayout::Text(indents, marks) => self.text(indents, marks, text, is_open),
            ValueLayout::Hidden => {}
            _ if is_open => {}
            ValueLayout::Speaker => self.speaker = self.expert_name(text),
            ValueLayout::Addressee => {
                let addressee = self.expert_name(text).map(|name| format!("to {name}"));
                let names: Vec<String> = self.speaker.take().into_iter().chain(addressee).collect();
                self.speaker = (!names.is_empty()).then(|| names.join(" "));
            }
            ValueLayout::Supporter => self.supporters.extend(self.expert_name(text)),
        }
    }

    /// Models name experts by their labels.
    fn expert_name(&self, agent: &str) -> Option<String> {
        let agent = one_line(agent);
        let name = match &self.call.labels {
            Some(labels) => with_names(&labels.shown(&agent), labels),
            None => agent,
        };
        (!name.is_empty()).then_some(name)
    }

    fn end_object(&mut self) {
        let supporters = std::mem::take(&mut self.supporters).into_iter();
        let names: Vec<String> = supporters.chain(self.speaker.take()).collect();
        if !names.is_empty() {
            self.line([DEEPER; 2], &format!("({})", names.join(", ")), false);
        }
    }

    /// Adds the lines of a text. Blank ones are dropped: they would be the only ones in a log.
    fn text(
        &mut self,
        mut indents: [&str; 2],
        [mark, opening, closing]: [&str; 3],
        text: &str,
        is_open: bool,
    ) {
        let speaker = self.speaker.take().map(|name| format!("{name}: "));
        let mut lead = format!("{mark}{}{opening}", speaker.unwrap_or_default());
        let text = clean(text);
        let text = match &self.call.labels {
            Some(labels) if is_open => with_names_so_far(&text, labels),
            Some(labels) => with_names(&text, labels),
            None => text,
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut lines = lines.peekable();
        while let Some(line) = lines.next() {
            let is_last = lines.peek().is_none();
            let end = if is_last && !is_open { closing } else { "" };
            self.line(indents, &format!("{lead}{line}{end}"), is_last && is_open);
            lead.clear();
            indents[0] = indents[1];
        }
    }

    /// Adds a line, with these indents before it and before what continues it. Of one that is open,
    /// the last part may be incomplete.
    fn line(&mut self, [indent, under]: [&str; 2], line: &str, is_open: bool) {
        if self.text.is_empty() {
            self.text.push_str(&self.call.title);
        }
        if let Some(heading) = self.heading.take() {
            let heading = self.call.paint.bold(heading);
            self.text.extend([INDENT, &heading, "\n"]);
        }
        let line = match self.call.wrap_at {
            None => format!("{indent}{line}"),
            Some(width) => {
                let options = textwrap::Options::new(width.saturating_sub(1).max(12))
                    .initial_indent(indent)
                    .subsequent_indent(under);
                textwrap::fill(line, options)
            }
        };
        if !is_open {
            self.text.extend([&line, "\n"]);
        } else if self.call.wrap_at.is_none() {
            self.text.push_str(&line);
        } else if let Some((whole, _)) = line.rsplit_once('\n') {
            self.text.extend([whole, "\n"]);
        }
    }
}
