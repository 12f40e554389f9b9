//! Refused fields, schemas and system prompts.

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::model::dialect::{Dialect, Structure, TokensField};
use conclave::providers::form::{Adjustment, Form, Refusal, SystemPlace};

use super::{COMPATIBLE, LMSTUDIO, OPENAI, adjustment, form, structure, without};
use crate::providers::ask_of;
use FailureClass::{BadRequest, Context, ModelMissing, Overload};

/// Splits the rows of a table: dialect, the field that goes, the fields that the error names, and
/// its words.
fn rows(table: &str) -> impl Iterator<Item = (Dialect, &str, Vec<&str>, &str)> {
    table.trim().lines().map(|row| {
        let mut columns = row.split('|').map(str::trim);
        let [dialect, path, fields, words] = [(); 4].map(|()| columns.next().expect(row));
        let dialect = match dialect {
            "openai" => OPENAI,
            "lmstudio" => LMSTUDIO,
            "anthropic" => Dialect::Anthropic,
            "gemini" => Dialect::Gemini,
            "ollama" => Dialect::Ollama,
            _ => COMPATIBLE,
        };
        (dialect, path, fields.split_whitespace().collect(), words)
    })
}

#[test]
fn a_refused_field_is_left_out_however_the_error_names_it() {
    let table = "
        openai | temperature | temperature | Unsupported value
        openai | temperature | | Unsupported value: 'temperature' does not support 0.8.
        openai | stop | | 'stop' is not supported with this model
        openai | reasoning_effort | | Unrecognized request argument supplied: reasoning_effort
        compatible | stream_options | body.stream_options | Extra inputs are not permitted
        compatible | reasoning_effort | | Model x does not support parameter reasoningEffort.
        compatible | stream_options | | stream_options: Extra inputs are not permitted
        anthropic | temperature | | temperature: Extra inputs are not permitted
        anthropic | output_config.effort | | output_config.effort: this model takes low and high
        anthropic | output_config.effort | | This model does not support the effort parameter.
        gemini | generationConfig.topK | generation_config | Unknown name \"topK\" at 'generation_config'
        gemini | generationConfig.topK | generation_config.top_k | no
        ollama | think | | \"gemma\" does not support thinking
        ollama | think | | invalid think value: false (must be \"high\", \"medium\" or \"low\")
        ollama | options.num_ctx | | invalid option provided: num_ctx";
    for (dialect, path, fields, words) in rows(table) {
        let change = adjustment(dialect, BadRequest, words, &fields);
        assert_eq!(change, Some(without(path)), "{words} {fields:?}");
    }
}

#[test]
fn a_refused_schema_steps_down_to_json_mode_then_to_the_prompt() {
    use Structure::{JsonObject, Prompt};
    let to_json_mode = "
        openai | response_format | response_format | Invalid parameter: 'response_format'.
        openai | response_format | response_format.json_schema.schema | no
        openai | response_format | response_format.type | Invalid value: 'json_schema'
        compatible | response_format | body.response_format.type | no
        compatible | response_format | | Failed to parse grammar
        compatible | response_format | | structured outputs are not supported by this engine
        gemini | generationConfig | generation_config | Unknown name \"responseJsonSchema\"
        gemini | generationConfig | | The schema produces a constraint that has too many states.
        ollama | format | | invalid format: expected \"json\" or a JSON Schema";
    let to_the_prompt = "
        lmstudio | response_format | | 'response_format.type' must be 'json_schema' or 'text'
        anthropic | output_config | | output_config: Extra inputs are not permitted
        anthropic | output_config | | output_config.format.schema: 'additionalProperties' must be set";
    for (table, now) in [(to_json_mode, JsonObject), (to_the_prompt, Prompt)] {
        for (dialect, without, fields, words) in rows(table) {
            let change = adjustment(dialect, BadRequest, words, &fields);
            assert_eq!(change, Some(structure(without, now)), "{words}");
        }
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
    let words = "No endpoints found that can handle the requested parameters.";
    for (class, words) in [
        (ModelMissing, words),
        (Overload, "failed to compile the grammar"),
    ] {
        let change = adjustment(COMPATIBLE, class, words, &[]);
        assert_eq!(change, Some(structure("response_format", JsonObject)));
    }
}

#[test]
fn the_token_limit_field_is_swapped_once() {
    use TokensField::{MaxCompletionTokens, MaxTokens};
    let to = |field| Some(Adjustment::TokensField(field));
    let words = "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.";
    let change = adjustment(OPENAI, BadRequest, words, &["max_completion_tokens"]);
    assert_eq!(change, to(MaxTokens));
    let back = "body.max_tokens: Extra inputs are not permitted";
    let change = adjustment(COMPATIBLE, BadRequest, back, &["body.max_tokens"]);
    assert_eq!(change, to(MaxCompletionTokens));
    let unnamed = "Unsupported parameter: max_tokens";
    let change = adjustment(COMPATIBLE, BadRequest, unnamed, &[]);
    assert_eq!(change, to(MaxCompletionTokens));
    let required = "max_tokens: Field required";
    let change = adjustment(Dialect::Anthropic, BadRequest, required, &[]);
    assert_eq!(change, None);
    let swapped = Form {
        tokens_field_swapped: true,
        ..form(COMPATIBLE)
    };
    let refusal = Refusal {
        class: BadRequest,
        words: back.into(),
        fields: vec!["body.max_tokens".into()],
    };
    let parts = ["max_tokens".to_owned()];
    let change = swapped.adjustment(COMPATIBLE, &ask_of("x", "m"), &parts, &refusal);
    assert_eq!(change, None);
}

#[test]
fn the_system_prompt_moves_to_the_user_message_when_refused() {
    for (class, words) in [
        (BadRequest, "System role not supported"),
        (
            BadRequest,
            "Developer instruction is not enabled for models/x",
        ),
        (BadRequest, "unsupported role 'system'"),
        (
            BadRequest,
            "Conversation roles must alternate user/assistant/...",
        ),
        (BadRequest, "Only user and assistant roles are supported!"),
        (Overload, "Jinja Exception: System role not supported"),
    ] {
        let change = adjustment(COMPATIBLE, class, words, &[]);
        assert_eq!(change, Some(Adjustment::NoSystem), "{words}");
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
    use FailureClass::{Auth, Policy, RateLimit};
    for (class, words, fields) in [
        (
            BadRequest,
            "messages: content blocks must be non-empty",
            vec![],
        ),
        (BadRequest, "Invalid schema in messages", vec!["messages"]),
        (BadRequest, "body.model: field required", vec!["body.model"]),
        (
            BadRequest,
            "please stop and think about your provider",
            vec![],
        ),
        (BadRequest, "", vec![]),
        (Context, "9 tokens > 8 maximum; see response_format", vec![]),
        (Policy, "temperature", vec!["temperature"]),
        (Auth, "response_format", vec![]),
        (ModelMissing, "no such model; response_format", vec![]),
        (Overload, "response_format", vec!["response_format"]),
        (RateLimit, "max_tokens", vec![]),
    ] {
        assert_eq!(adjustment(OPENAI, class, words, &fields), None, "{words}");
    }
}
