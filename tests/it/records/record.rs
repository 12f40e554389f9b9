//! The record is also the JSON output: its published schema, its sums, its seed keys.

use conclave::consultation::event::{CallEvent, CallStarted, ConsultationEvent, Envelope, Event};
use conclave::consultation::transcript::Transcript;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::tokens::Usage;
use conclave::records::files::ConsultationFiles;
use conclave::records::stored;
use proptest::prelude::*;
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
        let written = recorded(&events);
        let errors: Vec<String> = validator
            .iter_errors(&written)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    let mut wrong = recorded(&whole);
    wrong["confidence"] = json!("85%");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn menu_lists_each_option_and_states_the_source_of_the_verdict() {
    let menu = recorded(&sample_events::explored());
    assert_eq!(&menu["mode"], &json!("explore"));
    assert_eq!(&menu["confidence"], &Value::Null);
    assert_eq!(&menu["verdict_source"], &json!("judge"));
    assert_eq!(
        menu["recommendation"],
        "Ask first whether partners will call the interface."
    );
    let wanted = json!({
        "option": "OAuth with JWT",
        "description": "Let the provider issue short-lived tokens.\nKeep sessions for the rest.",
        "pros": ["A leak is short", "Clients are many"],
        "cons": ["One more thing to run"],
        "best_when": "partners call the interface",
        "confidence": 0.8,
    });
    assert_eq!(&menu["recommendations"][0], &wanted);
    assert_eq!(menu["recommendations"].as_array().map(Vec::len), Some(2));
    assert_eq!(menu["recommendations"][1]["confidence"], Value::Null);
    let whole = recorded(&sample_events::complete());
    assert_eq!(&whole["recommendations"], &json!([]));
    assert_eq!(&whole["verdict_source"], &json!("judge"));
    assert_eq!(
        recorded(&sample_events::composed())["verdict_source"],
        "synthesis"
    );
    assert_eq!(
        recorded(&sample_events::troubled())["verdict_source"],
        Value::Null
    );
}

