//! The JSON of Codex: `codex exec --json`, one event a line, in the shape of today and in the two
//! before it.
//!
//! Sources: "Non-interactive mode" of the Codex docs; in openai/codex `codex-rs/exec/src/exec_events.rs`
//! (`ThreadEvent`, `ThreadItemDetails`), `event_processor_with_jsonl_output.rs`, and of the older
//! shapes `event_processor_with_json_output.rs` and `EventMsg` of `codex-rs/protocol`.

use serde_json::Value;

use super::Program;
use super::turn::{Turn, program_error};
use crate::agent_loop::response::json::Members;
use crate::agent_loop::response::report::ProgramErrorKind::Other;

/// Reads the events of Codex.
#[derive(Debug, Default)]
pub(crate) struct Codex {
    turn: Turn,
}

/// Returns whether a document is an event of Codex.
pub(crate) fn is_event(document: &Value) -> bool {
    match document.text("type") {
        Some("session.created") => true,
        Some("error") => document.has("message") && !document.has("severity"),
        Some(event) => {
            let family = event.split_once('.').map(|(family, _)| family);
            matches!(family, Some("thread" | "turn" | "item"))
        }
        None => document.get("msg").is_some_and(|event| event.has("type")),
    }
}

impl Program for Codex {
    fn read(&mut self, document: &Value) {
        if let Some(event) = document.get("msg") {
            self.read_old_event(event);
            return;
        }
        match document.text("type") {
            // Also a new run, in a file that outputs are appended to.
            Some("thread.started" | "session.created" | "turn.started") => {
                *self = Self::default();
            }
            Some("item.completed") => {
                if let Some(item) = document.get("item") {
                    self.read_item(item);
                }
            }
            Some("turn.completed") => {
                self.turn.is_finished = true;
                self.turn.program_error = None;
            }
            Some("turn.failed") => {
                self.turn.is_finished = true;
                self.read_error(document.get("error"));
            }
            // A lost connection is reported in the same way; if it was found again, the turn is
            // completed.
            Some("error") => self.read_error(Some(document)),
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Turn {
        self.turn
    }
}

impl Codex {
    fn read_item(&mut self, item: &Value) {
        match item.text("type").or_else(|| item.text("item_type")) {
            Some("agent_message" | "assistant_message") => self.read_message(item.get("text")),
            Some("command_execution") => self.read_command(item),
            Some("mcp_tool_call") if item.text("status") == Some("failed") => {
                let error = item.get("error").and_then(|error| error.text("message"));
                self.turn.add_tool_error(error.unwrap_or_default());
            }
            // Items of the type `error` are warnings, such as settings that are out of use: they
            // come with each turn.
            _ => {}
        }
    }

    fn read_message(&mut self, text: Option<&Value>) {
        if let Some(text) = text.and_then(Value::as_str)
            && !text.trim().is_empty()
        {
            text.clone_into(&mut self.turn.message);
        }
    }

    fn read_command(&mut self, item: &Value) {
        match (item.text("status"), item.number("exit_code")) {
            (Some("declined"), _) => self.turn.add_denial("command", item.text("command")),
            (_, Some(0)) => {}
            (Some("failed"), _) | (_, Some(_)) => {
                let output = item.text("aggregated_output");
                self.turn.add_tool_error(output.unwrap_or_default());
            }
            _ => {}
        }
    }

    fn read_error(&mut self, error: Option<&Value>) {
        let message = error.and_then(|error| error.text("message"));
        match (message, &self.turn.program_error) {
            (None, Some(_)) => {}
            (message, _) => {
                let message = message.unwrap_or_default();
                self.turn.program_error = Some(program_error(Other, None, message));
            }
        }
    }

    fn read_old_event(&mut self, event: &Value) {
        match event.text("type") {
            Some("session_configured" | "task_started") => *self = Self::default(),
            Some("agent_message") => self.read_message(event.get("message")),
            Some("exec_command_end") => self.read_old_command(event),
            Some("patch_apply_end") if event.get("success") == Some(&Value::Bool(false)) => {
                let error = event.text("stderr").unwrap_or_default();
                self.turn.add_tool_error(error);
            }
            Some("task_complete") => {
                self.turn.is_finished = true;
                self.turn.program_error = None;
                self.read_message(event.get("last_agent_message"));
            }
            Some("turn_aborted") => {
                self.turn.is_finished = true;
                let reason = event.text("reason");
                self.turn.program_error = Some(program_error(Other, reason, ""));
            }
            Some("error" | "stream_error") => self.read_error(Some(event)),
            _ => {}
        }
    }

    fn read_old_command(&mut self, event: &Value) {
        if event.number("exit_code") == Some(0) {
            return;
        }
        let output = ["aggregated_output", "formatted_output", "stderr", "stdout"]
            .into_iter()
            .filter_map(|key| event.text(key))
            .find(|output| !output.trim().is_empty());
        self.turn.add_tool_error(output.unwrap_or_default());
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
        assert!(!response.ends_mid_stream);
    }

    #[test]
    fn failed_commands_and_tools_are_errors() {
        assert_eq!(
            codex(STREAM).tool_errors,
            ["error: test failed", "no such server"]
        );
    }

    #[test]
    fn a_stream_without_its_last_event_ends_early() {
        let response = codex(before(STREAM, r#"{"type":"turn.completed""#));
        assert!(response.ends_mid_stream);
        assert_eq!(response.last_message, "Two tests fail.\nEXIT_SIGNAL: false");
        let response = codex(before(STREAM, "tests fail"));
        assert!(response.ends_mid_stream);
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
        assert!(!response.ends_mid_stream);
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
        assert!(response.ends_mid_stream);
    }

    #[test]
    fn a_declined_command_is_a_denial() {
        let stream = r#"{"type":"item.completed","item":{"type":"command_execution","command":"git push","aggregated_output":"","exit_code":null,"status":"declined"}}"#;
        let response = codex(stream);
        assert_eq!(response.denials[0].target.as_deref(), Some("git push"));
        assert_eq!(response.tool_errors, [""; 0]);
    }

    #[test]
    fn the_shape_between_names_the_type_of_an_item_otherwise() {
        let stream = r#"{"type":"session.created","session_id":"1"}
{"type":"item.completed","item":{"id":"itm_0","item_type":"assistant_message","text":"Fixed."}}"#;
        assert_eq!(codex(stream).last_message, "Fixed.");
    }

    #[test]
    fn the_old_shape_is_read() {
        let stream = r#"{"workdir":"/src","model":"o3","provider":"openai"}
{"prompt":"Do the next task. EXIT_SIGNAL: true"}
{"id":"0","msg":{"type":"task_started","model_context_window":200000}}
{"id":"0","msg":{"type":"agent_reasoning","text":"Hm."}}
{"id":"0","msg":{"type":"exec_command_end","call_id":"c","stdout":"","stderr":"ls: x: No such file","exit_code":2}}
{"id":"0","msg":{"type":"patch_apply_end","call_id":"c","stdout":"","stderr":"patch does not apply","success":false}}
{"id":"0","msg":{"type":"agent_message","message":"Task 2 is done."}}
{"id":"0","msg":{"type":"token_count","total_tokens":100}}
"#;
        let response = codex(stream);
        assert_eq!(response.last_message, "Task 2 is done.");
        assert_eq!(
            response.tool_errors,
            ["ls: x: No such file", "patch does not apply"]
        );
        assert!(response.ends_mid_stream);
        let end =
            r#"{"id":"0","msg":{"type":"task_complete","last_agent_message":"Task 2 is done."}}"#;
        assert!(!codex(&format!("{stream}{end}\n")).ends_mid_stream);
        let aborted = r#"{"id":"0","msg":{"type":"turn_aborted","reason":"interrupted"}}"#;
        let error = codex(&format!("{stream}{aborted}\n")).program_error;
        assert_eq!(error.unwrap().code.as_deref(), Some("interrupted"));
    }
}
