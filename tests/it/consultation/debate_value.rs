//! The debate value, from logs with arbitrary answers and comparisons.

use conclave::consultation::event::{AgentEvent, ConsultationEvent, Envelope, Event};
use conclave::consultation::transcript::Transcript;
use conclave::domain::artifact::{
    Because, Compared, Comparison, Content, Dissent, Magnitude, Revision, Severity,
};
use conclave::domain::confidence::Confidence;
use conclave::domain::debate_value::{ChangeMagnitude, ComparisonStatus, DebateValue};
use conclave::domain::ids::{AgentId, SeatId};
use conclave::records::page::page;
use conclave::records::record::record;
use conclave::records::stored::of_transcript;
use conclave::terminal::report::report;
use conclave::terminal::report::stored;
use conclave::terminal::report::stored::ReportSelection;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::comparison::debate_events;
use crate::support::schema;

const SEATS: [&str; 3] = ["security", "architecture", "pragmatic"];

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

fn contents(log: &mut [Envelope]) -> impl Iterator<Item = &mut Content> {
    log.iter_mut()
        .filter_map(|envelope| match &mut envelope.event {
            Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
                Some(&mut artifact.content)
            }
            _ => None,
        })
}

/// Returns the artifact of an event.
fn content(envelope: &Envelope) -> Option<&Content> {
    match &envelope.event {
        Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
            Some(&artifact.content)
        }
        _ => None,
    }
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
        changed: answer.changed,
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

fn pair(seat: &str, magnitude: Magnitude) -> Compared {
    Compared {
        pair: seat.into(),
        reasoning: "x".into(),
        magnitude,
    }
}

fn debate_value(log: &[Envelope]) -> DebateValue {
    Transcript::fold(log).unwrap().debate_value()
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
    let text = include_str!("../../../schemas/consultation.schema.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    let analysis = &schema["properties"]["debate_value_analysis"];
    json!({ "$defs": schema["$defs"], "allOf": [analysis] }).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

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
        prop_assert_eq!(value.agents_compared(), known_changes.len() as u64);
        prop_assert_eq!(value.agents_changed_position(), changes as u64);
        prop_assert_eq!(value.change_rate().is_some(), !known_changes.is_empty());
        prop_assert!(value.change_rate().is_none_or(|rate| (0.0..=1.0).contains(&rate)));

        let increases: Vec<f64> = answers
            .iter()
            .filter_map(|answer| Some(answer.after? - answer.before?))
            .collect();
        let sum: f64 = increases.iter().sum();
        match value.avg_confidence_increase {
            Some(mean) => {
                let count = f64::from(u8::try_from(increases.len()).unwrap());
                prop_assert!((mean * count - sum).abs() < 1e-9);
                prop_assert!(mean.abs() <= 1.0);
            }
            None => prop_assert!(increases.is_empty()),
        }

        for agent in &value.agents {
            let answer = answer_of(agent.agent_id.as_str(), &answers);
            prop_assert_eq!(agent.position_changed(), changed(answer));
            for influence in &agent.influenced_by {
                prop_assert!(SEATS.contains(&influence.as_str()));
                prop_assert!(*influence != agent.agent_id);
            }
            let argues = answer.because_of.iter().any(|(_, argument)| !argument.trim().is_empty());
            let moved = changed(answer).unwrap_or(answer.changed);
            prop_assert!(!agent.conformity || (!argues && moved), "{:?}", agent);
        }
        for influencer in &value.key_influencers {
            let moved = value.agents.iter().any(|agent| {
                agent.position_changed() == Some(true) && agent.influenced_by.contains(influencer)
            });
            prop_assert!(moved, "{influencer} influenced no change");
        }

        prop_assert_eq!(&value, &debate_value(&in_reverse_order(&log)));
        let transcript = Transcript::fold(&log).unwrap();
        let record = record(&transcript);
        schema::check(&schema_of_the_analysis(), &record["debate_value_analysis"]);
        let stored = of_transcript(&transcript).debate_value.unwrap();
        prop_assert_eq!(stored.headline(), value.headline());
        prop_assert_eq!(stored.worth_of_later_rounds(), value.worth_of_later_rounds());
    }
}

