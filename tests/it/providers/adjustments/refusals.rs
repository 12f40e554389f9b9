//! Refused fields, schemas and system prompts.

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::dialect::{Dialect, Structure, TokensField};
use conclave::providers::form::{Adjustment, Form, Refusal, SystemPlace};

use super::{COMPATIBLE, LMSTUDIO, OPENAI, adjustment, form, structure, without};
use crate::providers::ask_of;
use FailureClass::{BadRequest, Context, ModelMissing, Overload};

#[test]
fn a_refused_field_is_left_out_however_the_error_names_it() {
    let cases: &[(Dialect, &str, &[&str], &str)] = &[
        (OPENAI, "Unsupported value", &["temperature"], "temperature"),
        (
            OPENAI,
            "Unsupported value: 'temperature' does not support 0.8 with this model.",
            &[],
            "temperature",
        ),
        (
            OPENAI,
            "'stop' is not supported with this model",
            &[],
            "stop",
        ),
        (
            OPENAI,
            "Unrecognized request argument supplied: reasoning_effort",
            &[],
            "reasoning_effort",
        ),
        (
            COMPATIBLE,
            "body.stream_options: Extra inputs are not permitted",
            &["body.stream_options"],
            "stream_options",
        ),
        (
            COMPATIBLE,
            "Model grok-build-0.1 does not support parameter reasoningEffort.",
            &[],
            "reasoning_effort",
        ),
        (
            COMPATIBLE,
            "stream_options: Extra inputs are not permitted",
            &[],
            "stream_options",
        ),
        (
            Dialect::Anthropic,
            "temperature: Extra inputs are not permitted",
            &[],
            "temperature",
        ),
        (
            Dialect::Anthropic,
            "output_config.effort: this model takes low and high",
            &[],
            "output_config.effort",
        ),
        (
            Dialect::Anthropic,
            "This model does not support the effort parameter.",
            &[],
            "output_config.effort",
        ),
        (
            Dialect::Gemini,
            "Invalid JSON payload received. Unknown name \"topK\" at 'generation_config': Cannot find field.",
            &["generation_config"],
            "generationConfig.topK",
        ),
        (
            Dialect::Gemini,
            "no",
            &["generation_config.top_k"],
            "generationConfig.topK",
        ),
        (
            Dialect::Ollama,
            "\"gemma\" does not support thinking",
            &[],
            "think",
        ),
        (
            Dialect::Ollama,
            "invalid think value: false (must be \"high\", \"medium\" or \"low\")",
            &[],
            "think",
        ),
        (
            Dialect::Ollama,
            "invalid option provided: num_ctx",
            &[],
            "options.num_ctx",
        ),
    ];
    for (dialect, words, fields, path) in cases {
        assert_eq!(
            adjustment(*dialect, BadRequest, words, fields),
            Some(without(path)),
            "{words} {fields:?}"
        );
    }
}

#[test]
fn a_refused_schema_steps_down_to_json_mode_then_to_the_prompt() {
    use Structure::{JsonObject, Prompt};
    let cases: &[(Dialect, &str, &[&str], Adjustment)] = &[
        (
            OPENAI,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            &["response_format"],
            structure("response_format", JsonObject),
        ),
        (
            OPENAI,
            "no",
            &["response_format.json_schema.schema"],
            structure("response_format", JsonObject),
        ),
        (
            OPENAI,
            "Invalid value: 'json_schema'",
            &["response_format.type"],
            structure("response_format", JsonObject),
        ),
        (
            COMPATIBLE,
            "no",
            &["body.response_format.type"],
            structure("response_format", JsonObject),
        ),
        (
            COMPATIBLE,
            "Failed to parse grammar",
            &[],
            structure("response_format", JsonObject),
        ),
        (
            COMPATIBLE,
            "structured outputs are not supported by this engine",
            &[],
            structure("response_format", JsonObject),
        ),
        (
            LMSTUDIO,
            "'response_format.type' must be 'json_schema' or 'text'",
            &[],
            structure("response_format", Prompt),
        ),
        (
            Dialect::Anthropic,
            "output_config: Extra inputs are not permitted",
            &[],
            structure("output_config", Prompt),
        ),
        (
            Dialect::Anthropic,
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be set",
            &[],
            structure("output_config", Prompt),
        ),
        (
            Dialect::Gemini,
            "Unknown name \"responseJsonSchema\" at 'generation_config'",
            &["generation_config"],
            structure("generationConfig", JsonObject),
        ),
        (
            Dialect::Gemini,
            "The specified schema produces a constraint that has too many states for serving.",
            &[],
            structure("generationConfig", JsonObject),
        ),
        (
            Dialect::Ollama,
            "invalid format: expected \"json\" or a JSON Schema",
            &[],
            structure("format", JsonObject),
        ),
    ];
    for (dialect, words, fields, expected) in cases {
        assert_eq!(
            adjustment(*dialect, BadRequest, words, fields).as_ref(),
            Some(expected),
            "{words}"
        );
    }
    let refusal = Refusal {
        class: BadRequest,
        words: "response_format is unavailable".into(),
        fields: vec![],
    };
    let mut form = form(OPENAI);
    let ask = ask_of("x", "m");
    let mut steps = Vec::new();
    while let Some(adjustment) = form.adjustment(OPENAI, &ask, &[], &refusal) {
        form.learn(&ask, &refusal, &adjustment);
        steps.push(form.structure);
    }
    assert_eq!(steps, [JsonObject, Prompt], "nothing is left to remove");
    assert_eq!(
        adjustment(
            COMPATIBLE,
            ModelMissing,
            "No endpoints found that can handle the requested parameters.",
            &[]
        ),
        Some(structure("response_format", JsonObject))
    );
    assert_eq!(
        adjustment(COMPATIBLE, Overload, "failed to compile the grammar", &[]),
        Some(structure("response_format", JsonObject))
    );
}

