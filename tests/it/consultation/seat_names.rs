//! Labels in models' texts: people read the seats' names, models and the journal have the labels.

use conclave::consultation::plan::options::{DebateAnalysis, JudgePasses};
use conclave::domain::record::stored_record::StoredRecord;
use conclave::terminal::report::{page, report};

use crate::consultation::prelude::*;

/// Returns the usual plan with two passes of the judge and a helper.
fn whole_plan() -> Plan {
    let helper = ModelRef::new("google", "gemini-4-flash");
    let debate = DebateOptions {
        judge_passes: JudgePasses::Twice,
        helper: Some(helper.clone()),
        debate_analysis: DebateAnalysis::On,
        ..DebateOptions::default()
    };
    let mut plan = Plan { debate, ..plan() };
    let price = plan.prices.0[&plan.panel.seats[2].model];
    plan.prices.0.insert(helper, price);
    plan
}

/// Answers with labels in its sentences.
fn labelled(ask: &Ask) -> Outcome {
    let text = good_text(ask.answer);
    let changed = match ask.answer {
        AnswerKind::Independent => text.replace("Use OAuth.", "Expert B testing is due."),
        AnswerKind::Synthesis => text
            .replace("Tokens must", "Experts A and B say tokens must")
            .replace("It is too", "Expert B says it is too")
            .replace("Effort", "Expert C's effort"),
        AnswerKind::Revision => text
            .replace("No threat model", "Expert A has no threat model")
            .replace("Use OAuth.", "Use OAuth, as Expert A says."),
        AnswerKind::CrossExam => text
            .replace("No threat model", "Expert A has no threat model")
            .replace("Effort", "Expert C's effort"),
        AnswerKind::Verdict => text
            .replace("All agree", "All but Expert C agree")
            .replace("Effort.", "Expert C fears effort."),
        AnswerKind::Comparison | AnswerKind::Consistency => {
            text.replace("A condition is new.", "Expert B's condition is new.")
        }
        AnswerKind::Menu | AnswerKind::PersonaSelection => text.to_owned(),
    };
    reply(&changed)
}

/// Plays a consultation whose two verdicts name the first expert; the second pass has the labels in
/// reverse.
fn played() -> Player {
    let mut player = Player::started(whole_plan());
    while player.machine.state() != StateName::Verdict {
        let ask = player.open[0].clone();
        player.answer(0, labelled(&ask));
    }
    let verdict = |recommendation: &str| {
        let text = good_text(AnswerKind::Verdict).replace("All agree", "All but Expert C agree");
        reply(&text.replace("Use OAuth with", recommendation))
    };
    player.answer_agent("judge", verdict("Trust Expert A and use"));
    player.answer_agent("judge-2", verdict("Expert C is right about"));
    player.finish(labelled);
    player
}

fn record() -> StoredRecord {
    Transcript::fold(&played().log).unwrap().stored_record()
}

/// Returns the names of the seats in the order of their labels.
fn names(record: &StoredRecord) -> Vec<&str> {
    let order = record.expert_order.iter();
    order.map(|seat| record.name_of(seat.as_str())).collect()
}

#[test]
fn record_names_seats_where_models_wrote_labels() {
    let record = record();
    let [a, b, c] = names(&record)[..] else {
        panic!("three seats")
    };
    let recommendation = format!("Trust {a} and use short-lived tokens.");
    assert_eq!(record.recommendation.as_deref(), Some(&*recommendation));
    assert_eq!(record.consensus.as_deref(), Some(&*recommendation));
    let summary = format!("All but {c} agree in the end.");
    assert_eq!(record.summary.as_deref(), Some(&*summary));
    let synthesis = record.synthesis().unwrap();
    let expected = format!("{a} and {b} say tokens must be short-lived.");
    assert_eq!(synthesis.consensus_points[0].point, expected);
    let expected = format!("{b} says it is too much work.");
    assert_eq!(synthesis.tensions[0].viewpoints[0].viewpoint, expected);
    assert_eq!(record.concerns[0], format!("{c}'s effort"));
    let revised = format!("Use OAuth, as {a} says.");
    let expected = Some(&*revised);
    assert_eq!(record.perspectives[0].revised_opinion.as_deref(), expected);
    let moved = &record.debate_value_analysis.as_ref().unwrap().agents;
    assert!(
        moved
            .iter()
            .any(|moved| moved.reasoning == format!("{b}'s condition is new.")),
        "{moved:?}"
    );
}

#[test]
fn second_verdict_names_the_seats_of_its_own_labels() {
    let record = record();
    let first = names(&record)[0];
    let passes = record.judge_passes.clone().unwrap();
    assert_eq!(
        passes.second.unwrap().verdict.unwrap().recommendation,
        format!("{first} is right about short-lived tokens.")
    );
    let b = names(&record)[1];
    let expected = format!("{b}'s condition is new.");
    assert_eq!(passes.held.reason.unwrap(), expected);
}

#[test]
fn only_answers_of_round_1_keep_words_that_look_like_labels() {
    let record = record();
    let position = &record.independents().next().unwrap().position;
    assert_eq!(position, "Expert B testing is due.");
    for shown in [
        report(&record),
        page(&record),
        serde_json::to_string(&record).unwrap(),
    ] {
        let rest = shown.replace("Expert B testing", "");
        for label in ["Expert A", "Expert B", "Expert C", "Experts A"] {
            assert!(!rest.contains(label), "{label}: {rest}");
        }
    }
}

#[test]
fn journal_and_labelled_record_have_the_labels() {
    let transcript = Transcript::fold(&played().log).unwrap();
    let verdict = transcript.verdict().unwrap();
    let expected = "Trust Expert A and use short-lived tokens.";
    assert_eq!(verdict.recommendation, expected);
    let labelled = transcript.labelled_record();
    assert_eq!(labelled.verdict(), Some(verdict));
    assert_eq!(labelled.cross_exam(), transcript.cross_exam());
}

#[test]
fn names_change_no_figure_of_the_analysis() {
    let transcript = Transcript::fold(&played().log).unwrap();
    let (named, labelled) = (transcript.stored_record(), transcript.labelled_record());
    assert_eq!(named.calibrated(), labelled.calibrated());
    assert_eq!(named.agreement, labelled.agreement);
    let similarity = |record: &StoredRecord| {
        let value = record.debate_value_analysis.as_ref();
        value.unwrap().similarity_to_round_2
    };
    assert_eq!(similarity(&named), similarity(&labelled));
}
