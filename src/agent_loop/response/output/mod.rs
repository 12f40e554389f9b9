//! Splits an output into JSON documents and lines of text, and decides on its format.

use std::borrow::Cow;

use regex::Captures;
use serde_json::{Deserializer, Value};

use super::fence::{FenceTracker, end_of};
use super::programs::{Program, format_of, program};
use super::{AgentResponse, ResponseError, ResponseFormat};
use crate::text::json::{self, Parse};
use crate::text::pattern::Pattern;

/// A few blanks, and control sequences of terminals: some are printed to files too. A line that is
/// indented further is code in Markdown; no program indents the beginning of its JSON.
static LINE_START: Pattern = Pattern::prepared("", |_| {
    let sequence = r"\x1b(?:\[[^A-Za-z\n]*[A-Za-z]?|\][^\x07\\\n]*[\x07\\]?|[^\[\]\n])";
    format!(r"^(?:{sequence})*(?:[ \r](?:{sequence})*){{0,3}}")
});

/// What is read of an output.
///
/// It is that of a program if a document has the shape of the program's, at the beginning of a line
/// and outside Markdown's code, and if the text around is no more than a few lines of other
/// programs. A text that quotes such a document is a text.
#[derive(Default)]
struct OutputReader {
    /// The format that the output must have.
    required: Option<ResponseFormat>,
    program: Option<(ResponseFormat, Box<dyn Program>)>,
    /// The program's documents.
    documents: u64,
    /// The lines of text, without blank ones, before the program's first document and after it.
    lines_before: u64,
    lines_after: u64,
    /// Whether there are documents of no known program.
    has_unknown: bool,
    /// The line of the first text or document that is not of a program.
    first_other_line: Option<u64>,
}

/// Without a format, the content decides.
pub(super) fn read(
    text: &str,
    format: Option<ResponseFormat>,
) -> Result<AgentResponse, ResponseError> {
    if format == Some(ResponseFormat::Text) {
        return Ok(text_response(text));
    }
    let original = text;
    let text = &*with_whole_characters(original);
    let mut reading = OutputReader {
        required: format,
        ..OutputReader::default()
    };
    let mut fences = FenceTracker::default();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let current = rest.split_inclusive('\n').next().unwrap_or_default();
        let mut starts = LINE_START.all(current);
        let start = starts.find_map(|start| Some(start.get(0)?.end()));
        let start = start.unwrap_or_default();
        let content = rest.get(start..).unwrap_or_default();
        let taken = if fences.open().is_none() && content.starts_with(['{', '[']) {
            start + reading.read_documents(content, line)
        } else {
            0
        };
        let (read, after) = rest.split_at(taken);
        // What follows a document in its line is text.
        let words = after.split_inclusive('\n').next().unwrap_or_default();
        fences.pass_line(words);
        if words.contains(char::is_alphanumeric) {
            reading.first_other_line.get_or_insert(line);
            match reading.program {
                None => reading.lines_before += 1,
                Some(_) => reading.lines_after += 1,
            }
        }
        let (read_line, after) = after.split_at(words.len());
        let ends = [read, read_line].map(|read| read.matches('\n').count());
        line += ends.iter().sum::<usize>() as u64;
        rest = after;
    }
    reading.response(original)
}

impl OutputReader {
    /// Reads the documents that follow each other on a line or begin there, and returns how many
    /// bytes they take; 0 if there is none.
    ///
    /// A document ends before the next line that begins with a brace or a bracket: one that has no
    /// end by then is cut off. So no line is read twice.
    fn read_documents(&mut self, text: &str, line: u64) -> usize {
        let mut ends = text.match_indices('\n').map(|(end, _)| end);
        let next = ends.find(|end| {
            let line = text.get(end + 1..);
            line.is_some_and(|line| line.starts_with(['{', '[']))
        });
        let text = text.get(..next.unwrap_or(text.len())).unwrap_or_default();
        let mut taken = 0;
        loop {
            let rest = text.get(taken..).unwrap_or_default();
            let document = rest.trim_start_matches([' ', '\t', '\r']);
            if !document.starts_with(['{', '[']) {
                return taken;
            }
            let mut documents = Deserializer::from_str(document).into_iter::<Value>();
            match documents.next() {
                Some(Ok(value)) => {
                    self.read_document(&value, line, false);
                    taken = text.len() - document.len() + documents.byte_offset();
                }
                Some(Err(error)) if error.is_eof() => {
                    let mut steps = usize::MAX;
                    if next.is_none()
                        && let Parse::CutOff { value, .. } = json::parse(document, 0, &mut steps)
                    {
                        self.read_document(&value, line, true);
                    }
                    return text.len();
                }
                Some(Err(_)) | None => return taken,
            }
        }
    }

