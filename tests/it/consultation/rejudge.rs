//! Answers of an earlier consultation are judged anew: Rounds 2 and 4 are asked, Rounds 1 and 3 are
//! given.

use std::time::Duration;

use conclave::consultation::event::{CallEvent, Event, StateName};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::Plan;
use conclave::consultation::plan::options::{DebateOptions, PriorAnswers};
use conclave::consultation::protocol::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{ConsultationId, ModelRef};
use conclave::domain::second_pass::Held;
use conclave::records::record::record;
use conclave::stopping::early_termination::Policy;

use crate::support::script::{Player, failure, good, plan, reply};

const OTHER: &str = r#"{"summary":"It turned.","evidence":[],"dissent":[],"recommendation":"Use JWT.","confidence":0.6}"#;

fn earlier() -> Transcript {
    let mut player = Player::started(plan());
    player.finish(good);
    Transcript::fold(&player.log).unwrap()
}

/// A plan that judges the usual consultation anew, by another seed.
fn anew() -> Plan {
    let earlier = earlier();
    let given = PriorAnswers {
        from: earlier.id.clone(),
        independents: earlier.independents().cloned().collect(),
        cross_exam: earlier.cross_exam().cloned(),
        verdict: earlier.verdict().cloned(),
    };
    let helper = ModelRef::new("google", "gemini-4-argon");
    let debate = DebateOptions {
        prior_answers: Some(Box::new(given)),
        helper: Some(helper),
        ..DebateOptions::default()
    };
    let mut plan = Plan {
        id: ConsultationId::from_unique("01ANEW"),
        debate,
        seed: 8,
        ..plan()
    };
    plan.control.early_termination.policy = Policy::Auto;
    plan
}

fn asked(player: &Player) -> Vec<String> {
    let started = player
        .log
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started {
                agent_id,
                answer,
                round_number,
                ..
            }) => Some(format!("{round_number} {agent_id} {}", answer.name())),
            _ => None,
        });
    started.collect()
}

fn held(player: &Player) -> Held {
    Transcript::fold(&player.log)
        .unwrap()
        .rejudged
        .expect("it was told whether the verdict held")
}

fn turned(ask: &Ask) -> Outcome {
    match ask.answer {
        AnswerKind::Verdict => reply(OTHER),
        AnswerKind::Consistency => {
            assert!(
                ask.prompt.task.find("Use OAuth").unwrap()
                    < ask.prompt.task.find("Use JWT").unwrap(),
                "the earlier one is first"
            );
            reply(
                r#"{"comparisons":[{"pair":"Verdict","reasoning":"It turned.","magnitude":"significant_change"}],"key_insights":[]}"#,
            )
        }
        _ => good(ask),
    }
}

#[test]
fn rejudge_asks_only_the_judge_and_passes_through_all_states() {
    let mut player = Player::started(anew());
    assert_eq!(player.machine.state(), StateName::Synthesis);
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(
        asked(&player),
        ["2 judge synthesis", "4 judge verdict"],
        "the same words need no comparison"
    );
    let states: Vec<String> = player
        .log_text()
        .lines()
        .filter(|line| line.starts_with("state:changed"))
        .map(ToOwned::to_owned)
        .collect();
    let usual = {
        let mut usual = Player::started(plan());
        usual.finish(good);
        usual.log_text()
    };
    assert_eq!(
        states,
        usual
            .lines()
            .filter(|line| line.starts_with("state:changed"))
            .collect::<Vec<_>>()
    );
    let (told, earlier) = (Transcript::fold(&player.log).unwrap(), earlier());
    let contents = |told: &Transcript| {
        told.artifacts
            .iter()
            .map(|artifact| (artifact.round_number, artifact.content.clone()))
            .collect::<Vec<_>>()
    };
    let of = |round: u8, all: Vec<(u8, _)>| {
        all.into_iter()
            .filter(|(of, _)| *of == round)
            .map(|(_, content)| content)
            .collect::<Vec<_>>()
    };
    for round in [1, 3] {
        assert_eq!(
            of(round, contents(&told)),
            of(round, contents(&earlier)),
            "round {round} is as it was"
        );
    }
    assert_eq!(told.completed_rounds(), [1, 2, 3, 4]);
    assert!(told.early_end.is_none());
    assert_ne!(
        told.terms.expert_order, earlier.terms.expert_order,
        "the order is drawn anew"
    );
    assert_eq!(held(&player).consistent, Some(true));
}

