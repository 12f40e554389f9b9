//! The record is also the JSON output: its published schema, its sums, its seed keys.

use conclave::consultation::event::{CallEvent, CallStarted, ConsultationEvent, Envelope, Event};
use conclave::consultation::transcript::Transcript;
use conclave::domain::cost::tokens::Usage;
use conclave::records::files::ConsultationFiles;
use conclave::records::stored;
use serde_json::{Value, json};

use crate::support::record_json;
use crate::support::{sample_events, script};

const SCHEMA: &str = include_str!("../../../schemas/consultation.schema.json");

fn recorded(events: &[Envelope]) -> Value {
    record_json(&Transcript::fold(events).unwrap())
}

#[test]
fn every_kind_of_record_keeps_to_the_published_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut samples = sample_events::all();
    // A log can end anywhere.
    let whole = sample_events::complete();
    samples.extend((1..whole.len()).map(|end| whole[..end].to_vec()));
    for events in samples {
        let errors = validator
            .validate(&recorded(&events))
            .map_err(|error| error.to_string());
        assert_eq!(errors, Ok(()));
    }
    let mut wrong = recorded(&whole);
    wrong["confidence"] = json!("85%");
    assert!(!validator.is_valid(&wrong));
}

/// Checks values of a record by their JSON pointers.
fn assert_has(record: &Value, values: &[(&str, Value)]) {
    for (place, value) in values {
        let found = record.pointer(place).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{place}");
    }
}

#[test]
fn output_has_the_keys_promised_to_scripts() {
    let written = recorded(&sample_events::complete());
    assert_has(
        &written,
        &[
            (
                "/consultation_id",
                json!("consult-01kaj0sample0000000000000"),
            ),
            ("/question", json!("Should I use OAuth or JWT?")),
            ("/consensus", json!("Use OAuth 2.0 with JWT access tokens.")),
            ("/confidence", json!(0.85)),
            ("/perspectives/0/agent", json!("Security Expert")),
            ("/perspectives/0/model", json!("claude-sonnet-5-5")),
            ("/evidence", json!(["Delegation is what OAuth is for"])),
            ("/dissent/0/agent", json!("Pragmatist")),
            ("/status", json!("complete")),
            ("/rounds", json!(4)),
            ("/completed_rounds", json!([1, 2, 3, 4])),
            ("/prompt_versions/converge_independent_v", json!("v1.0")),
            ("/prompt_versions/independent_prompt_version", json!("v1.0")),
            (
                "/responses/round_1/agents/0/served_model",
                json!("gpt-6.1-sol-20260901"),
            ),
            ("/cost/tokens/total", json!(9 * 1_204)),
            ("/cost/micro_usd", json!(9 * 13_101)),
            ("/resume_token", Value::Null),
            ("/hedges", json!([])),
            ("/early_termination", json!(false)),
            ("/early_termination_evaluation", Value::Null),
            // Every seat is a model of a vendor.
            ("/agents/0/demonstration", json!(false)),
        ],
    );
    let artifacts = &written["responses"]["round_3"]["artifacts"];
    assert_eq!(artifacts.as_array().unwrap().len(), 4);
    assert_eq!(written.get("scrubbing_report"), None);
    let micro = |of: &Value| of["micro_usd"].as_u64().unwrap();
    let estimate = &written["estimated_cost"];
    assert!(micro(&estimate["low"]) < micro(estimate), "{estimate}");
    assert!(micro(estimate) < micro(&estimate["high"]), "{estimate}");
    assert_eq!(estimate["high"]["lower_bound"], estimate["lower_bound"]);
}

#[test]
fn record_leaves_out_steps_that_did_not_run() {
    let aborted = recorded(&sample_events::aborted());
    assert_has(
        &aborted,
        &[
            ("/status", json!("aborted")),
            ("/abort_reason", json!("interrupted")),
            ("/consensus", json!("Delegate access with tokens, for now.")),
            ("/confidence", json!(0.7)),
            ("/completed_rounds/1/round_number", json!(2)),
            ("/incomplete_rounds", json!([3, 4])),
            // Its journal has no terms to go on with.
            ("/resume_token", Value::Null),
            (
                "/partial_consensus",
                json!("OAuth 2.0 for delegation, JWT as the token format"),
            ),
            ("/cost/lost_calls", json!(1)),
            ("/cost/lower_bound", json!(true)),
        ],
    );
    let completed = aborted["completed_rounds"].as_array().unwrap();
    assert_eq!(completed.len(), 2);
    let first = &aborted["responses"]["round_1"]["artifacts"];
    assert_eq!(&completed[0]["artifacts"], first);
}

#[test]
fn menu_lists_each_option_and_states_the_source_of_the_verdict() {
    let menu = recorded(&sample_events::explored());
    let first = json!({
        "option": "OAuth with JWT",
        "description": "Let the provider issue short-lived tokens.\nKeep sessions for the rest.",
        "pros": ["A leak is short", "Clients are many"],
        "cons": ["One more thing to run"],
        "best_when": "partners call the interface",
        "confidence": 0.8,
    });
    assert_has(
        &menu,
        &[
            ("/mode", json!("explore")),
            ("/confidence", Value::Null),
            (
                "/recommendation",
                json!("Ask first whether partners will call the interface."),
            ),
            ("/recommendations/0", first),
            ("/recommendations/1/confidence", Value::Null),
        ],
    );
    assert_eq!(menu["recommendations"].as_array().map(Vec::len), Some(2));
    let whole = recorded(&sample_events::complete());
    assert_eq!(whole["recommendations"], json!([]));
    for (record, source) in [
        (menu, json!("judge")),
        (whole, json!("judge")),
        (recorded(&sample_events::provisional()), json!("synthesis")),
        (recorded(&sample_events::aborted()), json!("synthesis")),
        (recorded(&sample_events::troubled()), Value::Null),
    ] {
        assert_eq!(record["verdict_source"], source);
    }
}

