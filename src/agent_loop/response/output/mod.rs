//! An output as it arrives: documents of JSON and lines of text, and the decision what it is.

mod line_start;

use memchr::memchr;

use line_start::LineStart;

use super::json::{JsonProgress, JsonReader, Node};
use super::limits;
use super::programs::{CodexLog, Program, Turn, format_of, is_log_title, name_of, output_of};
use super::report::{AgentResponse, ResponseError, ResponseFormat};
use super::tail::{FenceTracker, TextTail};

/// Takes in an output piece by piece.
///
/// It is that of a program if a document has the shape of the program's, at the beginning of a line
/// and outside Markdown's code, and if the text around is no more than a few lines of other
/// programs. A text that quotes such a document is a text.
#[derive(Debug)]
pub(super) struct Output {
    /// The format that was asked for.
    format: Option<ResponseFormat>,
    place: Place,
    /// The number of the current line, from 1.
    line: u64,
    /// The beginning of the current line.
    head: Vec<u8>,
    /// The line on which the last JSON began.
    json_line: u64,
    /// The whole output, in case that it is a text.
    text: TextTail,
    fences: FenceTracker,
    /// The lines of text, without blank ones, before the program's first document and after it.
    lines_before: u64,
    lines_after: u64,
    /// The line of the first text or document that is not of a program.
    first_other_line: Option<u64>,
    /// The last line was the title of a log.
    is_after_title: bool,
    program: Option<Program>,
    /// The program's documents.
    documents: u64,
}

#[derive(Debug)]
enum Place {
    LineStart(LineStart),
    Text,
    Json(JsonReader),
    AfterJson,
    Log(CodexLog),
}

