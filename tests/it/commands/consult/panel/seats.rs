//! Panels and judges: selection, announcement and requests.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::commands::consult::cost::assert_costs_add_up;
use crate::commands::consult::{ask, assert_contains};
use crate::support::binary::Conclave;
use crate::support::model_requests::{model_requests, request_counts};
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};

#[test]
fn named_panel_is_shown_asked_and_recorded() {
    let server = ProviderServer::start();
    let panel = "security=anthropic:claude-opus-5-5,architect=openai:gpt-6.1-terra";
    let flags = ["--panel", panel, "--judge", "gemini-4-argon"];
    let (conclave, output) = ask(&server, &flags);
    let output = output.ends_with(0);
    let (before, _) = output.stderr.split_once("💰 Estimated cost").unwrap();
    for line in [
        "Security Expert  anthropic:claude-opus-5-5\n",
        "Architect        openai:gpt-6.1-terra\n",
        "Judge            google:gemini-4-argon\n",
        "a panel of 2 is small",
    ] {
        assert_contains(before, line);
    }
    let requests = model_requests(&server);
    assert_eq!(requests.len(), 7);
    for request in requests {
        let is_judge = request.model == "gemini-4-argon";
        assert_ne!(request.is_from_expert(), is_judge, "{}", request.model);
    }
    let seats = &conclave.record()["agents"];
    assert_eq!(seats[0]["persona"], "security");
    assert_eq!(seats[0]["provider"], "anthropic");
    assert_eq!(seats[0]["model"], "claude-opus-5-5");
}

#[test]
fn named_panel_of_the_settings_can_be_selected() {
    let server = ProviderServer::start();
    let config = r#"{"panels": {"fast": {"seats": "security=claude-haiku-5-5,pragmatic=gemini-3.8-flash", "judge": "gpt-6.1-terra"},
                                "slow": ["security=claude-opus-5-5"]}, "panel": "slow"}"#;
    let conclave = Conclave::at(&server).config(config);
    let models = |flags: &[&str]| {
        let before = server.requests().len();
        conclave
            .run(&[&["consult", "-n", "--yes", "Shall we?"], flags].concat())
            .ends_with(0);
        let requests = model_requests(&server).split_off(before).into_iter();
        let models: BTreeSet<_> = requests.map(|request| request.model).collect();
        models.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(
        models(&["--panel", "fast"]),
        ["claude-haiku-5-5", "gemini-3.8-flash", "gpt-6.1-terra"]
    );
    assert_eq!(
        models(&["--judge", "gemini-4-argon"]),
        ["claude-opus-5-5", "gemini-4-argon"]
    );
    assert_eq!(
        models(&["--model", "gpt-6.1-sol", "--judge", "gpt-6.1-sol"]),
        ["gpt-6.1-sol"]
    );
}

#[test]
fn unavailable_models_are_rejected_with_a_hint() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).without("OPENAI_API_KEY");
    for (flag, value, expected) in [
        (
            "--model",
            "gpt-6.1-sol",
            "error: there is no key for OpenAI\nhint: set OPENAI_API_KEY\n",
        ),
        (
            "--judge",
            "acme:x",
            "error: no provider is called `acme`\n\
             hint: one of: anthropic, openai, google, xai, mistral, openrouter, chatgpt, ollama, \
             llamacpp, lmstudio, vllm, claude-code, codex, local\n\
             hint: or give it an address with `conclave config set endpoints.acme.base_url URL`\n",
        ),
        (
            "--judge",
            "antropic:claude-opus-5-5",
            "error: no provider is called `antropic`\nhint: did you mean `anthropic`?\n",
        ),
        (
            "--panel",
            "stranger=claude-opus-5-5",
            "error: no persona is called `stranger`\n\
             hint: one of: accessibility, architecture, creative, devops, documentation, \
             performance, pragmatic, security, skeptic, testing\n",
        ),
        (
            "--model",
            "claude-sonet-5-5",
            "error: unknown model `claude-sonet-5-5`; did you mean `claude-sonnet-5-5`?\n\
             hint: see the models with `conclave models`, or write it as `provider:model`\n",
        ),
        ("--model", "", "error: "),
        ("--judge", "", "error: "),
        ("--judge", "claude-opus-5-5,", "error: "),
        ("--panel", "", "error: "),
        ("--panel", "security=", "error: "),
        ("--model", "openai:", "error: "),
    ] {
        let output = conclave.run(&["consult", "Shall we?", flag, value]);
        let output = output.ends_with(2);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.starts_with(expected), "{}", output.stderr);
        output.assert_stderr_contains("\nhint: ");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn invalid_address_fails_its_expert_with_the_reason() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("ANTHROPIC_BASE_URL", "http://a b/");
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    output.assert_stderr_contains("is not an address of the form https://host/path");
}

