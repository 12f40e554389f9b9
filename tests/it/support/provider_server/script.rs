//! What the server is told to do: which requests, which answer.

use std::time::Duration;

use serde_json::Value;

use super::Vendor;
use super::damage::Damage;

/// Which requests an answer is for.
#[derive(Clone, Debug, Default)]
pub(crate) struct On {
    vendor: Option<Vendor>,
    model: Option<String>,
    field: Option<&'static str>,
    pub(super) nth: Option<usize>,
}

impl On {
    pub(crate) fn any() -> Self {
        Self::default()
    }

    pub(crate) fn vendor(vendor: Vendor) -> Self {
        Self {
            vendor: Some(vendor),
            ..Self::default()
        }
    }

    pub(crate) fn model(model: &str) -> Self {
        Self {
            model: Some(model.to_owned()),
            ..Self::default()
        }
    }

    /// Only the requests whose schema has this field.
    pub(crate) fn asking_for(field: &'static str) -> Self {
        Self {
            field: Some(field),
            ..Self::default()
        }
    }

    /// Of these, only the requests for this model.
    pub(crate) fn and_model(self, model: &str) -> Self {
        Self {
            model: Some(model.to_owned()),
            ..self
        }
    }

    /// Only the nth of the requests that match, counted from 1.
    pub(crate) fn nth(self, nth: usize) -> Self {
        Self {
            nth: Some(nth),
            ..self
        }
    }

    pub(super) fn matches(&self, vendor: Vendor, model: &str, body: &Value) -> bool {
        let asks_for = |field: &str| body.to_string().contains(&format!("\"{field}\":{{"));
        self.vendor.is_none_or(|wanted| wanted == vendor)
            && self.model.as_ref().is_none_or(|wanted| wanted == model)
            && self.field.is_none_or(asks_for)
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) content: Content,
    /// In place of the type that the content has of itself.
    pub(super) content_type: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    /// How many requests must have arrived before anything is sent.
    pub(super) arrivals: usize,
    /// Before the head of the answer.
    pub(super) delay: Duration,
    /// Between the head and the first byte of the body.
    pub(super) silence: Duration,
    /// Every how often a comment is sent while nothing else is.
    pub(super) keep_alive: Option<Duration>,
    /// Between two events.
    pub(super) pace: Duration,
    pub(super) damage: Vec<Damage>,
    pub(super) framing: Framing,
    pub(super) ending: Ending,
    pub(super) at: At,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Text(Text),
    /// An error in the shape that the vendor's errors have.
    Error {
        status: u16,
        code: String,
        words: String,
    },
    Raw {
        status: u16,
        body: Vec<u8>,
    },
    /// The beginning once, then the same again and again for as long as someone reads.
    Endless {
        status: u16,
        beginning: Vec<u8>,
        again: Vec<u8>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    /// `None` is a valid answer to the schema in the request.
    pub(super) whole: Option<String>,
    pub(super) pieces: usize,
    /// What a model thinks before it writes, where the vendor shows it only when there is some.
    pub(super) thinking: String,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) finish: Finish,
    /// Ends the stream in place of a finish.
    pub(super) error: Option<Value>,
    /// The model that is said to have answered; `None` is the one that was asked.
    pub(super) served: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Refusal,
    /// Nothing is said of an end.
    Unsaid,
}

/// How the length of the body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    /// As HTTP/1.0 did: the body ends where the connection ends.
    UntilClose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// All is sent and the answer ends as HTTP wants it.
    Whole,
    /// A part is sent; then the connection is reset.
    Cut,
    /// A part is sent; then the connection is closed as if nothing were wrong.
    Closed,
    /// A part is sent; then the answer ends as if that were all.
    Short,
    /// A part is sent; then nothing happens any more.
    Stall,
}

/// How much is sent of an answer that is not sent whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Half of the events.
    Half,
    /// This many bytes of the body.
    Byte(usize),
}

impl Answer {
    fn of(content: Content) -> Self {
        Self {
            content,
            content_type: None,
            headers: Vec::new(),
            arrivals: 0,
            delay: Duration::ZERO,
            silence: Duration::ZERO,
            keep_alive: None,
            pace: Duration::ZERO,
            damage: Vec::new(),
            framing: Framing::Chunked,
            ending: Ending::Whole,
            at: At::Half,
        }
    }

