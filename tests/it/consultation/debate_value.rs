//! What a debate was worth, out of logs in which anything may have been said and found.

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

use crate::support::comparison::debate_events;
use crate::support::schema;

const SEATS: [&str; 3] = ["security", "architecture", "pragmatic"];

/// What one expert said after the cross-examination, and what the clerk found of it.
#[derive(Clone, Debug)]
struct Said {
    position: &'static str,
    changed: bool,
    before: Option<f64>,
    after: Option<f64>,
    because_of: Vec<(&'static str, &'static str)>,
    found: Vec<Magnitude>,
}

fn said() -> impl Strategy<Value = Said> {
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
        select(&["security", "architecture", "pragmatic", "somebody", ""][..]),
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
    let found = proptest::collection::vec(magnitude, 0..3);
    (
        position,
        any::<bool>(),
        confidence(),
        confidence(),
        proptest::collection::vec(because, 0..3),
        found,
    )
        .prop_map(
            |(position, changed, before, after, because_of, found)| Said {
                position,
                changed,
                before,
                after,
                because_of,
                found,
            },
        )
}

/// The log with this in the place of what was said and found.
fn told(log: &[Envelope], all: &[Said]) -> Vec<Envelope> {
    let mut log = log.to_vec();
    for artifact in contents(&mut log) {
        match artifact {
            Content::Independent(held) => {
                held.confidence = of(held.agent_id.as_str(), all)
                    .before
                    .and_then(Confidence::new);
            }
            Content::Revision(revision) => {
                *revision = revised(&revision.agent_id, of(revision.agent_id.as_str(), all));
            }
            Content::Comparison(comparison) => {
                comparison.comparisons = SEATS
                    .into_iter()
                    .flat_map(|seat| {
                        of(seat, all)
                            .found
                            .iter()
                            .map(move |found| pair(seat, *found))
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

fn of<'a>(seat: &str, all: &'a [Said]) -> &'a Said {
    &all[SEATS.iter().position(|one| *one == seat).unwrap()]
}

fn revised(agent: &SeatId, said: &Said) -> Revision {
    Revision {
        agent_id: agent.clone(),
        challenges: vec![],
        rebuttals: vec![],
        revised_position: said.position.into(),
        revised_confidence: said.after.and_then(Confidence::new),
        changed: said.changed,
        because_of: said
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

fn value(log: &[Envelope]) -> DebateValue {
    Transcript::fold(log).unwrap().debate_value()
}

/// Turns the order round in which experts answered, and in which they were compared.
fn turned_round(log: &[Envelope]) -> Vec<Envelope> {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn unknown_changes_do_not_count_and_order_does_not_matter(all in proptest::collection::vec(said(), 3)) {
        thread_local!(static LOG: Vec<Envelope> = debate_events());
        let log = LOG.with(|log| told(log, &all));
        let value = value(&log);

        // Worked out a second time, from what was said and found.
        let is_same = |said: &Said| said.position.to_lowercase().replace('*', "").trim_end_matches('.') == "use oauth";
        let known = |said: &Said| match said.found.as_slice() {
            _ if is_same(said) => Some(false),
            [one] => Some(*one != Magnitude::Same),
            [one, other] if one == other => Some(*one != Magnitude::Same),
            _ => None,
        };
        let is_compared = all.iter().all(is_same) || all.iter().any(|said| !is_same(said) && known(said).is_some());
        let told: Vec<bool> = all.iter().filter(|_| is_compared).filter_map(known).collect();
        let changed = told.iter().filter(|changed| **changed).count();
        prop_assert_eq!(value.status, if is_compared { ComparisonStatus::Compared } else { ComparisonStatus::Failed });
        prop_assert_eq!(value.agents_compared(), told.len() as u64);
        prop_assert_eq!(value.agents_changed_position(), changed as u64);
        prop_assert_eq!(value.change_rate().is_some(), !told.is_empty());
        prop_assert!(value.change_rate().is_none_or(|rate| (0.0..=1.0).contains(&rate)));
        let rises: Vec<f64> = all.iter().filter_map(|said| Some(said.after? - said.before?)).collect();
        let sum: f64 = rises.iter().sum();
        match value.avg_confidence_increase {
            Some(mean) => prop_assert!((mean * f64::from(u8::try_from(rises.len()).unwrap()) - sum).abs() < 1e-9 && mean.abs() <= 1.0),
            None => prop_assert!(rises.is_empty()),
        }
        for agent in &value.agents {
            let said = of(agent.agent_id.as_str(), &all);
            prop_assert_eq!(agent.position_changed(), known(said));
            prop_assert!(agent.influenced_by.iter().all(|by| SEATS.contains(&by.as_str()) && *by != agent.agent_id));
            let argues = said.because_of.iter().any(|(_, argument)| !argument.trim().is_empty());
            prop_assert!(!agent.conformity || (!argues && known(said).unwrap_or(said.changed)), "{:?}", agent);
        }
        let moved = |by: &SeatId| value.agents.iter().filter(|agent| agent.position_changed() == Some(true) && agent.influenced_by.contains(by)).count();
        prop_assert!(value.key_influencers.iter().all(|by| moved(by) > 0));

        let turned = self::value(&turned_round(&log));
        prop_assert_eq!(&value, &turned);
        let transcript = Transcript::fold(&log).unwrap();
        let record = record(&transcript);
        let schema: serde_json::Value = serde_json::from_str(include_str!("../../../schemas/consultation.schema.json")).unwrap();
        let analysis = &record["debate_value_analysis"];
        schema::check(&serde_json::json!({ "$defs": schema["$defs"], "allOf": [schema["properties"]["debate_value_analysis"]] }).to_string(), analysis);
        let record = of_transcript(&transcript).debate_value.unwrap();
        prop_assert_eq!(record.headline(), value.headline());
        prop_assert_eq!(record.worth_of_later_rounds(), value.worth_of_later_rounds());
    }
}

/// A text from the first words to the next that end it.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap();
    rest.split_once(to).unwrap().0
}

#[test]
fn report_record_and_page_agree() {
    let transcript = Transcript::fold(&debate_events()).unwrap();
    let whole = report(&transcript);
    let section = between(&whole, "## 🎯", "---\n**Cost");
    insta::assert_snapshot!("report", section);
    let stored = of_transcript(&transcript);
    assert!(stored::markdown(&stored, &ReportSelection::default()).contains(section));
    let written =
        serde_json::to_string_pretty(&record(&transcript)["debate_value_analysis"]).unwrap();
    insta::assert_snapshot!("record", written);
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
    log.retain(|envelope| !matches!(&envelope.event, Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) if artifact.content.comparison().is_some()));
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

/// Whether the architect, who changed its position to this for these reasons, went along with those
/// who support the strongest point.
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
    let value = value(&log);
    value
        .agents
        .iter()
        .find(|agent| agent.agent_id.as_str() == "architecture")
        .unwrap()
        .conformity
}

#[test]
fn only_a_move_to_the_majority_without_an_argument_is_conformity() {
    let (others, nearer) = (
        ["security", "pragmatic"],
        "Use OAuth, and keep tokens short-lived.",
    );
    assert!(conforms(&others, nearer, &[]) && conforms(&others, nearer, &[("security", " ")]));
    assert!(
        !conforms(&others, nearer, &[("security", "They can be stolen.")]),
        "it names an argument"
    );
    assert!(
        !conforms(&others[..1], nearer, &[]),
        "one of three is no majority"
    );
    assert!(
        !conforms(&["architecture", "security"], nearer, &[]),
        "it was of that opinion before"
    );
    assert!(
        !conforms(&others, "Use sessions.", &[]),
        "it goes elsewhere"
    );
    assert!(!conforms(&others, "Use OAuth.", &[]), "it did not change");
}

/// The log with this leading point, and this verdict.
fn decided(point: &str, recommendation: &str, summary: &str) -> (Option<bool>, Option<f64>) {
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
    let value = value(&log);
    (
        value.verdict_changed_after_round_2,
        value.similarity_to_round_2,
    )
}

#[test]
fn verdict_change_is_judged_by_shared_words_or_left_unknown() {
    let point = "Rotate signing keys every month, automatically.";
    assert_eq!(
        decided(
            point,
            "Rotate the signing keys each month by an automatic job.",
            ""
        ),
        (Some(false), Some(4.0 / 6.0))
    );
    assert_eq!(
        decided(point, "Automate it.", "Signing keys rotate every month."),
        (Some(false), Some(5.0 / 6.0))
    );
    assert_eq!(
        decided(point, "Buy a managed service.", "It does that by itself."),
        (Some(true), Some(0.0))
    );
    assert_eq!(
        decided(point, "Rotate keys by hand.", ""),
        (None, Some(2.0 / 6.0)),
        "in between nobody knows"
    );
    assert_eq!(
        decided(
            point,
            "Do not rotate signing keys every month automatically.",
            ""
        ),
        (None, Some(1.0)),
        "it may say the opposite"
    );
    assert_eq!(decided("", "Rotate keys.", ""), (None, None));
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
        value(&log).convergence_score
    };
    assert_eq!(with(&[]), Some(1.0));
    assert_eq!(with(&["security", "security"]), Some(2.0 / 3.0));
    assert_eq!(with(&SEATS), Some(0.0));
    assert_eq!(with(&["somebody"]), None);
}

#[test]
fn expert_without_a_revision_has_an_unknown_change() {
    let mut log = debate_events();
    log.retain(|envelope| {
        !matches!(&envelope.event, Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) if artifact.content.revision().is_some_and(|said| said.agent_id.as_str() == "security"))
    });
    let value = value(&log);
    assert_eq!(value.agents[0].magnitude, ChangeMagnitude::Unknown);
    assert_eq!(value.agents_compared(), 2);
    assert!(
        value.key_influencers.is_empty(),
        "the one that moved for an argument is not known to have moved"
    );
}
