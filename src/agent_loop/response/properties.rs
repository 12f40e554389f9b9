//! What holds for every output: no input fails.

use proptest::prelude::*;

use super::testing::{response_in, response_of};
use super::{AgentResponse, ResponseFormat, read};

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
const TEXT: &str = "# Done\n\n```sh\nls\n```\n- [x] é\n{\"type\":\"result\"}\n";

const OUTPUTS: [&str; 4] = [CLAUDE, CODEX, GEMINI, TEXT];

fn read_bytes(output: &[u8]) -> AgentResponse {
    read(output, None).unwrap()
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
    fn an_output_may_end_anywhere(index in 0..OUTPUTS.len(), part in 0.0..1.0_f64) {
        let output = OUTPUTS[index].as_bytes();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a part of a short length"
        )]
        let end = (output.len() as f64 * part) as usize;
        let whole = read_bytes(&output[..end]);
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
        let response = read_bytes(&output);
        // A byte that is not UTF-8 becomes a character of three, also the other one of an `é`.
        prop_assert!(response.last_message.len() <= output.len() + 4);
    }

    #[test]
    fn garbage_is_a_text(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = read(&bytes, Some(ResponseFormat::Text)).unwrap();
        prop_assert_eq!(read_bytes(&bytes), text);
    }

    #[test]
    fn a_text_is_read_as_it_stands(text in "[ a-zA-Zé.:\n]{0,300}") {
        prop_assert_eq!(&response_of(&text).last_message, &text);
    }

    #[test]
    fn documents_of_any_shape_are_read(documents in prop::collection::vec(documents(), 1..5)) {
        let output = documents.join("\n");
        let response = response_of(&output);
        prop_assert!(response.last_message.len() <= output.len());
    }

}

#[test]
fn a_very_deep_document_is_a_text() {
    let start = r#"{"type":"result","message":"#;
    let deep = format!("{start}{}", r#"{"content":["#.repeat(100_000));
    response_in(ResponseFormat::Text, &deep);
}

#[test]
fn a_long_message_keeps_its_end() {
    let start = r#"{"type":"result","subtype":"success","result":"```\n"#;
    let message = "a line of code, and not a short one\\n".repeat(100_000);
    let response = response_in(ResponseFormat::Claude, &format!("{start}{message}"));
    assert!(response.last_message.starts_with("```\na line"));
}
