//! A lenient JSON reader for models' answers: reads one object or array from a given position in a
//! text, and reports the deviations from strict JSON that it tolerated.
//!
//! Valid JSON is read exactly. The reader looks at each character a bounded number of times, and
//! stops at a depth that no answer needs, so that no text can exhaust stack or time. It
//! tells text that ends too early ([`Parse::CutOff`]), of which it returns the beginning,
//! from text that is not JSON ([`Parse::Broken`]).

mod strings;
mod words;

use serde_json::{Map, Value};

use strings::{Place, closers};

pub(crate) use strings::unescape;

/// The deepest nesting: more than any answer needs, and safe for recursive drop and comparison.
const DEPTH: usize = 24;

/// The result of parsing at one position.
#[derive(Debug)]
pub(crate) enum Parse {
    Whole {
        value: Value,
        /// The index of the byte after the value.
        end: usize,
        deviations: Deviations,
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

/// The tolerated deviations from strict JSON.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deviations {
    pub(crate) of_syntax: bool,
    /// Of the members with this key, the last counts.
    pub(crate) double_key: bool,
    /// A word without quotation marks.
    bareword: bool,
}

/// Each character read uses one of `steps`; without any left, the result is `Broken`.
pub(crate) fn parse(text: &str, start: usize, steps: &mut usize) -> Parse {
    let mut reader = JsonReader::new(text, start, *steps);
    let close = match reader.peek() {
        Some('{') => '}',
        Some('[') => ']',
        Some(_) | None => return Parse::Broken,
    };
    let read = reader.container(close);
    *steps = reader.steps;
    match (read, reader.cut) {
        (Ok(value), None) => Parse::Whole {
            value,
            end: reader.at,
            deviations: reader.deviations,
        },
        (Ok(value), Some(CutOff { open, keys })) => Parse::CutOff {
            value,
            open: open + usize::from(reader.is_text_open),
            keys,
        },
        (Err(_), _) => Parse::Broken,
    }
}

/// Reason why reading stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParseStop {
    CutOff,
    Broken,
}

/// What was open when the text ended.
#[derive(Debug, Default)]
struct CutOff {
    open: usize,
    keys: Vec<String>,
}

struct JsonReader<'t> {
    text: &'t str,
    /// Invariant: on a character boundary, at most the text's length.
    at: usize,
    steps: usize,
    deviations: Deviations,
    /// The brackets that close the open containers.
    open: Vec<char>,
    /// The last value is a text that has no end, or nothing behind it that confirms the end.
    is_text_open: bool,
    cut: Option<CutOff>,
}

impl<'t> JsonReader<'t> {
    fn new(text: &'t str, at: usize, steps: usize) -> Self {
        Self {
            text,
            at,
            steps,
            deviations: Deviations::default(),
            open: Vec::new(),
            is_text_open: false,
            cut: None,
        }
    }

    /// If the text ends within, it has the beginning.
    fn container(&mut self, close: char) -> Result<Value, ParseStop> {
        if self.open.len() >= DEPTH {
            return Err(ParseStop::Broken);
        }
        self.skip(1);
        self.open.push(close);
        let (mut members, mut items) = (Map::new(), Vec::new());
        let (mut is_empty, mut is_after_comma) = (true, false);
        while self.cut.is_none() {
            let next = self.next_solid();
            let Some(next) = self.or_cut(next.map(Some), None)? else {
                break;
            };
            let is_fence = self.rest().starts_with("```");
            if next == close {
                self.skip(1);
                break;
            } else if next == ',' {
                self.skip(1);
                self.tolerate_if(is_after_comma || is_empty);
                is_after_comma = true;
                continue;
            }
            let is_closed = match (close, next) {
                ('}', ']') => self.open.contains(&']'),
                ('}', _) => is_fence && self.open.len() == 1 && !is_empty,
                (_, '}') => self.open.len() > 1,
                _ => false,
            };
            if is_closed {
                self.tolerate_if(true);
                break;
            }
            self.tolerate_if(!is_after_comma && !is_empty);
            (is_empty, is_after_comma) = (false, false);
            if close == '}' {
                let key = if is_fence {
                    Err(ParseStop::CutOff)
                } else {
                    self.key(next)
                };
                let Some(key) = self.or_cut(key.map(Some), None)? else {
                    break;
                };
                let value = self.member();
                let value = self.or_cut(value, Value::Null)?;
                let is_double = members.insert(key, value).is_some();
                self.deviations.double_key |= is_double;
            } else {
                let item = self.value(next, Place::Item);
                items.push(self.or_cut(item, Value::Null)?);
            }
        }
        self.tolerate_if(is_after_comma);
        self.open.pop();
        if let Some(cut) = &mut self.cut {
            cut.open += 1;
            cut.keys.extend(members.keys().cloned());
        }
        Ok(if close == '}' {
            Value::Object(members)
        } else {
            Value::Array(items)
        })
    }

    /// Returns what was read so far if the text ended within it, and remembers that it did.
    fn or_cut<T>(&mut self, read: Result<T, ParseStop>, so_far: T) -> Result<T, ParseStop> {
        if read.as_ref().is_err_and(|stop| *stop == ParseStop::CutOff) {
            self.cut.get_or_insert_default();
            return Ok(so_far);
        }
        read
    }

    fn key(&mut self, next: char) -> Result<String, ParseStop> {
        let key = match closers(next) {
            Some(closers) => {
                let mut key = String::new();
                self.string(next, closers, Place::Key, &mut key)?;
                key
            }
            None => self.bare_key()?,
        };
        if self.next_solid()? != ':' {
            return Err(ParseStop::Broken);
        }
        self.skip(1);
        Ok(key)
    }

    fn member(&mut self) -> Result<Value, ParseStop> {
        let next = self.next_solid()?;
        if next == ',' || next == '}' {
            self.tolerate_if(true);
            return Ok(Value::Null);
        }
        self.value(next, Place::Member)
    }

    fn value(&mut self, next: char, place: Place) -> Result<Value, ParseStop> {
        match (next, closers(next)) {
            ('{', _) => self.container('}'),
            ('[', _) => self.container(']'),
            (_, Some(closers)) => {
                let mut text = String::new();
                let read = self.string(next, closers, place, &mut text);
                self.is_text_open = read.is_err() || self.rest().trim_start().is_empty();
                self.or_cut(read, ())?;
                Ok(Value::String(text))
            }
            (_, None) if self.rest().starts_with("```") => Err(ParseStop::CutOff),
            (_, None) => self.word(place),
        }
    }

    fn tolerate_if(&mut self, deviates: bool) {
        self.deviations.of_syntax |= deviates;
    }

    fn tolerate_bareword(&mut self) {
        self.tolerate_if(true);
        self.deviations.bareword = true;
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, length: usize) {
        self.at += length;
        self.steps = self.steps.saturating_sub(length);
    }

    fn take(&mut self) -> Result<char, ParseStop> {
        if self.steps == 0 {
            return Err(ParseStop::Broken);
        }
        let next = self.peek().ok_or(ParseStop::CutOff)?;
        self.at += next.len_utf8();
        self.steps -= 1;
        Ok(next)
    }

    /// Skips white space and comments, and returns the character behind them.
    fn next_solid(&mut self) -> Result<char, ParseStop> {
        loop {
            if self.steps == 0 {
                return Err(ParseStop::Broken);
            }
            let rest = self.rest();
            self.skip(rest.len() - rest.trim_start().len());
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return self.peek().ok_or(ParseStop::CutOff);
            };
            self.tolerate_if(true);
            self.skip(length);
        }
    }
}
