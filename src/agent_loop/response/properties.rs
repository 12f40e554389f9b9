//! What holds for every output: no input fails or fills the memory, and the pieces in which it
//! arrives do not matter.

use std::io::{self, Read};

use proptest::prelude::*;

use super::testing::response_of;
use super::{AgentResponse, ResponseFormat, limits, read, read_counted};

const CLAUDE: &str = r#"npm warn old
{"type":"system","subtype":"init","session_id":"1"}
{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"I \"run\" it. \ud83d\ude00\n"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"no such file","is_error":true}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.\r\nEXIT_SIGNAL: true","permission_denials":[{"tool_name":"Bash"}]}
"#;
const CODEX: &str = r#"{"type":"thread.started","thread_id":"1"}
{"type":"item.completed","item":{"type":"agent_message","text":"Fixed \u00e9."}}
{"type":"turn.completed","usage":{}}
"#;
const GEMINI: &str = "{\n  \"response\": \"Done.\",\n  \"stats\": {\"a\": [1, 2.5e3, {}]}\n}\n";
const LOG: &str = "OpenAI Codex v0.46.0\n--------\ncodex\nDone.\ntokens used\n1\n";
const TEXT: &str = "# Done\n\n```sh\nls\n```\n- [x] é\n{\"type\":\"result\"}\n";

const OUTPUTS: [&str; 5] = [CLAUDE, CODEX, GEMINI, LOG, TEXT];

/// A source that gives a few bytes at a time.
struct Trickle<'a> {
    rest: &'a [u8],
    sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes.next().unwrap_or(1).min(buffer.len());
        let size = size.min(self.rest.len());
        let (piece, rest) = self.rest.split_at(size);
        buffer[..size].copy_from_slice(piece);
        self.rest = rest;
        Ok(size)
    }
}

/// A source of some text again and again.
struct Repeated {
    start: io::Cursor<Vec<u8>>,
    unit: Vec<u8>,
    offset: usize,
    left: usize,
}

impl Repeated {
    fn new(start: &str, unit: &str, length: usize) -> Self {
        Self {
            start: io::Cursor::new(start.as_bytes().to_vec()),
            unit: unit.repeat(limits::CHUNK / unit.len() + 1).into_bytes(),
            offset: 0,
            left: length,
        }
    }
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let started = self.start.read(buffer)?;
        if started > 0 {
            return Ok(started);
        }
        let source = &self.unit[self.offset..];
        let size = source.len().min(buffer.len()).min(self.left);
        buffer[..size].copy_from_slice(&source[..size]);
        self.offset = (self.offset + size) % self.unit.len();
        self.left -= size;
        Ok(size)
    }
}

fn read_slowly(output: &[u8], sizes: Vec<usize>) -> AgentResponse {
    let source = Trickle {
        rest: output,
        sizes: sizes.into_iter().cycle(),
    };
    read(source, None).unwrap()
}

