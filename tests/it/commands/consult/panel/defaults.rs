//! Consultations with default settings: three keys, every vendor at its own address.
//!
//! Other tests set base URLs, which keep a question from the vendors that were not chosen, and
//! leave the debate analysis out. These show the seats, judge, helper and fallbacks of a first run.

use serde_json::Value;

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

    /// Returns the models that were asked for anything, each once.
    fn asked_models(&self) -> Vec<String> {
        let mut models: Vec<String> = model_requests(&self.server).iter().map(model).collect();
        models.sort();
        models.dedup();
        models
    }
}

fn model(request: &ModelRequest) -> String {
    format!("{} {}", request.vendor.id(), request.model)
}

/// Returns `agent: original to substitute` for each substitution.
fn substitutions(record: &Value) -> Vec<String> {
    let text = |substitution: &Value, field| substitution[field].as_str().unwrap().to_owned();
    record["substitutions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|substitution| {
            format!(
                "{}: {} to {}",
                text(substitution, "agent_id"),
                text(substitution, "original"),
                text(substitution, "substitute")
            )
        })
        .collect()
}

/// Fails each time, with a short time to wait before the next attempt.
fn overloaded() -> Answer {
    Answer::error(529, "overloaded_error", "Overloaded").header("retry-after-ms", "1")
}

