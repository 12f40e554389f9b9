//! The server's script: which requests get which answer.

use std::time::Duration;

use serde_json::Value;

use super::Vendor;
use super::damage::Damage;
use super::prefix_cache::MeasuredPrompt;
use super::wait::Hold;

/// Selects the requests for an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct On {
    vendor: Option<Vendor>,
    model: Option<String>,
    field: Option<&'static str>,
    text: Option<String>,
    pub(super) nth: Option<usize>,
}

impl On {
    /// Matches every request.
    pub(crate) fn any() -> Self {
        Self::default()
    }

    pub(crate) fn vendor(vendor: Vendor) -> Self {
        Self::any().and_vendor(vendor)
    }

    pub(crate) fn model(model: &str) -> Self {
        Self::any().and_model(model)
    }

    /// Matches the requests for an answer with this field.
    pub(crate) fn asking_for(field: &'static str) -> Self {
        Self {
            field: Some(field),
            ..Self::default()
        }
    }

    /// Matches the requests whose body has this text.
    pub(crate) fn containing(text: &str) -> Self {
        Self::any().and_containing(text)
    }

    /// Restricts the match to the requests whose body has this text.
    pub(crate) fn and_containing(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// Restricts the match to the models of this vendor.
    pub(crate) fn and_vendor(mut self, vendor: Vendor) -> Self {
        self.vendor = Some(vendor);
        self
    }

    /// Restricts the match to this model.
    pub(crate) fn and_model(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Restricts the match to the nth matching request, counted from 1.
    pub(crate) fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    pub(super) fn matches(&self, vendor: Vendor, model: &str, body: &Value) -> bool {
        let asks_for = |field: &str| {
            let body = body.to_string();
            // Without a schema, the prompt lists the fields.
            [format!("\"{field}\":{{"), format!("\\\"{field}\\\":")]
                .iter()
                .any(|words| body.contains(words))
        };
        self.vendor.is_none_or(|wanted| wanted == vendor)
            && self.model.as_ref().is_none_or(|wanted| wanted == model)
            && self.field.is_none_or(asks_for)
            && (self.text.as_ref()).is_none_or(|text| body.to_string().contains(text))
    }
}

/// The server's response to a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) content: Content,
    /// Replaces the content's own type.
    pub(super) content_type: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    /// The number of requests that must arrive before the response starts.
    pub(super) arrivals: usize,
    /// Keeps the head of the response back.
    pub(super) hold: Option<Hold>,
    /// Keeps the second half of the events back.
    pub(super) second_half: Option<Hold>,
    /// The delay before the head of the response.
    pub(super) delay: Duration,
    /// The delay between the head and the first byte of the body.
    pub(super) silence: Duration,
    /// The interval of comments while nothing else is sent.
    pub(super) keep_alive: Option<Duration>,
    /// The delay between two events.
    pub(super) pace: Duration,
    pub(super) damage: Vec<Damage>,
    pub(super) framing: Framing,
    pub(super) ending: Ending,
    pub(super) cut: CutPoint,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Text(Text),
    /// An error in the vendor's shape.
    Error {
        status: u16,
        code: String,
        message: String,
    },
    Raw {
        status: u16,
        body: Vec<u8>,
    },
    /// The beginning once, then the same bytes repeatedly while the client reads.
    Endless {
        status: u16,
        beginning: Vec<u8>,
        repeated: Vec<u8>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    /// `None` stands for a valid answer to the schema in the request.
    pub(super) whole: Option<String>,
    /// Builds the text from the schema in the request instead.
    pub(super) is_built: bool,
    /// Marks in the text, each with words of an expert's position; see [`Answer::labelled`].
    pub(super) marks: Vec<(&'static str, &'static str)>,
    pub(super) pieces: usize,
    /// The model's thinking before its answer, for vendors that send it only when there is some.
    pub(super) thinking: String,
    pub(super) usage: Option<(u64, u64)>,
    /// The parts of the input that the vendor's cache held and that were written to it.
    pub(super) cached: (u64, u64),
    pub(super) finish: Finish,
    /// Ends the stream instead of a finish.
    pub(super) error: Option<Value>,
    /// The reported model; `None` for the requested one.
    pub(super) served: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Refusal,
    /// The stream has no finish reason.
    Missing,
}

/// How the client finds the end of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    /// As in HTTP/1.0: the body ends with the connection.
    UntilClose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Sends everything and ends the response properly.
    Whole,
    /// Sends a part, then resets the connection.
    Cut,
    /// Sends a part, then closes the connection normally.
    Closed,
    /// Sends a part, then ends the response as if it were complete.
    Short,
    /// Sends a part, then nothing more.
    Stall,
}

/// Where an incomplete response is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutPoint {
    /// After half of the events.
    Half,
    /// After this many bytes of the body.
    Byte(usize),
}