#[test]
fn helper_compares_the_earlier_verdict_with_the_new_one() {
    let mut player = Player::started(anew());
    player.finish(turned);
    assert_eq!(
        asked(&player),
        [
            "2 judge synthesis",
            "4 judge verdict",
            "4 clerk consistency"
        ]
    );
    assert_eq!(held(&player).consistent, Some(false));
    assert_eq!(held(&player).reason.as_deref(), Some("It turned."));
    let written = record(&Transcript::fold(&player.log).unwrap());
    assert_eq!(written["rejudged_from"], "consult-01test");
    assert_eq!(written["rejudged"]["consistent"], false);
    assert_eq!(written["judge_passes"], serde_json::Value::Null);
    assert_eq!(written["judge_consistent"], serde_json::Value::Null);

    let mut plan = anew();
    plan.debate.helper = None;
    let mut player = Player::started(plan);
    player.finish(turned);
    assert_eq!(held(&player).consistent, None);
}

#[test]
fn rejudge_of_two_rounds_adds_no_cross_exam_and_compares_nothing() {
    let mut plan = anew();
    let given = plan.debate.prior_answers.as_mut().unwrap();
    (given.cross_exam, given.verdict) = (None, None);
    let mut player = Player::started(plan);
    player.finish(turned);
    let told = Transcript::fold(&player.log).unwrap();
    assert_eq!(told.cross_exam(), None);
    assert_eq!(told.revisions().count(), 0);
    assert_eq!(told.rejudged, None);
    assert_eq!(told.verdict().unwrap().recommendation.as_str(), "Use JWT.");
    assert_eq!(told.calls.len(), 2);
}

#[test]
fn interrupted_rejudge_resumes_with_the_fallback_judge() {
    let mut player = Player::started(anew());
    player.answer_agent(
        "judge",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    assert_eq!(
        player.open[0].model.to_string(),
        "anthropic:claude-sonnet-5-5"
    );
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(again.finish(turned), StateName::Complete);
    assert_eq!(held(&again).consistent, Some(false));
}

#[test]
fn rejudge_resumed_after_any_event_ends_as_uninterrupted() {
    let mut whole = Player::started(anew());
    whole.finish(turned);
    replay(&whole.log).unwrap();
    for kept in 1..whole.log.len() {
        let mut again = Player::resumed(&whole.log[..kept], Duration::ZERO, None).unwrap();
        again.finish(turned);
        assert_eq!(
            held(&again),
            held(&whole),
            "cut off after event {kept}: {}",
            again.log_text()
        );
        let calls = |player: &Player| Transcript::fold(&player.log).unwrap().calls.len();
        assert_eq!(calls(&again), calls(&whole), "no finished call is repeated");
    }
}

#[test]
fn estimate_counts_judge_calls_and_reads_the_prior_answers() {
    let plan = anew();
    let estimate = plan.estimate().unwrap();
    let calls: Vec<&str> = estimate
        .calls
        .iter()
        .map(|call| call.answer.name())
        .collect();
    assert_eq!(calls, ["synthesis", "verdict", "consistency"]);
    let mut longer = plan.clone();
    longer.debate.prior_answers.as_mut().unwrap().independents[0].rationale = "word ".repeat(4_000);
    let input = |plan: &Plan| plan.estimate().unwrap().calls[0].input_tokens;
    assert!(
        input(&longer) > input(&plan) + 3_000,
        "{} {}",
        input(&longer),
        input(&plan)
    );
}