/// Returns the text between two parts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap();
    rest.split_once(to).unwrap().0
}

#[test]
fn report_record_and_page_agree() {
    let transcript = Transcript::fold(&debate_events()).unwrap();
    let report = report(&transcript);
    let section = between(&report, "## 🎯", "---\n**Cost");
    insta::assert_snapshot!("report", section);
    let stored = of_transcript(&transcript);
    assert!(stored::markdown(&stored, &ReportSelection::default()).contains(section));
    let analysis =
        serde_json::to_string_pretty(&record(&transcript)["debate_value_analysis"]).unwrap();
    insta::assert_snapshot!("record", analysis);
    let page = page(&stored);
    insta::assert_snapshot!(
        "page",
        between(&page, "<h2>Debate Value</h2>", "</section>")
    );
}

#[test]
fn model_text_cannot_inject_markup_or_escape_sequences() {
    let mut log = debate_events();
    let hostile = "x\n\n# Heading <script>alert(1)</script> \u{1b}[31m**bold";
    for content in contents(&mut log) {
        if let Content::Comparison(Comparison {
            comparisons,
            key_insights,
        }) = content
        {
            *key_insights = vec![hostile.to_owned()];
            for compared in comparisons {
                hostile.clone_into(&mut compared.reasoning);
            }
        }
    }
    let transcript = Transcript::fold(&log).unwrap();
    let text = report(&transcript);
    assert!(
        !text.contains("\n# Heading") && !text.contains('\u{1b}'),
        "{text}"
    );
    let page = page(&of_transcript(&transcript));
    assert!(!page.contains("<script") && page.contains("&lt;script"));
}

#[test]
fn failure_with_markup_does_not_break_the_report() {
    let mut log = debate_events();
    log.retain(|envelope| content(envelope).is_none_or(|content| content.comparison().is_none()));
    for envelope in &mut log {
        if let Event::Agent(AgentEvent::Completed {
            agent_id,
            name,
            round_number,
            answer,
            ..
        }) = &envelope.event
            && *agent_id == AgentId::Helper
        {
            let error = conclave::consultation::event::AgentError {
                class: None,
                message: "no\n\n# Heading".to_owned(),
            };
            envelope.event = Event::Agent(AgentEvent::Failed {
                agent_id: agent_id.clone(),
                name: name.clone(),
                round_number: *round_number,
                answer: *answer,
                model: conclave::domain::ids::ModelRef::new("mistral", "tiny"),
                error,
            });
        }
    }
    let text = report(&Transcript::fold(&log).unwrap());
    assert!(
        text.contains("\n- Whether positions changed is unknown: no # Heading\n"),
        "{text}"
    );
}

/// Whether the architect conforms when it moves to this position for these reasons, and these
/// agents support the strongest point.
fn conforms(supporters: &[&str], position: &str, because_of: &[(&str, &str)]) -> bool {
    let mut log = debate_events();
    for content in contents(&mut log) {
        match content {
            Content::Synthesis(synthesis) => {
                synthesis.consensus_points[0].supporting_agents =
                    supporters.iter().map(|agent| (*agent).to_owned()).collect();
            }
            Content::Revision(revision) if revision.agent_id.as_str() == "architecture" => {
                position.clone_into(&mut revision.revised_position);
                revision.because_of = because_of
                    .iter()
                    .map(|(agent, argument)| Because {
                        agent: (*agent).into(),
                        argument: (*argument).into(),
                    })
                    .collect();
            }
            _ => {}
        }
    }
    let value = debate_value(&log);
    value
        .agents
        .iter()
        .find(|agent| agent.agent_id.as_str() == "architecture")
        .unwrap()
        .conformity
}

