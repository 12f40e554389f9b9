//! Renders the context of a question as the first two blocks of a prompt: the rules for it, and the
//! quoted text.
//!
//! Invariants: the blocks depend only on the context, the templates and the size of the model, so
//! they are the same to the byte in every prompt of a run, and vendors can cache them; the text
//! stands between the lines of a `Fence` that it cannot contain; a user's template that has no
//! place for the text gets it in the words of the built-in one.

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Serde, Value};
use serde_json::json;

use super::Size;
use super::fence::{Fence, has_question_tag};
use super::templates::{self, CONTEXT, PromptError, SMALL_CONTEXT, Templates};
use crate::domain::context::{Context, ContextText, ContextTokens};
use crate::domain::cost::tokens::token_band;
use crate::text::clean::one_line;

/// The most characters of a line of the project's stack: its texts come from the project's files.
const STACK_LINE: usize = 200;

/// The context of a consultation's prompts.
#[derive(Clone, Copy, Debug)]
pub struct PromptContext<'a> {
    pub context: &'a Context,
    pub rendered: &'a RenderedContexts,
}

/// The first two blocks of a prompt with context.
#[derive(Clone, Debug)]
pub(super) struct ContextBlocks {
    pub(super) preamble: String,
    pub(super) text: ContextText,
    /// Whether the text has tags like those around the question.
    pub(super) has_question_tag: bool,
}

/// Rendered blocks, shared by every copy of a plan: a context may have 16 MB, and all prompts of a
/// run begin with it. Two sets are equal whatever was rendered.
#[derive(Clone, Debug, Default)]
pub struct RenderedContexts(Arc<Mutex<Vec<(Ingredients, ContextBlocks)>>>);

impl PartialEq for RenderedContexts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Everything on which the blocks depend.
type Ingredients = (Size, Templates, Context);

impl PromptContext<'_> {
    /// A context whose text is missing is an error: no question goes out without its context.
    pub(super) fn blocks(
        &self,
        templates: &Templates,
        size: Size,
    ) -> Result<ContextBlocks, PromptError> {
        if self.context.text.is_empty() && self.context.bytes > 0 {
            return Err(PromptError::ContextNotLoaded);
        }
        let is_same =
            |of: &Ingredients| of.0 == size && of.1 == *templates && of.2 == *self.context;
        let mut rendered = self
            .rendered
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, blocks)) = rendered.iter().find(|(of, _)| is_same(of)) {
            return Ok(blocks.clone());
        }
        let blocks = self.render(templates, size)?;
        let ingredients = (size, templates.clone(), self.context.clone());
        rendered.push((ingredients, blocks.clone()));
        Ok(blocks)
    }

    fn render(&self, templates: &Templates, size: Size) -> Result<ContextBlocks, PromptError> {
        let template = match size {
            Size::Full => CONTEXT,
            Size::Small => SMALL_CONTEXT,
        };
        let text = self.context.text.as_str().trim();
        let fence = Fence::around([text]);
        let quoted = if text.is_empty() {
            String::new()
        } else {
            fence.enclose(text)
        };
        let stack: Vec<String> = self
            .context
            .stack
            .iter()
            .map(|line| one_line(line).chars().take(STACK_LINE).collect())
            .collect();
        let values = json!({
            "context": { "open": fence.open(), "close": fence.close(), "text": quoted },
            "stance": self.context.stance,
            "stack": stack,
        });
        let values = Value::from(Serde(values));
        let fill = |templates: &Templates| -> Result<[String; 2], PromptError> {
            let compiled = templates.compiled(template)?;
            let preamble = compiled.fill(&templates::preamble(template), &values)?;
            let block = if text.is_empty() {
                String::new()
            } else {
                compiled.fill(&templates::context(template), &values)?
            };
            Ok([preamble, block])
        };
        let usual = || fill(&Templates::builtin());
        let [preamble, block] = if templates.own_text(template).is_some() {
            let [preamble, block] = fill(templates)?;
            if block.contains(text) {
                [preamble, block]
            } else {
                let [usual_preamble, usual_block] = usual()?;
                [
                    join_parts(&usual_preamble, &preamble),
                    join_parts(&usual_block, &block),
                ]
            }
        } else {
            usual()?
        };
        let tokens = self.tokens_of(&block, text);
        Ok(ContextBlocks {
            preamble,
            has_question_tag: has_question_tag(text),
            text: ContextText::counted(block, tokens),
        })
    }

    /// Returns the tokens of the whole block: those of the context, as counted, and those of the
    /// words around it.
    fn tokens_of(&self, block: &str, text: &str) -> ContextTokens {
        let Some((before, after)) = block.split_once(text) else {
            return ContextTokens::by_ratio(block);
        };
        let around = token_band(before) + token_band(after);
        let bytes = u64::try_from(before.len() + after.len()).unwrap_or(u64::MAX);
        let ContextTokens {
            low,
            expected,
            high,
            worst,
            counted_by,
        } = self.context.tokens;
        ContextTokens {
            low: low.saturating_add(around.low),
            expected: expected.saturating_add(around.expected),
            high: high.saturating_add(around.high),
            worst: worst.saturating_add(bytes),
            counted_by,
        }
    }
}

fn join_parts(one: &str, other: &str) -> String {
    let parts: Vec<&str> = [one, other]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n\n")
}
