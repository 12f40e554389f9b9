//! `consult-stats --calibration`: every figure is compared with one computed from the files.

use std::collections::BTreeMap;

use conclave::domain::ids::ConsultationId;
use conclave::domain::record::outcome::{AnswerOutcome, Grade, SCHEMA_VERSION};
use conclave::domain::time::Timestamp;
use conclave::records::outcomes;
use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::generated::{GeneratedConsultation, Length, consultations};
use crate::support::schema;

fn json(conclave: &Conclave, arguments: &[&str]) -> Value {
    let output = conclave.run(&[&["consult-stats", "--calibration", "--json"], arguments].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.stderr, "", "{output:?}");
    let json = serde_json::from_str(&output.stdout).unwrap();
    schema::check(
        include_str!("../../../../schemas/calibration.schema.json"),
        &json,
    );
    json
}

/// Saves consultations and grades most of those with an answer.
fn graded(conclave: &Conclave) -> Vec<(GeneratedConsultation, AnswerOutcome)> {
    let logs = conclave.home().join("consult-logs");
    std::fs::create_dir_all(&logs).unwrap();
    let mut graded = Vec::new();
    for consultation in consultations(5, 150, Length::Usual) {
        consultation.write(&logs);
        let nth = graded.len();
        if consultation.at.0 % 4 != 0 && consultation.record["recommendation"].is_string() {
            let outcome = AnswerOutcome::ALL[nth % 3];
            let grade = Grade {
                schema_version: SCHEMA_VERSION.to_owned(),
                consultation_id: ConsultationId::from_unique(
                    consultation.id.strip_prefix("consult-").unwrap(),
                ),
                outcome,
                note: None,
                at: Timestamp(0),
            };
            outcomes::write(&logs, &grade.consultation_id, &grade).unwrap();
            graded.push((consultation, outcome));
        }
    }
    graded
}

/// Returns `[stated, right]` for every expert that supported the answer, with its model.
fn statements(
    record: &Value,
    outcome: AnswerOutcome,
) -> impl Iterator<Item = (String, [f64; 2])> + '_ {
    let artifacts = |round: &str| {
        record["responses"][round]["artifacts"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let synthesis = artifacts("round_2").into_iter().next().unwrap_or_default();
    let mut points = synthesis["consensus_points"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    // The strongest point comes first; a stable sort preserves the order of equal points.
    points.sort_by(|one, other| {
        other["confidence"]
            .as_f64()
            .unwrap_or(-1.0)
            .total_cmp(&one["confidence"].as_f64().unwrap_or(-1.0))
    });
    let supporting = points
        .first()
        .and_then(|point| point["supporting_agents"].as_array())
        .cloned()
        .unwrap_or_default();
    // Without a verdict artifact the record itself has the dissent.
    let verdict = artifacts("round_4")
        .into_iter()
        .next()
        .unwrap_or_else(|| record.clone());
    let dissenting: Vec<Value> = verdict["dissent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dissent| dissent["agent"].clone())
        .collect();
    artifacts("round_1")
        .into_iter()
        .filter_map(move |artifact| {
            let agent = &artifact["agent_id"];
            let name = &record["agents"]
                .as_array()?
                .iter()
                .find(|one| &one["id"] == agent)?["name"];
            if !supporting.contains(agent)
                || dissenting.contains(agent)
                || dissenting.contains(name)
            {
                return None;
            }
            let seat = record["agents"]
                .as_array()?
                .iter()
                .find(|seat| &seat["id"] == agent)?;
            let planned_model =
                format!("{}:{}", seat["provider"].as_str()?, seat["model"].as_str()?);
            // A model that took over later has no statement in Round 1.
            let took_over = |one: &&Value| &one["agent_id"] == agent && one["round_number"] == 1;
            let model = record["substitutions"]
                .as_array()?
                .iter()
                .rfind(took_over)
                .map_or(planned_model, |one| {
                    one["substitute"].as_str().unwrap().to_owned()
                });
            Some((
                model,
                [artifact["confidence"].as_f64()?, outcome.share_right()],
            ))
        })
}

fn brier(statements: &[[f64; 2]]) -> f64 {
    let squares: f64 = statements
        .iter()
        .map(|[stated, right]| (stated - right) * (stated - right))
        .sum();
    squares / statements.iter().map(|_| 1.0).sum::<f64>()
}

#[test]
fn figures_equal_those_computed_from_the_records_of_their_range() {
    let conclave = Conclave::new();
    let graded = graded(&conclave);
    assert_eq!(
        conclave.run(&["consult-stats", "--rebuild-index"]).code,
        Some(0)
    );
    let figures = json(&conclave, &[]);
    for outcome in AnswerOutcome::ALL {
        let count = graded
            .iter()
            .filter(|(_, graded)| *graded == outcome)
            .count();
        assert_eq!(figures["graded"][outcome.name()], count, "{outcome:?}");
        assert!(count > 2, "the sample is too small");
    }
    let mut experts: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
    for (consultation, outcome) in &graded {
        for (model, statement) in statements(&consultation.record, *outcome)
            .filter(|(model, _)| !model.starts_with("local:"))
        {
            experts.entry(model).or_default().push(statement);
        }
    }
    let by_expert = figures["by_expert"].as_object().unwrap();
    assert_eq!(
        by_expert.keys().collect::<std::collections::BTreeSet<_>>(),
        experts.keys().collect()
    );
    for (model, statements) in &experts {
        assert_eq!(by_expert[model]["count"], statements.len(), "{model}");
        assert!(
            (by_expert[model]["brier"].as_f64().unwrap() - brier(statements)).abs() < 1e-9,
            "{model}"
        );
    }
    let is_local = |record: &Value| record["judge"]["provider"] == "local";
    let verdicts: Vec<[f64; 2]> = graded
        .iter()
        .filter(|(consultation, _)| !is_local(&consultation.record))
        .filter_map(|(consultation, outcome)| {
            Some([
                consultation.record["confidence"].as_f64()?,
                outcome.share_right(),
            ])
        })
        .collect();
    assert_eq!(figures["answers"]["count"], verdicts.len());
    assert!((figures["answers"]["brier"].as_f64().unwrap() - brier(&verdicts)).abs() < 1e-9);
    let judged: u64 = figures["by_judge"]
        .as_object()
        .unwrap()
        .values()
        .map(|of| of["count"].as_u64().unwrap())
        .sum();
    assert_eq!(judged, verdicts.len() as u64);
    let month: String = graded[0].0.at.date().chars().take(7).collect();
    let is_in_month = |consultation: &GeneratedConsultation| {
        let date = consultation.at.date();
        date.starts_with(&month)
    };
    let in_month = graded.iter().filter(|(one, _)| is_in_month(one)).count();
    assert!(in_month < graded.len());
    let of_month = json(&conclave, &["--month", &month]);
    assert_eq!(of_month["graded"]["total"], in_month);
}

#[test]
fn missing_grades_yield_a_hint_and_valid_json() {
    let conclave = Conclave::new();
    let output = conclave.run(&["consult-stats", "--calibration"]);
    assert!(
        output
            .stdout
            .contains("conclave history outcome last right|wrong|mixed"),
        "{output:?}"
    );
    let figures = json(&conclave, &[]);
    assert_eq!(figures["graded"]["total"], 0);
    assert_eq!(figures["answers"], Value::Null);
}
