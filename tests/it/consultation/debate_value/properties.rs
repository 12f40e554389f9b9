//! Properties of the debate value with arbitrary answers and comparisons.

use conclave::domain::answer::artifact::{Because, Content, Magnitude, PairComparison, Revision};
use conclave::domain::answer::confidence::Confidence;
use conclave::domain::answer::debate_value::{ComparisonStatus, PositionChange};
use conclave::domain::time::Timestamp;
use conclave::records::index::extract;
use conclave::terminal::document::screen;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::page;
use conclave::terminal::report::{NextSteps, report, summary};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{SEATS, content, contents, debate_value};
use crate::consultation::prelude::*;
use crate::support::comparison::debate_events;
use crate::support::schema;

/// An expert's answer after the cross-examination, with the helper's ratings of its change.
#[derive(Clone, Debug)]
struct ExpertAnswer {
    position: &'static str,
    changed: bool,
    before: Option<f64>,
    after: Option<f64>,
    because_of: Vec<(&'static str, &'static str)>,
    magnitudes: Vec<Magnitude>,
}

fn expert_answer() -> impl Strategy<Value = ExpertAnswer> {
    let position = select(
        &[
            "Use OAuth.",
            "use **OAuth**",
            "Use sessions.",
            "Keep tokens short-lived.",
        ][..],
    );
    let confidence = || proptest::option::of(0.0..=1.0f64);
    let because = (
        select(&["security", "architecture", "pragmatic", "stranger", ""][..]),
        select(&["It is simpler.", " ", ""][..]),
    );
    let magnitude = select(
        &[
            Magnitude::Same,
            Magnitude::MinorRefinement,
            Magnitude::ModerateShift,
            Magnitude::SignificantChange,
        ][..],
    );
    let magnitudes = proptest::collection::vec(magnitude, 0..3);
    (
        position,
        any::<bool>(),
        confidence(),
        confidence(),
        proptest::collection::vec(because, 0..3),
        magnitudes,
    )
        .prop_map(
            |(position, changed, before, after, because_of, magnitudes)| ExpertAnswer {
                position,
                changed,
                before,
                after,
                because_of,
                magnitudes,
            },
        )
}

/// Returns the log with these answers and ratings.
fn with_answers(log: &[Envelope], answers: &[ExpertAnswer]) -> Vec<Envelope> {
    let mut log = log.to_vec();
    for artifact in contents(&mut log) {
        match artifact {
            Content::Independent(content) => {
                content.confidence = answer_of(content.agent_id.as_str(), answers)
                    .before
                    .and_then(Confidence::new);
            }
            Content::Revision(content) => {
                *content = revision(
                    &content.agent_id,
                    answer_of(content.agent_id.as_str(), answers),
                );
            }
            Content::Comparison(comparison) => {
                comparison.comparisons = SEATS
                    .into_iter()
                    .flat_map(|seat| {
                        answer_of(seat, answers)
                            .magnitudes
                            .iter()
                            .map(move |magnitude| pair(seat, *magnitude))
                    })
                    .collect();
            }
            _ => {}
        }
    }
    log
}

fn answer_of<'a>(seat: &str, answers: &'a [ExpertAnswer]) -> &'a ExpertAnswer {
    &answers[SEATS.iter().position(|id| *id == seat).unwrap()]
}

fn revision(agent: &SeatId, answer: &ExpertAnswer) -> Revision {
    Revision {
        agent_id: agent.clone(),
        challenges: vec![],
        rebuttals: vec![],
        revised_position: answer.position.into(),
        revised_confidence: answer.after.and_then(Confidence::new),
        changed: Some(answer.changed),
        because_of: answer
            .because_of
            .iter()
            .map(|(agent, argument)| Because {
                agent: (*agent).into(),
                argument: (*argument).into(),
            })
            .collect(),
    }
}

fn pair(seat: &str, magnitude: Magnitude) -> PairComparison {
    PairComparison {
        pair: seat.into(),
        reasoning: "x".into(),
        magnitude,
    }
}

/// Returns the log with answers and comparisons in reverse order.
fn in_reverse_order(log: &[Envelope]) -> Vec<Envelope> {
    let mut log = log.to_vec();
    let mut revisions: Vec<Content> = contents(&mut log)
        .filter(|content| content.revision().is_some())
        .map(|content| content.clone())
        .collect();
    for content in contents(&mut log) {
        match content {
            Content::Revision(_) => *content = revisions.pop().unwrap(),
            Content::Comparison(comparison) => comparison.comparisons.reverse(),
            _ => {}
        }
    }
    log
}

/// Recomputes whether a position changed, or `None` if that is unknown.
fn changed(answer: &ExpertAnswer) -> Option<bool> {
    if is_first_position(answer) {
        return Some(false);
    }
    match answer.magnitudes.as_slice() {
        [one] => Some(*one != Magnitude::Same),
        [one, other] if one == other => Some(*one != Magnitude::Same),
        _ => None,
    }
}

/// Whether the revised position has the words of the first one, `Use OAuth.`
fn is_first_position(answer: &ExpertAnswer) -> bool {
    let position = answer.position.to_lowercase().replace('*', "");
    position.trim_end_matches('.') == "use oauth"
}

