//! Tokenisation of a prompt in the model's own chat format.
//!
//! The user's text is tokenised as plain text: a chat marker inside a question or a file stays text
//! and cannot end a message.

use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};

use super::job::internal;
use crate::consultation::protocol::call::{Failure, Prompt, join};

const SYSTEM: &str = "SYSTEM-GOES-HERE";
const USER: &str = "USER-GOES-HERE";

/// The tokens around the two messages.
#[derive(Debug)]
pub(super) struct Frame {
    before: Vec<i32>,
    between: Vec<i32>,
    after: Vec<i32>,
}

fn unusable(why: impl std::fmt::Display) -> Failure {
    internal(format!("the model's chat format cannot be used: {why}"))
}

impl Frame {
    /// `ChatML` for a model without one.
    pub(super) fn of(model: &LlamaModel) -> Result<Self, Failure> {
        let own = model
            .chat_template(None)
            .ok()
            .and_then(|template| render(model, &template).ok());
        let rendered = match own {
            Some(rendered) => rendered,
            None => render(model, &LlamaChatTemplate::new("chatml").map_err(unusable)?)?,
        };
        let (before, rest) = rendered
            .split_once(SYSTEM)
            .ok_or_else(|| unusable("it has no place for a system prompt"))?;
        let (between, after) = rest
            .split_once(USER)
            .ok_or_else(|| unusable("it has no place for a question"))?;
        let tokens =
            |text: &str, first: bool| ids(model.vocab().tokenize(text.as_bytes(), first, true));
        Ok(Self {
            before: tokens(before, true),
            between: tokens(between, false),
            after: tokens(after, false),
        })
    }

    /// Preamble, context and shared block first, as a common prefix of all calls of a run, then the
    /// protocol, as one of all seats of a round.
    pub(super) fn tokens(&self, model: &LlamaModel, prompt: &Prompt) -> Vec<i32> {
        let plain = |text: &str| ids(model.vocab().tokenize(text.as_bytes(), false, false));
        let mut tokens = self.before.clone();
        tokens.extend(plain(&prompt.shared_prefix()));
        tokens.extend(&self.between);
        tokens.extend(plain(&join([
            &prompt.protocol,
            &prompt.persona,
            &prompt.task,
        ])));
        tokens.extend(&self.after);
        tokens
    }
}

fn render(model: &LlamaModel, template: &LlamaChatTemplate) -> Result<String, Failure> {
    let say = |role: &str, content: &str| {
        LlamaChatMessage::new(role.to_owned(), content.to_owned()).map_err(unusable)
    };
    let rendered = model
        .apply_chat_template(
            template,
            &[say("system", SYSTEM)?, say("user", USER)?],
            true,
        )
        .map_err(unusable)?;
    if rendered.contains(SYSTEM) && rendered.contains(USER) {
        Ok(rendered)
    } else {
        Err(unusable("it drops a message"))
    }
}

fn ids(tokens: Vec<llama_cpp_2::token::LlamaToken>) -> Vec<i32> {
    tokens.into_iter().map(|token| token.0).collect()
}