/// JSON of the members and values that the formats look for, in any order and nesting.
fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e9".to_owned()),
        Just(r#""result""#.to_owned()),
        Just(r#""assistant""#.to_owned()),
        Just(r#""item.completed""#.to_owned()),
        Just(r#""tool_result""#.to_owned()),
        Just(r#""\ud800 \u0000""#.to_owned()),
    ];
    let key = prop_oneof![
        Just("type"),
        Just("message"),
        Just("content"),
        Just("text"),
        Just("item"),
        Just("error"),
        Just("msg"),
        Just("response"),
        Just("other"),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        let member =
            (key.clone(), inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop_oneof![
            prop::collection::vec(member, 0..6)
                .prop_map(|members| format!("{{{}}}", members.join(","))),
            prop::collection::vec(inner, 0..6)
                .prop_map(|elements| format!("[{}]", elements.join(", "))),
        ]
    })
}

proptest! {
    #[test]
    fn the_pieces_do_not_matter(
        index in 0..OUTPUTS.len(),
        sizes in prop::collection::vec(1_usize..40, 1..8),
    ) {
        let output = OUTPUTS[index];
        prop_assert_eq!(read_slowly(output.as_bytes(), sizes), response_of(output));
    }

    #[test]
    fn an_output_may_end_anywhere(index in 0..OUTPUTS.len(), part in 0.0..1.0_f64) {
        let output = OUTPUTS[index].as_bytes();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a part of a short length"
        )]
        let end = (output.len() as f64 * part) as usize;
        let whole = read_slowly(&output[..end], vec![7]);
        prop_assert!(whole.last_message.len() <= end + 3);
    }

    #[test]
    fn a_changed_byte_is_not_fatal(
        index in 0..OUTPUTS.len(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut output = OUTPUTS[index].as_bytes().to_vec();
        let at = at.index(output.len());
        output[at] = byte;
        let response = read_slowly(&output, vec![13]);
        // A byte that is not UTF-8 becomes a character of three.
        prop_assert!(response.last_message.len() <= output.len() + 3);
    }

    #[test]
    fn garbage_is_a_text(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assume!(!bytes.starts_with(b"\xff\xfe") && !bytes.starts_with(b"\xfe\xff"));
        let response = read_slowly(&bytes, vec![5]);
        prop_assert_eq!(response.format, ResponseFormat::Text);
    }

    #[test]
    fn a_text_is_read_as_it_stands(text in "[ a-zA-Zé.:\n]{0,300}") {
        prop_assert_eq!(&response_of(&text).last_message, &text);
    }

    #[test]
    fn documents_of_any_shape_are_read(
        documents in prop::collection::vec(documents(), 1..5),
        size in 1_usize..50,
    ) {
        let output = documents.join("\n");
        let response = read_slowly(output.as_bytes(), vec![size]);
        prop_assert_eq!(response, response_of(&output));
    }
}

/// Reads a long output, and asserts that what is held at one time stays below the limit.
fn read_long(source: impl Read) -> AgentResponse {
    let (response, most_held) = read_counted(source, None).unwrap();
    assert!(most_held < limits::HELD, "{most_held} bytes were held");
    assert!(response.last_message.len() <= limits::MESSAGE + 100);
    response
}

const LONG: usize = 64 << 20;

#[test]
fn a_long_text_is_read_in_bounded_memory() {
    let response = read_long(Repeated::new("", "Task 7 is done, all tests pass.\n", LONG));
    assert!(response.truncated_before);
    assert!(response.last_message.starts_with("Task 7"));
}

#[test]
fn a_long_line_is_read_in_bounded_memory() {
    let response = read_long(Repeated::new("", "word ", LONG));
    assert!(response.truncated_before);
}

#[test]
fn a_long_message_is_read_in_bounded_memory() {
    let start = r#"{"type":"result","subtype":"success","result":"```\n"#;
    let response = read_long(Repeated::new(
        start,
        "a line of code, and not a short one\\n",
        LONG,
    ));
    assert_eq!(response.format, ResponseFormat::Claude);
    assert!(response.last_message.starts_with("```\na line"));
    assert!(response.truncated_before);
    assert!(response.ends_mid_stream);
}

#[test]
fn many_events_are_read_in_bounded_memory() {
    let start = "{\"type\":\"system\",\"subtype\":\"init\"}\n";
    let result = format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":[{{\"is_error\":true,\"content\":\"{}\"}}]}}}}\n",
        "error ".repeat(20_000)
    );
    let response = read_long(Repeated::new(start, &result, LONG));
    assert_eq!(response.format, ResponseFormat::Claude);
    assert_eq!(response.tool_errors.len(), limits::TOOL_ERRORS);
}

#[test]
fn a_long_log_is_read_in_bounded_memory() {
    let start = "OpenAI Codex v0.46.0\n--------\ncodex\n";
    let response = read_long(Repeated::new(start, "All is well. ", LONG));
    assert_eq!(response.format, ResponseFormat::Codex);
    assert!(response.truncated_before);
}

#[test]
fn deep_nesting_is_read_in_bounded_memory() {
    let start = r#"{"type":"result","message":"#;
    let response = read_long(Repeated::new(start, r#"{"content":["#, LONG / 16));
    assert_eq!(response.format, ResponseFormat::Text);
}

#[test]
fn many_small_documents_are_read_in_bounded_memory() {
    let documents = read_long(Repeated::new("[", "{},[],", LONG / 16));
    assert_eq!(documents.format, ResponseFormat::Text);
    let start = r#"[{"type":"result","subtype":"success","stats":["#;
    let members = read_long(Repeated::new(start, "{},[],", LONG / 16));
    assert_eq!(members.format, ResponseFormat::Claude);
}