impl Output {
    pub(super) fn new(format: Option<ResponseFormat>) -> Self {
        Self {
            format,
            place: Place::LineStart(LineStart::default()),
            line: 1,
            head: Vec::new(),
            json_line: 1,
            text: TextTail::new(limits::MESSAGE),
            fences: FenceTracker::default(),
            lines_before: 0,
            lines_after: 0,
            first_other_line: None,
            is_after_title: false,
            program: None,
            documents: 0,
        }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        if matches!(self.format, None | Some(ResponseFormat::Text)) {
            self.text.push(bytes);
        }
        if self.format == Some(ResponseFormat::Text) {
            return;
        }
        while !bytes.is_empty() {
            let end = memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1);
            let (line, rest) = bytes.split_at(end);
            self.push_in_line(line);
            bytes = rest;
        }
    }

    /// Returns the bytes that are held.
    pub(super) fn held(&self) -> usize {
        let place = match &self.place {
            Place::Json(json) => json.held(),
            Place::Log(log) => log.held(),
            Place::LineStart(_) | Place::Text | Place::AfterJson => 0,
        };
        let program = self.program.as_ref().map_or(0, Program::held);
        self.text.held() + place + program
    }

    pub(super) fn finish(mut self) -> Result<AgentResponse, ResponseError> {
        let place = std::mem::replace(&mut self.place, Place::AfterJson);
        let mut ends_early = false;
        match place {
            Place::Log(log) => {
                return Ok(response(ResponseFormat::Codex, log.finish(), false));
            }
            Place::Json(json) => {
                if let Some(document) = json.finish() {
                    ends_early = self.read_document(&document, true);
                }
            }
            Place::Text => self.end_text_line(),
            Place::LineStart(_) | Place::AfterJson => {}
        }
        match (self.format, self.program.take()) {
            (Some(ResponseFormat::Text), _) => Ok(self.text_response()),
            (None, Some(program)) if self.is_of_program() => {
                Ok(response(program.format(), program.finish(), ends_early))
            }
            (None, _) => Ok(self.text_response()),
            (Some(_), Some(program)) => {
                Ok(response(program.format(), program.finish(), ends_early))
            }
            (Some(format), None) => match self.first_other_line {
                Some(line) => Err(ResponseError::Format {
                    program: name_of(format),
                    line,
                    expected: output_of(format),
                }),
                None => Ok(response(format, Turn::default(), true)),
            },
        }
    }

    /// Takes in a part of one line, up to its end at most.
    fn push_in_line(&mut self, mut bytes: &[u8]) {
        let ends_line = bytes.ends_with(b"\n");
        while !bytes.is_empty() {
            let taken = self.step(bytes);
            let (used, rest) = bytes.split_at(taken.min(bytes.len()));
            let room = limits::LINE_HEAD.saturating_sub(self.head.len());
            self.head
                .extend_from_slice(used.get(..room).unwrap_or(used));
            bytes = rest;
        }
        if ends_line {
            self.end_line();
        }
    }

    /// Takes bytes in the place that was reached, and returns how many.
    fn step(&mut self, bytes: &[u8]) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        match &mut self.place {
            Place::LineStart(_) if self.fences.open().is_some() => {
                self.place = Place::Text;
                0
            }
            Place::LineStart(start) => match start.after(*first) {
                Some(next) => {
                    *start = next;
                    1
                }
                None => self.start_content(*first),
            },
            Place::AfterJson => self.start_content(*first),
            Place::Text => bytes.len(),
            // No program begins a line with a brace within a document: the last one was cut off.
            Place::Json(json)
                if *first == b'{' && self.head.is_empty() && json.is_in_document() =>
            {
                self.place = Place::LineStart(LineStart::default());
                0
            }
            Place::Json(json) => {
                let (taken, progress) = json.feed(bytes);
                let is_closed = json.is_closed();
                self.follow(progress, is_closed);
                taken
            }
            Place::Log(log) => {
                log.push(bytes);
                bytes.len()
            }
        }
    }

    fn follow(&mut self, progress: JsonProgress, is_closed: bool) {
        match progress {
            JsonProgress::Open => {}
            JsonProgress::Document(document) => {
                if !self.read_document(&document, false) {
                    self.first_other_line.get_or_insert(self.json_line);
                }
                if is_closed {
                    self.place = Place::AfterJson;
                }
            }
            JsonProgress::Closed => self.place = Place::AfterJson,
            JsonProgress::Broken => self.place = Place::Text,
        }
    }

    /// Begins what stands at the beginning of a line or after a document, if it is not blank.
    fn start_content(&mut self, first: u8) -> usize {
        self.place = match first {
            b'{' | b'[' => {
                self.json_line = self.line;
                Place::Json(JsonReader::default())
            }
            b'\n' => return 1,
            first if first.is_ascii_whitespace() && matches!(self.place, Place::AfterJson) => {
                return 1;
            }
            _ => Place::Text,
        };
        0
    }

    fn end_line(&mut self) {
        match &self.place {
            Place::Text => self.end_text_line(),
            Place::LineStart(_) | Place::AfterJson => {
                self.place = Place::LineStart(LineStart::default());
            }
            Place::Json(_) | Place::Log(_) => {}
        }
        self.line += 1;
        self.head.clear();
    }

    fn end_text_line(&mut self) {
        self.place = Place::LineStart(LineStart::default());
        self.fences.pass_line(&self.head);
        let head = self.head.trim_ascii();
        if head.is_empty() {
            return;
        }
        if self.is_after_title && head.starts_with(b"----") {
            self.place = Place::Log(CodexLog::new());
            self.text.clear();
        }
        self.is_after_title = self.expects_log() && is_log_title(head);
        self.first_other_line.get_or_insert(self.line);
        if self.program.is_none() {
            self.lines_before += 1;
        } else {
            self.lines_after += 1;
        }
    }

    fn expects_log(&self) -> bool {
        matches!(self.format, None | Some(ResponseFormat::Codex))
            && self.program.is_none()
            && self.lines_before < limits::LINES_BEFORE_JSON
    }

    /// Reads a document, and returns whether it is of the program.
    fn read_document(&mut self, document: &Node, ends_early: bool) -> bool {
        let format = format_of(document, ends_early);
        if self.program.is_none() && (self.format.is_none() || self.format == format) {
            self.program = format.and_then(Program::new);
        }
        let is_of_program = self
            .program
            .as_ref()
            .is_some_and(|program| Some(program.format()) == format);
        if let Some(program) = self.program.as_mut().filter(|_| is_of_program) {
            program.read(document);
            self.documents += 1;
        }
        is_of_program
    }

    /// Returns whether the documents are the output, and not quoted in a text.
    fn is_of_program(&self) -> bool {
        self.lines_before == 0
            || (self.lines_before <= limits::LINES_BEFORE_JSON && self.lines_after < self.documents)
    }

    fn text_response(self) -> AgentResponse {
        let message = self.text.finish();
        AgentResponse {
            format: ResponseFormat::Text,
            last_message: message.text,
            truncated_before: message.is_cut,
            ..AgentResponse::default()
        }
    }
}

fn response(format: ResponseFormat, turn: Turn, ends_early: bool) -> AgentResponse {
    AgentResponse {
        format,
        tool_errors: turn.error_texts().map(str::to_owned).collect(),
        last_message: turn.message.text,
        truncated_before: turn.message.is_cut,
        program_error: turn.program_error,
        denials: turn.denials,
        ends_mid_stream: ends_early || !turn.is_finished,
    }
}

#[cfg(test)]
mod tests;
