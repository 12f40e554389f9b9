//! Every fault at every stage.

use serde_json::{Value, json};

use super::fault::{Bill, Fault, faults, quick_faults};
use super::stage::{STAGES, Stage};
use super::{
    FAILING, FALLBACK, arguments, assert_costs_add_up, check_concurrently, server_with_fault,
    with_short_timeouts,
};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{On, ProviderServer, Vendor};

fn every_fault_at_every_stage() -> Vec<(Fault, Stage)> {
    faults()
        .into_iter()
        .flat_map(|fault| STAGES.map(|stage| (fault.clone(), stage)))
        .collect()
}

fn classes(attempts: &[Value]) -> Vec<&Value> {
    attempts
        .iter()
        .map(|attempt| &attempt["error"]["class"])
        .collect()
}

fn line<'a>(output: &'a RunOutput, beginning: &str) -> &'a str {
    let mut lines = output
        .stderr
        .lines()
        .filter(|line| line.starts_with(beginning));
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no line begins with `{beginning}`: {}", output.stderr));
    assert_eq!(lines.next(), None, "the line appears once");
    line
}

#[test]
fn fallback_takes_over_after_every_fault_at_every_stage() {
    check_concurrently(every_fault_at_every_stage(), |(fault, stage)| {
        let what = format!("{} at {stage:?}", fault.what);
        let (server, conclave) =
            server_with_fault(&fault, stage.first()..stage.first() + fault.requests);
        let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
        let (agent, name) = stage.agent();

        let warning = line(&output, &format!("⚠️ {FAILING} is unavailable ("));
        assert!(warning.contains(fault.message), "{what}: {warning}");
        assert!(
            warning.ends_with(&format!("). {FALLBACK} takes over as {name}.")),
            "{what}: {warning}"
        );
        assert!(
            !output.stderr.contains("failed: "),
            "{what}: {}",
            output.stderr
        );
        assert!(
            output.stdout.starts_with("> ⚠️ **Degraded result:**"),
            "{what}: {}",
            output.stdout
        );
        assert!(
            output.stdout.contains(fault.message),
            "{what}: {}",
            output.stdout
        );

        let record = conclave.record();
        assert_eq!(record["status"], "degraded", "{what}");
        assert_eq!(record["state"], "Complete", "{what}");
        let substitutions = record["substitutions"].as_array().unwrap();
        assert_eq!(substitutions.len(), 1, "{what}: {substitutions:?}");
        let reason = if fault.class == "timeout" {
            "timeout"
        } else {
            "failure"
        };
        for (field, expected) in [
            ("agent_id", json!(agent)),
            ("agent", json!(name)),
            ("round_number", json!(stage.round())),
            ("original", json!(FAILING)),
            ("substitute", json!(FALLBACK)),
            ("reason", json!(reason)),
        ] {
            assert_eq!(substitutions[0][field], expected, "{what}");
        }
        assert!(
            substitutions[0]["message"]
                .as_str()
                .unwrap()
                .contains(fault.message),
            "{what}: {substitutions:?}"
        );
        assert_eq!(
            record["degradations"].as_array().unwrap().len(),
            1,
            "{what}: {}",
            record["degradations"]
        );

        let attempts = stage.attempts(&record);
        let (last, failed) = attempts.split_last().unwrap();
        assert_eq!(classes(failed), vec![fault.class; fault.requests], "{what}");
        assert_eq!(last["error"], Value::Null, "{what}");
        assert_eq!(last["purpose"], "fallback", "{what}");
        assert_eq!(last["model"], FALLBACK, "{what}");
        let purposes: Vec<&str> = failed
            .iter()
            .map(|attempt| attempt["purpose"].as_str().unwrap())
            .collect();
        assert_eq!(purposes[0], "answer", "{what}: {purposes:?}");
        assert!(
            purposes[1..].iter().all(|purpose| *purpose == "retry"),
            "{what}: {purposes:?}"
        );
        assert_eq!(
            record["cost"]["lower_bound"],
            json!(fault.bill == Bill::Unknown),
            "{what}: {}",
            record["cost"]
        );
        assert_costs_add_up(&record, &what);
        assert_eq!(
            server.requests_to(Vendor::Anthropic).len(),
            stage.first() - 1 + fault.requests,
            "{what}"
        );
    });
}

