//! What the words of a refusal mean for the form of a request, and that learning comes to an end.

use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt};
use conclave::domain::dialect::{Dialect, Quirks, Structure, TokensField};
use conclave::providers::form::{Adjustment, Form, Refusal, SystemPlace};
use proptest::prelude::*;

use super::ask_of;
use FailureClass::{BadRequest, Context, ModelMissing, Overload};

const OPENAI: Dialect = Dialect::OpenAi(Quirks::OPENAI);
const COMPATIBLE: Dialect = Dialect::OpenAi(Quirks::COMPATIBLE);
const LMSTUDIO: Dialect = Dialect::OpenAi(Quirks::LMSTUDIO);

fn form(dialect: Dialect) -> Form {
    let quirks = if let Dialect::OpenAi(quirks) = dialect {
        quirks
    } else {
        Quirks::COMPATIBLE
    };
    Form {
        json_mode: dialect.json_mode(),
        ..Form::new(Structure::Schema, quirks)
    }
}

/// The adjustment of a refusal with these words and named fields, for a body that has some parameters
/// of the user's.
fn adjustment(
    dialect: Dialect,
    class: FailureClass,
    words: &str,
    fields: &[&str],
) -> Option<Adjustment> {
    let parts = [
        "model",
        "messages",
        "stream",
        "stream_options",
        "stream_options.include_usage",
        "response_format",
        "response_format.type",
        "provider",
        "provider.require_parameters",
        "think",
        "temperature",
        "top_p",
        "stop",
        "reasoning_effort",
        "output_config.effort",
        "generationConfig.topK",
        "options.num_ctx",
        "options.seed",
    ];
    let refusal = Refusal {
        class,
        words: words.to_owned(),
        fields: fields.iter().map(ToString::to_string).collect(),
    };
    form(dialect).adjustment(
        dialect,
        &ask_of("x", "m"),
        &parts.map(ToOwned::to_owned),
        &refusal,
    )
}

fn without(path: &str) -> Adjustment {
    Adjustment::Without(path.to_owned())
}

fn structure(without: &'static str, now: Structure) -> Adjustment {
    Adjustment::Structure { without, now }
}

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
    assert_eq!(
        steps,
        [JsonObject, Prompt],
        "and then there is nothing left to leave out"
    );
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
    let words = (
        None,
        "You are P.\n\nRules.\n\nQuestion?\n\nAnswer.".to_owned(),
    );
    assert_eq!(folded.messages(&ask_of("x", "m")), words);
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

/// An ask whose prompt is 100 tokens by our count.
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
    for (dialect, words, class, room) in cases {
        let refusal = Refusal {
            class,
            words,
            fields: vec!["max_tokens".into()],
        };
        let mut form = form(dialect);
        let adjustment = form.adjustment(dialect, &hundred(), &[], &refusal);
        assert_eq!(
            adjustment,
            Some(Adjustment::Room(room)),
            "{}",
            refusal.words
        );
        form.learn(&hundred(), &refusal, &adjustment.unwrap());
        assert_eq!(form.room(&hundred()), room);
        assert_eq!(
            form.room(&Ask {
                max_output_tokens: 300,
                ..hundred()
            }),
            room.min(300),
            "less may always be asked for"
        );
        assert_ne!(
            form.adjustment(dialect, &hundred(), &[], &refusal),
            Some(Adjustment::Room(room)),
            "the same is never learnt twice"
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
            Some(Adjustment::NoRoom),
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
    form.learn(&hundred(), &refusal, &Adjustment::Room(0));
    assert_eq!(form.room(&hundred()), 8_192 - 200);
    let double = Ask {
        prompt: Prompt {
            shared: "word".repeat(200),
            ..Prompt::default()
        },
        ..hundred()
    };
    assert_eq!(
        form.room(&double),
        8_192 - 400,
        "the server counts two tokens where we count one"
    );
    // What was learnt from one prompt holds for the next, however few tokens that one turns out to
    // have.
    let words = "This model's maximum context length is 8192 tokens and your request has 100 input tokens (16384 > 8192 - 100).";
    form.learn(
        &hundred(),
        &Refusal {
            words: words.into(),
            ..refusal
        },
        &Adjustment::Room(0),
    );
    assert_eq!(form.room(&double), 8_192 - 400);
}

proptest! {
    #[test]
    fn adjustments_end_for_any_error_text(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..14),
        fields in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..3),
        class in prop::sample::select(vec![BadRequest, Context, ModelMissing, Overload]),
        dialect in prop::sample::select(vec![OPENAI, COMPATIBLE, LMSTUDIO, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama]),
    ) {
        let refusal = Refusal { class, words: words.join(" "), fields: fields.into_iter().map(ToOwned::to_owned).collect() };
        let mut form = form(dialect);
        let mut steps = 0;
        while let Some(adjustment) = form.adjustment(dialect, &hundred(), &WORDS.map(ToOwned::to_owned), &refusal) {
            if adjustment == Adjustment::NoRoom {
                break;
            }
            let before = form.clone();
            form.learn(&hundred(), &refusal, &adjustment);
            prop_assert_ne!(&form, &before, "{}", adjustment);
            prop_assert!(form.room(&hundred()) >= 256);
            steps += 1;
            prop_assert!(steps <= WORDS.len() + 6);
        }
    }
}

/// What refusals are made of, and names of fields.
const WORDS: [&str; 36] = [
    "max_tokens",
    "max_tokens:",
    "max_completion_tokens",
    "'temperature'",
    "temperature",
    "top_p",
    "think",
    "response_format",
    "json_schema",
    "output_config.effort",
    "generationConfig.topK",
    "format",
    "schema",
    "grammar",
    "requested parameters",
    "System role",
    "not supported",
    "parameter",
    "value",
    "is too large",
    "maximum context length is",
    "input tokens",
    "in the messages",
    "supports at most",
    "less than or equal to",
    "exceed context limit:",
    "16384",
    "8192",
    "300",
    "99999999999999999999",
    ">",
    "+",
    "(",
    "é",
    "\u{0}",
    ".[.",
];
