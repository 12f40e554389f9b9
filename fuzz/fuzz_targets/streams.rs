//! Any bytes as a vendor's stream, in any chunks: never a panic, never an answer without an end,
//! and nothing stored that was not streamed.
//!
//! The first byte chooses the vendor, the second how the rest is cut into chunks, the third how the
//! stream ends.

#![no_main]

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, Failure, FailureClass, Prompt, StopReason};
use conclave::domain::ids::{CallId, ModelRef};
use conclave::engine::ports::Delta;
use conclave::providers::catalog::ModelCatalog;
use conclave::providers::http::Http;
use conclave::providers::remote::Remote;
use conclave::providers::sse;
use conclave::domain::vendors::VENDORS;
use conclave::providers::wire::{Account, End, Endpoint, Scheme};
use libfuzzer_sys::fuzz_target;
use secrecy::SecretString;

/// No stream can guess it.
const KEY: &str = "sk-5f0c1e2b7a9d";

static SPEAKERS: LazyLock<Vec<(Remote, Ask)>> = LazyLock::new(|| {
    let (catalog, http) = (Arc::new(ModelCatalog::builtin()), Arc::new(Http::default()));
    let speaker = |vendor: &conclave::domain::vendors::Vendor| {
        let account = Account { key: Some(SecretString::from(KEY)), origin: "`KEY`".to_owned(), scheme: Scheme::Usual };
        let endpoint = Endpoint { base_url: "http://127.0.0.1:9".to_owned(), account };
        let prompt = Prompt { shared: "Question?".to_owned(), task: "Answer.".to_owned(), ..Prompt::default() };
        let ask = Ask { call: CallId(1), model: ModelRef::new(vendor.id, "m"), prompt, answer: AnswerKind::Independent, max_output_tokens: 16_384, cache_key: None };
        (Remote::new(vendor.dialect, endpoint, Arc::clone(&catalog), Arc::clone(&http)), ask)
    };
    VENDORS.iter().map(speaker).collect()
});

/// The events of the bytes cut into chunks, as the read loop would see them; an event larger than
/// the limit ends them.
fn events(framing: sse::Framing, bytes: &[u8], chunks: u8) -> Vec<sse::Event> {
    let mut parser = sse::Parser::new(framing);
    let mut events = Vec::new();
    let mut rest = bytes;
    let mut size = usize::from(chunks);
    while !rest.is_empty() {
        // Zero is all at once; others vary, so that every boundary is met.
        let (chunk, tail) = rest.split_at(if size == 0 { rest.len() } else { (size % 23 + 1).min(rest.len()) });
        if parser.feed(chunk, &mut events).is_err() {
            return events;
        }
        (rest, size) = (tail, if size == 0 { 0 } else { size.wrapping_mul(31).wrapping_add(1) | 1 });
    }
    events.extend(parser.finish());
    events
}

fuzz_target!(|input: &[u8]| {
    let [vendor, chunks, ending, bytes @ ..] = input else { return };
    let (remote, ask) = &SPEAKERS[usize::from(*vendor) % SPEAKERS.len()];
    let (request, mut decoder) = remote.codec(ask);
    let seen = events(request.framing, bytes, *chunks);
    assert_eq!(seen, events(request.framing, bytes, 0), "the same bytes are the same events however they are cut");
    let mut streamed = String::new();
    let mut fed = 0;
    for event in &seen {
        fed += 1;
        let flow = decoder.event(event, &mut |delta| {
            if let Delta::Text(piece) = delta {
                streamed.push_str(&piece);
            }
        });
        if flow == ControlFlow::Break(()) {
            break;
        }
    }
    // Stored and shown text never holds the key, also where a server sends it back.
    let streamed = streamed.replace(KEY, "[key]");
    let broken = ending % 2 == 1;
    let end = if broken { End::Broken(Failure::new(FailureClass::Transport, "the connection broke")) } else { End::Closed };
    let ended = seen.iter().take(fed).any(says_an_end);
    match decoder.finish(end) {
        Ok(reply) => {
            assert!(ended, "an answer without an end: {reply:?}");
            match reply.stop {
                StopReason::Refused(_) => assert!(reply.text.is_empty(), "what is refused is not kept"),
                StopReason::End => assert!(reply.text == streamed && !reply.text.trim().is_empty(), "{:?} {streamed:?}", reply.text),
                StopReason::Length | StopReason::Other(_) => assert_eq!(reply.text, streamed),
            }
            assert!(reply.usage.prompt() > 0, "no prompt is empty");
        }
        Err(failure) => {
            assert_eq!(failure.partial, streamed, "the partial text is what was streamed");
            assert!(!failure.message.is_empty() && failure.message.chars().count() < 700, "{}", failure.message);
            assert!(!failure.message.contains(KEY) && !failure.partial.contains(KEY));
        }
    }
});

/// An event that can end an answer, whichever vendor's it is.
fn says_an_end(event: &sse::Event) -> bool {
    ["message_stop", "finish", "blockReason", "done", "\\u"].iter().any(|word| event.data.contains(word) || event.name.contains(word))
}
