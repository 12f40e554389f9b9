//! The judge's text while it is written, for `--stream`. Several calls may be open at once; one is
//! shown. Returns text to print and prints nothing itself.

use std::collections::BTreeMap;

use console::measure_text_width;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::names::NamedStream;
use crate::domain::ids::{CallId, ModelRef};
use crate::domain::text::clean;

use super::json_stream::{JsonFragment, StreamedJson};
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::model_name;

/// Before a field's name, and before text that continues it.
const INDENT: &str = "   ";
const DEEPER: &str = "     ";

/// All open calls of the judge.
#[derive(Debug)]
pub(in crate::terminal) struct JudgeStream {
    /// Text is printed in whole lines narrower than this, as the live area is drawn below them;
    /// `None` prints it as it arrives.
    wrap_at: Option<usize>,
    shown: Option<CallId>,
    calls: BTreeMap<CallId, CallText>,
}

impl JudgeStream {
    pub(in crate::terminal) fn new(wrap_at: Option<usize>) -> Self {
        Self {
            wrap_at,
            shown: None,
            calls: BTreeMap::new(),
        }
    }

    /// Opens a call. The labels of the experts are shown as their names.
    pub(in crate::terminal) fn begin(
        &mut self,
        call: CallId,
        model: &ModelRef,
        labels: Option<Labels>,
    ) {
        let text_of_call = CallText {
            wrap_at: self.wrap_at,
            reader: StreamedJson::default(),
            field: NamedStream::new(labels),
            heading: Some(format!("⚖️ Judge ({}):\n", one_line(&model_name(model)))),
            indent: INDENT,
            ready: String::new(),
            line: String::new(),
            is_line_open: false,
        };
        self.calls.insert(call, text_of_call);
    }

    /// Takes a piece of a call's text and returns what to print now.
    pub(in crate::terminal) fn write(&mut self, call: CallId, piece: &str) -> String {
        let Some(text_of_call) = self.calls.get_mut(&call) else {
            return String::new();
        };
        text_of_call.write(piece);
        if *self.shown.get_or_insert(call) == call {
            text_of_call.take()
        } else {
            String::new()
        }
    }

    /// Closes a call that ended or was dropped. If it brought no answer, the text of another open
    /// call is shown instead.
    pub(in crate::terminal) fn end(&mut self, call: CallId, result: CallResult) -> String {
        let Some(mut text_of_call) = self.calls.remove(&call) else {
            return String::new();
        };
        if self.shown != Some(call) {
            return String::new();
        }
        text_of_call.finish();
        let mut text = text_of_call.take();
        self.shown = None;
        if result == CallResult::Nothing
            && let Some((other, text_of_call)) = self
                .calls
                .iter_mut()
                .find(|(_, text_of_call)| !text_of_call.ready.is_empty())
        {
            self.shown = Some(*other);
            text.push_str(&text_of_call.take());
        }
        text
    }
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum CallResult {
    Answer,
    Nothing,
}

/// The text of one call.
#[derive(Debug)]
struct CallText {
    wrap_at: Option<usize>,
    reader: StreamedJson,
    /// The text of the current field, or of the prose around fields.
    field: NamedStream,
    /// Printed before the first text, so that a call without text prints none.
    heading: Option<String>,
    /// Before a line of the current text.
    indent: &'static str,
    /// Ready to print.
    ready: String,
    /// Held back until the line is whole.
    line: String,
    is_line_open: bool,
}

impl CallText {
    fn write(&mut self, piece: &str) {
        let parts = self.reader.read(piece);
        self.lay_out(parts);
    }

    fn finish(&mut self) {
        let parts = self.reader.finish();
        self.lay_out(parts);
        self.end_field();
    }

    fn take(&mut self) -> String {
        std::mem::take(&mut self.ready)
    }

    fn lay_out(&mut self, parts: Vec<JsonFragment>) {
        for part in parts {
            match part {
                JsonFragment::Field(name) => {
                    self.end_field();
                    self.put(INDENT, &format!("{}: ", one_line(&name)));
                    self.indent = DEEPER;
                }
                JsonFragment::Text(text) => {
                    let text = self.field.push(&clean(&text));
                    self.put_lines(&text);
                }
                JsonFragment::End => {
                    self.end_field();
                    self.indent = INDENT;
                }
            }
        }
    }

