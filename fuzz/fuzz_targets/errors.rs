//! Any body as an error, with any status and any hints: never a panic, always words of a bearable
//! length, never the key.
//!
//! The first two bytes choose the status, the third which headers there are; a line each for those,
//! then the body. Where the input has a `%`, the server echoes the key.

#![no_main]

use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::domain::time::Timestamp;
use conclave::providers::errors::{ErrorResponse, classify, in_stream, named_fields};
use conclave::providers::wire::{Account, Scheme};
use libfuzzer_sys::fuzz_target;
use secrecy::SecretString;

const KEY: &str = "sk-5f0c1e2b7a9d";

fuzz_target!(|input: &[u8]| {
    let [high, low, headers, rest @ ..] = input else { return };
    let status = 300 + u16::from_be_bytes([*high, *low]) % 300;
    let text = String::from_utf8_lossy(rest).replace('%', KEY);
    let mut lines = text.splitn(4, '\n');
    let mut header = |bit: u8| if headers & bit != 0 { lines.next().map(ToOwned::to_owned) } else { None };
    let (retry_after_ms, retry_after, should_retry) = (header(1), header(2), header(4));
    let body = lines.collect::<Vec<_>>().join("\n");
    let account = Account { key: Some(SecretString::from(KEY)), origin: "`KEY`".to_owned(), scheme: Scheme::Usual };
    let response = ErrorResponse { status, retry_after_ms, retry_after, should_retry, body: body.clone() };
    let now = (headers & 8 != 0).then_some(Timestamp(1_795_249_800_000));
    assert_sound(&classify(&response, &account, now));
    let _ = named_fields(&body);
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(&body) {
        assert_sound(&in_stream(&json, &account));
    }
});

fn assert_sound(failure: &Failure) {
    assert!(!failure.message.trim().is_empty(), "every failure has a message: {failure:?}");
    assert!(failure.message.chars().count() < 700, "{failure:?}");
    assert!(!failure.message.contains(KEY), "the key leaked: {failure:?}");
    assert!(!failure.message.contains(['\n', '\r']), "a message is one line: {failure:?}");
    let own = [FailureClass::Transport, FailureClass::Interrupted, FailureClass::Empty, FailureClass::Malformed, FailureClass::Internal];
    assert!(!own.contains(&failure.class), "no server's error is one of these: {failure:?}");
    assert!(failure.usage.is_none() && failure.partial.is_empty());
}
