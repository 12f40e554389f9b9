//! Rejudging the answers of an earlier consultation: Rounds 2 and 4 are asked, Rounds 1 and 3 come
//! from the earlier one.

use conclave::consultation::plan::options::PriorAnswers;
use conclave::domain::answer::second_pass::Held;
use conclave::domain::ids::ConsultationId;
use conclave::stopping::early_termination::Policy;

use crate::consultation::prelude::*;

const CHANGED: &str = r#"{"summary":"It turned.","evidence":[],"dissent":[{"agent":"Expert B","concern":"It is a risk.","severity":"low"}],"recommendation":"Use JWT.","confidence":0.6}"#;

fn earlier() -> Transcript {
    let mut player = Player::started(plan());
    player.finish(good);
    fold(&player)
}

/// Returns a plan that rejudges the usual consultation with another seed.
pub(in crate::consultation) fn rejudge_plan() -> Plan {
    let earlier = earlier();
    let prior_answers = PriorAnswers {
        from: earlier.id.clone(),
        independents: earlier.independents().cloned().collect(),
        cross_exam: earlier.cross_exam().cloned(),
        verdict: earlier.verdict().cloned(),
    };
    let helper = ModelRef::new("google", "gemini-4-argon");
    let debate = DebateOptions {
        prior_answers: Some(Box::new(prior_answers)),
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

fn requested_calls(player: &Player) -> Vec<String> {
    let started = player
        .log
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started(CallStarted {
                agent_id,
                answer,
                round_number,
                ..
            })) => Some(format!("{round_number} {agent_id} {}", answer.name())),
            _ => None,
        });
    started.collect()
}

fn rejudge_result(player: &Player) -> Held {
    fold(player)
        .rejudged
        .expect("a rejudge records whether the verdict held")
}

fn changed_verdict(ask: &Ask) -> Outcome {
    match ask.answer {
        AnswerKind::Verdict => reply(CHANGED),
        AnswerKind::Consistency => {
            assert!(
                ask.prompt.task.find("Use OAuth").unwrap()
                    < ask.prompt.task.find("Use JWT").unwrap(),
                "the earlier verdict comes first"
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
    let mut player = Player::started(rejudge_plan());
    assert_eq!(player.machine.state(), StateName::Synthesis);
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(
        requested_calls(&player),
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
    let (transcript, earlier) = (fold(&player), earlier());
    let contents = |transcript: &Transcript, round: u8| {
        transcript
            .artifacts
            .iter()
            .filter(|artifact| artifact.round_number == round)
            .map(|artifact| artifact.content.clone())
            .collect::<Vec<_>>()
    };
    for round in [1, 3] {
        assert_eq!(
            contents(&transcript, round),
            contents(&earlier, round),
            "round {round} is unchanged"
        );
    }
    assert_eq!(transcript.completed_rounds(), [1, 2, 3, 4]);
    assert!(transcript.early_end.is_none());
    assert_ne!(
        transcript.terms.expert_order, earlier.terms.expert_order,
        "the order is drawn again"
    );
    assert_eq!(rejudge_result(&player).consistent, Some(true));
}

#[test]
fn helper_compares_the_earlier_verdict_with_the_new_one() {
    let mut player = Player::started(rejudge_plan());
    player.finish(changed_verdict);
    let expected = [
        "2 judge synthesis",
        "4 judge verdict",
        "4 clerk consistency",
    ];
    assert_eq!(requested_calls(&player), expected);
    assert_eq!(rejudge_result(&player).consistent, Some(false));
    let expected = Some("It turned.");
    assert_eq!(rejudge_result(&player).reason.as_deref(), expected);
    let record = record_json(&fold(&player));
    assert_eq!(record["rejudged_from"], "consult-01test");
    assert_eq!(record["rejudged"]["consistent"], false);
    assert_eq!(record["judge_passes"], serde_json::Value::Null);
    assert_eq!(record["judge_consistent"], serde_json::Value::Null);

    let mut plan = rejudge_plan();
    plan.debate.helper = None;
    let mut player = Player::started(plan);
    player.finish(changed_verdict);
    assert_eq!(rejudge_result(&player).consistent, None);
}

#[test]
fn rejudge_of_two_rounds_adds_no_cross_exam_and_compares_nothing() {
    let mut plan = rejudge_plan();
    let answers = plan.debate.prior_answers.as_mut().unwrap();
    answers.cross_exam = None;
    answers.verdict = None;
    let mut player = Player::started(plan);
    player.finish(changed_verdict);
    let transcript = fold(&player);
    assert_eq!(transcript.cross_exam(), None);
    assert_eq!(transcript.revisions().count(), 0);
    assert_eq!(transcript.rejudged, None);
    assert_eq!(
        transcript.verdict().unwrap().recommendation.as_str(),
        "Use JWT."
    );
    assert_eq!(transcript.calls.len(), 2);
}

#[test]
fn interrupted_rejudge_resumes_with_the_fallback_judge() {
    let mut player = Player::started(rejudge_plan());
    player.answer_agent("judge", no_such_model());
    let expected = "anthropic:claude-sonnet-5-5";
    assert_eq!(player.open[0].model.to_string(), expected);
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut resumed = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(resumed.finish(changed_verdict), StateName::Complete);
    assert_eq!(rejudge_result(&resumed).consistent, Some(false));
}

#[test]
fn estimate_counts_judge_calls_and_reads_the_prior_answers() {
    let plan = rejudge_plan();
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