impl Text {
    /// Returns the text with the counts of a measured prompt in its usage.
    pub(super) fn with_prompt(&self, prompt: Option<MeasuredPrompt>) -> Self {
        let mut text = self.clone();
        if let (Some(prompt), Some((_, output))) = (prompt, self.usage) {
            text.usage = Some((prompt.prompt, output));
            text.cached = (prompt.read, prompt.written);
        }
        text
    }

    /// Returns the text for a request, with labels in place of the marks.
    pub(super) fn for_request(&self, body: &Value) -> Option<String> {
        let body = body.to_string();
        let label = |words: &str| {
            let (before, _) = body.split_once(words)?;
            body.get(before.rfind("Expert ")?..)?
                .get(.."Expert A".len())
        };
        let mut text = self.whole.clone()?;
        for (mark, words) in &self.marks {
            text = text.replace(mark, label(words).unwrap_or("Expert A"));
        }
        Some(text)
    }
}

impl Answer {
    fn of(content: Content) -> Self {
        Self {
            content,
            content_type: None,
            headers: Vec::new(),
            arrivals: 0,
            hold: None,
            second_half: None,
            delay: Duration::ZERO,
            silence: Duration::ZERO,
            keep_alive: None,
            pace: Duration::ZERO,
            damage: Vec::new(),
            framing: Framing::Chunked,
            ending: Ending::Whole,
            cut: CutPoint::Half,
        }
    }

    /// Sends a valid answer to the requested schema, in three pieces, with a proper end and usage.
    pub(crate) fn valid() -> Self {
        Self::of(Content::Text(Text {
            whole: None,
            is_built: false,
            marks: Vec::new(),
            pieces: 3,
            thinking: String::new(),
            usage: Some((100, 20)),
            cached: (0, 0),
            finish: Finish::Stop,
            error: None,
            served: None,
        }))
    }

    /// Sends an answer that is built from the request's schema alone.
    pub(crate) fn from_schema() -> Self {
        Self::valid().with(|built| built.is_built = true)
    }

