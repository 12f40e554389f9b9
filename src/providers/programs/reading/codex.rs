//! The events of `codex exec --json`: items, of which the last message is the answer, and the end
//! of the turn. There are no pieces of text, no model and no price.

use serde_json::Value;

use super::failures::Trouble;
use super::{Flow, On, Reading};
use crate::consultation::protocol::call::StopReason;
use crate::domain::cost::tokens::Usage;
use crate::domain::model::billing::Billing;
use crate::engine::ports::Delta;
use crate::providers::wire::{Counts, text};

impl Reading {
    pub(super) fn codex_event(&mut self, line: &Value, on: On<'_>) -> Flow {
        match text(&line["type"]) {
            "item.started" | "item.updated" | "item.completed" => return self.item(line, on),
            "error" if self.reply.complete => {}
            // The first may only be the notice of another try.
            "error" | "turn.failed" => {
                let error = &line["error"];
                let said = [&line["message"], &error["message"]].map(text).concat();
                self.reply.complete = false;
                self.trouble = Some(Trouble::of(&said));
            }
            "turn.completed" => self.completed(&line["usage"]),
            _ => {}
        }
        Flow::Continue(())
    }

    fn completed(&mut self, report: &Value) {
        let counts = Counts::of(report);
        let count = |at| counts.at(at).unwrap_or_default();
        let (prompt, output) = (count("/input_tokens"), count("/output_tokens"));
        let (cached, written) = ("/cached_input_tokens", "/cache_write_input_tokens");
        let usage = counts.valid(Usage {
            output,
            reasoning: count("/reasoning_output_tokens"),
            ..Usage::of_prompt(prompt, count(cached), count(written))
        });
        self.set_usage(usage.unwrap_or_default());
        if self.program.billing == Billing::Plan {
            self.plan.get_or_insert_default().plan = Some("ChatGPT".to_owned());
        }
        // It leaves out the words of a refusal.
        let is_refusal = self.reply.text.is_empty() && output > 0;
        self.end(if is_refusal {
            StopReason::Refused(String::new())
        } else {
            StopReason::End
        });
    }

    fn item(&mut self, line: &Value, on: On<'_>) -> Flow {
        let item = &line["item"];
        on(Delta::Connected);
        match text(&item["type"]) {
            "agent_message" if line["type"] == "item.completed" => {
                self.reply.text.clear();
                self.reply.add_text(text(&item["text"]), on);
            }
            "reasoning" => self.reply.add_thinking("", on),
            "agent_message" | "error" | "todo_list" => {}
            kind => return self.used_a_tool(kind),
        }
        Flow::Continue(())
    }
}
