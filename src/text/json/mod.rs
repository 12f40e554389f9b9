//! A lenient JSON parser for models' answers: reads one object or array from a given position in a
//! text, and reports the deviations from strict JSON that it tolerated.
//!
//! Valid JSON is read exactly. The parser uses no recursion, looks at each character a bounded
//! number of times, and stops at a depth that no answer needs, so that no text can exhaust stack or
//! time. It distinguishes text that ends too early ([`Attempt::CutOff`]), of which it returns the
//! beginning, from text that is not JSON ([`Attempt::Broken`]).

mod scan;
mod strings;
mod words;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use scan::Scan;
use strings::Place;

pub(crate) use strings::unescape;

/// The deepest nesting: more than any answer needs, and safe for recursive drop and comparison.
const DEPTH: usize = 24;

/// The result of parsing at one position.
#[derive(Debug)]
pub(crate) enum Attempt {
    Whole {
        value: Value,
        /// The index of the byte after the value.
        end: usize,
        leniencies: BTreeSet<Leniency>,
    },
    /// The text ended too early.
    CutOff {
        /// The beginning of the value.
        value: Value,
        /// The number of containers at its end, and of texts, that have no end.
        open: usize,
        /// The keys of the open objects.
        keys: Vec<String>,
    },
    Broken,
}

/// A tolerated deviation from strict JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leniency {
    Bareword,
    Comment,
    DecimalComma,
    DoubleKey,
    ExtraComma,
    Escape,
    InnerQuote,
    MissingBracket,
    MissingComma,
    MissingValue,
    NotANumber,
    QuoteMarks,
    RawLineBreak,
}

impl Leniency {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Bareword => "a word without quotation marks",
            Self::Comment => "a comment",
            Self::DecimalComma => "a decimal comma",
            Self::DoubleKey => "a key that occurs twice",
            Self::ExtraComma => "a comma too many",
            Self::Escape => "an unknown escape",
            Self::InnerQuote => "a quotation mark inside a string",
            Self::MissingBracket => "a missing bracket",
            Self::MissingComma => "a missing comma",
            Self::MissingValue => "a key without a value",
            Self::NotANumber => "a number that is none",
            Self::QuoteMarks => "other quotation marks",
            Self::RawLineBreak => "a line break inside a string",
        }
    }
}

/// Parses the object or array that begins at `start`. Each character read uses one of `steps`;
/// without any left, the result is `Broken`.
pub(crate) fn parse(text: &str, start: usize, steps: &mut usize) -> Attempt {
    let mut parser = Parser {
        scan: Scan::new(text, start, *steps),
        open: Vec::new(),
        is_text_open: false,
    };
    let attempt = parser.run();
    *steps = parser.scan.steps;
    match attempt {
        Ok(value) => Attempt::Whole {
            value,
            end: parser.scan.at,
            leniencies: parser.scan.leniencies,
        },
        Err(Stop::CutOff) => parser.cut_off(),
        Err(Stop::Broken) => Attempt::Broken,
    }
}

/// Reason why parsing stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    CutOff,
    Broken,
}

/// An open container.
#[derive(Debug)]
struct Frame {
    what: Container,
    /// True after a comma.
    comma: bool,
}

#[derive(Debug)]
enum Container {
    Object {
        members: Map<String, Value>,
        /// The key whose value has not been read yet.
        key: Option<String>,
    },
    Array(Vec<Value>),
}

impl Frame {
    fn is_empty(&self) -> bool {
        match &self.what {
            Container::Object { members, .. } => members.is_empty(),
            Container::Array(items) => items.is_empty(),
        }
    }
}