#[test]
fn transient_faults_appear_only_in_the_record() {
    let passing = |(fault, _): &(Fault, Stage)| fault.requests > 1;
    check_concurrently(
        every_fault_at_every_stage()
            .into_iter()
            .filter(passing)
            .collect(),
        |(fault, stage)| {
            let what = format!("{} once at {stage:?}", fault.what);
            let (_server, conclave) = server_with_fault(&fault, [stage.first()]);
            let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
            assert!(!output.stderr.contains("⚠️"), "{what}: {}", output.stderr);
            assert!(
                output.stdout.starts_with("# Consultation"),
                "{what}: {}",
                output.stderr
            );
            let record = conclave.record();
            assert_eq!(record["status"], "complete");
            assert_eq!(record["substitutions"], json!([]));
            assert_eq!(record["degradations"], json!([]));
            let attempts = stage.attempts(&record);
            assert_eq!(
                classes(&attempts),
                [&json!(fault.class), &Value::Null],
                "{what}"
            );
            assert_eq!(attempts[1]["purpose"], "retry", "{what}");
            assert_eq!(
                record["cost"]["lower_bound"],
                json!(fault.bill == Bill::Unknown),
                "{what}: the first attempt may have been billed"
            );
            assert_costs_add_up(&record, &what);
        },
    );
}

/// Counts the successful calls.
fn successes(record: &Value) -> usize {
    let rounds = record["responses"].as_object().unwrap().values();
    let agents = rounds.flat_map(|round| round["agents"].as_array().unwrap());
    agents
        .flat_map(|agent| agent["attempts"].as_array().unwrap())
        .filter(|attempt| attempt["error"].is_null())
        .count()
}

/// Returns the quick faults, each at the next stage in turn.
fn quick_faults_at_stages() -> Vec<(Fault, Stage)> {
    quick_faults()
        .into_iter()
        .zip(STAGES.into_iter().cycle())
        .collect()
}

#[test]
fn skip_omits_a_failed_expert_but_never_a_judge() {
    check_concurrently(quick_faults_at_stages(), |(fault, stage)| {
        let what = format!("{} at {stage:?}", fault.what);
        let (server, conclave) =
            server_with_fault(&fault, stage.first()..stage.first() + fault.requests);
        let output = conclave
            .run(&arguments(&[&stage.panel(), &["--on-failure", "skip"]]))
            .ends_with(0);
        let record = conclave.record();
        assert_eq!(record["status"], "degraded", "{what}");
        assert_eq!(record["state"], "Complete", "{what}");
        let attempts = stage.attempts(&record);
        match stage {
            Stage::Expert(_) => {
                assert!(
                    line(&output, "⚠️ Agent Security Expert failed: ").contains(fault.message),
                    "{what}"
                );
                assert_eq!(record["substitutions"], json!([]), "{what}");
                assert_eq!(attempts.len(), fault.requests, "{what}");
                assert!(
                    server.requests_to(Vendor::Mistral).is_empty(),
                    "{what}: no fallback is asked"
                );
            }
            Stage::Judge(_) => {
                assert!(
                    line(&output, "⚠️ ").ends_with(&format!("{FALLBACK} takes over as Judge.")),
                    "{what}: {}",
                    output.stderr
                );
                assert_eq!(attempts.len(), fault.requests + 1, "{what}");
            }
        }
    });
}