    /// A valid answer to whatever schema is asked for, in three pieces, with a clean end and some
    /// usage.
    pub(crate) fn valid() -> Self {
        Self::of(Content::Text(Text {
            whole: None,
            pieces: 3,
            thinking: String::new(),
            usage: Some((100, 20)),
            finish: Finish::Stop,
            error: None,
            served: None,
        }))
    }

    /// This text, in three pieces.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::valid().with(|valid| valid.whole = Some(text.into()))
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

    /// An error as this vendor words it; the code goes where the vendor has one.
    pub(crate) fn error(status: u16, code: &str, words: &str) -> Self {
        Self::of(Content::Error {
            status,
            code: code.to_owned(),
            words: words.to_owned(),
        })
    }

    /// Any answer at all.
    pub(crate) fn http(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::of(Content::Raw {
            status,
            body: body.into(),
        })
        .content_type(content_type)
    }

    /// A stream of these bytes.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::http(200, "text/event-stream", body)
    }

    /// The beginning, and then the same bytes until the client has had enough.
    pub(crate) fn endless(
        status: u16,
        content_type: &str,
        beginning: impl Into<Vec<u8>>,
        again: impl Into<Vec<u8>>,
    ) -> Self {
        Self::of(Content::Endless {
            status,
            beginning: beginning.into(),
            again: again.into(),
        })
        .content_type(content_type)
    }

    pub(crate) fn content_type(self, content_type: &str) -> Self {
        Self {
            content_type: Some(content_type.to_owned()),
            ..self
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn usage(self, input: u64, output: u64) -> Self {
        self.with(|text| text.usage = Some((input, output)))
    }

    pub(crate) fn without_usage(self) -> Self {
        self.with(|text| text.usage = None)
    }

    /// Nothing is said of an end, although all the rest is there.
    pub(crate) fn without_finish(self) -> Self {
        self.with(|text| text.finish = Finish::Unsaid)
    }

    /// Another model than the one that was asked is said to have answered.
    pub(crate) fn served(self, model: &str) -> Self {
        self.with(|text| text.served = Some(model.to_owned()))
    }

    /// The model thinks before it writes.
    pub(crate) fn thinking(self, words: &str) -> Self {
        self.with(|text| words.clone_into(&mut text.thinking))
    }

    pub(crate) fn pieces(self, pieces: usize) -> Self {
        self.with(|text| text.pieces = pieces)
    }

    /// Held back until the server has been asked this many times in all.
    pub(crate) fn after_arrivals(self, arrivals: usize) -> Self {
        Self { arrivals, ..self }
    }

    /// Before the head of the answer.
    pub(crate) fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Between the head of the answer and its first byte.
    pub(crate) fn silence(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Sends a comment this often in place of silence.
    pub(crate) fn keep_alive(self, every: Duration) -> Self {
        Self {
            keep_alive: Some(every),
            ..self
        }
    }

    pub(crate) fn pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// No length is told: the body ends where the connection ends.
    pub(crate) fn until_close(self) -> Self {
        Self {
            framing: Framing::UntilClose,
            ..self
        }
    }

    /// Half of the events, then a reset.
    pub(crate) fn cut(self) -> Self {
        Self {
            ending: Ending::Cut,
            ..self
        }
    }

    /// Half of the events, then an end.
    pub(crate) fn short(self) -> Self {
        Self {
            ending: Ending::Short,
            ..self
        }
    }

    /// Half of the events, then silence.
    pub(crate) fn stall(self) -> Self {
        Self {
            ending: Ending::Stall,
            ..self
        }
    }

    /// So many bytes, then a reset.
    pub(crate) fn cut_after(self, bytes: usize) -> Self {
        Self {
            at: At::Byte(bytes),
            ..self.cut()
        }
    }

    /// So many bytes, then the connection is closed in the middle of the body.
    pub(crate) fn close_after(self, bytes: usize) -> Self {
        Self {
            at: At::Byte(bytes),
            ending: Ending::Closed,
            ..self
        }
    }

    /// So many bytes, then an end as if that were all.
    pub(crate) fn short_after(self, bytes: usize) -> Self {
        Self {
            at: At::Byte(bytes),
            ..self.short()
        }
    }

    /// So many bytes, then silence.
    pub(crate) fn stall_after(self, bytes: usize) -> Self {
        Self {
            at: At::Byte(bytes),
            ..self.stall()
        }
    }

    pub(crate) fn damaged(mut self, damage: Damage) -> Self {
        self.damage.push(damage);
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Text)) -> Self {
        if let Content::Text(text) = &mut self.content {
            change(text);
        }
        self
    }
}
