//! The JSON of Codex: `codex exec --json`, one event a line, in the shape of today and in the one
//! before it.
//!
//! Sources: "Non-interactive mode" of the Codex docs; in openai/codex
//! `codex-rs/exec/src/exec_events.rs` (`ThreadEvent`, `ThreadItemDetails`) and
//! `event_processor_with_jsonl_output.rs`.

use serde_json::Value;

use super::program_error;
use crate::agent_loop::response::AgentResponse;
use crate::agent_loop::response::ProgramErrorKind::Other;

pub(crate) fn is_event(document: &Value) -> bool {
    match document["type"].as_str() {
        Some("session.created") => true,
        Some("error") => !document["message"].is_null() && document["severity"].is_null(),
        Some(event) => {
            let family = event.split_once('.').map(|(family, _)| family);
            matches!(family, Some("thread" | "turn" | "item"))
        }
        None => false,
    }
}

/// Reads an event.
pub(crate) fn read(response: &mut AgentResponse, document: &Value) {
    match document["type"].as_str() {
        // Also a new run, in a file that outputs are appended to.
        Some("thread.started" | "session.created" | "turn.started") => {
            *response = AgentResponse::default();
        }
        Some("item.completed") => read_item(response, &document["item"]),
        Some("turn.completed") => response.program_error = None,
        Some("turn.failed") => read_error(response, &document["error"]),
        // A lost connection is reported in the same way; if it was found again, the turn is
        // completed.
        Some("error") => read_error(response, document),
        _ => {}
    }
}

fn read_item(response: &mut AgentResponse, item: &Value) {
    match item["type"].as_str().or(item["item_type"].as_str()) {
        Some("agent_message" | "assistant_message") => {
            let text = item["text"].as_str();
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                text.clone_into(&mut response.last_message);
            }
        }
        Some("command_execution") => read_command(response, item),
        Some("mcp_tool_call") if item["status"] == "failed" => {
            let error = &item["error"];
            response.add_tool_error(error["message"].as_str());
        }
        // Items of the type `error` are warnings, such as settings that are out of use: they come
        // with each turn.
        _ => {}
    }
}

fn read_command(response: &mut AgentResponse, item: &Value) {
    match (item["status"].as_str(), item["exit_code"].as_i64()) {
        (Some("declined"), _) => response.add_denial("command", item["command"].as_str()),
        (_, Some(0)) => {}
        (Some("failed"), _) | (_, Some(_)) => {
            response.add_tool_error(item["aggregated_output"].as_str());
        }
        _ => {}
    }
}

fn read_error(response: &mut AgentResponse, error: &Value) {
    let message = error["message"].as_str();
    if message.is_some() || response.program_error.is_none() {
        let error = program_error(Other, None, message.unwrap_or_default());
        response.program_error = Some(error);
    }
}

#[cfg(test)]
mod tests {
    use crate::agent_loop::response::testing::{before, response_in};
    use crate::agent_loop::response::{AgentResponse, ResponseFormat};

    const STREAM: &str = r#"{"type":"thread.started","thread_id":"0199a213"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"`x` is deprecated"}}
{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"**All done?**"}}
{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"bash -lc 'cargo test'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"bash -lc 'cargo test'","aggregated_output":"error: test failed\n","exit_code":101,"status":"failed"}}
{"type":"item.completed","item":{"id":"item_3","type":"command_execution","command":"ls","aggregated_output":"src\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_4","type":"mcp_tool_call","server":"docs","tool":"search","arguments":{"q":"x"},"result":null,"error":{"message":"no such server"},"status":"failed"}}
{"type":"item.completed","item":{"id":"item_5","type":"todo_list","items":[{"text":"a","completed":true}]}}
{"type":"item.completed","item":{"id":"item_6","type":"file_change","changes":[{"path":"a.rs","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"item_7","type":"agent_message","text":"I begin."}}
{"type":"item.completed","item":{"id":"item_8","type":"agent_message","text":"Two tests fail.\nEXIT_SIGNAL: false"}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}
"#;

    fn codex(output: &str) -> AgentResponse {
        response_in(ResponseFormat::Codex, output)
    }

    #[test]
    fn the_last_agent_message_is_the_last_message() {
        let response = codex(STREAM);
        assert_eq!(response.last_message, "Two tests fail.\nEXIT_SIGNAL: false");
        assert_eq!(response.program_error, None);
    }

    #[test]
    fn failed_commands_and_tools_are_errors() {
        assert_eq!(
            codex(STREAM).tool_errors,
            ["error: test failed", "no such server"]
        );
    }

    #[test]
    fn a_stream_that_is_cut_off_gives_what_there_is() {
        let response = codex(before(STREAM, r#"{"type":"turn.completed""#));
        assert_eq!(response.last_message, "Two tests fail.\nEXIT_SIGNAL: false");
        let response = codex(before(STREAM, "tests fail"));
        assert_eq!(response.last_message, "Two ");
    }

    #[test]
    fn lines_of_other_programs_are_passed_over() {
        let log = "Reading prompt from stdin...\n2026-05-21T09:18:12.446963Z ERROR codex_core::codex: failed to load skill\n";
        assert_eq!(
            codex(&format!("{log}{STREAM}npm notice new version\n")),
            codex(STREAM)
        );
    }

    #[test]
    fn a_failed_turn_is_an_error_of_the_program() {
        let stream = r#"{"type":"thread.started","thread_id":"1"}
{"type":"turn.started"}
{"type":"error","message":"You've hit your usage limit."}
{"type":"turn.failed","error":{"message":"You've hit your usage limit."}}
"#;
        let response = codex(stream);
        let error = response.program_error.unwrap();
        assert_eq!(error.message, "You've hit your usage limit.");
        let bare = codex(r#"{"type":"turn.failed","error":null}"#);
        assert_eq!(bare.program_error.unwrap().message, "");
    }

    #[test]
    fn a_connection_found_again_is_no_error() {
        let lost = r#"{"type":"error","message":"Reconnecting... 1/5"}"#;
        assert_eq!(codex(&format!("{lost}\n{STREAM}")).program_error, None);
        let cut = before(STREAM, r#"{"type":"turn.completed""#);
        let response = codex(&format!("{cut}{lost}\n"));
        assert_eq!(
            response.program_error.unwrap().message,
            "Reconnecting... 1/5"
        );
    }

    #[test]
    fn a_declined_command_is_a_denial() {
        let stream = r#"{"type":"item.completed","item":{"type":"command_execution","command":"git push","aggregated_output":"","exit_code":null,"status":"declined"}}"#;
        let response = codex(stream);
        assert_eq!(response.denials[0].target.as_deref(), Some("git push"));
        assert_eq!(response.tool_errors, [""; 0]);
    }

    #[test]
    fn the_earlier_shape_names_the_type_of_an_item_otherwise() {
        let stream = r#"{"type":"session.created","session_id":"1"}
{"type":"item.completed","item":{"id":"itm_0","item_type":"assistant_message","text":"Fixed."}}"#;
        assert_eq!(codex(stream).last_message, "Fixed.");
    }
}
