//! One request and what becomes of it: recorded, answered by the script, and its end noted however
//! it comes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::http::Request;
use super::sample::valid_answer;
use super::script::{Answer, At, Content, Ending, Framing, Text};
use super::vendor::{Addressee, addressee};
use super::wire::{self, Spoken, Wire, frames};
use super::{Recorded, Shared, Vendor, errors, free, lock, now, waiting};

/// What is sent, and how.
pub(super) struct Plan {
    status: u16,
    headers: Vec<(String, String)>,
    pub(super) frames: Vec<Vec<u8>>,
    /// Sent after the frames, without an end.
    pub(super) again: Option<Vec<u8>>,
    pub(super) arrivals: usize,
    pub(super) delay: Duration,
    pub(super) silence: Duration,
    pub(super) keep_alive: Option<Duration>,
    pub(super) pace: Duration,
    pub(super) framing: Framing,
    pub(super) ending: Ending,
}

/// Notes when a request has come to its end, also when the client went away.
pub(super) struct Exchange {
    shared: Arc<Mutex<Shared>>,
    list: List,
    at: usize,
    ended: Option<Instant>,
    complete: bool,
    sent: u64,
}

/// Which of the server's lists a request is on.
#[derive(Clone, Copy, Debug)]
enum List {
    Paid,
    Free,
}

