//! Consultations with default settings: three keys, every vendor at its own address.
//!
//! Other tests set base URLs, which keep a question from the vendors that were not chosen, and
//! leave the debate analysis out. These show the seats, judge, helper and fallbacks of a first run.

use serde_json::Value;

use crate::commands::consult::assert_contains;
use crate::commands::consult::cost::assert_costs_add_up;
use crate::commands::consult::failures::unauthorized;
use crate::support::binary::Conclave;
use crate::support::model_requests::{ModelRequest, model_requests};
use crate::support::network::VendorHosts;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// The cheapest model of the three vendors.
const HELPER: &str = "google gemini-2.5-flash-lite";

/// A server at the vendors' own addresses, and the binary with its defaults.
struct DefaultRun {
    server: ProviderServer,
    hosts: VendorHosts,
    conclave: Conclave,
}

impl DefaultRun {
    fn new() -> Self {
        let server = ProviderServer::start();
        let hosts = VendorHosts::of(&server);
        let conclave = Conclave::by_default(&hosts);
        Self {
            server,
            hosts,
            conclave,
        }
    }

    /// Returns `vendor model` for each request for this kind of answer, sorted.
    fn asked_for(&self, answer: &str) -> Vec<String> {
        let mut models: Vec<String> = model_requests(&self.server)
            .iter()
            .filter(|request| request.answer == answer)
            .map(model)
            .collect();
        models.sort();
        models
    }
}

fn model(request: &ModelRequest) -> String {
    format!("{} {}", request.vendor.id(), request.model)
}

/// Returns `agent: original to substitute` for each substitution.
fn substitutions(record: &Value) -> Vec<String> {
    let substitutions = record["substitutions"].as_array().unwrap().iter();
    let line = |substitution: &Value| {
        let [agent, from, to] = ["agent_id", "original", "substitute"]
            .map(|field| substitution[field].as_str().unwrap());
        format!("{agent}: {from} to {to}")
    };
    substitutions.map(line).collect()
}

#[test]
fn each_vendor_gets_its_part_of_the_four_rounds() {
    let run = DefaultRun::new();
    let arguments = ["consult", "--format", "both", "Shall we?"];
    let output = run.conclave.run(&arguments).ends_with(0);
    let experts = [
        "anthropic claude-sonnet-5-5",
        "google gemini-4-argon",
        "openai gpt-6.1-sol",
    ];
    assert_eq!(run.asked_for("independent"), experts);
    assert_eq!(run.asked_for("synthesis"), ["openai gpt-6.1-sol"]);
    assert_eq!(run.asked_for("revision"), experts);
    assert_eq!(run.asked_for("cross_exam"), ["openai gpt-6.1-sol"]);
    assert_eq!(run.asked_for("comparison"), [HELPER]);
    assert_eq!(run.asked_for("verdict"), ["openai gpt-6.1-sol"]);
    assert_eq!(run.server.requests().len(), 10);
    output.assert_stderr_contains(
        "   Security Expert  anthropic:claude-sonnet-5-5\n   \
            Architect        openai:gpt-6.1-sol\n   \
            Pragmatist       google:gemini-4-argon\n   \
            Judge            openai:gpt-6.1-sol, then anthropic:claude-sonnet-5-5, google:gemini-4-argon\n",
    );
    output.assert_stderr_contains(" (auto-approved)\n");
    output.assert_stderr_contains("\n✅ Helper completed (");
    assert!(
        output.stderr.ends_with("✨ Consultation complete\n"),
        "{}",
        output.stderr
    );
    // Each vendor gets its own key at its own host.
    for request in run.server.requests() {
        let vendor = request.vendor.unwrap();
        assert_eq!(request.headers["host"], vendor.host().unwrap());
        let key = ["x-api-key", "authorization", "x-goog-api-key"]
            .iter()
            .find_map(|name| request.headers.get(*name))
            .unwrap();
        assert_eq!(key.trim_start_matches("Bearer "), vendor.key());
    }
    let connected: Vec<String> = run.hosts.connected().into_iter().collect();
    assert_eq!(
        connected,
        [
            "api.anthropic.com:443",
            "api.openai.com:443",
            "generativelanguage.googleapis.com:443"
        ]
    );
    // The comparison is paid and shown.
    let (report, _) = output.stdout.split_once("\n---\n").unwrap();
    for part in [
        "## Changes\n\nNo expert changed its mind, 3 refined their positions.\n",
        "**Security Expert** refined its position",
        "**Pragmatist** refined its position",
        "### Insights\n\n- Speed is what is contested\n",
    ] {
        assert_contains(report, part);
    }
    let record = run.conclave.record();
    let analysis = &record["debate_value_analysis"];
    assert_eq!(analysis["status"], "compared");
    assert_eq!(analysis["agents_compared"], 3);
    assert_eq!(analysis["agents_changed_position"], 3);
    let paid = &analysis["semantic_comparison_cost"]["micro_usd"];
    assert!(paid.as_u64().unwrap() > 0, "{analysis}");
    let cost = &record["cost"];
    assert_eq!(cost["by_agent"]["clerk"]["calls"], 1);
    assert_eq!(cost["by_agent"]["clerk"]["micro_usd"], *paid);
    let by_model = &cost["by_model"]["google:gemini-2.5-flash-lite"];
    assert_eq!(by_model["micro_usd"], *paid);
    assert_costs_add_up(&record);
}