fn schema_of_the_analysis() -> String {
    let text = include_str!("../../../../schemas/consultation.schema.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    let analysis = &schema["properties"]["debate_value_analysis"];
    json!({ "$defs": schema["$defs"], "allOf": [analysis] }).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn unknown_changes_do_not_count_and_order_does_not_matter(
        answers in proptest::collection::vec(expert_answer(), 3),
    ) {
        thread_local!(static LOG: Vec<Envelope> = debate_events());
        let log = LOG.with(|log| with_answers(log, &answers));
        let value = debate_value(&log);

        let is_compared = answers.iter().all(is_first_position)
            || answers
                .iter()
                .any(|answer| !is_first_position(answer) && changed(answer).is_some());
        let status = if is_compared {
            ComparisonStatus::Compared
        } else {
            ComparisonStatus::Failed
        };
        prop_assert_eq!(value.status, status);
        let known_changes: Vec<bool> =
            answers.iter().filter(|_| is_compared).filter_map(changed).collect();
        let changes = known_changes.iter().filter(|changed| **changed).count();
        prop_assert_eq!(value.agents_compared, Some(known_changes.len() as u64));
        prop_assert_eq!(value.agents_changed_position.unwrap_or_default(), changes as u64);
        prop_assert_eq!(value.change_rate.is_some(), !known_changes.is_empty());
        prop_assert!(value.change_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)));

        let increases: Vec<f64> = answers
            .iter()
            .filter_map(|answer| Some(answer.after? - answer.before?))
            .collect();
        let sum: f64 = increases.iter().sum();
        match value.avg_confidence_increase {
            Some(mean) => {
                let count = f64::from(u8::try_from(increases.len()).unwrap());
                prop_assert!((mean * count - sum).abs() < 1e-5);
                prop_assert!(mean.abs() <= 1.0);
            }
            None => prop_assert!(increases.is_empty()),
        }

        for agent in &value.agents {
            let answer = answer_of(agent.agent_id.as_str(), &answers);
            prop_assert_eq!(agent.magnitude.differs(), changed(answer));
            for influence in &agent.influenced_by {
                prop_assert!(SEATS.contains(&influence.as_str()));
                prop_assert!(*influence != agent.agent_id);
            }
            let argues = answer.because_of.iter().any(|(_, argument)| !argument.trim().is_empty());
            let moved = is_compared && changed(answer) == Some(true);
            prop_assert!(!agent.conformity || (!argues && moved), "{:?}", agent);
        }
        for influencer in &value.key_influencers {
            let moved = value.agents.iter().any(|agent| {
                agent.magnitude.differs() == Some(true) && agent.influenced_by.contains(influencer)
            });
            prop_assert!(moved, "{influencer} influenced no change");
        }

        prop_assert_eq!(&value, &debate_value(&in_reverse_order(&log)));
        let transcript = Transcript::fold(&log).unwrap();
        let record = record_json(&transcript);
        schema::check(&schema_of_the_analysis(), &record["debate_value_analysis"]);
        let stored = transcript.stored_record().debate_value_analysis.unwrap();
        prop_assert_eq!(stored.worth_of_later_rounds(), value.worth_of_later_rounds());
    }

    #[test]
    fn no_two_sections_contradict_each_other(
        answers in proptest::collection::vec(expert_answer(), 3),
        has_comparison in any::<bool>(),
    ) {
        thread_local!(static LOG: Vec<Envelope> = debate_events());
        let mut log = LOG.with(|log| with_answers(log, &answers));
        log.retain(|envelope| {
            has_comparison || content(envelope).is_none_or(|content| content.comparison().is_none())
        });
        let transcript = Transcript::fold(&log).unwrap();
        let record = transcript.stored_record();
        let written = record_json(&transcript);
        let text = report(&record);
        let (_, section) = text.split_once("## Changes\n\n").unwrap();
        let html = page(&record);
        let summary = summary(&record, &NextSteps::None);
        let summary = screen(&summary, Some(101), Paint::PLAIN);
        let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");

        let changes = record.position_changes();
        let count = changes.of(Some(PositionChange::Changed)).count();
        prop_assert_eq!(number_of_changes(section), count, "{}", section);
        let analysis = &written["debate_value_analysis"];
        let mut moves = 0;
        for expert in &changes.experts {
            let seat = &expert.revision.agent_id;
            let name = record.name_of(seat.as_str());
            let words = expert.in_words();
            prop_assert!(section.contains(&format!("**{name}** {words}")), "{}", section);
            prop_assert!(html.contains(&words[1..]), "{words}");
            let is_changed = expert.change == Some(PositionChange::Changed);
            let is_named = summary.contains(&format!("{name} changed its mind"));
            prop_assert_eq!(is_named, is_changed, "{}", summary);

            let of_seat = |list: &Value| {
                let mut entries = list.as_array().unwrap().iter();
                entries.find(|entry| entry["agent_id"] == seat.as_str()).unwrap().clone()
            };
            let perspective = of_seat(&written["perspectives"]);
            let judged = |change| json!(expert.change.map(|what| what == change));
            prop_assert_eq!(&perspective["changed"], &judged(PositionChange::Changed));
            prop_assert_eq!(&perspective["refined"], &judged(PositionChange::Refined));
            let moved = expert.change.map(|what| what != PositionChange::Held);
            let by_comparison = &of_seat(&analysis["agent_analyses"])["position_changed"];
            prop_assert_eq!(by_comparison, &json!(moved));
            moves += i64::from(moved == Some(true));
        }
        if !analysis["agents_changed_position"].is_null() {
            prop_assert_eq!(&analysis["agents_changed_position"], moves);
            let row = extract::rows(&record, Timestamp(0)).consultation;
            let counted = ("experts_changed", i64::try_from(count).unwrap().into());
            prop_assert!(row.contains(&counted), "{:?}", row);
        }
    }
}

/// Returns the number in the headline of the report's section on changes.
fn number_of_changes(section: &str) -> usize {
    let first = section.split_whitespace().next().unwrap();
    first.parse().unwrap_or(0)
}