#[test]
fn the_token_limit_field_is_swapped_once() {
    let words = "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.";
    assert_eq!(
        adjustment(OPENAI, BadRequest, words, &["max_completion_tokens"]),
        Some(Adjustment::TokensField(TokensField::MaxTokens))
    );
    let back = "body.max_tokens: Extra inputs are not permitted";
    assert_eq!(
        adjustment(COMPATIBLE, BadRequest, back, &["body.max_tokens"]),
        Some(Adjustment::TokensField(TokensField::MaxCompletionTokens))
    );
    assert_eq!(
        adjustment(
            COMPATIBLE,
            BadRequest,
            "Unsupported parameter: max_tokens",
            &[]
        ),
        Some(Adjustment::TokensField(TokensField::MaxCompletionTokens))
    );
    assert_eq!(
        adjustment(
            Dialect::Anthropic,
            BadRequest,
            "max_tokens: Field required",
            &[]
        ),
        None
    );
    let swapped = Form {
        tokens_field_swapped: true,
        ..form(COMPATIBLE)
    };
    let refusal = Refusal {
        class: BadRequest,
        words: back.into(),
        fields: vec!["body.max_tokens".into()],
    };
    assert_eq!(
        swapped.adjustment(
            COMPATIBLE,
            &ask_of("x", "m"),
            &["max_tokens".into()],
            &refusal
        ),
        None
    );
}

#[test]
fn the_system_prompt_moves_to_the_user_message_when_refused() {
    for (class, words) in [
        (BadRequest, "System role not supported"),
        (
            BadRequest,
            "Developer instruction is not enabled for models/gemma-3-27b-it",
        ),
        (BadRequest, "unsupported role 'system'"),
        (
            BadRequest,
            "Conversation roles must alternate user/assistant/user/assistant/...",
        ),
        (BadRequest, "Only user and assistant roles are supported!"),
        (Overload, "Jinja Exception: System role not supported"),
    ] {
        assert_eq!(
            adjustment(COMPATIBLE, class, words, &[]),
            Some(Adjustment::NoSystem),
            "{words}"
        );
    }
    let folded = Form {
        system: SystemPlace::UserMessage,
        ..form(COMPATIBLE)
    };
    let messages = folded.messages(&ask_of("x", "m"));
    assert_eq!(messages.system, None);
    assert_eq!(
        messages.user,
        ["You are P.\n\nRules.\n\nQuestion?\n\nAnswer."]
    );
}

#[test]
fn errors_without_a_removable_field_cause_no_adjustment() {
    for (class, words, fields) in [
        (
            BadRequest,
            "messages: text content blocks must be non-empty",
            vec![],
        ),
        (BadRequest, "Invalid schema in messages", vec!["messages"]),
        (BadRequest, "body.model: field required", vec!["body.model"]),
        (
            BadRequest,
            "something is wrong, please stop and think about what your provider does",
            vec![],
        ),
        (BadRequest, "", vec![]),
        (
            Context,
            "prompt is too long: 9 tokens > 8 maximum; see response_format",
            vec![],
        ),
        (
            FailureClass::Policy,
            "temperature and response_format",
            vec!["temperature"],
        ),
        (FailureClass::Auth, "response_format", vec![]),
        (ModelMissing, "no such model; response_format", vec![]),
        (Overload, "response_format", vec!["response_format"]),
        (FailureClass::RateLimit, "max_tokens", vec![]),
    ] {
        assert_eq!(adjustment(OPENAI, class, words, &fields), None, "{words}");
    }
}