#[test]
fn only_a_move_to_the_majority_without_an_argument_is_conformity() {
    let others = ["security", "pragmatic"];
    let closer = "Use OAuth, and keep tokens short-lived.";
    assert!(conforms(&others, closer, &[]));
    assert!(conforms(&others, closer, &[("security", " ")]));
    assert!(
        !conforms(&others, closer, &[("security", "They can be stolen.")]),
        "it names an argument"
    );
    assert!(
        !conforms(&others[..1], closer, &[]),
        "one of three is no majority"
    );
    assert!(
        !conforms(&["architecture", "security"], closer, &[]),
        "it already held that position"
    );
    assert!(
        !conforms(&others, "Use sessions.", &[]),
        "it moves elsewhere"
    );
    assert!(!conforms(&others, "Use OAuth.", &[]), "it did not change");
}

/// Returns whether the verdict changed the leading point of Round 2, and their similarity.
fn verdict_change(point: &str, recommendation: &str, summary: &str) -> (Option<bool>, Option<f64>) {
    let mut log = debate_events();
    for content in contents(&mut log) {
        match content {
            Content::Synthesis(synthesis) => {
                point.clone_into(&mut synthesis.consensus_points[0].point);
            }
            Content::Verdict(verdict) => {
                recommendation.clone_into(&mut verdict.recommendation);
                summary.clone_into(&mut verdict.summary);
            }
            _ => {}
        }
    }
    let value = debate_value(&log);
    (
        value.verdict_changed_after_round_2,
        value.similarity_to_round_2,
    )
}

#[test]
fn verdict_change_is_judged_by_shared_words_or_left_unknown() {
    let point = "Rotate signing keys every month, automatically.";
    assert_eq!(
        verdict_change(
            point,
            "Rotate the signing keys each month by an automatic job.",
            ""
        ),
        (Some(false), Some(4.0 / 6.0))
    );
    assert_eq!(
        verdict_change(point, "Automate it.", "Signing keys rotate every month."),
        (Some(false), Some(5.0 / 6.0))
    );
    assert_eq!(
        verdict_change(point, "Buy a managed service.", "It does that by itself."),
        (Some(true), Some(0.0))
    );
    assert_eq!(
        verdict_change(point, "Rotate keys by hand.", ""),
        (None, Some(2.0 / 6.0)),
        "medium similarity is unknown"
    );
    assert_eq!(
        verdict_change(
            point,
            "Do not rotate signing keys every month automatically.",
            ""
        ),
        (None, Some(1.0)),
        "a negation may mean the opposite"
    );
    assert_eq!(verdict_change("", "Rotate keys.", ""), (None, None));
}

#[test]
fn convergence_is_the_share_of_experts_without_dissent() {
    let with = |dissenters: &[&str]| {
        let mut log = debate_events();
        for content in contents(&mut log) {
            if let Content::Verdict(verdict) = content {
                let dissent = |agent: &&str| Dissent {
                    agent: (*agent).into(),
                    concern: "x".into(),
                    severity: Severity::Low,
                };
                verdict.dissent = dissenters.iter().map(dissent).collect();
            }
        }
        debate_value(&log).convergence_score
    };
    assert_eq!(with(&[]), Some(1.0));
    assert_eq!(with(&["security", "security"]), Some(2.0 / 3.0));
    assert_eq!(with(&SEATS), Some(0.0));
    assert_eq!(with(&["stranger"]), None);
}

#[test]
fn expert_without_a_revision_has_an_unknown_change() {
    let mut log = debate_events();
    log.retain(|envelope| {
        let revision = content(envelope).and_then(Content::revision);
        revision.is_none_or(|revision| revision.agent_id.as_str() != "security")
    });
    let value = debate_value(&log);
    assert_eq!(value.agents[0].magnitude, ChangeMagnitude::Unknown);
    assert_eq!(value.agents_compared(), 2);
    assert!(
        value.key_influencers.is_empty(),
        "the change that the argument caused is unknown"
    );
}