#[test]
fn fail_ends_the_run_and_resume_uses_a_fallback() {
    check_concurrently(quick_faults_at_stages(), |(fault, stage)| {
        let what = format!("{} at {stage:?}", fault.what);
        // The model still fails when the run resumes.
        let (server, conclave) =
            server_with_fault(&fault, stage.first()..stage.first() + 2 * fault.requests);
        let output = conclave
            .run(&arguments(&[&stage.panel(), &["--on-failure", "fail"]]))
            .ends_with(1);
        let (_, name) = stage.agent();
        let error = line(&output, "error: ");
        assert!(
            error.starts_with(&format!(
                "error: {name} failed in Round {}: ",
                stage.round()
            )),
            "{what}: {error}"
        );
        assert!(output.stdout.is_empty(), "{what}: {error}");
        assert!(error.contains(fault.message), "{what}: {error}");
        let record = conclave.record();
        let id = record["resume_token"].as_str().unwrap();
        let hint = format!("hint: resume it with `conclave resume {id} --on-failure substitute`");
        assert!(
            output.stderr.lines().any(|line| line == hint),
            "{what}: {}",
            output.stderr
        );
        assert_eq!(record["abort_reason"], "agent_failed", "{what}");
        assert_eq!(record["substitutions"], json!([]), "{what}");

        let successful = successes(&record);
        let before = (
            server.requests().len(),
            server.requests_to(Vendor::Anthropic).len(),
        );
        conclave
            .run(&["resume", id, "--on-failure", "substitute"])
            .ends_with(0);
        let record = conclave.record();
        assert_eq!(record["status"], "degraded", "{what}");
        assert_eq!(
            record["substitutions"].as_array().unwrap().len(),
            1,
            "{what}"
        );
        assert_costs_add_up(&record, &what);
        let repeated = server.requests_to(Vendor::Anthropic).len() - before.1;
        let (new_requests, experts) = (server.requests().len() - before.0, stage.experts());
        assert_eq!(
            new_requests - repeated,
            2 * experts + 3 - successful,
            "{what}: finished calls are not repeated"
        );
        assert_eq!(
            successes(&record),
            2 * experts + 3,
            "{what}: finished calls are not repeated"
        );
        assert!(repeated <= fault.requests, "{what}: {repeated}");
    });
}

#[test]
fn strict_requires_the_whole_panel() {
    check_concurrently(quick_faults_at_stages(), |(fault, stage)| {
        let what = format!("{} at {stage:?}", fault.what);
        let (server, conclave) =
            server_with_fault(&fault, stage.first()..stage.first() + fault.requests);
        let output = conclave
            .run(&arguments(&[&stage.panel(), &["--strict"]]))
            .ends_with(5);
        let (_, name) = stage.agent();
        let error = line(&output, "error: ");
        let message = format!(
            "error: Refused under --strict: {name}'s answer in Round {} is missing: ",
            stage.round()
        );
        assert!(output.stdout.is_empty(), "{what}: {error}");
        assert!(error.starts_with(&message), "{what}: {error}");
        assert!(error.contains(fault.message), "{what}: {error}");
        assert!(
            output
                .stderr
                .contains("hint: leave out `--strict` to accept a result with fewer answers"),
            "{what}: {}",
            output.stderr
        );
        let record = conclave.record();
        assert_eq!(record["abort_reason"], "strict", "{what}");
        assert_eq!(record["substitutions"], json!([]), "{what}");
        assert!(
            server.requests_to(Vendor::Mistral).is_empty(),
            "{what}: no fallback is asked"
        );
    });
}

#[test]
fn run_without_answers_reports_each_reason_once() {
    check_concurrently(quick_faults(), |fault| {
        let what = format!("{} everywhere", fault.what);
        let server = ProviderServer::start();
        server.on(On::any(), fault.answer.clone());
        let conclave = with_short_timeouts(Conclave::with_all_keys(&server), &fault);
        let output = conclave
            .run(&arguments(&[&Stage::Expert(1).panel()]))
            .ends_with(1);
        let (_, error) = output
            .stderr
            .split_once("error: All agents failed. Unable to provide consultation.\n")
            .unwrap();
        // What no model of a vendor can do is said of the vendor.
        let names = if ["auth", "billing"].contains(&fault.class) {
            ["Anthropic", "Google", "Mistral"]
        } else {
            ["Security Expert", "Architect", "Pragmatist"]
        };
        for (name, line) in names.into_iter().zip(error.lines()) {
            let reason = line
                .trim_start()
                .strip_prefix(name)
                .unwrap_or_else(|| panic!("{what}: {error}"));
            assert!(reason.starts_with([':', ' ']), "{what}: {error}");
            assert!(reason.contains(fault.message), "{what}: {error}");
        }
        let record = conclave.record();
        assert_eq!(record["abort_reason"], "all_agents_failed");
        assert_eq!(record["recommendation"], Value::Null);
        assert_eq!(output.stdout, String::new());
        assert_costs_add_up(&record, &what);
    });
}