    /// Sends this text, in three pieces.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::valid().with(|valid| valid.whole = Some(text.into()))
    }

    /// Replaces each mark by the label under which the request gives the position with these words.
    pub(crate) fn labelled(self, marks: &[(&'static str, &'static str)]) -> Self {
        self.with(|text| text.marks = marks.to_vec())
    }

    /// Sends a text that is cut off at the output limit.
    pub(crate) fn length(text: impl Into<String>) -> Self {
        Self::text(text).with(|text| text.finish = Finish::Length)
    }

    /// Refuses to answer, with this explanation.
    pub(crate) fn refusal(explanation: impl Into<String>) -> Self {
        Self::text(explanation).with(|text| text.finish = Finish::Refusal)
    }

    /// Sends the text, then an error inside the stream.
    pub(crate) fn error_in_stream(text: impl Into<String>, error: Value) -> Self {
        Self::text(text).with(|text| text.error = Some(error))
    }

    /// Sends an error in the vendor's shape.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        Self::of(Content::Error {
            status,
            code: code.to_owned(),
            message: message.to_owned(),
        })
    }

    /// Sends any HTTP response.
    pub(crate) fn http(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::of(Content::Raw {
            status,
            body: body.into(),
        })
        .content_type(content_type)
    }

    /// Sends these bytes as an event stream.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::http(200, "text/event-stream", body)
    }

    /// Sends the beginning, then the same bytes until the client disconnects.
    pub(crate) fn endless(
        status: u16,
        content_type: &str,
        beginning: impl Into<Vec<u8>>,
        repeated: impl Into<Vec<u8>>,
    ) -> Self {
        Self::of(Content::Endless {
            status,
            beginning: beginning.into(),
            repeated: repeated.into(),
        })
        .content_type(content_type)
    }

    pub(crate) fn content_type(mut self, content_type: &str) -> Self {
        self.content_type = Some(content_type.to_owned());
        self
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

    /// Omits the finish reason.
    pub(crate) fn without_finish(self) -> Self {
        self.with(|text| text.finish = Finish::Missing)
    }

    /// Reports that another model has answered.
    pub(crate) fn served(self, model: &str) -> Self {
        self.with(|text| text.served = Some(model.to_owned()))
    }

    /// Sends this thinking before the answer.
    pub(crate) fn thinking(self, thinking: &str) -> Self {
        self.with(|text| thinking.clone_into(&mut text.thinking))
    }

    pub(crate) fn pieces(self, pieces: usize) -> Self {
        self.with(|text| text.pieces = pieces)
    }

    /// Waits until this many requests have arrived in all.
    pub(crate) fn after_arrivals(mut self, arrivals: usize) -> Self {
        self.arrivals = arrivals;
        self
    }

    /// Waits before the head of the response until the hold is released.
    pub(crate) fn held_by(mut self, hold: &Hold) -> Self {
        self.hold = Some(hold.clone());
        self
    }

    /// Sends half of the events, then waits until the hold is released.
    pub(crate) fn held_halfway_by(mut self, hold: &Hold) -> Self {
        self.second_half = Some(hold.clone());
        self
    }

    /// Waits before the head of the response.
    pub(crate) fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits between the head of the response and the first byte of its body.
    pub(crate) fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sends a comment at this interval during silence.
    pub(crate) fn keep_alive(mut self, every: Duration) -> Self {
        self.keep_alive = Some(every);
        self
    }

    /// Waits between two events.
    pub(crate) fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Sends no length: the body ends with the connection.
    pub(crate) fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self
    }

    /// Sends half of the events, then resets the connection.
    pub(crate) fn cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Sends half of the events, then ends the response.
    pub(crate) fn short(mut self) -> Self {
        self.ending = Ending::Short;
        self
    }

    /// Sends half of the events, then nothing more.
    pub(crate) fn stall(mut self) -> Self {
        self.ending = Ending::Stall;
        self
    }

    /// Sends this many bytes, then resets the connection.
    pub(crate) fn cut_after(mut self, bytes: usize) -> Self {
        self = self.cut();
        self.cut = CutPoint::Byte(bytes);
        self
    }

    /// Sends this many bytes, then closes the connection within the body.
    pub(crate) fn close_after(mut self, bytes: usize) -> Self {
        self.cut = CutPoint::Byte(bytes);
        self.ending = Ending::Closed;
        self
    }

    /// Sends this many bytes, then ends the response as if it were complete.
    pub(crate) fn short_after(mut self, bytes: usize) -> Self {
        self = self.short();
        self.cut = CutPoint::Byte(bytes);
        self
    }

    /// Sends this many bytes, then nothing more.
    pub(crate) fn stall_after(mut self, bytes: usize) -> Self {
        self = self.stall();
        self.cut = CutPoint::Byte(bytes);
        self
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
