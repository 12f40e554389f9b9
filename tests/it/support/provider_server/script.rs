//! What the server is told to do: which requests, which answer.

use std::time::Duration;

use serde_json::Value;

use super::Vendor;

/// Which requests an answer is for.
#[derive(Clone, Debug, Default)]
pub(crate) struct On {
    pub(super) vendor: Option<Vendor>,
    pub(super) model: Option<String>,
    pub(super) nth: Option<usize>,
}

impl On {
    pub(crate) fn any() -> Self {
        Self::default()
    }

    pub(crate) fn vendor(vendor: Vendor) -> Self {
        Self { vendor: Some(vendor), ..Self::default() }
    }

    pub(crate) fn model(model: &str) -> Self {
        Self { model: Some(model.to_owned()), ..Self::default() }
    }

    /// Only the nth of the requests that match, counted from 1.
    pub(crate) fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    pub(super) fn matches(&self, vendor: Vendor, model: &str) -> bool {
        self.vendor.is_none_or(|wanted| wanted == vendor) && self.model.as_ref().is_none_or(|wanted| wanted == model)
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) content: Content,
    /// How many requests must have arrived before anything is sent.
    pub(super) arrivals: usize,
    /// Before the first byte.
    pub(super) delay: Duration,
    /// Between two events.
    pub(super) pace: Duration,
    pub(super) ending: Ending,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A valid answer to the schema in the request.
    Valid,
    Text(Text),
    Raw {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) whole: String,
    pub(super) pieces: usize,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) finish: Finish,
    pub(super) error: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Refusal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// All is sent and the answer ends as HTTP wants it.
    Whole,
    /// The first half is sent; then the connection breaks.
    Cut,
    /// The first half is sent; then the answer ends as if that were all.
    Short,
    /// The first half is sent; then nothing happens any more.
    Stall,
}

impl Text {
    /// Three pieces, a clean end, and some usage.
    pub(super) fn new(whole: String) -> Self {
        Self { whole, pieces: 3, usage: Some((100, 20)), finish: Finish::Stop, error: None }
    }
}

impl Answer {
    /// A valid answer to whatever schema is asked for.
    pub(crate) fn valid() -> Self {
        Self { content: Content::Valid, arrivals: 0, delay: Duration::ZERO, pace: Duration::ZERO, ending: Ending::Whole }
    }

    /// This text, in three pieces.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { content: Content::Text(Text::new(text.into())), ..Self::valid() }
    }

    /// A text that is cut off because the model ran out of room.
    pub(crate) fn length(text: impl Into<String>) -> Self {
        Self::text(text).with(|text| text.finish = Finish::Length)
    }

    /// The model declines with these words.
    pub(crate) fn refusal(words: impl Into<String>) -> Self {
        Self::text(words).with(|text| text.finish = Finish::Refusal)
    }

    /// After the text, an error arrives inside the stream.
    pub(crate) fn error_in_stream(text: impl Into<String>, error: Value) -> Self {
        Self::text(text).with(|text| text.error = Some(error))
    }

    /// Any answer at all.
    pub(crate) fn http(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { content: Content::Raw { status, headers, body: body.into() }, ..Self::valid() }
    }

    /// A stream of these bytes.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::http(200, "text/event-stream", body)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if let Content::Raw { headers, .. } = &mut self.content {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(crate) fn usage(self, input: u64, output: u64) -> Self {
        self.with(|text| text.usage = Some((input, output)))
    }

    pub(crate) fn without_usage(self) -> Self {
        self.with(|text| text.usage = None)
    }

    pub(crate) fn pieces(self, pieces: usize) -> Self {
        self.with(|text| text.pieces = pieces)
    }

    /// Held back until the server has been asked this many times in all.
    pub(crate) fn after_arrivals(self, arrivals: usize) -> Self {
        Self { arrivals, ..self }
    }

    pub(crate) fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(crate) fn pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    pub(crate) fn cut(self) -> Self {
        Self { ending: Ending::Cut, ..self }
    }

    pub(crate) fn short(self) -> Self {
        Self { ending: Ending::Short, ..self }
    }

    pub(crate) fn stall(self) -> Self {
        Self { ending: Ending::Stall, ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut Text)) -> Self {
        if let Content::Text(text) = &mut self.content {
            change(text);
        }
        self
    }
}
