use serde_json::json;

use super::*;
use crate::agent_loop::response::read;
use crate::agent_loop::response::testing::{response_in, response_of};

const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#;

fn text(output: &str) -> String {
    response_in(ResponseFormat::Text, output).last_message
}

fn refusal(format: ResponseFormat, output: &str) -> String {
    let error = read(output.as_bytes(), Some(format)).unwrap_err();
    error.to_string()
}

#[test]
fn a_text_is_the_last_message() {
    assert_eq!(
        text("All done.\r\nEXIT_SIGNAL: true\r\n"),
        "All done.\nEXIT_SIGNAL: true\n"
    );
    assert_eq!(text("\u{feff}All done."), "All done.");
    assert_eq!(text(""), "");
    assert_eq!(
        text("- [x] one\n[link](a)\n{ not json\n"),
        "- [x] one\n[link](a)\n{ not json\n"
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced() {
    let response = read(&b"D\xf6ne\0"[..], None).unwrap();
    assert_eq!(response.last_message, "D\u{fffd}ne\0");
}

#[test]
fn a_text_that_quotes_json_is_a_text() {
    for quoting in [
        format!("I ran it:\n\n```json\n{RESULT}\n```\n"),
        format!("I ran it:\n\n{RESULT}\n\nIt is not done yet.\n"),
        format!("It printed {RESULT}\n"),
        format!("```\n{RESULT}\n"),
        format!("It printed:\n\n    {RESULT}\n"),
        format!("It printed:\n\n\t{RESULT}\n"),
        format!("{}{RESULT}\n", "A line of a long text.\n".repeat(101)),
    ] {
        assert_eq!(text(&quoting), quoting);
    }
}

#[test]
fn other_json_is_a_text() {
    for other in [
        r#"{"status":"done"}"#,
        "[1, 2]",
        "{}",
        "[]",
        "3",
        "{\"type\":\"result\"}",
    ] {
        assert_eq!(text(other), other);
    }
}

#[test]
fn json_of_no_known_program_is_recognised() {
    for (output, expected) in [
        (r#"{"status":"done"}"#, true),
        (
            "{\"event\":\"start\"}\n{\"event\":\"end\",\"text\":\"All done.\"}\n",
            true,
        ),
        ("\n[{\"role\":\"assistant\"}]\n", true),
        (
            "{\"type\":\"text\",\"part\":{}}\n\n{\"type\":\"stop\"}",
            true,
        ),
        (RESULT, false),
        ("All done.", false),
        ("", false),
        ("[1, 2]", false),
        ("I ran it:\n{\"a\":1}\n", false),
        ("{\"a\":1}\nAll done.\n", false),
        ("```json\n{\"a\":1}\n```\n", false),
    ] {
        assert_eq!(response_of(output).is_unknown_json, expected, "{output}");
    }
}

#[test]
fn lines_before_the_json_are_passed_over() {
    let warnings = "npm warn deprecated a@1.0.0\n\n[warn] {config} is old\n";
    assert_eq!(
        response_of(&format!("{warnings}{RESULT}")),
        response_of(RESULT)
    );
    let response = response_in(ResponseFormat::Claude, &format!("{RESULT}\nBye.\n"));
    assert_eq!(response.last_message, "Done.");
}

#[test]
fn control_sequences_before_the_json_are_passed_over() {
    for sequence in [
        "\x1b[?1004l",
        "\x1b]0;claude {x}\x07",
        "\x1b]0;a\x1b\\",
        " \x1b[0m \x1b[K",
    ] {
        let output = format!("{sequence}{RESULT}\n");
        assert_eq!(response_of(&output), response_of(RESULT), "{output}");
    }
}

#[test]
fn a_line_that_is_cut_off_does_not_hide_the_next() {
    for cut in [
        r#"{"type":"assistant","message":{"content":"Hal"#,
        r#"{"type":"assistant","message":"#,
        r#"{"type":"assistant","usage":{"a":[1,"#,
        r#"[{"type":"assistant","usage":{"a":[1,"#,
    ] {
        let output = format!("{cut}\n{RESULT}\n");
        assert_eq!(response_of(&output).last_message, "Done.", "{cut}");
    }
}

#[test]
fn documents_of_a_list_may_have_lines_of_their_own() {
    for list in [
        format!("[\n{RESULT}\n]\n"),
        format!("[\n{{\"type\":\"rate_limit_event\"}},\n{RESULT}\n]\n"),
        format!("[\n  {{\"type\":\"rate_limit_event\"}},\n  {RESULT}\n]\n"),
    ] {
        assert_eq!(response_of(&list), response_of(RESULT), "{list}");
    }
}

#[test]
fn a_forced_format_is_not_looked_for() {
    let response = read(RESULT.as_bytes(), Some(ResponseFormat::Text)).unwrap();
    assert_eq!(response.last_message, RESULT);
    let quoted = format!("One.\n{RESULT}\nTwo.\nThree.\n");
    let response = read(quoted.as_bytes(), Some(ResponseFormat::Claude)).unwrap();
    assert_eq!(response.last_message, "Done.");
}

#[test]
fn a_forced_format_that_does_not_match_is_an_error() {
    assert_eq!(
        refusal(ResponseFormat::Codex, &format!("\n{RESULT}\n")),
        "line 2 is not output of Codex: expected the JSON of `codex exec --json`"
    );
    assert_eq!(
        refusal(ResponseFormat::Claude, "\n\nAll done.\n"),
        "line 3 is not output of Claude Code: expected the JSON of `claude -p \
         --output-format json` or `stream-json`"
    );
    assert_eq!(
        refusal(ResponseFormat::Gemini, "All done."),
        "line 1 is not output of Gemini CLI: expected the JSON of `gemini --output-format \
         json` or `stream-json`"
    );
}

#[test]
fn a_forced_format_without_any_output_has_no_message() {
    for output in ["", "\n \n", "{\"type\":\"assi"] {
        let response = read(output.as_bytes(), Some(ResponseFormat::Claude)).unwrap();
        assert_eq!(response.last_message, "", "{output:?}");
    }
}

#[test]
fn what_begins_after_the_last_event_does_not_count() {
    let output = format!("{RESULT}\n{{\"type\":\"sys");
    assert_eq!(response_of(&output), response_of(RESULT));
}

#[test]
fn a_control_sequence_does_not_go_beyond_its_line() {
    let output = format!("\x1b]0;title\n\x1b[\n{RESULT}\n");
    assert_eq!(response_of(&output), response_of(RESULT));
}

#[test]
fn what_is_cut_off_is_completed() {
    for (text, expected) in [
        (r#"{"a":"Hal"#, json!({"a": "Hal"})),
        (r#"{"a":"Hal\"#, json!({"a": "Hal"})),
        (r#"{"a":"Hal\u00"#, json!({"a": "Hal"})),
        (r#"{"a":"x\ud83d"#, json!({"a": "x\u{fffd}"})),
        (r#"{"a":[1,{"b":"c"#, json!({"a": [1, {"b": "c"}]})),
        (r#"{"a":1,"b"#, json!({"a": 1})),
        (r#"{"a":1,"b":"#, json!({"a": 1, "b": null})),
        (r#"{"a":1,"b":tr"#, json!({"a": 1, "b": null})),
        (r#"[{"a":1},"#, json!([{"a": 1}])),
        (r#"{"a":{"b":"#, json!({"a": {"b": null}})),
    ] {
        let text = with_whole_characters(text);
        let mut steps = usize::MAX;
        let Parse::CutOff { value, .. } = json::parse(&text, 0, &mut steps) else {
            panic!("{text}");
        };
        assert_eq!(value, expected, "{text}");
    }
}

#[test]
fn half_characters_are_replaced() {
    let text = r#"{"a":"\ud83d \ud83d\ude00 \\ud83d \udE00"}"#;
    let value: Value = serde_json::from_str(&with_whole_characters(text)).unwrap();
    assert_eq!(value, json!({"a": "\u{fffd} 😀 \\ud83d \u{fffd}"}));
}
