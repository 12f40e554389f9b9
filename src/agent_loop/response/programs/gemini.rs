//! The JSON of Gemini CLI: `--output-format json`, one object, and `stream-json`, one event a line.
//!
//! Sources: "Headless mode reference" of the Gemini CLI docs; in google-gemini/gemini-cli
//! `packages/core/src/output/types.ts` (`JsonOutput`, `JsonStreamEvent`),
//! `packages/core/src/tools/tool-error.ts`, `packages/cli/src/nonInteractiveCli.ts` and
//! `packages/cli/src/utils/errors.ts`.

use serde_json::Value;

use super::{Program, kind_of_http_status, program_error};
use crate::agent_loop::response::ProgramErrorKind::{self, Authentication, Other, Quota, RunLimit};
use crate::agent_loop::response::{AgentResponse, ProgramError};

/// Reads the output of Gemini CLI.
#[derive(Debug, Default)]
pub(crate) struct Gemini {
    response: AgentResponse,
    /// The next part begins a message: a tool was used since the last one.
    message_ended: bool,
}

/// Of one that ends early its last members are not there.
pub(crate) fn is_output(document: &Value, ends_early: bool) -> bool {
    let Some(event) = document["type"].as_str() else {
        let has_context = !document["stats"].is_null() || !document["session_id"].is_null();
        return match document.get("response") {
            Some(response) => has_context || (ends_early && response.is_string()),
            None => error_of(document).is_some_and(|error| has_context || !error["code"].is_null()),
        };
    };
    match event {
        "init" => !document["session_id"].is_null() || !document["model"].is_null(),
        "message" => !document["role"].is_null(),
        "tool_use" => !document["tool_name"].is_null(),
        "tool_result" => !document["tool_id"].is_null(),
        "error" => !document["severity"].is_null(),
        "result" => !document["status"].is_null(),
        _ => false,
    }
}

