//! Contexts that are larger than what a model can read.

use std::fs;

use super::{refused, write};
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

/// Sets up models that read few tokens, as `models.json` in the home says.
fn with_small_models(server: &ProviderServer) -> Conclave {
    let conclave = Conclave::at(server).config("{}");
    let models = r#"{"models":[
        {"provider":"openai","id":"small","context":8000,"max_output":1000},
        {"provider":"google","id":"gemini-4-argon","context":9000,"max_output":1000}
    ]}"#;
    fs::write(conclave.home().join("models.json"), models).unwrap();
    write(
        &conclave,
        &[("long.txt", "word ".repeat(10_000).as_bytes())],
    );
    conclave
}

#[test]
fn context_that_a_model_cannot_read_is_refused_before_anything_is_sent() {
    let server = ProviderServer::start();
    let conclave = with_small_models(&server);
    let panel = [
        "--panel",
        "security=openai:small,architect=google:gemini-4-argon",
    ];
    let judge = ["--judge", "openai:small", "-f", "long.txt"];
    let stderr = refused(
        &conclave,
        &server,
        &[panel, [judge[0], judge[1]], [judge[2], judge[3]]].concat(),
    );
    let (error, hint) = stderr.split_once('\n').unwrap();
    assert!(
        error.starts_with("error: the context does not fit: a prompt has about ")
            && error.ends_with(
                " tokens, and openai:small reads at most 8,000 tokens, google:gemini-4-argon reads \
                 at most 9,000 tokens"
            ),
        "{error}"
    );
    assert_eq!(
        hint,
        "hint: send less context, or choose other models with `--panel`, `--model` and `--judge`\n"
    );
}

#[test]
fn fallback_that_cannot_read_the_context_is_left_out() {
    let server = ProviderServer::start();
    let conclave = with_small_models(&server);
    let output = conclave
        .run(&[
            "consult",
            "--yes",
            "--panel",
            "security=openai:gpt-6.1-sol,architect=anthropic:claude-sonnet-5-5",
            "--judge",
            "openai:gpt-6.1-sol,google:gemini-4-argon",
            "-f",
            "long.txt",
            "Is this right?",
        ])
        .ends_with(0);
    output.assert_stderr_contains(
        "Note: not used as fallbacks, too small for the context: google:gemini-4-argon\n",
    );
}

#[test]
fn small_model_is_asked_without_context() {
    let server = ProviderServer::start();
    let conclave = with_small_models(&server);
    let arguments = [
        "consult",
        "--yes",
        "--model",
        "openai:small",
        "--judge",
        "openai:small",
        "Which?",
    ];
    conclave.run(&arguments).ends_with(0);
}
