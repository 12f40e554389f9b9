//! The fallbacks in the plan of a run, and their use.

use conclave::consultation::event::{ConsultationEvent, Event};
use conclave::consultation::plan::Plan;
use conclave::domain::ids::ModelRef;
use conclave::records::journal::read_journal;

use crate::commands::consult::failures::unauthorized;
use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{On, ProviderServer, Vendor};

/// Runs a consultation and returns the plan in its journal.
fn plan(conclave: &Conclave, arguments: &[&str]) -> Plan {
    conclave
        .run(&[&["consult", "Shall we?", "--yes"], arguments].concat())
        .ends_with(0);
    journaled_plan(conclave)
}

fn journaled_plan(conclave: &Conclave) -> Plan {
    let read = read_journal(&conclave.log("jsonl")).unwrap();
    match &read[0].event {
        Event::Consultation(ConsultationEvent::Started(terms)) => {
            (**terms.plan.as_ref().unwrap()).clone()
        }
        other => panic!("{other:?}"),
    }
}

fn fallback_lines(plan: &Plan) -> Vec<String> {
    let models = |models: &[ModelRef]| {
        models
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    plan.fallbacks
        .iter()
        .map(|(seat, fallbacks)| format!("{seat}: {}", models(fallbacks)))
        .collect()
}

#[test]
fn three_keys_make_the_seats_fallbacks_for_each_other() {
    let server = ProviderServer::start();
    let plan = plan(&Conclave::at(&server), &[]);
    let expected = [
        "architecture: anthropic:claude-sonnet-5-5, google:gemini-4-argon",
        "pragmatic: anthropic:claude-sonnet-5-5, openai:gpt-6.1-sol",
        "security: openai:gpt-6.1-sol, google:gemini-4-argon",
    ];
    assert_eq!(fallback_lines(&plan), expected);
    let vendors: Vec<&str> = plan
        .panel
        .judges
        .iter()
        .map(|judge| judge.provider.as_str())
        .collect();
    assert_eq!(vendors, ["openai", "anthropic", "google"]);
}

#[test]
fn fallbacks_without_a_seat_have_limits_and_prices() {
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    let conclave = keys
        .into_iter()
        .fold(Conclave::new(), |conclave, key| conclave.variable(key, "k"));
    // The vendors have their real addresses here. No request can reach them: the cost is not
    // approved, and the proxy does not exist.
    let conclave = conclave.variable("HTTPS_PROXY", "http://127.0.0.1:9");
    let conclave = conclave
        .config(r#"{"max_output_tokens": 9000, "max_in_flight": 3, "always_allow_under": 0}"#);
    conclave
        .run(&[
            "consult",
            "Shall we?",
            "--panel",
            "security=claude-opus-5-5",
            "--judge",
            "claude-opus-5-5",
        ])
        .ends_with(3);
    let plan = journaled_plan(&conclave);
    assert_eq!(
        fallback_lines(&plan),
        ["security: openai:gpt-6.1-sol, google:gemini-4-argon"]
    );
    for fallback in [
        ModelRef::new("openai", "gpt-6.1-sol"),
        ModelRef::new("google", "gemini-4-argon"),
    ] {
        assert_eq!(
            plan.models
                .get(&fallback)
                .map(|terms| (terms.max_output_tokens, terms.free)),
            Some((9_000, false))
        );
        assert!(plan.prices.price(&fallback).is_some());
        assert_eq!(plan.in_flight.get(&fallback.provider), Some(&3));
    }
}

#[test]
fn unselected_vendors_are_no_fallbacks_for_custom_addresses() {
    let server = ProviderServer::start();
    let conclave = Conclave::with_all_keys(&server);
    let plan = plan(
        &conclave,
        &[
            "--panel",
            "security=claude-opus-5-5,architect=gpt-6.1-sol",
            "--judge",
            "mistral-large-4",
        ],
    );
    let expected = [
        "architecture: mistral:mistral-large-4, anthropic:claude-opus-5-5",
        "security: mistral:mistral-large-4, openai:gpt-6.1-sol",
    ];
    assert_eq!(fallback_lines(&plan), expected);
}

#[test]
fn local_servers_have_no_fallbacks() {
    let behind = ProviderServer::start();
    let server = LocalServer::llama_cpp("m", 8_000_000_000, 32_768).before(&behind);
    let local = Conclave::new().variable("CONCLAVE_LOCAL_SERVERS", server.authority());
    assert_eq!(fallback_lines(&plan(&local, &[])), Vec::<String>::new());
    let vendors = ProviderServer::start();
    let with_keys = Conclave::at(&vendors).variable("CONCLAVE_LOCAL_SERVERS", server.authority());
    let arguments = ["--model", "llamacpp:m", "--judge", "llamacpp:m"];
    assert_eq!(
        fallback_lines(&plan(&with_keys, &arguments)),
        Vec::<String>::new(),
        "keys make no difference"
    );
    assert!(vendors.requests().is_empty());
}

#[test]
fn first_fallback_takes_over_for_all_later_rounds() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "Shall we?", "--yes"])
        .ends_with(0);
    let of_openai = |answer| {
        model_requests(&server)
            .iter()
            .filter(|request| request.answer == answer && request.model == "gpt-6.1-sol")
            .count()
    };
    assert_eq!(of_openai("independent"), 2, "{}", output.stderr);
    assert_eq!(of_openai("revision"), 2, "{}", output.stderr);
    let record = conclave.record();
    assert_eq!(
        record["substitutions"].as_array().unwrap().len(),
        1,
        "{record}"
    );
    let substitution = &record["substitutions"][0];
    assert_eq!(substitution["agent_id"], "security");
    assert_eq!(substitution["substitute"], "openai:gpt-6.1-sol");
    assert_eq!(
        record["perspectives"].as_array().unwrap().len(),
        3,
        "every seat has an answer"
    );
}
