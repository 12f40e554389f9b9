//! The text of one judge's call as prose while it is written: headings in the words of the report,
//! a line for each statement, the experts by name. Field names, numbers and the marks of JSON are
//! left out. Returns text to print and prints nothing itself.

use console::measure_text_width;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::names::{NamedStream, with_names};
use crate::domain::ids::ModelRef;
use crate::domain::text::clean;

use super::json_stream::{JsonFragment, StreamedJson};
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::model_name;
use crate::terminal::output::style::Paint;

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
    reader: StreamedJson,
    /// Printed before the first text, so that a call without text prints none.
    title: Option<String>,
    /// The field of the whole answer that is being written.
    section: String,
    /// Whether the answer offers options.
    is_menu: bool,
    /// Printed before the next text.
    heading: Option<&'static str>,
    /// The text of the current value, or of the prose around the JSON.
    value: NamedStream,
    layout: ValueLayout,
    /// A value that is not printed as it arrives.
    collected: String,
    /// The expert of the next statement of an object.
    speaker: Option<String>,
    /// The experts behind the last statement of an object.
    supporters: Vec<String>,
    /// Printed before the text of the current value.
    lead: String,
    /// Ready to print.
    ready: String,
    /// Held back until the line is whole.
    line: String,
    is_line_open: bool,
}

/// The place of a value in the prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueLayout {
    Paragraph,
    Item,
    /// A line below an item, after these words.
    Detail(&'static str),
    /// The words of an expert, below an item.
    Quote,
    /// Names the expert of the statement that follows.
    Speaker,
    /// Names the expert to which the statement that follows is addressed.
    Addressee,
    /// Names an expert behind the statement before.
    Supporter,
    /// Not shown.
    Hidden,
}

impl ValueLayout {
    /// Returns the place of a field of the judge's answers.
    fn of(section: &str, name: &str) -> Self {
        match (section, name) {
            (_, "agent" | "challenger") => Self::Speaker,
            (_, "target_agent") => Self::Addressee,
            (_, "supporting_agents") => Self::Supporter,
            (_, "severity") => Self::Hidden,
            ("challenges", "evidence") => Self::Detail("– "),
            (_, "viewpoint" | "description") => Self::Detail(""),
            (_, "best_when") => Self::Detail("Best when: "),
            (_, "pros") => Self::Detail("+ "),
            (_, "cons") => Self::Detail("− "),
            (_, "quote") => Self::Quote,
            ("summary" | "recommendation", _) => Self::Paragraph,
            (section, _) if heading(section, false).is_some() => Self::Item,
            _ => Self::Paragraph,
        }
    }

    fn is_collected(self) -> bool {
        match self {
            Self::Speaker | Self::Addressee | Self::Supporter | Self::Hidden => true,
            Self::Paragraph | Self::Item | Self::Detail(_) | Self::Quote => false,
        }
    }

    fn indent(self) -> &'static str {
        match self {
            Self::Detail(_) | Self::Quote => DEEPER,
            Self::Paragraph
            | Self::Item
            | Self::Speaker
            | Self::Addressee
            | Self::Supporter
            | Self::Hidden => INDENT,
        }
    }
}

/// Returns the heading of a part of the judge's answers; `None` for an unknown one.
fn heading(section: &str, is_menu: bool) -> Option<&'static str> {
    Some(match section {
        "consensus_points" => "Agreement",
        "tensions" => "Tensions",
        "priority_order" => "What decides",
        "challenges" => "Challenges",
        "rebuttals" => "Rebuttals",
        "unresolved" => "Open points",
        "summary" => "Summary",
        "evidence" => "Evidence",
        "dissent" => "Dissent",
        "recommendations" => "Options",
        "recommendation" if is_menu => "How to choose",
        "recommendation" => "Answer",
        _ => return None,
    })
}

impl JudgeProse {
    /// Begins the text of a call. The labels of the experts are shown as their names.
    pub(super) fn new(
        wrap_at: Option<usize>,
        paint: Paint,
        model: &ModelRef,
        labels: Option<Labels>,
    ) -> Self {
        Self {
            wrap_at,
            paint,
            reader: StreamedJson::default(),
            title: Some(format!("⚖️ Judge ({}):\n", one_line(&model_name(model)))),
            section: String::new(),
            is_menu: false,
            heading: None,
            value: NamedStream::new(labels.clone()),
            labels,
            layout: ValueLayout::Paragraph,
            collected: String::new(),
            speaker: None,
            supporters: Vec::new(),
            lead: String::new(),
            ready: String::new(),
            line: String::new(),
            is_line_open: false,
        }
    }

    pub(super) fn write(&mut self, piece: &str) {
        let fragments = self.reader.read(piece);
        self.lay_out(fragments);
    }

    pub(super) fn finish(&mut self) {
        let fragments = self.reader.finish();
        self.lay_out(fragments);
        self.end_value();
        self.end_object();
    }