impl Program for Gemini {
    fn read(&mut self, document: &Value) {
        match document["type"].as_str() {
            None => self.read_object(document),
            // A new run, in a file that outputs are appended to.
            Some("init") => *self = Self::default(),
            Some("message") if document["role"] == "assistant" => {
                self.read_message(document);
            }
            Some("tool_use") => self.message_ended = true,
            Some("tool_result") => self.read_tool_result(document),
            // A warning does not end the turn.
            Some("error") if document["severity"] == "error" => {
                let message = document["message"].as_str().unwrap_or_default();
                let is_limit = message.starts_with("Maximum session turns");
                let kind = if is_limit { RunLimit } else { Other };
                self.response.program_error = Some(program_error(kind, None, message));
            }
            Some("result") => self.read_result(document),
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> AgentResponse {
        self.response
    }
}

impl Gemini {
    fn read_object(&mut self, document: &Value) {
        *self = Self::default();
        let message = document["response"].as_str().unwrap_or_default();
        message.clone_into(&mut self.response.last_message);
        self.response.program_error = error_of(document).map(reported_error);
    }

    fn read_message(&mut self, document: &Value) {
        let content = document["content"].as_str().unwrap_or_default();
        if content.is_empty() {
            return;
        }
        if self.message_ended || document["delta"] != true {
            self.response.last_message.clear();
            self.message_ended = false;
        }
        self.response.last_message.push_str(content);
    }

    fn read_tool_result(&mut self, document: &Value) {
        self.message_ended = true;
        if document["status"] != "error" {
            return;
        }
        let error = &document["error"];
        let message = error["message"].as_str().or(document["output"].as_str());
        if error["type"] == "policy_violation" {
            let tool = document["tool_id"].as_str().unwrap_or("a tool");
            self.response.add_denial(tool, message);
        } else {
            self.response.add_tool_error(message);
        }
    }

    fn read_result(&mut self, document: &Value) {
        if document["status"] != "error" {
            return;
        }
        let error = error_of(document).map(reported_error);
        self.response.program_error = error
            .or(self.response.program_error.take())
            .or_else(|| Some(program_error(Other, None, "")));
    }
}

fn error_of(document: &Value) -> Option<&Value> {
    let error = &document["error"];
    (!error["message"].is_null() && !error["type"].is_null()).then_some(error)
}

fn reported_error(error: &Value) -> ProgramError {
    let name = error["type"].as_str();
    let message = error["message"].as_str().unwrap_or_default();
    program_error(kind_of_error(name, error["code"].as_i64()), name, message)
}

/// The exit status of the program (41 for authentication, 53 for turns) or the HTTP status of the
/// failed call.
fn kind_of_error(name: Option<&str>, code: Option<i64>) -> ProgramErrorKind {
    match (name, code) {
        (Some("FatalAuthenticationError"), _) | (_, Some(41)) => Authentication,
        (Some("FatalTurnLimitedError"), _) | (_, Some(53)) => RunLimit,
        (Some("TerminalQuotaError"), _) => Quota,
        (_, Some(code)) => kind_of_http_status(code),
        _ => Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_loop::response::testing::{before, response_in};
    use crate::agent_loop::response::{AgentResponse, ResponseFormat};

    const OBJECT: &str = r#"{
  "session_id": "0b6f",
  "response": "All 4 tasks are done.\n<promise>COMPLETE</promise>",
  "stats": {
    "models": { "gemini-2.5-pro": { "api": { "totalRequests": 3, "totalErrors": 0 } } },
    "tools": { "totalCalls": 2, "totalFail": 0 }
  }
}
"#;

    const STREAM: &str = r#"{"type":"init","timestamp":"2026-03-01T10:00:00.000Z","session_id":"0b6f","model":"gemini-2.5-pro"}
{"type":"message","timestamp":"2026-03-01T10:00:00.100Z","role":"user","content":"Do the next task. Say DONE when done."}
{"type":"message","timestamp":"2026-03-01T10:00:01.000Z","role":"assistant","content":"I look ","delta":true}
{"type":"message","timestamp":"2026-03-01T10:00:01.100Z","role":"assistant","content":"at it.","delta":true}
{"type":"tool_use","timestamp":"2026-03-01T10:00:02.000Z","tool_name":"run_shell_command","tool_id":"run_shell_command-1","parameters":{"command":"npm test"}}
{"type":"tool_result","timestamp":"2026-03-01T10:00:03.000Z","tool_id":"run_shell_command-1","status":"error","output":"1 failing","error":{"type":"shell_execute_error","message":"npm test: 1 failing"}}
{"type":"message","timestamp":"2026-03-01T10:00:04.000Z","role":"assistant","content":"One test ","delta":true}
{"type":"error","timestamp":"2026-03-01T10:00:04.000Z","severity":"warning","message":"Loop detected, stopping execution"}
{"type":"message","timestamp":"2026-03-01T10:00:04.100Z","role":"assistant","content":"fails.","delta":true}
{"type":"result","timestamp":"2026-03-01T10:00:05.000Z","status":"success","stats":{"total_tokens":100}}
"#;

    fn gemini(output: &str) -> AgentResponse {
        response_in(ResponseFormat::Gemini, output)
    }

    #[test]
    fn the_response_is_the_last_message() {
        let response = gemini(OBJECT);
        assert_eq!(
            response.last_message,
            "All 4 tasks are done.\n<promise>COMPLETE</promise>"
        );
        assert_eq!(response.program_error, None);
    }

    #[test]
    fn an_object_that_is_cut_off_gives_what_there_is() {
        let response = gemini(before(OBJECT, "</promise>"));
        assert_eq!(
            response.last_message,
            "All 4 tasks are done.\n<promise>COMPLETE"
        );
        let old = "{\n  \"response\": \"Half a sen";
        assert_eq!(gemini(old).last_message, "Half a sen");
    }

    #[test]
    fn the_parts_after_the_last_tool_are_the_last_message() {
        let response = gemini(STREAM);
        assert_eq!(response.last_message, "One test fails.");
        assert_eq!(response.tool_errors, ["npm test: 1 failing"]);
        assert_eq!(response.program_error, None);
        let response = gemini(before(
            STREAM,
            r#"{"type":"message","timestamp":"2026-03-01T10:00:04.000Z""#,
        ));
        assert_eq!(response.last_message, "I look at it.");
    }

    #[test]
    fn a_whole_message_replaces_the_one_before() {
        let stream = r#"{"type":"init","session_id":"1"}
{"type":"message","role":"assistant","content":"One."}
{"type":"message","role":"assistant","content":"Two."}"#;
        assert_eq!(gemini(stream).last_message, "Two.");
    }

    #[test]
    fn errors_are_those_of_the_program() {
        let object = r#"{"session_id":"1","error":{"type":"FatalAuthenticationError","message":"Please set an Auth method","code":41}}"#;
        let error = gemini(object).program_error.unwrap();
        assert_eq!(error.kind, Authentication);
        assert_eq!(error.code.as_deref(), Some("FatalAuthenticationError"));
        let object = r#"{"error":{"type":"ApiError","message":"quota","code":429}}"#;
        let error = gemini(object).program_error.unwrap();
        assert_eq!(error.kind, Other);
        let stream = r#"{"type":"init","session_id":"1"}
{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached max session turns"}}"#;
        let error = gemini(stream).program_error.unwrap();
        assert_eq!(error.kind, RunLimit);
        let stream = r#"{"type":"init","session_id":"1"}
{"type":"error","severity":"error","message":"Maximum session turns exceeded"}
{"type":"result","status":"success"}"#;
        assert_eq!(gemini(stream).program_error.unwrap().kind, RunLimit);
    }

    #[test]
    fn an_empty_error_is_none() {
        let object = r#"{"response":"Fine.","stats":{},"error":null}"#;
        assert_eq!(gemini(object).program_error, None);
        let object = r#"{"response":null,"stats":{},"error":{}}"#;
        assert_eq!(gemini(object).last_message, "");
    }

    #[test]
    fn a_call_against_the_policy_is_a_denial() {
        let stream = r#"{"type":"init","session_id":"1"}
{"type":"tool_result","tool_id":"run_shell_command-1","status":"error","error":{"type":"policy_violation","message":"Tool execution denied by policy."}}
{"type":"result","status":"success"}"#;
        let response = gemini(stream);
        assert_eq!(response.denials.len(), 1);
        assert_eq!(response.denials[0].tool, "run_shell_command-1");
        assert_eq!(response.tool_errors, [""; 0]);
    }

    #[test]
    fn other_objects_with_a_response_are_text() {
        let object = r#"{"response":"of something else"}"#;
        let response = response_in(ResponseFormat::Text, object);
        assert_eq!(response.last_message, object);
    }
}
