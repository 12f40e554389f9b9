//! Incremental parsing of event streams: server-sent events and JSON lines. Pure.
//!
//! It works on bytes, so that a character split between two chunks is complete before it is
//! decoded. It accepts the variants of real servers: comments, LF, CRLF and CR, several `data:`
//! lines, no space after the colon, a byte order mark, no blank line at the end. The idle timeout
//! is deliberately not here: it applies to bytes, because a comment shows that the connection is
//! alive but is not an event.

/// The largest line, or data of one event, in bytes.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// The framing of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    #[default]
    Events,
    /// Every line that is not blank is the data of an event.
    Lines,
}

/// One event with data. Events without data are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event:` field; empty when there is none.
    pub name: String,
    pub data: String,
}

/// The error for a line or an event above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {MAX_EVENT_BYTES} bytes")]
pub struct EventSizeError;

/// A parser with its state between two chunks.
#[derive(Debug, Default)]
pub struct Parser {
    framing: Framing,
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    /// A `data:` line was seen since the last blank line.
    has_data: bool,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line has ended: only before it can a byte order mark stand.
    begun: bool,
}

impl Parser {
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            ..Self::default()
        }
    }

    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), EventSizeError> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes
                .split_at_checked(end.unwrap_or(bytes.len()))
                .unwrap_or((bytes, &[]));
            if self.line.len() + part.len() + self.data.len() > MAX_EVENT_BYTES {
                return Err(EventSizeError);
            }
            self.line.extend_from_slice(part);
            if let Some((terminator, rest)) = rest.split_first() {
                self.after_cr = *terminator == b'\r';
                bytes = rest;
                events.extend(self.end_line());
            } else {
                bytes = rest;
            }
        }
        Ok(())
    }

    /// The event may be cut within a line: its reader must check that the data is complete.
    pub fn finish(mut self) -> Option<Event> {
        let last = (!self.line.is_empty()).then(|| self.end_line());
        last.flatten().or_else(|| self.dispatch())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut text: &[u8] = &line;
        if !std::mem::replace(&mut self.begun, true) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if self.framing == Framing::Lines {
            self.data = text.trim_ascii().to_vec();
            self.has_data = true;
            return self.dispatch();
        }
        if text.is_empty() {
            return self.dispatch();
        }
        let colon = text
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(text.len());
        let (field, rest) = text.split_at_checked(colon).unwrap_or((text, &[]));
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.name = value.to_vec(),
            // Comments have an empty field name; `id`, `retry` and unknown fields do not matter
            // without reconnection.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        let dispatched = std::mem::take(&mut self.has_data) && !data.is_empty();
        dispatched.then(|| Event {
            name: String::from_utf8_lossy(&name).into_owned(),
            data: String::from_utf8_lossy(&data).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.feed(chunk, &mut events).unwrap();
        }
        events.extend(parser.finish());
        events
            .into_iter()
            .map(|event| (event.name, event.data))
            .collect()
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn every_line_ending_and_a_missing_last_one_separate_events() {
        for ending in ["\n", "\r\n", "\r"] {
            let stream =
                format!("event: a{ending}data: 1{ending}{ending}data: 2{ending}{ending}data: 3");
            assert_eq!(
                parse([stream.as_bytes()]),
                [event("a", "1"), event("", "2"), event("", "3")],
                "{ending:?}"
            );
        }
    }

    #[test]
    fn comments_retries_and_empty_events_say_nothing() {
        assert_eq!(
            parse([b": OPENROUTER PROCESSING\n\nretry: 3000\n\nevent: ping\n\ndata:\n\n:\n\ndata: x\n\n".as_slice()]),
            [event("", "x")]
        );
    }

    #[test]
    fn data_lines_are_joined_and_the_space_is_optional() {
        assert_eq!(
            parse([b"data:{\ndata: \"a\"\ndata:  }\ndata\n\n".as_slice()]),
            [event("", "{\n\"a\"\n }\n")]
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_field() {
        assert_eq!(
            parse([b"\xef\xbb".as_slice(), b"\xbfdata: x\n\n"]),
            [event("", "x")]
        );
    }

    #[test]
    fn in_lines_every_one_that_is_not_blank_is_an_event() {
        let mut parser = Parser::new(Framing::Lines);
        let mut events = Vec::new();
        for chunk in [
            "\u{feff}{\"a\":1}\r",
            "\n\n  {\"data: b\"",
            ":2} \n",
            "event: x\n{\"c\"",
        ] {
            parser.feed(chunk.as_bytes(), &mut events).unwrap();
        }
        events.extend(parser.finish());
        let data: Vec<_> = events
            .iter()
            .map(|event| (event.name.as_str(), event.data.as_str()))
            .collect();
        assert_eq!(
            data,
            [
                ("", "{\"a\":1}"),
                ("", "{\"data: b\":2}"),
                ("", "event: x"),
                ("", "{\"c\"")
            ]
        );
    }

    #[test]
    fn a_line_above_the_limit_is_refused_also_when_it_comes_in_pieces() {
        for piece in [
            "data:xx".repeat(100_000),
            format!("data: {}\n", "x".repeat(700_000)),
        ] {
            let (mut parser, mut events) = (Parser::default(), Vec::new());
            let result = (0..50).try_for_each(|_| parser.feed(piece.as_bytes(), &mut events));
            assert_eq!(result, Err(EventSizeError));
        }
    }

    proptest! {
        #[test]
        fn the_same_bytes_give_the_same_events_however_they_are_cut(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "data:", "data: ", "event: e", "é", "日", "x", "\n", "\r\n", "\r", ":",
                    "\u{feff}", "id: 1",
                ]),
                0..60,
            ),
            cuts in prop::collection::vec(1usize..7, 1..80),
        ) {
            let stream = pieces.concat().into_bytes();
            let mut rest: &[u8] = &stream;
            let mut chunks = Vec::new();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, tail) = rest.split_at((*cut).min(rest.len()));
                chunks.push(chunk);
                rest = tail;
            }
            prop_assert_eq!(parse(chunks), parse([stream.as_slice()]));
        }

        #[test]
        fn no_bytes_make_it_panic(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10),
        ) {
            parse(chunks.iter().map(Vec::as_slice));
        }
    }
}