/// Returns a complete consultation whose prompts in Rounds 3 and 4 saved this many tokens.
fn filtered(tokens_saved: u64) -> Vec<Envelope> {
    let mut events = sample_events::complete();
    for envelope in &mut events {
        match &mut envelope.event {
            Event::Consultation(ConsultationEvent::Started(terms)) => {
                terms.plan = Some(Box::new(script::plan()));
            }
            Event::Call(CallEvent::Started(CallStarted {
                round_number: 3 | 4,
                tokens_saved: saved,
                ..
            })) => *saved = tokens_saved,
            _ => {}
        }
    }
    events
}

#[test]
fn savings_of_filtering_are_counted_from_the_prompts() {
    let stats = |events: &[Envelope]| recorded(events)["token_efficiency_stats"].clone();
    let mut events = filtered(640);
    let efficiency = json!({
        "tokens_used": 9 * 1_204,
        "tokens_saved_via_filtering": 5 * 640,
        "efficiency_percentage": 22.8,
        "filtering_method": "structured_artifact_array_truncation",
    });
    assert_eq!(stats(&events), efficiency);
    let mut calls = events.iter_mut().rev();
    let refused = calls.find_map(|envelope| match &mut envelope.event {
        Event::Call(CallEvent::Finished(call)) => Some(call),
        _ => None,
    });
    refused.unwrap().tokens = Usage::default();
    assert_eq!(stats(&events)["tokens_saved_via_filtering"], 4 * 640);
    let whole = sample_events::complete();
    let nothing_saved = json!({
        "tokens_used": 9 * 1_204,
        "tokens_saved_via_filtering": 0,
        "efficiency_percentage": 0.0,
        "filtering_method": "none",
    });
    assert_eq!(stats(&whole), nothing_saved);
    assert_eq!(stats(&whole[..1])["efficiency_percentage"], Value::Null);
}

#[test]
fn concerns_name_their_author_and_severity() {
    let record = recorded(&sample_events::complete());
    let concerns = record["concerns_detail"].as_array().unwrap().iter();
    let concerns: Vec<_> = concerns
        .map(|concern| json!([concern["text"], concern["raised_by"], concern["severity"]]))
        .collect();
    assert_eq!(
        concerns,
        [
            json!(["Who runs the authorization server", null, null]),
            json!([
                "Token refresh complexity is underestimated",
                "Security Expert",
                "high"
            ]),
            json!([
                "An authorization server is one more thing to run",
                "Pragmatist",
                "low"
            ]),
        ]
    );
    assert_eq!(record["concerns"][0], "Who runs the authorization server");
}

#[test]
fn failures_retries_and_fallbacks_are_in_the_record() {
    let degraded = recorded(&sample_events::degraded());
    let agents = degraded["responses"]["round_1"]["agents"]
        .as_array()
        .unwrap();
    let mut agents = agents.iter();
    let failed = agents
        .find(|agent| agent["agent_id"] == "pragmatic")
        .unwrap();
    let error = json!({ "class": "billing", "message": "Your credit balance is too low" });
    assert_eq!(failed["error"], error);
    assert_eq!(degraded["perspectives"].as_array().unwrap().len(), 2);
    // Its whole panel is the embedded model.
    assert_eq!(degraded["agents"][0]["demonstration"], true);

    let troubled = recorded(&sample_events::troubled());
    assert_has(
        &troubled,
        &[
            ("/status", json!("degraded")),
            ("/consensus", Value::Null),
            ("/responses/round_1/agents/1/agent_id", json!("security")),
            (
                "/responses/round_1/agents/1/attempts/0/error/class",
                json!("overload"),
            ),
            (
                "/responses/round_1/agents/0/problems/0/what",
                json!("no JSON object in the answer"),
            ),
        ],
    );
    let attempts = &troubled["responses"]["round_1"]["agents"][1]["attempts"];
    assert_eq!(attempts.as_array().unwrap().len(), 2);

    assert_has(
        &recorded(&sample_events::substituted()),
        &[
            ("/status", json!("degraded")),
            ("/substitutions/0/original", json!("google:gemini-3-pro")),
            ("/perspectives/2/model", json!("grok-4.7")),
            // The panel of the plan.
            ("/agents/2/model", json!("gemini-3-pro")),
        ],
    );
}

#[test]
fn results_are_written_after_the_journal_and_read_back() {
    let home = tempfile::tempdir().unwrap();
    let events = sample_events::complete();
    let transcript = Transcript::fold(&events).unwrap();
    let files = ConsultationFiles::in_folder(home.path(), &transcript.id);
    files
        .write_results(&transcript.stored_record(), "# Markdown\n")
        .unwrap();
    let stored_record = stored::read_file(&files.record).unwrap();
    assert_eq!(stored_record.consultation_id(), Some(transcript.id.clone()));
    assert_eq!(stored_record.total_cost(), Some(transcript.total().cost));
    assert_eq!(
        std::fs::read_to_string(&files.markdown).unwrap(),
        "# Markdown\n"
    );
}
