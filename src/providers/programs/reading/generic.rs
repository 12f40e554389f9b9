//! The output of any program: a text, one JSON value, or one on each line.

use serde_json::Value;

use super::failures::Trouble;
use super::{Flow, On, ProgramEnd, Reading};
use crate::consultation::protocol::call::StopReason;
use crate::domain::cost::tokens::Usage;
use crate::domain::model::program::AnswerReader;
use crate::engine::ports::Delta;

impl Reading {
    pub(super) fn generic_line(&mut self, line: &str, on: On<'_>) -> Flow {
        let line = format!("{}\n", console::strip_ansi_codes(line));
        self.loose.push_str(&line);
        match self.program.reader {
            AnswerReader::Text => self.reply.add_text(&line, on),
            _ => on(Delta::KeepAlive),
        }
        Flow::Continue(())
    }

    pub(super) fn finish_generic(&mut self, end: ProgramEnd) {
        let is_success = end == ProgramEnd::Exited(Some(0));
        let (paths, output) = (&self.program.paths, &self.loose);
        let in_line = |line| serde_json::from_str(line).ok();
        let values: Vec<Value> = match self.program.reader {
            AnswerReader::ClaudeCode | AnswerReader::Codex => return,
            AnswerReader::Json => value_in(output).into_iter().collect(),
            AnswerReader::JsonLines => output.lines().filter_map(in_line).collect(),
            AnswerReader::Text if is_success => vec![output.trim().into()],
            AnswerReader::Text => Vec::new(),
        };
        if matches!(end, ProgramEnd::Exited(_)) {
            // What a program that failed has written is no part of an answer.
            self.reply.text.clear();
        }
        if !values.is_empty() {
            // Otherwise what it wrote is no answer, but may say why.
            self.loose.clear();
        }
        let at = |path: &String| {
            let found = values.iter().rev().filter_map(|value| value.pointer(path));
            found.into_iter().find(|value| !value.is_null())
        };
        let maybe = |path: &Option<String>| path.as_ref().and_then(at);
        let count = |path| maybe(path).and_then(Value::as_u64);
        let (input, output) = (count(&paths.input_tokens), count(&paths.output_tokens));
        if input.or(output).is_some() {
            self.reply.usage_is_final = input.is_some();
            self.reply.usage = Some(Usage {
                input: input.unwrap_or_default(),
                output: output.unwrap_or_default(),
                ..Usage::default()
            });
        }
        let error = maybe(&paths.error).filter(|error| **error != Value::Bool(false));
        let error = error.map(words).filter(|words| !words.trim().is_empty());
        match (error, at(&paths.answer)) {
            (Some(error), _) => self.trouble = Some(Trouble::of(&error)),
            (None, Some(answer)) if is_success => {
                self.set_text(words(answer).trim());
                self.end(StopReason::End);
            }
            (None, _) => {}
        }
    }
}

/// A text as it is, anything else as JSON.
fn words(value: &Value) -> String {
    let text = value.as_str().map(ToOwned::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

/// The output may have a banner before the value, or a fence around it.
fn value_in(output: &str) -> Option<Value> {
    let begins = |line: &&str| line.trim_start().starts_with(['{', '[']);
    let whole = serde_json::from_str(output).ok();
    whole.or_else(|| {
        let start = output.find(output.lines().find(begins)?)?;
        let end = output.rfind(['}', ']'])?;
        serde_json::from_str(output.get(start..=end)?).ok()
    })
}