impl Exchange {
    /// Records the request and decides how it is answered.
    pub(super) fn begin(shared: &Arc<Mutex<Shared>>, request: Request) -> (Self, Plan) {
        let path = request.path_and_query.split('?').next().unwrap_or_default();
        let told = addressee(&request.method, path, &request.headers);
        let in_body = || {
            request.body["model"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let (vendor, model, list) = match &told {
            Addressee::Model(vendor, _, model) => (
                Some(*vendor),
                model.clone().unwrap_or_else(in_body),
                List::Paid,
            ),
            Addressee::Free(vendor, _) => (Some(*vendor), in_body(), List::Free),
            Addressee::Nobody => (None, in_body(), List::Paid),
        };
        let plan = {
            let mut guard = lock(shared);
            match &told {
                Addressee::Model(vendor, wire, _) => {
                    let answer = guard
                        .choose(*vendor, &model, &request.body)
                        .unwrap_or_else(Answer::valid);
                    Plan::of(
                        &answer,
                        |text| spoken(*vendor, *wire, &model, &request.body, text),
                        *vendor,
                        *wire,
                    )
                }
                Addressee::Free(vendor, path) => match guard.choose_free(*vendor) {
                    // An error is worded as on the vendor's paid paths.
                    Some(answer) => {
                        Plan::of(&answer, |_| Vec::new(), *vendor, wire::wire_of(*vendor))
                    }
                    None => match free::free_answer(*vendor, path, &request.body) {
                        Some((status, body)) => Plan::json(
                            status,
                            if body.is_null() {
                                String::new()
                            } else {
                                body.to_string()
                            },
                        ),
                        None => Plan::nothing_here(),
                    },
                },
                Addressee::Nobody => Plan::nothing_here(),
            }
        };
        let recorded = Recorded {
            vendor,
            model,
            path_and_query: request.path_and_query,
            headers: request.headers,
            body: request.body,
            arrived: now(),
            finished: None,
            complete: false,
            sent: 0,
        };
        let mut guard = lock(shared);
        let requests = list.of(&mut guard);
        requests.push(recorded);
        let at = requests.len() - 1;
        drop(guard);
        waiting::ring(shared);
        (
            Self {
                shared: Arc::clone(shared),
                list,
                at,
                ended: None,
                complete: false,
                sent: 0,
            },
            plan,
        )
    }

    pub(super) fn count(&mut self, bytes: usize) {
        self.sent += bytes as u64;
    }

    /// Nothing more will be sent. Noted before the last bytes leave: once a client has them, it may
    /// already ask again.
    pub(super) fn sent_all(&mut self, ending: Ending) {
        if ending == Ending::Whole {
            self.complete = true;
            self.ended = Some(now());
            self.note();
        }
    }

    fn note(&self) {
        if let Some(request) = self.list.of(&mut lock(&self.shared)).get_mut(self.at) {
            request.finished = Some(self.ended.unwrap_or_else(now));
            request.complete = self.complete;
            request.sent = self.sent;
        }
        waiting::ring(&self.shared);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.note();
    }
}

impl List {
    fn of(self, shared: &mut Shared) -> &mut Vec<Recorded> {
        match self {
            Self::Paid => &mut shared.requests,
            Self::Free => &mut shared.free_requests,
        }
    }
}

fn spoken(
    vendor: Vendor,
    wire: Wire,
    model: &str,
    body: &serde_json::Value,
    text: &Text,
) -> Vec<Vec<u8>> {
    let words = text
        .whole
        .clone()
        .unwrap_or_else(|| valid_answer(body, model));
    let wants_usage = body["stream_options"]["include_usage"] == true;
    frames(&Spoken {
        vendor,
        wire,
        model,
        words: &words,
        text,
        wants_usage,
    })
}

impl Plan {
    fn of(
        answer: &Answer,
        speak: impl FnOnce(&Text) -> Vec<Vec<u8>>,
        vendor: Vendor,
        wire: Wire,
    ) -> Self {
        let (status, content_type, frames, again) = match &answer.content {
            Content::Text(text) => (200, wire::content_type(wire), speak(text), None),
            Content::Error {
                status,
                code,
                words,
            } => {
                let body = errors::error_body(vendor, wire, *status, code, words).to_string();
                (*status, "application/json", vec![body.into_bytes()], None)
            }
            Content::Raw { status, body } => {
                let quarters = body
                    .chunks(body.len().div_ceil(4).max(1))
                    .map(<[u8]>::to_vec)
                    .collect();
                (*status, "", quarters, None)
            }
            Content::Endless {
                status,
                beginning,
                again,
            } => (*status, "", vec![beginning.clone()], Some(again.clone())),
        };
        let content_type = answer.content_type.as_deref().unwrap_or(content_type);
        let mut headers = answer.headers.clone();
        if !content_type.is_empty() {
            headers.push(("content-type".to_owned(), content_type.to_owned()));
        }
        let frames = answer
            .damage
            .iter()
            .fold(frames, |frames, damage| damage.done_to(frames));
        let frames = if answer.ending == Ending::Whole {
            frames
        } else {
            first_part(frames, answer.at)
        };
        Self {
            status,
            headers,
            // A piece of no bytes would end a chunked body.
            frames: frames
                .into_iter()
                .filter(|frame| !frame.is_empty())
                .collect(),
            again,
            arrivals: answer.arrivals,
            delay: answer.delay,
            silence: answer.silence,
            keep_alive: answer.keep_alive,
            pace: answer.pace,
            framing: answer.framing,
            ending: answer.ending,
        }
    }

    fn json(status: u16, body: String) -> Self {
        Self::of(
            &Answer::http(status, "application/json", body),
            |_| Vec::new(),
            Vendor::OpenAi,
            Wire::Chat,
        )
    }

    fn nothing_here() -> Self {
        Self::of(
            &Answer::http(404, "text/plain", "no such path"),
            |_| Vec::new(),
            Vendor::OpenAi,
            Wire::Chat,
        )
    }

    /// Everything before the body.
    pub(super) fn head(&self) -> String {
        let (version, framing) = match self.framing {
            Framing::Chunked => ("1.1", "transfer-encoding: chunked\r\n"),
            Framing::UntilClose => ("1.0", "connection: close\r\n"),
        };
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect::<Vec<_>>()
            .concat();
        format!("HTTP/{version} {} .\r\n{headers}{framing}\r\n", self.status)
    }

    /// A piece of the body as it goes out.
    pub(super) fn framed(&self, piece: &[u8]) -> Vec<u8> {
        match self.framing {
            Framing::Chunked => {
                [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
            }
            Framing::UntilClose => piece.to_vec(),
        }
    }

    /// What follows the body.
    pub(super) fn end(&self) -> &'static [u8] {
        match (self.framing, self.ending) {
            (Framing::Chunked, Ending::Whole | Ending::Short) => b"0\r\n\r\n",
            (Framing::Chunked, Ending::Cut | Ending::Closed | Ending::Stall)
            | (Framing::UntilClose, _) => b"",
        }
    }
}

fn first_part(mut frames: Vec<Vec<u8>>, at: At) -> Vec<Vec<u8>> {
    match at {
        At::Half => frames.truncate(frames.len().div_ceil(2)),
        At::Byte(bytes) => {
            let mut left = bytes;
            for frame in &mut frames {
                frame.truncate(left);
                left -= frame.len();
            }
        }
    }
    frames
}
