//! The JSON of Claude Code: `claude -p --output-format json`, with `--verbose` a list of messages,
//! and `stream-json`, one message a line.
//!
//! Sources: "Run Claude Code programmatically" and "Agent SDK reference" of the Claude Code docs
//! (`SDKMessage`, `SDKResultMessage`, `SDKPermissionDenial`); `types.py` and `message_parser.py` of
//! anthropics/claude-agent-sdk-python; for errors that are called a success, issue 79500 of
//! anthropics/claude-code.

use serde_json::Value;

use super::{Program, kind_of_http_status, program_error};
use crate::agent_loop::response::ProgramErrorKind::{self, Authentication, Other, Quota, RunLimit};
use crate::agent_loop::response::{AgentResponse, ProgramError};

/// Reads the messages of Claude Code.
#[derive(Debug, Default)]
pub(crate) struct Claude {
    response: AgentResponse,
    is_finished: bool,
    /// The texts of tools that failed, with the ids of their calls.
    tool_errors: Vec<(Option<String>, String)>,
    /// The id of the model's message that the last message is from.
    message_id: Option<String>,
    /// A message that arrives in parts, with `--include-partial-messages`.
    partial: String,
    /// An error of a call, final if no other message follows.
    call_error: Option<ProgramError>,
    /// The account's limit of use refused a call.
    limit_reached: bool,
}

pub(crate) fn is_message(document: &Value) -> bool {
    match document["type"].as_str() {
        Some("result") => !document["subtype"].is_null() || document.get("is_error").is_some(),
        Some("system") => !document["subtype"].is_null(),
        Some("assistant" | "user") => !document["message"].is_null(),
        Some("stream_event") => !document["event"].is_null(),
        Some("rate_limit_event") => true,
        _ => false,
    }
}

impl Program for Claude {
    fn read(&mut self, message: &Value) {
        if self.begins_turn(message) {
            *self = Self::default();
        }
        match message["type"].as_str() {
            Some("result") => self.read_result(message),
            // What a subagent says and breaks is its own matter; its failure reaches the agent as
            // the result of a tool.
            _ if !message["parent_tool_use_id"].is_null() => {}
            Some("assistant") => self.read_assistant(message),
            Some("user") => self.read_tool_results(message),
            Some("stream_event") => self.read_part(message),
            Some("rate_limit_event") => {
                let info = &message["rate_limit_info"];
                self.limit_reached = info["status"] == "rejected";
            }
            _ => {}
        }
    }

    fn finish(mut self: Box<Self>) -> AgentResponse {
        let errors = self.tool_errors.into_iter();
        self.response.tool_errors = errors.map(|(_, text)| text).collect();
        if !self.is_finished {
            self.response.program_error = self.call_error;
            if !self.partial.is_empty() {
                self.response.last_message = self.partial;
            }
        }
        self.response
    }
}

impl Claude {
    /// A second one in the stream, or a new run in a file that outputs are appended to.
    fn begins_turn(&self, message: &Value) -> bool {
        match message["type"].as_str() {
            Some("system") => message["subtype"] == "init",
            Some("result") => self.is_finished,
            Some("assistant" | "user" | "stream_event") => {
                self.is_finished && message["parent_tool_use_id"].is_null()
            }
            _ => false,
        }
    }

    fn read_assistant(&mut self, document: &Value) {
        self.partial.clear();
        let message = &document["message"];
        let Some(text) = text_of_content(message) else {
            return;
        };
        let code = document["error"].as_str();
        if code.is_some() || document["isApiErrorMessage"] == true {
            self.call_error = Some(program_error(self.kind_of_error(code, None), code, &text));
            return;
        }
        self.call_error = None;
        let id = message["id"].as_str().map(str::to_owned);
        if id.is_some() && id == self.message_id {
            self.response.last_message.push_str("\n\n");
            self.response.last_message.push_str(&text);
        } else {
            self.response.last_message = text;
        }
        self.message_id = id;
    }