struct Parser<'a> {
    scan: Scan<'a>,
    open: Vec<Frame>,
    /// The last value is a text that has no end, or nothing behind it that confirms the end.
    is_text_open: bool,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<Value, Stop> {
        loop {
            self.scan.blank()?;
            let next = self.scan.peek().ok_or(Stop::CutOff)?;
            let done = match self.open.last().map(|frame| &frame.what) {
                None if next == '{' || next == '[' => self.value(next)?,
                None => return Err(Stop::Broken),
                Some(Container::Object { key: None, .. }) => self.key(next)?,
                Some(Container::Object { key: Some(_), .. }) => self.member(next)?,
                Some(Container::Array(_)) => self.item(next)?,
            };
            if let Some(value) = done {
                return Ok(value);
            }
        }
    }

    /// Parses inside an object, where a key, a comma or the end may follow.
    fn key(&mut self, next: char) -> Result<Option<Value>, Stop> {
        match next {
            '}' => {
                self.scan.advance(next);
                Ok(self.close())
            }
            ',' => {
                self.comma();
                Ok(None)
            }
            ']' if self
                .open
                .iter()
                .any(|frame| matches!(frame.what, Container::Array(_))) =>
            {
                Ok(self.close_without_bracket())
            }
            '`' if self.scan.rest().starts_with("```") => match self.open.as_slice() {
                [only] if !only.is_empty() => Ok(self.close_without_bracket()),
                _ => Err(Stop::CutOff),
            },
            _ => {
                self.between();
                let name = match strings::closers(next) {
                    Some(closers) => {
                        let mut key = String::new();
                        strings::read(&mut self.scan, next, closers, Place::Key, &mut key)?;
                        key
                    }
                    None => words::key(&mut self.scan)?,
                };
                self.scan.blank()?;
                match self.scan.peek() {
                    Some(':') => self.scan.advance(':'),
                    Some(_) => return Err(Stop::Broken),
                    None => return Err(Stop::CutOff),
                }
                if let Some(Frame {
                    what: Container::Object { key, .. },
                    ..
                }) = self.open.last_mut()
                {
                    *key = Some(name);
                }
                Ok(None)
            }
        }
    }

    /// Parses inside an object, where a value must follow.
    fn member(&mut self, next: char) -> Result<Option<Value>, Stop> {
        if next == ',' || next == '}' {
            self.scan.tolerate(Leniency::MissingValue);
            return Ok(self.attach(Value::Null));
        }
        self.value(next)
    }

    /// Parses inside an array, where a value, a comma or the end may follow.
    fn item(&mut self, next: char) -> Result<Option<Value>, Stop> {
        match next {
            ']' => {
                self.scan.advance(next);
                Ok(self.close())
            }
            ',' => {
                self.comma();
                Ok(None)
            }
            '}' if self.open.len() > 1 => Ok(self.close_without_bracket()),
            _ => {
                self.between();
                self.value(next)
            }
        }
    }

    fn value(&mut self, next: char) -> Result<Option<Value>, Stop> {
        let in_object = matches!(
            self.open.last(),
            Some(Frame {
                what: Container::Object { .. },
                ..
            })
        );
        if next == '{' || next == '[' {
            if self.open.len() >= DEPTH {
                return Err(Stop::Broken);
            }
            self.scan.advance(next);
            let what = if next == '{' {
                Container::Object {
                    members: Map::new(),
                    key: None,
                }
            } else {
                Container::Array(Vec::new())
            };
            self.open.push(Frame { what, comma: false });
            return Ok(None);
        }
        if self.scan.rest().starts_with("```") {
            return Err(Stop::CutOff);
        }
        let Some(closers) = strings::closers(next) else {
            let word = words::value(&mut self.scan, in_object)?;
            return Ok(self.attach(word));
        };
        let place = if in_object {
            Place::Member
        } else {
            Place::Item
        };
        let mut text = String::new();
        let read = strings::read(&mut self.scan, next, closers, place, &mut text);
        self.is_text_open = read.is_err() || self.scan.rest().trim_start().is_empty();
        let whole = self.attach(Value::String(text));
        read.map(|()| whole)
    }

    /// Returns what was read up to the end of the text.
    fn cut_off(mut self) -> Attempt {
        let open = self.open.len() + usize::from(self.is_text_open);
        if !self.is_text_open {
            // The value of the last key.
            self.attach(Value::Null);
        }
        let (mut value, mut keys) = (None, Vec::new());
        while let Some(frame) = self.open.last() {
            if let Container::Object { members, .. } = &frame.what {
                keys.extend(members.keys().cloned());
            }
            value = self.close();
        }
        Attempt::CutOff {
            value: value.unwrap_or_default(),
            open,
            keys,
        }
    }

    fn comma(&mut self) {
        self.scan.advance(',');
        if let Some(frame) = self.open.last_mut() {
            if frame.comma || frame.is_empty() {
                self.scan.tolerate(Leniency::ExtraComma);
            }
            frame.comma = true;
        }
    }

    /// Notes a missing comma before a key or an item that is not the first.
    fn between(&mut self) {
        if let Some(frame) = self.open.last_mut() {
            if !frame.comma && !frame.is_empty() {
                self.scan.tolerate(Leniency::MissingComma);
            }
            frame.comma = false;
        }
    }

    fn close_without_bracket(&mut self) -> Option<Value> {
        self.scan.tolerate(Leniency::MissingBracket);
        self.close()
    }

    fn close(&mut self) -> Option<Value> {
        let frame = self.open.pop()?;
        if frame.comma {
            self.scan.tolerate(Leniency::ExtraComma);
        }
        self.attach(match frame.what {
            Container::Object { members, .. } => Value::Object(members),
            Container::Array(items) => Value::Array(items),
        })
    }

    /// Adds a value to the open container, or returns it if none is open.
    fn attach(&mut self, value: Value) -> Option<Value> {
        match self.open.last_mut() {
            None => return Some(value),
            Some(Frame {
                what: Container::Array(items),
                ..
            }) => items.push(value),
            Some(Frame {
                what: Container::Object { members, key },
                ..
            }) => {
                if let Some(key) = key.take()
                    && members.insert(key, value).is_some()
                {
                    self.scan.tolerate(Leniency::DoubleKey);
                }
            }
        }
        None
    }
}