#[test]
fn cheapest_model_would_select_the_personas() {
    let run = DefaultRun::new();
    let arguments = ["consult", "--personas", "auto", "--dry-run", "Shall we?"];
    let output = run.conclave.run(&arguments).ends_with(0);
    let selected = "selected for the question by google:gemini-2.5-flash-lite";
    assert_contains(&output.stdout, selected);
    assert!(run.server.requests().is_empty());
}

#[test]
fn refused_key_moves_seat_and_judge_to_the_next_vendor() {
    let run = DefaultRun::new();
    run.server.on(On::vendor(Vendor::OpenAi), unauthorized());
    run.conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let record = run.conclave.record();
    assert_eq!(
        substitutions(&record),
        [
            "architecture: openai:gpt-6.1-sol to anthropic:claude-sonnet-5-5",
            "judge: openai:gpt-6.1-sol to anthropic:claude-sonnet-5-5"
        ]
    );
    assert_eq!(run.asked_for("verdict"), ["anthropic claude-sonnet-5-5"]);
    assert_eq!(
        run.server.requests_to(Vendor::OpenAi).len(),
        1,
        "the judge does not ask with a key that the seat was refused with"
    );
    assert_eq!(record["status"], "degraded");
    assert_eq!(record["debate_value_analysis"]["status"], "compared");
}

#[test]
fn refused_key_of_the_helper_leaves_only_the_comparison_out() {
    let run = DefaultRun::new();
    run.server.on(On::vendor(Vendor::Google), unauthorized());
    // A reseller's key moves neither judge nor fallback.
    let conclave = run.conclave.with_key(Vendor::OpenRouter);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let reason = "; positions were not compared: `google` refuses the key or asks for payment";
    assert_contains(&output.stdout, reason);
    let record = conclave.record();
    assert_eq!(record["judge"]["provider"], "openai");
    assert_eq!(
        substitutions(&record),
        ["pragmatic: google:gemini-4-argon to anthropic:claude-sonnet-5-5"]
    );
    assert_eq!(record["debate_value_analysis"]["status"], "failed");
    assert_eq!(record["status"], "degraded");
    assert_eq!(run.server.requests_to(Vendor::Google).len(), 1);
    assert!(run.server.requests_to(Vendor::OpenRouter).is_empty());
}

#[test]
fn vendor_that_was_not_chosen_takes_a_seat_over() {
    let run = DefaultRun::new();
    let missing = Answer::error(404, "not_found_error", "model: claude-opus-5-5");
    run.server.on(On::model("claude-opus-5-5"), missing);
    let panel = ["--panel", "security=claude-opus-5-5"];
    let judge = ["--judge", "claude-sonnet-5-5"];
    run.conclave
        .run(&[&["consult", "Shall we?"], &panel[..], &judge].concat())
        .ends_with(0);
    assert_eq!(
        run.asked_for("independent"),
        ["anthropic claude-opus-5-5", "openai gpt-6.1-sol"]
    );
    assert_eq!(
        substitutions(&run.conclave.record()),
        ["security: anthropic:claude-opus-5-5 to openai:gpt-6.1-sol"]
    );
}