#[test]
fn retired_models_are_used_with_a_note_on_their_successor() {
    let server = ProviderServer::start();
    let dated = "gpt-4-turbo-2024-04-09";
    let models = ["--model", "gpt-4", "--model", &format!("openai:{dated}")];
    let (_, output) = ask(&server, &[&models[..], &["--yes"]].concat());
    let output = output.ends_with(0);
    for model in ["gpt-4", dated] {
        output.assert_stderr_contains(&format!(
            "Note: `{model}` retired on 2026-10-23; use `gpt-6.1-sol`\n"
        ));
    }
}

#[test]
fn panel_of_more_seats_than_can_debate_is_refused() {
    let server = ProviderServer::start();
    let seats = |seat: &str| vec![seat; 101].join(",");
    for (flag, value) in [
        ("--panel", seats("security=gpt-6.1-sol")),
        ("--personas", seats("security")),
    ] {
        let (_, output) = ask(&server, &[flag, &value]);
        output
            .ends_with(2)
            .assert_stderr_contains("a panel has at most 100 seats, and this one has 101");
    }
    assert!(server.requests().is_empty());
}

/// Returns the highest number of simultaneous requests.
fn most_at_once(requests: &[RecordedRequest]) -> usize {
    let under_way = |at: &RecordedRequest| {
        let is_open = |other: &&RecordedRequest| {
            let is_over = other
                .finished
                .is_some_and(|finished| finished <= at.arrived);
            other.arrived <= at.arrived && !is_over
        };
        requests.iter().filter(is_open).count()
    };
    requests.iter().map(under_way).max().unwrap()
}

#[test]
fn large_panel_makes_four_calls_per_vendor_at_once() {
    const SEATS: usize = 18;
    let server = ProviderServer::start();
    let answer = Answer::valid().delay(Duration::from_millis(20));
    server.on(On::any(), answer);
    let models = ["claude-sonnet-5-5", "gpt-6.1-sol", "gemini-4-argon"];
    let seats = models.iter().cycle().take(SEATS);
    let panel: Vec<_> = seats.map(|model| format!("security={model}")).collect();
    let flags = ["--yes", "--panel", &panel.join(","), "--judge", models[1]];
    let (conclave, output) = ask(&server, &flags);
    let output = output.ends_with(0);
    assert_eq!(
        request_counts(&server),
        [
            ("independent", SEATS),
            ("synthesis", 1),
            ("revision", SEATS),
            ("cross_exam", 1),
            ("verdict", 1)
        ]
    );
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google] {
        let requests = server.requests_to(vendor);
        assert_eq!(most_at_once(&requests), 4, "{vendor:?}");
    }
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(record["perspectives"].as_array().unwrap().len(), SEATS);
    output.assert_stderr_contains("🔍 Starting consultation with 18 experts...");
    let answered = output.stderr.matches("✅ Security Expert").count();
    assert_eq!(answered, 2 * SEATS);
    assert_costs_add_up(&record);
}