    /// If the document ends early, its end was completed.
    fn read_document(&mut self, document: &Value, line: u64, ends_early: bool) {
        if let Some(documents) = document.as_array() {
            let last = documents.len().saturating_sub(1);
            for (number, document) in documents.iter().enumerate() {
                self.read_document(document, line, ends_early && number == last);
            }
            return;
        }
        let found = format_of(document, ends_early);
        let wanted = found.filter(|found| self.required.is_none_or(|required| required == *found));
        if let (None, Some(found)) = (&self.program, wanted) {
            self.program = program(found).map(|program| (found, program));
        }
        let own = self.program.as_mut().filter(|(own, _)| found == Some(*own));
        if let Some((_, program)) = own {
            program.read(document);
            self.documents += 1;
        } else if !ends_early {
            self.has_unknown |= document.is_object();
            self.first_other_line.get_or_insert(line);
        }
    }

    fn response(self, text: &str) -> Result<AgentResponse, ResponseError> {
        // The documents are the output, and not quoted in a text.
        let is_output = self.lines_before == 0
            || (self.lines_before <= LINES_BEFORE_JSON && self.lines_after < self.documents);
        let required = self.required;
        if let Some((_, program)) = self.program
            && (is_output || required.is_some())
        {
            return Ok(shortened(program.finish()));
        }
        match (required, self.first_other_line) {
            (None, _) => Ok(AgentResponse {
                is_unknown_json: self.has_unknown && self.lines_before == 0,
                ..text_response(text)
            }),
            (Some(format), Some(line)) => Err(ResponseError { format, line }),
            (Some(_), None) => Ok(AgentResponse::default()),
        }
    }
}

/// The longest message that is kept, in bytes. No model writes one that long at once.
const MESSAGE: usize = 512 << 10;

/// The most errors of tools that are kept of a turn, the last ones.
const TOOL_ERRORS: usize = 64;

/// The most lines of text before the JSON of an agent program, such as warnings of a package
/// manager. With more it is a text that quotes JSON.
const LINES_BEFORE_JSON: u64 = 100;

fn text_response(text: &str) -> AgentResponse {
    shortened(AgentResponse {
        last_message: text.to_owned(),
        ..AgentResponse::default()
    })
}

/// Keeps the end of what is long, and no errors of tools that say nothing.
fn shortened(mut response: AgentResponse) -> AgentResponse {
    let errors = response.tool_errors.iter().map(|error| error.trim());
    let errors: Vec<&str> = errors.filter(|error| !error.is_empty()).collect();
    let last = errors.iter().rev().take(TOOL_ERRORS).rev();
    response.tool_errors = last.map(|error| (*error).to_owned()).collect();
    response.last_message = end_of(&response.last_message, MESSAGE);
    response
}

/// Programs cut texts between the two. All else keeps its place.
fn with_whole_characters(text: &str) -> Cow<'_, str> {
    /// A pair, half a pair, or another escape.
    static ESCAPE: Pattern = Pattern::prepared("", |_| {
        let unit = |digits: &str| format!(r"\\u[dD][{digits}][0-9a-fA-F]{{2}}");
        let (first, second) = (unit("89abAB"), unit("c-fC-F"));
        format!(r"(?s){first}{second}|(?P<half>{first}|{second})|\\.")
    });
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text.into();
    }
    ESCAPE.replace_in(text, |escape: &Captures<'_>| {
        let whole = escape.get(0).filter(|_| escape.name("half").is_none());
        whole.map_or("\\ufffd", |whole| whole.as_str()).to_owned()
    })
}

#[cfg(test)]
mod tests;
