//! The JSON of opencode: `opencode run --format json`, one event a line.
//!
//! Sources: "CLI" of the opencode docs; in anomalyco/opencode `packages/opencode/src/cli/cmd/run.ts`
//! (the events) and `packages/opencode/src/session/message-v2.ts` (the parts and errors).

use serde_json::Value;

use super::{kind_of_http_status, program_error};
use crate::agent_loop::response::ProgramErrorKind::{Authentication, Other};
use crate::agent_loop::response::{AgentResponse, ProgramError};

/// The other programs spell the id of a session otherwise.
pub(crate) fn is_event(document: &Value) -> bool {
    document["sessionID"].is_string() && document["type"].is_string()
}

/// Reads an event.
pub(crate) fn read(response: &mut AgentResponse, document: &Value) {
    let part = &document["part"];
    match document["type"].as_str() {
        Some("text") => {
            let text = part["text"].as_str().unwrap_or_default();
            text.clone_into(&mut response.last_message);
        }
        Some("tool_use") => {
            let tool = part["tool"].as_str().unwrap_or("a tool");
            read_tool(response, &part["state"], tool);
        }
        Some("error") => response.program_error = Some(error_of(&document["error"])),
        // A later step shows that the call was repeated.
        Some("step_finish") => response.program_error = None,
        _ => {}
    }
}

fn read_tool(response: &mut AgentResponse, state: &Value, tool: &str) {
    let (input, metadata) = (&state["input"], &state["metadata"]);
    let exit = &metadata["exit"];
    let has_failed = !exit.is_null() && *exit != 0;
    let output = state["output"].as_str().filter(|_| has_failed);
    match state["error"].as_str().or(output) {
        Some(error) if error.contains("rejected permission") => {
            response.add_denial(tool, input["command"].as_str());
        }
        error => response.tool_errors.extend(error.map(str::to_owned)),
    }
}

fn error_of(error: &Value) -> ProgramError {
    let code = error["name"].as_str();
    let data = &error["data"];
    let status = data["statusCode"].as_i64();
    let kind = match code {
        Some("ProviderAuthError") => Authentication,
        _ => status.map_or(Other, kind_of_http_status),
    };
    program_error(kind, code, data["message"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::agent_loop::response::testing::{before, response_in};
    use crate::agent_loop::response::{AgentResponse, ProgramErrorKind, ResponseFormat};

    const STREAM: &str = r#"{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","type":"step-start"}}
{"type":"text","timestamp":2,"sessionID":"ses_1","part":{"id":"prt_2","messageID":"msg_1","type":"text","text":"I run the tests."}}
{"type":"tool_use","timestamp":3,"sessionID":"ses_1","part":{"id":"prt_3","messageID":"msg_1","type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"cargo test"},"output":"error: test failed\n","metadata":{"exit":101}}}}
{"type":"tool_use","timestamp":4,"sessionID":"ses_1","part":{"id":"prt_4","messageID":"msg_1","type":"tool","tool":"read","state":{"status":"error","input":{"filePath":"a.rs"},"error":"File not found: a.rs"}}}
{"type":"tool_use","timestamp":5,"sessionID":"ses_1","part":{"id":"prt_5","messageID":"msg_1","type":"tool","tool":"bash","state":{"status":"error","input":{"command":"git push"},"error":"The user rejected permission to use this specific tool call."}}}
{"type":"step_finish","timestamp":6,"sessionID":"ses_1","part":{"id":"prt_6","messageID":"msg_1","type":"step-finish","reason":"tool-calls","cost":0.01}}
{"type":"reasoning","timestamp":7,"sessionID":"ses_1","part":{"id":"prt_7","messageID":"msg_2","type":"reasoning","text":"All done?"}}
{"type":"text","timestamp":8,"sessionID":"ses_1","part":{"id":"prt_8","messageID":"msg_2","type":"text","text":"Two tests fail.\n\nEXIT_SIGNAL: false"}}
{"type":"step_finish","timestamp":10,"sessionID":"ses_1","part":{"id":"prt_10","messageID":"msg_2","type":"step-finish","reason":"stop","cost":0.01}}
"#;

    fn opencode(output: &str) -> AgentResponse {
        response_in(ResponseFormat::Opencode, output)
    }

    #[test]
    fn the_last_text_is_the_last_message() {
        let response = opencode(STREAM);
        let expected = "Two tests fail.\n\nEXIT_SIGNAL: false";
        assert_eq!(response.last_message, expected);
        assert_eq!(
            opencode(before(STREAM, r#"{"type":"reasoning""#)).last_message,
            "I run the tests."
        );
    }

    #[test]
    fn tools_that_failed_are_errors_and_refused_ones_denials() {
        let response = opencode(STREAM);
        assert_eq!(
            response.tool_errors,
            ["error: test failed", "File not found: a.rs"]
        );
        assert_eq!(response.denials[0].target.as_deref(), Some("git push"));
    }

    #[test]
    fn errors_of_the_session_are_errors_of_the_program() {
        for (error, kind) in [
            (
                r#"{"name":"ProviderAuthError","data":{"providerID":"x","message":"no key"}}"#,
                ProgramErrorKind::Authentication,
            ),
            (
                r#"{"name":"APIError","data":{"message":"no credit","statusCode":402}}"#,
                ProgramErrorKind::Quota,
            ),
            (
                r#"{"name":"UnknownError","data":{"message":"no model"}}"#,
                ProgramErrorKind::Other,
            ),
        ] {
            let event =
                format!(r#"{{"type":"error","timestamp":1,"sessionID":"ses_1","error":{error}}}"#);
            let error = opencode(&event).program_error.unwrap();
            assert_eq!(error.kind, kind, "{event}");
            assert!(error.message.starts_with("no "), "{event}");
            assert_eq!(opencode(&format!("{event}\n{STREAM}")).program_error, None);
        }
    }
}
