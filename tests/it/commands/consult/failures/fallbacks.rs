//! The fallbacks in the plan of a run, and their use.

use conclave::consultation::event::{ConsultationEvent, Event};
use conclave::domain::ids::ModelRef;
use conclave::records::journal::read_journal;
use serde_json::json;

use super::{attempts, each, overloaded, unauthorized};
use crate::commands::consult::ask;
use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{On, ProviderServer, Vendor};

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
    let panel = ["--panel", "security=claude-opus-5-5"];
    let judge = ["--judge", "claude-opus-5-5"];
    conclave
        .run(&[&["consult", "Shall we?"], &panel[..], &judge].concat())
        .ends_with(3);
    let journal = read_journal(&conclave.log("jsonl")).unwrap();
    let Event::Consultation(ConsultationEvent::Started(terms)) = &journal[0].event else {
        panic!("{:?}", journal[0])
    };
    let plan = terms.plan.as_ref().unwrap();
    let fallbacks = [
        ModelRef::new("openai", "gpt-6.1-sol"),
        ModelRef::new("google", "gemini-4-argon"),
    ];
    assert_eq!(
        plan.fallbacks.values().collect::<Vec<_>>(),
        [&fallbacks.to_vec()]
    );
    for fallback in fallbacks {
        let terms = &plan.models[&fallback];
        assert_eq!(terms.max_output_tokens, 9_000);
        assert!(terms.billing.is_metered());
        assert!(plan.prices.price(&fallback).is_some());
        assert_eq!(plan.in_flight.get(&fallback.provider), Some(&3));
    }
}

#[test]
fn first_fallback_takes_over_for_all_later_rounds_without_a_question() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    let (conclave, output) = ask(&server, &["--on-failure", "ask"]);
    let output = output.ends_with(0);
    output.assert_stderr_contains(
        "⚠️ anthropic:claude-sonnet-5-5 is unavailable (this key was withdrawn (HTTP 401); check \
         `ANTHROPIC_API_KEY`). openai:gpt-6.1-sol takes over as Security Expert.\n",
    );
    assert!(!output.stderr.contains("[Y/n"), "{}", output.stderr);
    let of_openai = |answer| {
        let requests = model_requests(&server).into_iter();
        requests
            .filter(|request| request.answer == answer && request.model == "gpt-6.1-sol")
            .count()
    };
    assert_eq!(of_openai("independent"), 2, "{}", output.stderr);
    assert_eq!(of_openai("revision"), 2, "{}", output.stderr);
    let record = conclave.record();
    let mut substitution = record["substitutions"][0].clone();
    substitution["message"].take();
    substitution["at"].take();
    assert_eq!(
        substitution,
        json!({
            "agent_id": "security",
            "agent": "Security Expert",
            "round_number": 1,
            "original": "anthropic:claude-sonnet-5-5",
            "substitute": "openai:gpt-6.1-sol",
            "reason": "failure",
            "message": null,
            "at": null,
        })
    );
    assert_eq!(record["substitutions"].as_array().unwrap().len(), 1);
    assert_eq!(record["perspectives"].as_array().unwrap().len(), 3);
    let attempts = attempts(&record, "round_1", "security");
    assert_eq!(each(attempts, "/purpose"), ["answer", "fallback"]);
}

#[test]
fn three_failures_in_a_row_open_the_circuit() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), overloaded());
    let judges = ["--judge", "anthropic:claude-opus-5-5,google:gemini-4-argon"];
    let (conclave, output) = ask(&server, &judges);
    let output = output.ends_with(0);
    let attempts = server.requests_to(Vendor::Anthropic).len();
    assert_eq!(attempts, 3, "the judge is not asked there");
    output.assert_stderr_contains(
        "⚠️ anthropic:claude-opus-5-5 is unavailable (`anthropic` has failed repeatedly). \
         google:gemini-4-argon takes over as Judge.\n",
    );
    let record = conclave.record();
    let substitutions = record["substitutions"].as_array().unwrap();
    assert_eq!(each(substitutions, "/reason"), ["failure", "health_check"]);
}