    fn read_tool_results(&mut self, document: &Value) {
        let message = &document["message"];
        for block in elements(&message["content"]).filter(|block| block["is_error"] == true) {
            let text = text_of_content(block).unwrap_or_default();
            let call_id = block["tool_use_id"].as_str().map(str::to_owned);
            self.tool_errors.push((call_id, text));
        }
    }

    fn read_part(&mut self, document: &Value) {
        let event = &document["event"];
        match event["type"].as_str() {
            Some("message_start") => self.partial.clear(),
            Some("content_block_delta") => {
                let delta = &event["delta"];
                self.partial
                    .push_str(delta["text"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }

    fn read_result(&mut self, document: &Value) {
        self.is_finished = true;
        for denial in elements(&document["permission_denials"]) {
            if let Some(call_id) = denial["tool_use_id"].as_str() {
                let errors = &mut self.tool_errors;
                errors.retain(|(other, _)| other.as_deref() != Some(call_id));
            }
            let tool = denial["tool_name"].as_str().unwrap_or("a tool");
            let input = &denial["tool_input"];
            let mut targets = ["command", "file_path", "path", "url"].into_iter();
            let target = targets.find_map(|key| input[key].as_str());
            self.response.add_denial(tool, target);
        }
        let result = document["result"].as_str();
        let subtype = document["subtype"].as_str().unwrap_or_default();
        if document["is_error"] == true || subtype.starts_with("error") {
            let message = result.map_or_else(|| joined_errors(document), str::to_owned);
            self.response.program_error = Some(self.error_of_run(document, subtype, &message));
        } else if let Some(result) = result.filter(|it| !it.trim().is_empty()) {
            // The result is the last block of the last message, which may have more of them.
            if !self.response.last_message.ends_with(result) {
                result.clone_into(&mut self.response.last_message);
            }
        }
    }

    fn error_of_run(&mut self, document: &Value, subtype: &str, message: &str) -> ProgramError {
        let call_error = self.call_error.take();
        let subtype = Some(subtype).filter(|subtype| subtype.starts_with("error"));
        let code = call_error.as_ref().and_then(|error| error.code.as_deref());
        let code = code.or(subtype);
        let message = match &call_error {
            Some(error) if message.trim().is_empty() => &error.message,
            _ => message,
        };
        let status = document["api_error_status"].as_i64();
        program_error(self.kind_of_error(code, status), code, message)
    }

    fn kind_of_error(&self, code: Option<&str>, status: Option<i64>) -> ProgramErrorKind {
        match code {
            Some("error_max_turns" | "error_max_budget_usd") => RunLimit,
            Some("authentication_failed" | "oauth_org_not_allowed") => Authentication,
            Some("billing_error") => Quota,
            _ if self.limit_reached => Quota,
            _ => status.map_or(Other, kind_of_http_status),
        }
    }
}

/// Empty for anything else.
fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A text, or the text blocks of a list.
fn text_of_content(holder: &Value) -> Option<String> {
    let content = &holder["content"];
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let texts = elements(content).filter(|block| block["type"] == "text");
    let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn joined_errors(document: &Value) -> String {
    let texts: Vec<&str> = elements(&document["errors"])
        .filter_map(Value::as_str)
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_loop::response::testing::{before, response_in};
    use crate::agent_loop::response::{AgentResponse, Denial, ResponseFormat};

    const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":81234,"duration_api_ms":70120,"num_turns":14,"result":"Task 3 is done.\n\nEXIT_SIGNAL: true","session_id":"5f1b","total_cost_usd":0.41,"usage":{"input_tokens":12,"server_tool_use":{"web_search_requests":0}},"modelUsage":{"claude-opus-4-1":{"costUSD":0.41}},"permission_denials":[],"uuid":"77"}"#;

    const STREAM: &str = r#"{"type":"system","subtype":"init","cwd":"/src","session_id":"5f1b","tools":["Bash","Read"],"mcp_servers":[],"model":"claude-opus-4-1","permissionMode":"default"}
{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-1","content":[{"type":"text","text":"I run the tests."}],"stop_reason":null},"parent_tool_use_id":null,"session_id":"5f1b"}
{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo test"}}]},"parent_tool_use_id":null,"session_id":"5f1b"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"error[E0432]: unresolved import `a`","is_error":true}]},"parent_tool_use_id":null,"session_id":"5f1b","tool_use_result":"Error: error[E0432]"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":[{"type":"text","text":"2 tests passed"}],"is_error":false}]},"parent_tool_use_id":null}
{"type":"assistant","message":{"id":"msg_2","role":"assistant","content":[{"type":"thinking","thinking":"EXIT_SIGNAL: false","signature":"x"}]},"parent_tool_use_id":null}
{"type":"assistant","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"The import is fixed."}]},"parent_tool_use_id":null}
{"type":"assistant","message":{"id":"msg_9","role":"assistant","content":[{"type":"text","text":"I am a subagent. DONE."}]},"parent_tool_use_id":"toolu_7"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_8","type":"tool_result","content":"of the subagent","is_error":true}]},"parent_tool_use_id":"toolu_7"}
{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"The import is fixed.","session_id":"5f1b","permission_denials":[]}
"#;

    fn claude(output: &str) -> AgentResponse {
        response_in(ResponseFormat::Claude, output)
    }

    #[test]
    fn the_result_is_the_last_message() {
        let response = claude(RESULT);
        assert_eq!(
            response.last_message,
            "Task 3 is done.\n\nEXIT_SIGNAL: true"
        );
        assert_eq!(response.program_error, None);
    }

    #[test]
    fn layout_and_order_of_members_do_not_matter() {
        let pretty = "{\n  \"result\" : \"All done.\",\n\t\"is_error\":false,\r\n  \"subtype\": \"success\",\n  \"type\": \"result\"\n}\n";
        assert_eq!(claude(pretty).last_message, "All done.");
        let list = format!("[{},\n {}]", STREAM.lines().nth(1).unwrap(), RESULT);
        assert_eq!(claude(&list), claude(RESULT));
    }

    #[test]
    fn a_stream_is_read_to_its_result() {
        let response = claude(STREAM);
        assert_eq!(response.last_message, "The import is fixed.");
        assert_eq!(
            response.tool_errors,
            ["error[E0432]: unresolved import `a`"]
        );
    }

    #[test]
    fn a_stream_that_is_cut_off_gives_what_there_is() {
        let response = claude(before(STREAM, r#"{"type":"result""#));
        assert_eq!(response.last_message, "The import is fixed.");
        let response = claude(before(STREAM, "import is fixed"));
        assert_eq!(response.last_message, "The ");
        let response = claude(before(RESULT, "EXIT_SIGNAL"));
        assert_eq!(response.last_message, "Task 3 is done.\n\n");
    }

    #[test]
    fn blocks_of_one_message_belong_together() {
        let stream = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"STATUS: COMPLETE"},{"type":"text","text":"More."}]}}
{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Bye."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Bye."}"#;
        let message = "STATUS: COMPLETE\n\nMore.\n\nBye.";
        assert_eq!(claude(stream).last_message, message);
    }

    #[test]
    fn partial_messages_count_when_the_whole_one_is_missing() {
        let stream = r#"{"type":"stream_event","event":{"type":"message_start"},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half "}},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a sentence"}},"parent_tool_use_id":null}
"#;
        assert_eq!(claude(stream).last_message, "Half a sentence");
        assert_eq!(claude(&format!("{stream}{STREAM}")), claude(STREAM));
    }

    #[test]
    fn an_appended_run_begins_again() {
        let first = before(STREAM, r#"{"type":"result""#);
        let second = r#"{"type":"system","subtype":"init","session_id":"6"}
{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":30}"#;
        let response = claude(&format!("{first}{second}"));
        assert_eq!(response.last_message, "");
        assert_eq!(response.tool_errors, [""; 0]);
    }

    #[test]
    fn the_last_of_several_results_counts() {
        let first = r#"{"type":"result","subtype":"success","is_error":true,"result":"a","permission_denials":[{"tool_name":"Bash"}]}"#;
        assert_eq!(claude(&format!("{first}\n{RESULT}\n")), claude(RESULT));
        assert_eq!(claude(&format!("{RESULT}\n{STREAM}\n")), claude(STREAM));
    }

    #[test]
    fn the_end_of_the_allowed_turns_is_no_other_error() {
        let result = r#"{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":30,"session_id":"5f1b"}"#;
        let error = claude(result).program_error.unwrap();
        assert_eq!(error.kind, RunLimit);
        assert_eq!(error.code.as_deref(), Some("error_max_turns"));
        let result = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["one","two"]}"#;
        let error = claude(result).program_error.unwrap();
        assert_eq!(error.kind, Other);
        assert_eq!(error.message, "one\ntwo");
    }

    #[test]
    fn an_error_called_a_success_is_an_error() {
        let result = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key · Please run /login"}"#;
        let response = claude(result);
        let error = response.program_error.unwrap();
        assert_eq!(error.kind, Authentication);
        assert_eq!(error.message, "Invalid API key · Please run /login");
        assert_eq!(response.last_message, "");
    }

    #[test]
    fn an_error_in_the_form_of_a_message_is_not_the_last_message() {
        let work = STREAM.lines().nth(1).unwrap();
        let error = r#"{"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error: Rate limit reached"}]},"error":"rate_limit","parent_tool_use_id":null}"#;
        let response = claude(&format!("{work}\n{error}\n"));
        assert_eq!(response.last_message, "I run the tests.");
        assert_eq!(response.program_error.unwrap().kind, Other);
        let result = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: Rate limit reached"}"#;
        let response = claude(&format!("{work}\n{error}\n{result}\n"));
        let program_error = response.program_error.unwrap();
        assert_eq!(program_error.kind, Other);
        assert_eq!(program_error.code.as_deref(), Some("rate_limit"));
        let rejected = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour"}}"#;
        let response = claude(&format!("{work}\n{rejected}\n{error}\n{result}\n"));
        assert_eq!(response.program_error.unwrap().kind, Quota);
        let response = claude(&format!("{error}\n{work}\n"));
        assert_eq!(response.program_error, None);
    }

    #[test]
    fn denials_name_the_tool_and_the_command() {
        let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"I may not.","permission_denials":[{"tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"cd a && rm b","description":"x"}},{"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which?"}]}}]}"#;
        let denied = |tool: &str, target: Option<&str>| Denial {
            tool: tool.to_owned(),
            target: target.map(str::to_owned),
        };
        assert_eq!(
            claude(result).denials,
            [
                denied("Bash", Some("cd a && rm b")),
                denied("AskUserQuestion", None),
            ]
        );
    }

    #[test]
    fn a_denied_call_is_no_failed_one() {
        let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"I may not.","permission_denials":[{"tool_name":"Bash","tool_use_id":"toolu_1"}]}"#;
        let stream = before(STREAM, r#"{"type":"result""#);
        let response = claude(&format!("{stream}{result}\n"));
        assert_eq!(response.denials.len(), 1);
        assert_eq!(response.tool_errors, [""; 0]);
    }

    #[test]
    fn values_of_other_types_are_passed_over() {
        let result = r#"{"type":"result","subtype":"success","is_error":"false","result":null,"permission_denials":null,"session_id":7}"#;
        assert_eq!(claude(result).last_message, "");
        assert_eq!(claude(result).program_error, None);
        let result = r#"{"type":"result","subtype":5,"result":{"a":["b"]},"permission_denials":[1,null,{"tool_name":{}}]}"#;
        assert_eq!(claude(result).denials.len(), 3);
        let stream = r#"{"type":"assistant","message":{"content":"as a text"}}
{"type":"assistant","message":{"content":[null,3,{"type":"text","text":false}]}}
{"type":"unheard_of","message":{"content":"new"}}"#;
        assert_eq!(claude(stream).last_message, "as a text");
        response_in(ResponseFormat::Text, r#"{"type":"unheard_of"}"#);
    }
}
