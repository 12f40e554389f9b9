//! One request: records it, selects the scripted answer and records its end, however it ends.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;

use super::http::Request;
use super::script::{Answer, Content, CutPoint, Ending, Framing, Text};
use super::valid_answer::{answer_from_schema, valid_answer};
use super::vendor::{Route, route};
use super::wire::{self, StreamSource, Wire, frames};
use super::{RecordedRequest, Shared, Vendor, errors, free, lock, now, wait};

/// The response to send.
pub(super) struct ResponsePlan {
    status: u16,
    headers: Vec<(String, String)>,
    pub(super) frames: Vec<Vec<u8>>,
    /// Sent repeatedly after the frames, without an end.
    pub(super) repeated: Option<Vec<u8>>,
    /// Its waits, framing and ending.
    pub(super) answer: Answer,
}

/// Records the end of a request, also when the client disconnects.
pub(super) struct Exchange {
    shared: Arc<Mutex<Shared>>,
    list: List,
    index: usize,
    ended: Option<Instant>,
    complete: bool,
    sent: u64,
}

/// The list of the server that a request is on.
#[derive(Clone, Copy, Debug)]
enum List {
    Paid,
    Free,
}

impl Exchange {
    /// Records the request and decides how it is answered.
    pub(super) fn begin(shared: &Arc<Mutex<Shared>>, request: Request) -> (Self, ResponsePlan) {
        let path = request.path_and_query.split('?').next().unwrap_or_default();
        let route = route(&request.method, path, &request.headers);
        let in_body = request.body["model"].as_str().unwrap_or_default();
        let (vendor, model, list) = match &route {
            Route::Model(vendor, _, model) => (Some(*vendor), model.as_deref(), List::Paid),
            Route::Free(vendor, _) => (Some(*vendor), None, List::Free),
            Route::Unknown => (None, None, List::Paid),
        };
        let model = model.unwrap_or(in_body).to_owned();
        let plan = {
            let mut guard = lock(shared);
            let json = "application/json";
            let (bytes, path) = (&request.bytes, &request.path_and_query);
            let origin = format!("http://{}", request.headers["host"]);
            let signed_in = guard.sign_in.answer(path, bytes, &origin);
            let is_refused = vendor == Some(Vendor::ChatGpt)
                && guard.sign_in.is_used()
                && !guard.sign_in.accepts(request.headers.get("authorization"));
            match &route {
                _ if signed_in.is_some() => {
                    let (status, location, body) = signed_in.unwrap();
                    let mut plan = ResponsePlan::plain(status, json, &body.to_string());
                    plan.headers
                        .extend(location.map(|to| ("location".to_owned(), to)));
                    plan
                }
                _ if is_refused => {
                    let body = r#"{"detail":{"error_code":"invalid_token"}}"#;
                    ResponsePlan::plain(401, json, body)
                }
                Route::Model(vendor, wire, _) => {
                    let answer = guard
                        .choose(*vendor, &model, &request.body)
                        .unwrap_or_else(Answer::valid);
                    let prompt = guard.caches.measure(*vendor, *wire, &model, &request.body);
                    ResponsePlan::of(
                        &answer,
                        |text| {
                            let text = &text.with_prompt(prompt);
                            stream_frames(*vendor, *wire, &model, &request.body, text)
                        },
                        *vendor,
                        *wire,
                    )
                }
                Route::Free(vendor, path) => match guard.choose_free(*vendor) {
                    // Errors have the shape of the vendor's paid paths.
                    Some(answer) => {
                        ResponsePlan::of(&answer, |_| Vec::new(), *vendor, wire::wire_of(*vendor))
                    }
                    None => match free::free_answer(*vendor, path, &request.body) {
                        Some((status, Value::Null)) => ResponsePlan::plain(status, json, ""),
                        Some((status, body)) => {
                            ResponsePlan::plain(status, json, &body.to_string())
                        }
                        None => ResponsePlan::plain(404, "text/plain", "no such path"),
                    },
                },
                Route::Unknown => ResponsePlan::plain(404, "text/plain", "no such path"),
            }
        };
        let recorded = RecordedRequest {
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
        let index = requests.len() - 1;
        drop(guard);
        wait::notify(shared);
        (
            Self {
                shared: Arc::clone(shared),
                list,
                index,
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

    /// Records that nothing more will be sent. This happens before the last bytes leave, because a
    /// client that has them may send its next request at once.
    pub(super) fn sent_all(&mut self, ending: Ending) {
        if ending == Ending::Whole {
            self.complete = true;
            self.ended = Some(now());
            self.record_end();
        }
    }

    fn record_end(&self) {
        if let Some(request) = self.list.of(&mut lock(&self.shared)).get_mut(self.index) {
            request.finished = Some(self.ended.unwrap_or_else(now));
            request.complete = self.complete;
            request.sent = self.sent;
        }
        wait::notify(&self.shared);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.record_end();
    }
}

impl List {
    fn of(self, shared: &mut Shared) -> &mut Vec<RecordedRequest> {
        match self {
            Self::Paid => &mut shared.requests,
            Self::Free => &mut shared.free_requests,
        }
    }
}

fn stream_frames(
    vendor: Vendor,
    wire: Wire,
    model: &str,
    body: &Value,
    text: &Text,
) -> Vec<Vec<u8>> {
    let content = match text.for_request(body) {
        Some(content) => content,
        None if text.is_built => answer_from_schema(body),
        None => valid_answer(body, model),
    };
    let wants_usage = body["stream_options"]["include_usage"] == true;
    frames(&StreamSource {
        vendor,
        wire,
        model,
        content: &content,
        text,
        wants_usage,
    })
}

impl ResponsePlan {
    fn of(
        answer: &Answer,
        text_frames: impl FnOnce(&Text) -> Vec<Vec<u8>>,
        vendor: Vendor,
        wire: Wire,
    ) -> Self {
        let (status, content_type, frames, repeated) = match &answer.content {
            Content::Text(text) => (200, wire::content_type(wire), text_frames(text), None),
            Content::Error {
                status,
                code,
                message,
            } => {
                let body = errors::error_body(vendor, wire, *status, code, message).to_string();
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
                repeated,
            } => (*status, "", vec![beginning.clone()], Some(repeated.clone())),
        };
        let content_type = answer.content_type.as_deref().unwrap_or(content_type);
        let mut headers = answer.headers.clone();
        if !content_type.is_empty() {
            headers.push(("content-type".to_owned(), content_type.to_owned()));
        }
        let frames = answer
            .damage
            .iter()
            .fold(frames, |frames, damage| damage.apply(frames));
        let frames = if answer.ending == Ending::Whole {
            frames
        } else {
            first_part(frames, answer.cut)
        };
        Self {
            status,
            headers,
            // An empty chunk would end a chunked body.
            frames: frames
                .into_iter()
                .filter(|frame| !frame.is_empty())
                .collect(),
            repeated,
            answer: answer.clone(),
        }
    }

    fn plain(status: u16, content_type: &str, body: &str) -> Self {
        let answer = Answer::http(status, content_type, body);
        Self::of(&answer, |_| Vec::new(), Vendor::OpenAi, Wire::Chat)
    }

    /// Returns the status line and headers.
    pub(super) fn head(&self) -> String {
        let (version, framing) = match self.answer.framing {
            Framing::Chunked => ("1.1", "transfer-encoding: chunked\r\n"),
            Framing::UntilClose => ("1.0", "connection: close\r\n"),
        };
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers = headers.collect::<Vec<_>>().concat();
        format!("HTTP/{version} {} .\r\n{headers}{framing}\r\n", self.status)
    }

    /// Returns a piece of the body in its transfer encoding.
    pub(super) fn framed(&self, piece: &[u8]) -> Vec<u8> {
        match self.answer.framing {
            Framing::Chunked => {
                [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
            }
            Framing::UntilClose => piece.to_vec(),
        }
    }

    /// Returns the bytes after the body.
    pub(super) fn end(&self) -> &'static [u8] {
        match (self.answer.framing, self.answer.ending) {
            (Framing::Chunked, Ending::Whole | Ending::Short) => b"0\r\n\r\n",
            (Framing::Chunked, Ending::Cut | Ending::Closed | Ending::Stall)
            | (Framing::UntilClose, _) => b"",
        }
    }
}

fn first_part(mut frames: Vec<Vec<u8>>, cut: CutPoint) -> Vec<Vec<u8>> {
    match cut {
        CutPoint::Half => frames.truncate(frames.len().div_ceil(2)),
        CutPoint::Byte(bytes) => {
            let mut left = bytes;
            for frame in &mut frames {
                frame.truncate(left);
                left -= frame.len();
            }
        }
    }
    frames
}