#[test]
fn output_has_the_keys_promised_to_scripts() {
    let written = recorded(&sample_events::complete());
    assert_eq!(
        written["consultation_id"],
        "consult-01kaj0sample0000000000000"
    );
    assert_eq!(written["question"], "Should I use OAuth or JWT?");
    assert_eq!(
        written["consensus"],
        "Use OAuth 2.0 with JWT access tokens."
    );
    assert_eq!(written["confidence"], 0.85);
    assert_eq!(written["perspectives"][0]["agent"], "Security Expert");
    assert_eq!(written["perspectives"][0]["model"], "claude-sonnet-5-5");
    assert_eq!(
        written["evidence"],
        json!(["Delegation is what OAuth is for"])
    );
    assert_eq!(written["dissent"][0]["agent"], "Pragmatist");
    assert_eq!(written["status"], "complete");
    assert_eq!(written["rounds"], 4);
    assert_eq!(written["completed_rounds"], json!([1, 2, 3, 4]));
    assert_eq!(written["prompt_versions"]["converge_independent_v"], "v1.0");
    assert_eq!(
        written["prompt_versions"]["independent_prompt_version"],
        "v1.0"
    );
    assert_eq!(
        written["responses"]["round_3"]["artifacts"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(
        written["responses"]["round_1"]["agents"][0]["served_model"],
        "gpt-6.1-sol-20260901"
    );
    assert_eq!(written["cost"]["tokens"]["total"], 9 * 1_204);
    assert_eq!(written["cost"]["micro_usd"], 9 * 13_101);
}

#[test]
fn page_leaves_out_steps_that_did_not_run() {
    let aborted = recorded(&sample_events::aborted());
    assert_eq!(&aborted["status"], &json!("aborted"));
    assert_eq!(&aborted["abort_reason"], &json!("interrupted"));
    assert_eq!(&aborted["consensus"], &Value::Null);
    assert_eq!(&aborted["confidence"], &Value::Null);
    let completed = aborted["completed_rounds"].as_array().unwrap();
    assert_eq!(completed.len(), 2);
    assert_eq!(&completed[1]["round_number"], &json!(2));
    assert_eq!(&aborted["incomplete_rounds"], &json!([3, 4]));
    assert_eq!(
        completed[0]["artifacts"],
        aborted["responses"]["round_1"]["artifacts"]
    );
    assert_eq!(
        aborted["resume_token"],
        Value::Null,
        "its journal has no terms to go on with"
    );
    assert_eq!(
        aborted["partial_consensus"],
        "OAuth 2.0 for delegation, JWT as the token format"
    );
    assert_eq!(&aborted["cost"]["lost_calls"], &json!(1));
    assert_eq!(&aborted["cost"]["lower_bound"], &json!(true));
    let complete = recorded(&sample_events::complete());
    assert_eq!(&complete["resume_token"], &Value::Null);
    assert_eq!(&complete["hedges"], &json!([]));
    assert_eq!(&complete["early_termination"], &json!(false));
    assert_eq!(&complete["early_termination_evaluation"], &Value::Null);
    assert_eq!(complete.get("scrubbing_report"), None);
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
    let mut events = filtered(640);
    let efficiency = json!({
        "tokens_used": 9 * 1_204,
        "tokens_saved_via_filtering": 5 * 640,
        "efficiency_percentage": 22.8,
        "filtering_method": "structured_artifact_array_truncation",
    });
    assert_eq!(recorded(&events)["token_efficiency_stats"], efficiency);
    let refused = events
        .iter_mut()
        .rev()
        .find_map(|envelope| match &mut envelope.event {
            Event::Call(CallEvent::Finished(call)) => Some(call),
            _ => None,
        });
    refused.unwrap().tokens = Usage::default();
    assert_eq!(
        recorded(&events)["token_efficiency_stats"]["tokens_saved_via_filtering"],
        4 * 640
    );
}

#[test]
fn no_savings_are_shown_without_filtering_or_calls() {
    let stats = |events: &[Envelope]| recorded(events)["token_efficiency_stats"].clone();
    let whole = json!({
        "tokens_used": 9 * 1_204,
        "tokens_saved_via_filtering": 0,
        "efficiency_percentage": 0.0,
        "filtering_method": "none",
    });
    assert_eq!(stats(&sample_events::complete()), whole);
    assert_eq!(
        stats(&sample_events::complete()[..1])["efficiency_percentage"],
        Value::Null
    );
}

#[test]
fn estimate_states_its_range() {
    let estimate = recorded(&sample_events::complete())["estimated_cost"].clone();
    let micro = |name: &str| estimate[name]["micro_usd"].as_u64().unwrap();
    let expected = estimate["micro_usd"].as_u64().unwrap();
    assert!(micro("low") < expected, "{estimate}");
    assert!(expected < micro("high"), "{estimate}");
    assert_eq!(estimate["high"]["lower_bound"], estimate["lower_bound"]);
}

#[test]
fn seat_of_the_embedded_model_is_marked() {
    let is_local = |events: &[Envelope]| recorded(events)["agents"][0]["demonstration"].clone();
    assert_eq!(is_local(&sample_events::complete()), json!(false));
    // Its whole panel is the embedded model.
    assert_eq!(is_local(&sample_events::degraded()), json!(true));
}

#[test]
fn concerns_name_their_author_and_severity() {
    let record = recorded(&sample_events::complete());
    let concern = |text: &str, raised_by: Value, severity: Value| {
        json!({
            "text": text,
            "raised_by": raised_by,
            "severity": severity,
        })
    };
    assert_eq!(
        record["concerns_detail"],
        json!([
            concern(
                "Who runs the authorization server",
                json!(null),
                json!(null)
            ),
            concern(
                "Token refresh complexity is underestimated",
                json!("Security Expert"),
                json!("high")
            ),
            concern(
                "An authorization server is one more thing to run",
                json!("Pragmatist"),
                json!("low")
            ),
        ])
    );
    assert_eq!(record["concerns"][0], "Who runs the authorization server");
}

#[test]
fn a_failed_agent_has_its_error_in_its_response() {
    let degraded = recorded(&sample_events::degraded());
    let agents = degraded["responses"]["round_1"]["agents"]
        .as_array()
        .unwrap();
    let failed = agents
        .iter()
        .find(|agent| agent["agent_id"] == "pragmatic")
        .unwrap();
    assert_eq!(
        failed["error"],
        json!({ "class": "billing", "message": "Your credit balance is too low" })
    );
    assert_eq!(degraded["perspectives"].as_array().unwrap().len(), 2);
}

#[test]
fn every_attempt_and_every_problem_is_in_the_response() {
    let troubled = recorded(&sample_events::troubled());
    let agents = troubled["responses"]["round_1"]["agents"]
        .as_array()
        .unwrap();
    assert_eq!(agents[1]["agent_id"].as_str(), Some("security"));
    assert_eq!(agents[1]["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(agents[1]["attempts"][0]["error"]["class"], "overload");
    assert_eq!(
        agents[0]["problems"][0]["what"],
        "no JSON object in the answer"
    );
    assert_eq!(&troubled["status"], &json!("degraded"));
    assert_eq!(&troubled["consensus"], &Value::Null);
}

#[test]
fn fallback_model_is_named_beside_its_answer() {
    let substituted = recorded(&sample_events::substituted());
    assert_eq!(substituted["status"], "degraded");
    assert_eq!(
        substituted["substitutions"][0]["original"],
        "google:gemini-3-pro"
    );
    assert_eq!(substituted["perspectives"][2]["model"], "grok-4.7");
    assert_eq!(
        substituted["agents"][2]["model"], "gemini-3-pro",
        "the panel of the plan"
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

/// Sums a field over all groups.
fn sum(groups: &Value, field: impl Fn(&Value) -> &Value) -> u64 {
    groups
        .as_object()
        .unwrap()
        .values()
        .map(|group| field(group).as_u64().unwrap())
        .sum()
}

proptest! {
    #[test]
    fn every_grouping_adds_up_to_the_total(
        costs in proptest::collection::vec((0u64..10_000_000, any::<bool>(), 0u64..100_000), 9),
    ) {
        let mut events = sample_events::complete();
        let finished = events
            .iter_mut()
            .filter_map(|envelope| match &mut envelope.event {
                Event::Call(CallEvent::Finished(call)) => Some(call),
                _ => None,
            });
        for (call, (known, lower_bound, output)) in finished.zip(&costs) {
            call.cost = Cost {
                known: MicroUsd(*known),
                lower_bound: *lower_bound,
            };
            call.tokens.output = *output;
        }
        let written = recorded(&events);
        let cost = &written["cost"];
        prop_assert_eq!(
            cost["lower_bound"].as_bool().unwrap(),
            costs.iter().any(|(_, lower_bound, _)| *lower_bound)
        );
        for grouping in ["by_provider", "by_model", "by_agent", "by_round"] {
            prop_assert_eq!(
                sum(&cost[grouping], |group| &group["micro_usd"]),
                cost["micro_usd"].as_u64().unwrap()
            );
            prop_assert_eq!(
                sum(&cost[grouping], |group| &group["tokens"]["total"]),
                cost["tokens"]["total"].as_u64().unwrap()
            );
            prop_assert_eq!(sum(&cost[grouping], |group| &group["calls"]), 9);
        }
        let in_responses: u64 = written["responses"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|round| round["agents"].as_array().unwrap())
            .map(|agent| agent["cost"]["micro_usd"].as_u64().unwrap())
            .sum();
        prop_assert_eq!(in_responses, cost["micro_usd"].as_u64().unwrap());
    }
}
