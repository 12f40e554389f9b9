//! Complete but unusable answers: refusals, prose instead of JSON, and truncated JSON.

use serde_json::{Value, json};

use super::stage::{STAGES, Stage};
use super::{
    FAILING, FALLBACK, arguments, assert_costs_add_up, check_concurrently, failing_server,
};
use crate::support::provider_server::Answer;

fn purposes(stage: Stage, record: &Value) -> Vec<String> {
    stage
        .attempts(record)
        .iter()
        .map(|attempt| attempt["purpose"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn refusing_expert_abstains_and_refusing_judge_is_replaced() {
    check_concurrently(STAGES.into(), |stage| {
        let (server, conclave) =
            failing_server(&Answer::refusal("I would rather not"), [stage.first()]);
        let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
        let record = conclave.record();
        let message = "declined to answer: I would rather not";
        match stage {
            Stage::Expert(_) => {
                assert!(
                    output
                        .stderr
                        .contains(&format!("⚠️ Agent Security Expert failed: {message}\n")),
                    "{stage:?}: {}",
                    output.stderr
                );
                assert_eq!(record["substitutions"], json!([]), "{stage:?}");
                assert_eq!(purposes(stage, &record).len(), 1, "{stage:?}");
            }
            Stage::Judge(_) => {
                let expected = format!(
                    "⚠️ {FAILING} is unavailable ({message}). {FALLBACK} takes over as Judge.\n"
                );
                assert!(
                    output.stderr.contains(&expected),
                    "{stage:?}: {}",
                    output.stderr
                );
                assert_eq!(
                    purposes(stage, &record),
                    ["answer", "fallback"],
                    "{stage:?}"
                );
            }
        }
        assert_eq!(record["status"], "degraded", "{stage:?}");
        assert_eq!(record["cost"]["lower_bound"], false, "{stage:?}");
        assert_costs_add_up(&record, "a refusal");
        drop(server);
    });
}

#[test]
fn prose_answers_are_repaired_once_and_then_used_as_prose() {
    let garbage = "Small steps, I would say.";
    let cases = STAGES
        .into_iter()
        .flat_map(|stage| [(stage, 1), (stage, 2)])
        .collect();
    check_concurrently(cases, |(stage, times): (Stage, usize)| {
        let what = format!("{times} times at {stage:?}");
        let (_server, conclave) =
            failing_server(&Answer::text(garbage), stage.first()..stage.first() + times);
        let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
        let record = conclave.record();
        assert_eq!(purposes(stage, &record), ["answer", "repair"], "{what}");
        assert_eq!(record["substitutions"], json!([]), "{what}");
        assert_eq!(record["cost"]["lower_bound"], false, "{what}");
        assert!(
            !output.stderr.contains("⚠️ Agent"),
            "{what}: {}",
            output.stderr
        );
        if times == 1 {
            assert_eq!(
                record["status"], "complete",
                "{what}: {}",
                record["degradations"]
            );
        } else {
            let degradation = record["degradations"][0].as_str().unwrap();
            assert!(
                degradation.ends_with(&format!(
                    "in Round {} could not be read as asked; its text is quoted as it is",
                    stage.round()
                )),
                "{what}: {degradation}"
            );
            assert!(
                output.stdout.starts_with("> ⚠️ **Degraded result:**"),
                "{what}: {}",
                output.stdout
            );
        }
        assert_costs_add_up(&record, &what);
    });
}

#[test]
fn truncated_answers_get_twice_the_token_limit_once() {
    let cases = STAGES
        .into_iter()
        .flat_map(|stage| [(stage, 1), (stage, 2)])
        .collect();
    check_concurrently(cases, |(stage, times): (Stage, usize)| {
        let what = format!("{times} times at {stage:?}");
        let (_server, conclave) = failing_server(
            &Answer::length("Small ste"),
            stage.first()..stage.first() + times,
        );
        conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
        let record = conclave.record();
        assert_eq!(purposes(stage, &record), ["answer", "more_room"], "{what}");
        assert_eq!(record["substitutions"], json!([]), "{what}");
        assert_eq!(
            record["status"],
            json!(["complete", "degraded"][times - 1]),
            "{what}"
        );
        assert_costs_add_up(&record, &what);
    });
}