    /// Returns what can be printed now.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.ready)
    }

    pub(super) fn has_text(&self) -> bool {
        !self.ready.is_empty()
    }

    fn lay_out(&mut self, fragments: Vec<JsonFragment>) {
        for fragment in fragments {
            match fragment {
                JsonFragment::Field { section, name } => self.begin_value(section, &name),
                JsonFragment::Text(text) if self.layout.is_collected() => {
                    self.collected.push_str(&text);
                }
                JsonFragment::Text(text) => {
                    let text = self.value.push(&clean(&text));
                    self.put_lines(&text);
                }
                JsonFragment::End => {
                    self.end_value();
                    self.layout = ValueLayout::Paragraph;
                }
                JsonFragment::EndOfObject => self.end_object(),
            }
        }
    }

    fn begin_value(&mut self, section: String, name: &str) {
        self.end_value();
        self.layout = ValueLayout::of(&section, name);
        if section != self.section {
            self.end_object();
            self.heading = heading(&section, self.is_menu);
            self.is_menu |= section == "recommendations";
            self.section = section;
        }
        self.lead = self.lead();
    }

    /// Returns what stands before the text of the current value.
    fn lead(&mut self) -> String {
        let speaker = |layout: &mut Self| {
            let name = layout.speaker.take();
            name.map(|name| format!("{name}: ")).unwrap_or_default()
        };
        match self.layout {
            ValueLayout::Item => format!("• {}", speaker(self)),
            ValueLayout::Detail(words) => format!("{words}{}", speaker(self)),
            ValueLayout::Quote => format!("{}“", speaker(self)),
            ValueLayout::Paragraph
            | ValueLayout::Speaker
            | ValueLayout::Addressee
            | ValueLayout::Supporter
            | ValueLayout::Hidden => String::new(),
        }
    }

    fn end_value(&mut self) {
        let rest = self.value.finish();
        self.put_lines(&rest);
        if self.layout == ValueLayout::Quote && self.is_line_open {
            self.put(DEEPER, "”");
        }
        self.end_line();
        self.lead.clear();
        let collected = std::mem::take(&mut self.collected);
        let name = self.expert_name(&collected);
        match self.layout {
            _ if name.is_empty() => {}
            ValueLayout::Speaker => self.speaker = Some(name),
            ValueLayout::Addressee => {
                self.speaker = Some(match self.speaker.take() {
                    Some(speaker) => format!("{speaker} to {name}"),
                    None => format!("to {name}"),
                });
            }
            ValueLayout::Supporter => self.supporters.push(name),
            ValueLayout::Paragraph
            | ValueLayout::Item
            | ValueLayout::Detail(_)
            | ValueLayout::Quote
            | ValueLayout::Hidden => {}
        }
    }

    /// Names the experts that no statement of the object names.
    fn end_object(&mut self) {
        let speaker = self.speaker.take();
        let supporters = std::mem::take(&mut self.supporters);
        let names: Vec<String> = supporters.into_iter().chain(speaker).collect();
        if !names.is_empty() {
            self.put(DEEPER, &format!("({})", names.join(", ")));
            self.end_line();
        }
    }

    /// Returns the name of an expert, which a model names by its label.
    fn expert_name(&self, agent: &str) -> String {
        let agent = one_line(agent);
        match &self.labels {
            Some(labels) => with_names(&labels.shown(&agent), labels),
            None => agent,
        }
    }

    fn put_lines(&mut self, text: &str) {
        let indent = self.layout.indent();
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.end_line();
            }
            let is_continued = self.lead.is_empty() && self.layout != ValueLayout::Paragraph;
            self.put(if is_continued { DEEPER } else { indent }, line);
        }
    }

    /// Continues the line, or begins one. Blank lines are dropped: they would be the only ones in a
    /// log.
    fn put(&mut self, indent: &str, text: &str) {
        let text = if self.is_line_open {
            text
        } else {
            text.trim_start()
        };
        if text.is_empty() {
            return;
        }
        self.ready.extend(self.title.take());
        if let Some(heading) = self.heading.take() {
            let heading = self.paint.bold(heading);
            self.ready.extend([INDENT, &heading, "\n"]);
        }
        if !std::mem::replace(&mut self.is_line_open, true) {
            self.line.push_str(indent);
        }
        self.line.push_str(&std::mem::take(&mut self.lead));
        self.line.push_str(text);
        match self.wrap_at {
            None => self.ready.push_str(&std::mem::take(&mut self.line)),
            Some(width) if measure_text_width(&self.line) >= width => self.wrap(width),
            Some(_) => {}
        }
    }

    /// Releases all lines but the last, which may be incomplete.
    fn wrap(&mut self, width: usize) {
        let body = self.line.trim_start();
        let indent = self.line.strip_suffix(body).unwrap_or_default();
        let text = body.trim_end();
        let blank = body.strip_prefix(text).unwrap_or_default();
        let under = match self.layout {
            ValueLayout::Paragraph => INDENT,
            _ => DEEPER,
        };
        let options = textwrap::Options::new(width.saturating_sub(1).max(12))
            .initial_indent(indent)
            .subsequent_indent(under);
        let filled = textwrap::fill(body, options);
        let (lines, last) = filled.split_at(filled.rfind('\n').map_or(0, |at| at + 1));
        self.ready.push_str(lines);
        self.line = format!("{last}{blank}");
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            let line = std::mem::take(&mut self.line);
            self.ready.extend([line.trim_end(), "\n"]);
        }
    }
}