    fn put_lines(&mut self, text: &str) {
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.end_line();
            }
            self.put(self.indent, line);
        }
    }

    fn end_field(&mut self) {
        let rest = self.field.finish();
        self.put_lines(&rest);
        self.end_line();
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
        self.ready.extend(self.heading.take());
        if !std::mem::replace(&mut self.is_line_open, true) {
            self.line.push_str(indent);
        }
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
        let options = textwrap::Options::new(width.saturating_sub(1).max(12))
            .initial_indent(indent)
            .subsequent_indent(DEEPER);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::panel::Seat;

    const VERDICT: &str = "```json\n{\"summary\": \"They agree.\\n\\nMostly.\", \"dissent\": \
        [{\"concern\": \"Sessions would do for a single application\"}],\n\"confidence\": 0.9}\n\
        ```";

    fn model(name: &str) -> ModelRef {
        ModelRef::new("mistral", name)
    }

    fn written(wrap_at: Option<usize>, pieces: &[&str]) -> String {
        let mut judge = JudgeStream::new(wrap_at);
        judge.begin(CallId(1), &model("mistral-large"), None);
        let mut text: String = pieces
            .iter()
            .map(|piece| judge.write(CallId(1), piece))
            .collect();
        text.push_str(&judge.end(CallId(1), CallResult::Answer));
        text
    }

    #[test]
    fn fields_are_named_and_numbers_left_out() {
        insta::assert_snapshot!(written(None, &[VERDICT]), @r"
        ⚖️ Judge (mistral-large):
           summary: They agree.
             Mostly.
           concern: Sessions would do for a single application
        ");
        let characters: Vec<String> = VERDICT.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(written(None, &characters), written(None, &[VERDICT]));
        assert_eq!(
            written(Some(30), &characters),
            written(Some(30), &[VERDICT])
        );
    }

    #[test]
    fn menu_is_shown_option_by_option() {
        let menu = r#"{"recommendations": [{"option": "Wait", "pros": ["Cheap."], "cons": ["Slow.", "Dull."], "confidence": 0.7},
            {"option": "Move", "best_when": "writes double"}], "recommendation": "Look at the growth."}"#;
        insta::assert_snapshot!(written(None, &[menu]), @r"
        ⚖️ Judge (mistral-large):
           option: Wait
           pros: Cheap.
           cons: Slow.
           cons: Dull.
           option: Move
           best_when: writes double
           recommendation: Look at the growth.
        ");
    }

    #[test]
    fn labels_are_shown_as_the_names_of_the_seats() {
        let seats = ["Architect", "Critic"].map(|name| Seat::named(name, name, model("m")));
        let order = seats.each_ref().map(|seat| seat.id.clone());
        let mut judge = JudgeStream::new(None);
        judge.begin(CallId(1), &model("m"), Labels::in_order(&order, &seats));
        let text = r#"{"summary": "As Expert B says.", "concern": "Expert A"}"#;
        let pieces = text.chars().map(|c| judge.write(CallId(1), &c.to_string()));
        let mut shown: String = pieces.collect();
        shown.push_str(&judge.end(CallId(1), CallResult::Answer));
        insta::assert_snapshot!(shown, @r"
        ⚖️ Judge (m):
           summary: As Critic says.
           concern: Architect
        ");
    }

    #[test]
    fn only_whole_lines_that_fit_appear_above_the_live_display() {
        let mut judge = JudgeStream::new(Some(24));
        judge.begin(CallId(1), &model("m"), None);
        let mut text = String::new();
        for c in VERDICT.chars() {
            let now = judge.write(CallId(1), &c.to_string());
            assert!(now.is_empty() || now.ends_with('\n'), "{now:?}");
            text.push_str(&now);
        }
        text.push_str(&judge.end(CallId(1), CallResult::Answer));
        insta::assert_snapshot!(text, @r"
        ⚖️ Judge (m):
           summary: They agree.
             Mostly.
           concern: Sessions
             would do for a
             single application
        ");
        for width in 14..60 {
            let text = written(Some(width), &[VERDICT]);
            assert!(
                text.lines()
                    .skip(1)
                    .all(|line| measure_text_width(line) < width),
                "{width}: {text}"
            );
        }
    }

    #[test]
    fn terminal_control_sequences_are_dropped() {
        let text = written(
            None,
            &["{\"a\": \"x\\u001b[2J\\u0007\\r\\ny\", \"b\u{1b}\": \"\u{202e}z\"}"],
        );
        assert_eq!(
            text,
            "⚖️ Judge (mistral-large):\n   a: x[2J\n     y\n   b: z\n"
        );
        assert_eq!(
            written(None, &["\u{1b}]0;title\u{7}wait"]),
            "⚖️ Judge (mistral-large):\n   ]0;titlewait\n"
        );
    }

    #[test]
    fn other_call_is_shown_if_the_first_has_no_answer() {
        let mut judge = JudgeStream::new(None);
        judge.begin(CallId(1), &model("slow"), None);
        judge.begin(CallId(2), &model("backup"), None);
        assert_eq!(judge.write(CallId(1), "one"), "⚖️ Judge (slow):\n   one");
        assert_eq!(judge.write(CallId(2), "two"), "");
        assert_eq!(
            judge.end(CallId(1), CallResult::Nothing),
            "\n⚖️ Judge (backup):\n   two"
        );
        assert_eq!(judge.write(CallId(2), " three"), " three");
        assert_eq!(judge.end(CallId(2), CallResult::Answer), "\n");
        assert_eq!(judge.write(CallId(2), "late"), String::new());
        assert_eq!(judge.end(CallId(2), CallResult::Answer), String::new());
    }
}
