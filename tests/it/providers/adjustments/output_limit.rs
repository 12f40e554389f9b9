//! Refused output limits, and that any sequence of refusals ends.

use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt};
use conclave::domain::model::dialect::Dialect;
use conclave::providers::form::{Adjustment, Refusal};
use proptest::prelude::*;

use super::{COMPATIBLE, LMSTUDIO, OPENAI, form};
use crate::providers::ask_of;
use FailureClass::{BadRequest, Context, ModelMissing, Overload};

/// A request whose prompt is 100 tokens by our estimate.
fn hundred() -> Ask {
    Ask {
        prompt: Prompt {
            shared: "word".repeat(100),
            ..Prompt::default()
        },
        ..ask_of("x", "m")
    }
}

#[test]
fn the_output_limit_is_lowered_to_the_models_maximum() {
    let vllm = |context: u64, prompt: u64| {
        format!(
            "'max_tokens' is too large: 16384. This model's maximum context length is {context} tokens and your request has {prompt} input tokens (16384 > {context} - {prompt})."
        )
    };
    let cases = [
        (Dialect::Anthropic, "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens".to_owned(), BadRequest, 8_192),
        (OPENAI, "max_tokens is too large: 16384. This model supports at most 4096 completion tokens".to_owned(), BadRequest, 4_096),
        (COMPATIBLE, vllm(8_192, 50), Context, 8_142),
        (
            COMPATIBLE,
            "This model's maximum context length is 8192 tokens. However, you requested 16434 tokens (50 in the messages, 16384 in the completion).".to_owned(),
            Context,
            8_142,
        ),
        (COMPATIBLE, vllm(356, 100), Context, 256),
    ];
    for (dialect, words, class, limit) in cases {
        let refusal = Refusal {
            class,
            words,
            fields: vec!["max_tokens".into()],
        };
        let mut form = form(dialect);
        let adjustment = form.adjustment(dialect, &hundred(), &[], &refusal);
        assert_eq!(
            adjustment,
            Some(Adjustment::OutputLimit(limit)),
            "{}",
            refusal.words
        );
        form.learn(&hundred(), &refusal, &adjustment.unwrap());
        assert_eq!(form.max_output_tokens(&hundred()), limit);
        assert_eq!(
            form.max_output_tokens(&Ask {
                max_output_tokens: 300,
                ..hundred()
            }),
            limit.min(300),
            "a lower limit is respected"
        );
        assert_ne!(
            form.adjustment(dialect, &hundred(), &[], &refusal),
            Some(Adjustment::OutputLimit(limit)),
            "the same adjustment is not made twice"
        );
    }
    for words in [vllm(355, 100), vllm(8_192, 9_000)] {
        let refusal = Refusal {
            class: Context,
            words,
            fields: vec![],
        };
        assert_eq!(
            form(COMPATIBLE).adjustment(COMPATIBLE, &hundred(), &[], &refusal),
            Some(Adjustment::PromptTooLong),
            "{}",
            refusal.words
        );
    }
}

#[test]
fn a_learnt_context_window_allows_shorter_prompts_more_output() {
    let words = "This model's maximum context length is 8192 tokens and your request has 200 input tokens (16384 > 8192 - 200).";
    let refusal = Refusal {
        class: Context,
        words: words.into(),
        fields: vec![],
    };
    let mut form = form(COMPATIBLE);
    form.learn(&hundred(), &refusal, &Adjustment::OutputLimit(0));
    assert_eq!(form.max_output_tokens(&hundred()), 8_192 - 200);
    let double = Ask {
        prompt: Prompt {
            shared: "word".repeat(200),
            ..Prompt::default()
        },
        ..hundred()
    };
    assert_eq!(
        form.max_output_tokens(&double),
        8_192 - 400,
        "the server counts two tokens where we count one"
    );
    // The refusal of a prompt with fewer tokens does not raise the learnt ratio again.
    let words = "This model's maximum context length is 8192 tokens and your request has 100 input tokens (16384 > 8192 - 100).";
    form.learn(
        &hundred(),
        &Refusal {
            words: words.into(),
            ..refusal
        },
        &Adjustment::OutputLimit(0),
    );
    assert_eq!(form.max_output_tokens(&double), 8_192 - 400);
}

fn fragments() -> Vec<&'static str> {
    WORDS.split('|').collect()
}

proptest! {
    #[test]
    fn adjustments_end_for_any_error_text(
        words in prop::collection::vec(prop::sample::select(fragments()), 0..14),
        fields in prop::collection::vec(prop::sample::select(fragments()), 0..3),
        class in prop::sample::select(vec![BadRequest, Context, ModelMissing, Overload]),
        dialect in prop::sample::select(vec![
            OPENAI,
            COMPATIBLE,
            LMSTUDIO,
            Dialect::Anthropic,
            Dialect::Gemini,
            Dialect::Ollama,
        ]),
    ) {
        let refusal = Refusal {
            class,
            words: words.join(" "),
            fields: fields.into_iter().map(ToOwned::to_owned).collect(),
        };
        let mut form = form(dialect);
        let mut steps = 0;
        let parts: Vec<String> = fragments().into_iter().map(ToOwned::to_owned).collect();
        while let Some(adjustment) = form.adjustment(dialect, &hundred(), &parts, &refusal) {
            if adjustment == Adjustment::PromptTooLong {
                break;
            }
            let before = form.clone();
            form.learn(&hundred(), &refusal, &adjustment);
            prop_assert_ne!(&form, &before, "{}", adjustment);
            prop_assert!(form.max_output_tokens(&hundred()) >= 256);
            steps += 1;
            prop_assert!(steps <= parts.len() + 6);
        }
    }
}

/// Fragments of refusals, and names of fields, divided by bars.
const WORDS: &str = "max_tokens|max_tokens:|max_completion_tokens|'temperature'|temperature|top_p|think|\
    response_format|json_schema|output_config.effort|generationConfig.topK|format|\
    schema|grammar|requested parameters|System role|not supported|parameter|value|\
    is too large|maximum context length is|input tokens|in the messages|\
    supports at most|less than or equal to|exceed context limit:|16384|8192|300|\
    99999999999999999999|>|+|(|é|\u{0}|.[.";
