//! The `stream-json` of Claude Code: what the program runs with, the events of the API as they
//! come, the use of the plan, and a result.

use serde_json::Value;

use super::failures::Trouble;
use super::{Flow, On, Reading};
use crate::consultation::protocol::call::{FailureClass, StopReason};
use crate::domain::cost::plan_use::PlanWindow;
use crate::domain::cost::tokens::Usage;
use crate::domain::model::billing::Billing;
use crate::domain::model::dialect::ReportedCost;
use crate::domain::time::Timestamp;
use crate::engine::ports::Delta;
use crate::providers::dialects::{anthropic, reported_cost};
use crate::providers::wire::{entries, text};

/// The tools by which the program enforces a schema. Only the first is called.
const SCHEMA_TOOLS: [&str; 2] = ["StructuredOutput", "DeferredToolPlaceholder"];

impl Reading {
    pub(super) fn claude_event(&mut self, line: &Value, on: On<'_>) -> Flow {
        match text(&line["type"]) {
            "stream_event" | "result" if !self.is_checked && line["is_error"] != true => {
                let why = "answered before it said with which tools it started";
                self.fail(FailureClass::BadRequest, why)
            }
            "system" if line["subtype"] == "init" => self.check(line),
            "stream_event" => self.stream_event(&line["event"], on),
            "assistant" => self.message(line),
            "rate_limit_event" => self.plan(&line["rate_limit_info"]),
            "result" => self.result(line),
            _ => Flow::Continue(()),
        }
    }

    /// A flag that a later version no longer knows must not go unnoticed.
    fn check(&mut self, line: &Value) -> Flow {
        let is_foreign = |tool: &&str| !self.has_schema || !SCHEMA_TOOLS.contains(tool);
        let tool = entries(line, "tools").map(text).find(is_foreign);
        let tool = tool.map(|tool| format!("the tool `{tool}`"));
        let mut servers = entries(line, "mcp_servers").map(|server| text(&server["name"]));
        let server = || Some(format!("the MCP server `{}`", servers.next()?));
        let key = text(&line["apiKeySource"]);
        let says_both = line["tools"].is_array() && line["mcp_servers"].is_array();
        let foreign = tool.or_else(server);
        let foreign = foreign.map(|what| format!("started with {what}, which no seat has"));
        let unsaid = (!says_both).then(|| "did not say with which tools it started".to_owned());
        if let Some(problem) = foreign.or(unsaid) {
            return self.fail(FailureClass::BadRequest, &problem);
        }
        if self.program.billing == Billing::Plan && key != "none" {
            let problem = format!(
                "would have billed an API key (`{key}`) and not the plan; if that is wanted, set \
                 `programs.claude-code.billing` to `metered`"
            );
            return self.fail(FailureClass::Auth, &problem);
        }
        self.is_checked = true;
        Flow::Continue(())
    }

    /// An event of the API. That a message is complete does not end the answer: there may be
    /// another.
    fn stream_event(&mut self, event: &Value, on: On<'_>) -> Flow {
        self.asked_a_model = true;
        let delta = &event["delta"];
        match text(&event["type"]) {
            "message_start" => {
                self.reply.text.clear();
                self.reply.usage_is_final = false;
                on(Delta::Connected);
            }
            "content_block_start" => {
                let block = &event["content_block"];
                if let Some(tool) = foreign_tool(block, self.has_schema) {
                    return self.used_a_tool(tool);
                }
                if is_tool_use(block) {
                    self.reply.text.clear();
                }
            }
            // The arguments of its tool are the answer.
            "content_block_delta" if delta["type"] == "input_json_delta" => {
                let piece = text(&delta["partial_json"]);
                self.reply.add_text(piece, on);
            }
            "message_delta" | "content_block_delta" => {}
            _ => return Flow::Continue(()),
        }
        let _: Flow = anthropic::read("", event, &mut self.reply, on);
        // The program would ask again, three times for what is too long.
        let is_full = self.reply.overflow.is_some();
        match self.reply.stop.take() {
            Some(StopReason::Other(_)) if is_full => self.end(StopReason::Length),
            Some(stop @ (StopReason::Length | StopReason::Refused(_))) => self.end(stop),
            _ => return Flow::Continue(()),
        }
        Flow::Break(())
    }

    fn message(&mut self, line: &Value) -> Flow {
        self.codes
            .extend(line["error"].as_str().map(ToOwned::to_owned));
        let mut blocks = entries(&line["message"], "content");
        match blocks.find_map(|block| foreign_tool(block, self.has_schema)) {
            Some(tool) => self.used_a_tool(tool),
            None => Flow::Continue(()),
        }
    }