#[test]
fn each_vendor_gets_its_part_of_the_four_rounds() {
    let run = DefaultRun::new();
    let output = run.conclave.run(&["consult", "Shall we?"]).ends_with(0);
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
    let panel = "   Security Expert  anthropic:claude-sonnet-5-5\n   \
                 Architect        openai:gpt-6.1-sol\n   \
                 Pragmatist       google:gemini-4-argon\n   \
                 Judge            openai:gpt-6.1-sol, then anthropic:claude-sonnet-5-5, google:gemini-4-argon\n";
    output.assert_stderr_contains(panel);
    output.assert_stderr_contains(" (auto-approved)\n");
    assert!(
        output.stderr.ends_with("✨ Consultation complete\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn each_vendor_gets_its_own_key_at_its_own_host() {
    let run = DefaultRun::new();
    run.conclave.run(&["consult", "Shall we?"]).ends_with(0);
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
}

#[test]
fn cheapest_model_compares_the_positions_and_is_paid() {
    let run = DefaultRun::new();
    let output = run
        .conclave
        .run(&["consult", "--format", "json", "Shall we?"])
        .ends_with(0);
    let answer = output.json();
    let analysis = &answer["debate_value_analysis"];
    assert_eq!(analysis["status"], "compared");
    assert_eq!(analysis["agents_compared"], 3);
    assert_eq!(analysis["agents_changed_position"], 3);
    assert_eq!(analysis["key_insights"][0], "Speed is what is contested");
    let paid = &analysis["semantic_comparison_cost"]["micro_usd"];
    assert!(paid.as_u64().unwrap() > 0, "{analysis}");
    let cost = &answer["cost"];
    assert_eq!(cost["by_agent"]["clerk"]["calls"], 1);
    assert_eq!(cost["by_agent"]["clerk"]["micro_usd"], *paid);
    let by_model = &cost["by_model"]["google:gemini-2.5-flash-lite"];
    assert_eq!(by_model["micro_usd"], *paid);
    assert_eq!(cost["calls"], 10);
    let agents = cost["by_agent"].as_object().unwrap().values();
    let sum: u64 = agents
        .map(|agent| agent["micro_usd"].as_u64().unwrap())
        .sum();
    assert_eq!(cost["micro_usd"], sum, "the comparison is in the total");
    output.assert_stderr_contains("\n✔ Helper  ");
}

#[test]
fn report_shows_the_debate_value() {
    let run = DefaultRun::new();
    let report = run
        .conclave
        .run(&["consult", "Shall we?"])
        .ends_with(0)
        .stdout;
    for part in [
        "## Changes\n\n3 of 3 experts changed their minds.\n",
        "**Security Expert** changed its mind, a minor refinement",
        "**Pragmatist** changed its mind, a minor refinement",
        "### Insights\n\n- Speed is what is contested\n",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn preview_names_the_helper_and_makes_no_call() {
    let run = DefaultRun::new();
    let preview = run
        .conclave
        .run(&["consult", "--dry-run", "Shall we?"])
        .ends_with(0)
        .stdout;
    assert!(
        preview.contains("google:gemini-2.5-flash-lite"),
        "{preview}"
    );
    assert!(run.server.requests().is_empty());
}

#[test]
fn overloaded_vendors_seat_goes_to_the_next_vendor_for_good() {
    let run = DefaultRun::new();
    run.server.on(On::vendor(Vendor::Anthropic), overloaded());
    let output = run.conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let attempts = run.server.requests_to(Vendor::Anthropic);
    assert_eq!(attempts.len(), 3, "two retries in Round 1, then no call");
    assert_eq!(
        run.asked_for("revision"),
        [
            "google gemini-4-argon",
            "openai gpt-6.1-sol",
            "openai gpt-6.1-sol"
        ]
    );
    assert_eq!(run.asked_for("comparison"), [HELPER]);
    assert_eq!(
        substitutions(&run.conclave.record()),
        ["security: anthropic:claude-sonnet-5-5 to openai:gpt-6.1-sol"]
    );
    let notice = "⚠️ anthropic:claude-sonnet-5-5 is unavailable (Overloaded (HTTP 529)). \
                  openai:gpt-6.1-sol takes over as Security Expert.\n";
    output.assert_stderr_contains(notice);
    let warning = "> ⚠️ **Degraded result:** this is less than the panel promised.\n>\n\
                   > - openai:gpt-6.1-sol took over from anthropic:claude-sonnet-5-5 as Security \
                   Expert in Round 1 and later: Overloaded (HTTP 529)\n";
    assert!(output.stdout.starts_with(warning), "{}", output.stdout);
}

#[test]
fn refused_key_moves_seat_and_judge_to_the_next_vendor() {
    let run = DefaultRun::new();
    run.server.on(On::vendor(Vendor::OpenAi), unauthorized());
    let answer = run
        .conclave
        .run(&["consult", "--format", "json", "Shall we?"])
        .ends_with(0)
        .json();
    assert_eq!(
        substitutions(&answer),
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
    assert_eq!(answer["status"], "degraded");
    assert_eq!(answer["debate_value_analysis"]["status"], "compared");
}

#[test]
fn resellers_key_moves_neither_judge_nor_fallback() {
    let mut run = DefaultRun::new();
    run.conclave = run.conclave.with_key(Vendor::OpenRouter);
    run.server.on(On::vendor(Vendor::Google), unauthorized());
    run.conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let record = run.conclave.record();
    assert_eq!(record["judge"]["provider"], "openai");
    assert_eq!(
        substitutions(&record),
        ["pragmatic: google:gemini-4-argon to anthropic:claude-sonnet-5-5"]
    );
    assert!(run.server.requests_to(Vendor::OpenRouter).is_empty());
}

#[test]
fn refused_key_of_the_helper_leaves_only_the_comparison_out() {
    let run = DefaultRun::new();
    run.server.on(On::vendor(Vendor::Google), unauthorized());
    let output = run
        .conclave
        .run(&["consult", "--format", "both", "Shall we?"])
        .ends_with(0);
    assert!(
        output.stdout.contains(
            "; positions were not compared: `google` refuses the key or asks for payment"
        ),
        "{}",
        output.stdout
    );
    let record = run.conclave.record();
    assert_eq!(
        substitutions(&record),
        ["pragmatic: google:gemini-4-argon to anthropic:claude-sonnet-5-5"]
    );
    assert_eq!(record["debate_value_analysis"]["status"], "failed");
    assert_eq!(record["status"], "degraded");
    assert!(run.asked_for("comparison").is_empty(), "the key is refused");
    assert_eq!(run.server.requests_to(Vendor::Google).len(), 1);
}

#[test]
fn vendor_that_was_not_chosen_takes_a_seat_over() {
    let run = DefaultRun::new();
    let missing = Answer::error(404, "not_found_error", "model: claude-opus-5-5");
    run.server.on(On::model("claude-opus-5-5"), missing);
    run.conclave
        .run(&[
            "consult",
            "--panel",
            "security=claude-opus-5-5",
            "--judge",
            "claude-sonnet-5-5",
            "Shall we?",
        ])
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

#[test]
fn vendor_without_a_seat_judges() {
    let run = DefaultRun::new();
    let conclave = run.conclave.with_key(Vendor::Xai);
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert!(
        output
            .stderr
            .contains("   Judge            xai:grok-4.7, then "),
        "{}",
        output.stderr
    );
    let judged: Vec<String> = run
        .server
        .requests_to(Vendor::Xai)
        .iter()
        .map(|request| format!("{} {}", request.headers["host"], request.model))
        .collect();
    assert_eq!(judged, ["api.x.ai grok-4.7"; 3]);
}

#[test]
fn one_gateway_keeps_the_positions_from_other_models() {
    let run = DefaultRun::new();
    let gateway = run.server.base_url(Vendor::Anthropic);
    let conclave = run.conclave.variable("ANTHROPIC_BASE_URL", gateway);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let run = DefaultRun { conclave, ..run };
    assert_eq!(
        run.asked_for("comparison"),
        ["openai gpt-6.1-sol"],
        "the judge sees the positions anyway"
    );
    assert_eq!(
        run.asked_models(),
        [
            "anthropic claude-sonnet-5-5",
            "google gemini-4-argon",
            "openai gpt-6.1-sol"
        ]
    );
    assert!(!run.hosts.connected().contains("api.anthropic.com:443"));
}

#[test]
fn cheapest_model_selects_the_personas() {
    let run = DefaultRun::new();
    let output = run
        .conclave
        .run(&["consult", "--personas", "auto", "Shall we?"])
        .ends_with(0);
    assert_eq!(run.asked_for("persona_selection"), [HELPER]);
    assert!(
        output
            .stderr
            .contains("   Helper    google:gemini-2.5-flash-lite, selects the personas\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn unknown_model_of_openai_gets_its_own_token_field() {
    let run = DefaultRun::new();
    let new = "openai:gpt-new";
    run.conclave
        .run(&[
            "consult",
            "--yes",
            "--model",
            new,
            "--judge",
            new,
            "Shall we?",
        ])
        .ends_with(0);
    let requests = run.server.requests_to(Vendor::OpenAi);
    assert_eq!(requests.len(), 9);
    for request in requests {
        assert!(request.body["max_completion_tokens"].is_u64());
        assert!(request.body["max_tokens"].is_null());
    }
}
