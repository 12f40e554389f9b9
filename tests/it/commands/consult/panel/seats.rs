//! Panels and judges: selection, announcement and requests.

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::ProviderServer;

#[test]
fn named_panel_is_shown_asked_and_recorded() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let panel = "security=anthropic:claude-opus-5-5,architect=openai:gpt-6.1-terra";
    let output = conclave
        .run(&[
            "consult",
            "--panel",
            panel,
            "--judge",
            "gemini-4-argon",
            "Shall we?",
        ])
        .ends_with(0);
    let (before, _) = output.stderr.split_once("💰 Estimated cost").unwrap();
    for line in [
        "Security Expert  anthropic:claude-opus-5-5\n",
        "Architect        openai:gpt-6.1-terra\n",
        "Judge            google:gemini-4-argon\n",
    ] {
        assert!(before.contains(line), "{line}: {before}");
    }
    assert!(before.contains("a panel of 2 is small"), "{before}");
    let requests = model_requests(&server);
    assert_eq!(requests.len(), 7);
    assert!(
        requests
            .iter()
            .all(|request| request.is_from_expert() != (request.model == "gemini-4-argon"))
    );
    let seats = &conclave.record()["agents"];
    assert_eq!(seats[0]["persona"], "security");
    assert_eq!(seats[0]["provider"], "anthropic");
    assert_eq!(seats[0]["model"], "claude-opus-5-5");
}

#[test]
fn one_model_can_play_every_seat() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--model", "gpt-6.1-terra", "Shall we?"])
        .ends_with(0);
    assert!(
        model_requests(&server)
            .iter()
            .filter(|request| request.is_from_expert())
            .all(|request| request.model == "gpt-6.1-terra")
    );
    assert!(
        output
            .stderr
            .contains("agreement within one family is weak evidence"),
        "{}",
        output.stderr
    );
}

#[test]
fn flags_override_the_panel_and_judge_of_the_settings() {
    let server = ProviderServer::start();
    let config = r#"{"panel": ["security=claude-opus-5-5", "pragmatic=gemini-3.8-flash"], "judge": "gpt-6.1-terra"}"#;
    let conclave = Conclave::at(&server).config(config);
    conclave.run(&["consult", "-n", "Shall we?"]).ends_with(0);
    let models = |from: usize| {
        model_requests(&server)[from..]
            .iter()
            .map(|request| request.model.clone())
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(
        models(0).into_iter().collect::<Vec<_>>(),
        ["claude-opus-5-5", "gemini-3.8-flash", "gpt-6.1-terra"]
    );
    let before = server.requests().len();
    conclave
        .run(&[
            "consult",
            "-n",
            "--model",
            "gemini-4-argon",
            "--judge",
            "gemini-4-argon",
            "Shall we?",
        ])
        .ends_with(0);
    assert_eq!(
        models(before).into_iter().collect::<Vec<_>>(),
        ["gemini-4-argon"]
    );
}

#[test]
fn unavailable_models_are_rejected_with_a_hint() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).without("OPENAI_API_KEY");
    for (arguments, expected) in [
        (
            ["--model", "gpt-6.1-sol"],
            "error: there is no key for OpenAI\nhint: set OPENAI_API_KEY\n",
        ),
        (
            ["--judge", "acme:x"],
            "error: no provider is called `acme`\n\
             hint: one of: anthropic, openai, google, xai, mistral, openrouter, ollama, llamacpp, \
             lmstudio, vllm, local\n\
             hint: or give it an address with `conclave config set endpoints.acme.base_url URL`\n",
        ),
        (
            ["--panel", "stranger=claude-opus-5-5"],
            "error: no persona is called `stranger`\n\
             hint: one of: accessibility, architecture, creative, devops, documentation, \
             performance, pragmatic, security, skeptic, testing\n",
        ),
    ] {
        let output = conclave
            .run(&["consult", "Shall we?", arguments[0], arguments[1]])
            .ends_with(2);
        assert_eq!(output.stdout, "");
        assert_eq!(output.stderr.as_str(), expected);
    }
    let output = conclave
        .run(&["consult", "Shall we?", "--model", "claude-sonet-5-5"])
        .ends_with(2);
    assert_eq!(
        output.stderr,
        "error: unknown model `claude-sonet-5-5`; did you mean `claude-sonnet-5-5`?\n\
         hint: see the models with `conclave models`, or write it as `provider:model`\n"
    );
    let output = conclave
        .run(&[
            "consult",
            "Shall we?",
            "--judge",
            "antropic:claude-opus-5-5",
        ])
        .ends_with(2);
    assert!(
        output.stderr.starts_with(
            "error: no provider is called `antropic`\nhint: did you mean `anthropic`?\n"
        ),
        "{}",
        output.stderr
    );
    assert!(server.requests().is_empty());
}