    fn plan(&mut self, info: &Value) -> Flow {
        let windows = info["unifiedWindows"].as_object().into_iter().flatten();
        let windows = windows.filter_map(|(kind, window)| plan_window(kind, window));
        let nearest = windows.max_by_key(|window| window.used_percent);
        let nearest = nearest.or_else(|| plan_window(text(&info["rateLimitType"]), info));
        let is_overage = info["isUsingOverage"] == true || info["overageInUse"] == true;
        let plan = self.plan.get_or_insert_default();
        plan.window = nearest.or(plan.window.take());
        plan.is_overage = is_overage;
        self.resets_at = moment(&info["resetsAt"]).or(self.resets_at);
        // A limit of the server, which is none of the plan, has no reset.
        if info["status"] == "rejected" && self.resets_at.is_some() {
            self.codes.push("plan_limit".to_owned());
        }
        if is_overage && !self.program.allows_overage {
            let why = "has used up the plan, and the call would be billed beside it; if that is \
                       wanted, set `programs.claude-code.overage` to `allow`";
            return self.fail(FailureClass::Quota, why);
        }
        Flow::Continue(())
    }

    fn result(&mut self, line: &Value) -> Flow {
        self.account(line);
        let fields = ["result", "subtype", "stop_reason"];
        let [said, subtype, reason] = fields.map(|field| text(&line[field]));
        if reason == "refusal" {
            self.end(StopReason::Refused(said.to_owned()));
            return Flow::Continue(());
        }
        if line["is_error"] == true || subtype.starts_with("error") {
            let errors = entries(line, "errors").map(text);
            let mut words = [said].into_iter().chain(errors).chain([subtype]);
            let words = words.find(|words| !words.is_empty());
            let status = line["api_error_status"].as_u64();
            let kinds = [text(&line["api_error_type"]), subtype].map(ToOwned::to_owned);
            self.reply.complete = false;
            self.trouble = Some(Trouble {
                text: words.unwrap_or_default().to_owned(),
                status: status.and_then(|code| code.try_into().ok()),
                codes: self.codes.drain(..).chain(kinds).collect(),
            });
            return Flow::Continue(());
        }
        if !self.asked_a_model {
            let why = format!("answered without asking a model: {said}");
            return self.fail(FailureClass::Malformed, &why);
        }
        match &line["structured_output"] {
            Value::Null if said.is_empty() => {}
            Value::Null => self.set_text(said),
            answer => self.set_text(&answer.to_string()),
        }
        self.end(match reason {
            "max_tokens" => StopReason::Length,
            _ => StopReason::End,
        });
        Flow::Continue(())
    }

    /// Reads what was used, over all requests. The price is that of the list, and is paid only
    /// without a plan, or beside it.
    fn account(&mut self, line: &Value) {
        let models = line["modelUsage"].as_object().into_iter().flatten();
        let (mut used, mut most) = (Usage::default(), 0);
        for (model, report) in models {
            let count = |at: &str| report[at].as_u64().unwrap_or_default();
            let usage = Usage {
                input: count("inputTokens"),
                cache_read: count("cacheReadInputTokens"),
                cache_write: count("cacheCreationInputTokens"),
                output: count("outputTokens"),
                reasoning: count("thinkingTokens"),
                ..Usage::default()
            };
            if usage.total() > most {
                most = usage.total();
                self.reply.served_model = Some(model.clone());
            }
            used += usage;
        }
        self.asked_a_model |= most > 0;
        self.set_usage(used);
        let is_overage = self.plan.as_ref().is_some_and(|plan| plan.is_overage);
        if is_overage || self.program.billing.is_metered() {
            let cost = serde_json::json!({"cost": line["total_cost_usd"]});
            self.reply.reported_cost = reported_cost::read(&cost, ReportedCost::Usd);
        }
    }
}

fn foreign_tool(block: &Value, has_schema: bool) -> Option<&str> {
    let name = text(&block["name"]);
    let is_ours = has_schema && name == SCHEMA_TOOLS[0];
    (is_tool_use(block) && !is_ours).then_some(name)
}

fn is_tool_use(block: &Value) -> bool {
    text(&block["type"]).ends_with("tool_use")
}

/// `None` if its use is not known.
fn plan_window(kind: &str, window: &Value) -> Option<PlanWindow> {
    let used = window["utilization"].as_f64();
    let used = used.or((window["status"] == "rejected").then_some(1.0))?;
    // What is nearly a percent is one: parts are binary fractions.
    let percent = (used * 100.0 + 1e-6).floor();
    let name = kind.replace("five_hour", "5 h").replace('_', " ");
    Some(PlanWindow {
        name: name.replace("seven day", "7 days"),
        used_percent: format!("{percent:.0}").parse().ok()?,
        resets_at: moment(&window["resetsAt"]),
    })
}

fn moment(seconds: &Value) -> Option<Timestamp> {
    let milliseconds = seconds.as_i64()?.checked_mul(1000)?;
    (milliseconds > 0).then_some(Timestamp(milliseconds))
}