#[test]
fn unreachable_server_fails_its_expert_with_the_address() {
    let server = ProviderServer::start();
    // No server listens there.
    let conclave = Conclave::at(&server).variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let output = conclave
        .run(&["consult", "--on-failure", "skip", "Shall we?"])
        .ends_with(0);
    output.assert_stderr_contains("⚠️ Agent Security Expert failed: ");
    assert!(
        output.stderr.contains("127.0.0.1:9"),
        "the address is named: {}",
        output.stderr
    );
}

#[test]
fn empty_names_are_rejected() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for arguments in [
        ["--model", ""],
        ["--judge", ""],
        ["--judge", "gpt-6.1-sol,"],
        ["--panel", ""],
        ["--panel", "security="],
        ["--model", "openai:"],
    ] {
        let output = conclave
            .run(&["consult", "Shall we?", arguments[0], arguments[1]])
            .ends_with(2);
        assert!(
            output.stderr.contains("error: "),
            "{arguments:?}: {}",
            output.stderr
        );
        assert!(
            output.stderr.contains("hint: "),
            "{arguments:?}: {}",
            output.stderr
        );
    }
    assert!(server.requests().is_empty());
}

#[test]
fn invalid_address_fails_its_expert_with_the_reason() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("ANTHROPIC_BASE_URL", "http://a b/");
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert!(
        output
            .stderr
            .contains("is not an address of the form https://host/path"),
        "{}",
        output.stderr
    );
}

#[test]
fn retired_model_is_used_with_a_note_on_its_successor() {
    let server = ProviderServer::start();
    let output = Conclave::at(&server)
        .run(&["consult", "Shall we?", "--yes", "--model", "gpt-4"])
        .ends_with(0);
    assert!(
        output
            .stderr
            .contains("Note: `gpt-4` retired on 2026-10-23; use `gpt-6.1-sol`\n"),
        "{}",
        output.stderr
    );
    let output = Conclave::at(&server)
        .run(&[
            "consult",
            "Shall we?",
            "--yes",
            "--model",
            "openai:gpt-4-turbo-2024-04-09",
        ])
        .ends_with(0);
    assert!(
        output
            .stderr
            .contains("Note: `gpt-4-turbo-2024-04-09` retired on 2026-10-23; use `gpt-6.1-sol`\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn named_panel_of_the_settings_can_be_selected() {
    let server = ProviderServer::start();
    let config = r#"{"panels": {"fast": {"seats": "security=claude-haiku-5-5,pragmatic=gemini-3.8-flash", "judge": "gpt-6.1-terra"},
                                "slow": ["security=claude-opus-5-5"]}, "panel": "slow"}"#;
    let conclave = Conclave::at(&server).config(config);
    let models = |arguments: &[&str]| {
        let before = server.requests().len();
        conclave
            .run(&[&["consult", "-n", "--yes", "Shall we?"], arguments].concat())
            .ends_with(0);
        let requests = model_requests(&server).split_off(before);
        requests
            .into_iter()
            .map(|request| request.model)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        models(&["--panel", "fast"]),
        ["claude-haiku-5-5", "gemini-3.8-flash", "gpt-6.1-terra"]
    );
    assert_eq!(
        models(&["--judge", "gemini-4-argon"]),
        ["claude-opus-5-5", "gemini-4-argon"]
    );
    let output = conclave
        .run(&["consult", "--panel", "fats", "Shall we?"])
        .ends_with(2);
    assert!(
        output
            .stderr
            .starts_with("error: no panel is called `fats`\nhint: did you mean `fast`?\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn panel_of_more_seats_than_can_debate_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let seats = |seat: &str| vec![seat; 101].join(",");
    for (flag, value) in [
        ("--panel", seats("security=gpt-6.1-sol")),
        ("--personas", seats("security")),
    ] {
        let ran = conclave
            .run(&["consult", flag, &value, "Shall we?"])
            .ends_with(2);
        let message = "a panel has at most 100 seats, and this one has 101";
        assert!(ran.stderr.contains(message), "{flag}: {}", ran.stderr);
    }
    assert!(server.requests().is_empty());
}
