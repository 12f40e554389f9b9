//! What the clerk does after Round 3, and what becomes of the consultation when it does not:
//! nothing else than without it.

use std::time::Duration;

use conclave::consultation::event::{
    CallEvent, CancelReason, ConsultationEvent, Envelope, Event, StateName,
};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::Plan;
use conclave::consultation::plan::options::{DebateAnalysis, DebateOptions, Rounds};
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, Outcome, StopReason};
use conclave::consultation::transcript::Transcript;
use conclave::domain::debate_value::{ChangeMagnitude, ComparisonStatus, DebateValue};
use conclave::domain::ids::{AgentId, SeatId};
use conclave::domain::money::MicroUsd;

use crate::support::comparison::{comparison_entry, comparison_plan, moving_debate};
use crate::support::script::{Player, failure, good, reply, stopped};

/// How long the end waits for the clerk.
const GRACE: Duration = Duration::from_secs(10);

/// Plays the debate to its end with this for the clerk's answers.
fn played(plan: &Plan, mut helper: impl FnMut() -> Outcome) -> Player {
    let mut player = Player::started(plan.clone());
    let state = player.finish(|ask| {
        if ask.answer == AnswerKind::Comparison {
            helper()
        } else {
            moving_debate(plan, ask)
        }
    });
    assert_eq!(state, StateName::Complete);
    player
}

fn value(log: &[Envelope]) -> DebateValue {
    Transcript::fold(log).unwrap().debate_value()
}

fn clerks_calls(log: &[Envelope]) -> usize {
    log.iter().filter(|envelope| matches!(&envelope.event, Event::Call(CallEvent::Started { agent_id, .. }) if *agent_id == AgentId::Helper)).count()
}

/// Answers whatever is asked but the clerk, until only that is open or nothing is.
fn all_but_the_clerk(player: &mut Player, plan: &Plan) {
    while let Some(at) = player
        .open
        .iter()
        .position(|ask| ask.answer != AnswerKind::Comparison)
    {
        let outcome = moving_debate(plan, &player.open[at].clone());
        player.pass(Duration::from_millis(100));
        player.answer(at, outcome);
    }
}

/// Where the consultation went.
fn path(player: &Player) -> Vec<String> {
    let told = ["state:", "round:", "consultation:completed"];
    player
        .log_text()
        .lines()
        .filter(|line| told.iter().any(|told| line.starts_with(told)))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn one_call_compares_all_changed_positions_beside_the_cross_exam() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while player
        .log
        .iter()
        .filter(|envelope| matches!(&envelope.event, Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) if artifact.content.revision().is_some()))
        .count()
        < 3
    {
        let outcome = moving_debate(&plan, &player.open[0].clone());
        player.answer(0, outcome);
    }
    let open: Vec<AnswerKind> = player.open.iter().map(|ask| ask.answer).collect();
    assert_eq!(
        open,
        [AnswerKind::CrossExam, AnswerKind::Comparison],
        "the judge goes first, the clerk beside it"
    );
    let prompt = player.open[1].prompt.text();
    let labels = plan.labels();
    for (seat, is_shown) in [
        ("security", true),
        ("architecture", true),
        ("pragmatic", false),
    ] {
        let label = labels.label(&SeatId::new(seat));
        assert_eq!(
            prompt.contains(&format!("{label}, first:")),
            is_shown,
            "{seat}\n{prompt}"
        );
    }
    for name in [
        "Security",
        "Pragmatist",
        "Architect",
        "claude",
        "gpt",
        "gemini",
    ] {
        assert!(!prompt.contains(name), "{name} is known to the clerk");
    }
    assert_eq!(
        player.finish(|ask| moving_debate(&plan, ask)),
        StateName::Complete
    );
    insta::assert_snapshot!(player.log_text());
    let value = value(&player.log);
    assert_eq!(value.status, ComparisonStatus::Compared);
    assert_eq!(value.reason.as_deref(), None);
    let magnitudes: Vec<ChangeMagnitude> =
        value.agents.iter().map(|agent| agent.magnitude).collect();
    assert_eq!(
        magnitudes,
        [
            ChangeMagnitude::SignificantChange,
            ChangeMagnitude::MinorRefinement,
            ChangeMagnitude::Same
        ]
    );
    assert_eq!(value.agents_changed_position(), 2);
    assert_eq!(value.total_agents, 3);
    assert_eq!(value.change_rate(), Some(2.0 / 3.0));
    assert_eq!(value.agents[0].influenced_by, [SeatId::new("pragmatic")]);
    assert_eq!(
        value
            .agents
            .iter()
            .map(|agent| agent.conformity)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(value.key_influencers, [SeatId::new("pragmatic")]);
    assert_eq!(value.key_insights, ["Effort is what is contested."]);
    assert!((value.avg_confidence_increase.unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(value.comparison_cost.unwrap().known, MicroUsd(1_200));
    assert_eq!(
        value.later_rounds_cost.unwrap().known,
        MicroUsd(5 * 1_200),
        "the comparison is not among them"
    );
}

#[test]
fn unchanged_positions_need_no_comparison() {
    let mut player = Player::started(comparison_plan());
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(clerks_calls(&player.log), 0);
    let value = value(&player.log);
    assert_eq!(value.status, ComparisonStatus::Compared);
    assert_eq!(value.agents_compared(), 3);
    assert_eq!(value.change_rate(), Some(0.0));
    assert_eq!(value.comparison_cost, None);
}

/// What may become of the clerk's call.
type Helper = (&'static str, fn() -> Outcome);

#[test]
fn helper_failure_does_not_change_the_consultation() {
    let mut strict = comparison_plan();
    (strict.control.strict, strict.control.on_failure) = (true, OnFailure::Fail);
    let off = Plan {
        debate: DebateOptions {
            helper: None,
            ..comparison_plan().debate
        },
        ..comparison_plan()
    };
    let plain = path(&played(&off, || unreachable!("there is no clerk")));
    let nothing = || reply("I would rather not say.");
    let outcomes: [Helper; 7] = [
        ("it failed", || failure(FailureClass::Auth, "invalid key")),
        ("it was refused", || {
            stopped("", StopReason::Refused("not that".into()))
        }),
        ("it is unreadable", nothing),
        ("it is empty", || reply("")),
        ("it is cut off", || stopped("{\"comp", StopReason::Length)),
        ("it names no persona", || {
            reply(r#"{"comparisons":[],"key_insights":[]}"#)
        }),
        ("it names somebody else", || {
            reply(&format!(
                r#"{{"comparisons":[{}],"key_insights":[]}}"#,
                comparison_entry("Expert Z", "x", "same")
            ))
        }),
    ];
    for plan in [comparison_plan(), strict] {
        for (what, helper) in outcomes {
            let player = played(&plan, helper);
            assert_eq!(path(&player), plain, "{what}");
            let transcript = Transcript::fold(&player.log).unwrap();
            assert!(
                transcript.degradations().is_empty(),
                "{what}: {:?}",
                transcript.degradations()
            );
            let value = transcript.debate_value();
            assert_eq!(value.status, ComparisonStatus::Failed, "{what}");
            assert_eq!(value.agents_compared(), 0, "{what}");
            assert_eq!(value.change_rate(), None, "{what}");
            let of_movers = value
                .agents
                .iter()
                .filter(|agent| agent.agent_id.as_str() != "pragmatic");
            assert!(
                of_movers
                    .clone()
                    .all(|agent| agent.magnitude == ChangeMagnitude::Unknown),
                "{what}"
            );
            assert!(
                value.reason.is_some_and(|reason| !reason.is_empty()),
                "{what}"
            );
            assert!(clerks_calls(&player.log) <= 2, "{what}");
        }
    }
}

#[test]
fn slow_helper_is_cancelled_after_a_grace_period() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    all_but_the_clerk(&mut player, &plan);
    assert_eq!(
        player.machine.state(),
        StateName::Verdict,
        "the verdict is there, and the clerk at work"
    );
    assert_eq!(
        player.open.len(),
        1,
        "the verdict is there, and the clerk at work"
    );
    assert!(Transcript::fold(&player.log).unwrap().verdict().is_some());
    let there = player.now;
    while !player.machine.state().is_terminal() {
        assert!(player.fire());
    }
    assert_eq!(player.now.since(there), GRACE);
    let cancelled = player.log.iter().filter(|envelope| {
        matches!(
            envelope.event,
            Event::Call(CallEvent::Cancelled {
                reason: CancelReason::TooLate,
                ..
            })
        )
    });
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(cancelled.count(), 1);
    let value = value(&player.log);
    assert_eq!(value.status, ComparisonStatus::Failed);
    assert_eq!(
        value.reason.as_deref(),
        Some("had not answered when everything else was done")
    );
    assert!(
        value.comparison_cost.unwrap().lower_bound,
        "nobody knows what it cost"
    );
    assert!(
        Transcript::fold(&player.log)
            .unwrap()
            .degradations()
            .is_empty()
    );
}

#[test]
fn helper_answer_within_the_grace_period_counts() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    all_but_the_clerk(&mut player, &plan);
    player.pass(GRACE / 2);
    let outcome = moving_debate(&plan, &player.open[0].clone());
    player.answer(0, outcome);
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(value(&player.log).agents_changed_position(), 2);
}

#[test]
fn interrupt_during_the_grace_period_keeps_the_verdict() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    all_but_the_clerk(&mut player, &plan);
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(value(&player.log).status, ComparisonStatus::Failed);
}

#[test]
fn resume_repeats_an_interrupted_comparison() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while !player
        .open
        .iter()
        .any(|ask| ask.answer == AnswerKind::Verdict)
    {
        let at = player
            .open
            .iter()
            .position(|ask| ask.answer != AnswerKind::Comparison)
            .unwrap();
        let outcome = moving_debate(&plan, &player.open[at].clone());
        player.answer(at, outcome);
    }
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(player.open.len(), 0);
    let mut again = Player::resumed(&player.log, Duration::from_secs(3_600), None).unwrap();
    let mut asked: Vec<AnswerKind> = again.open.iter().map(|ask| ask.answer).collect();
    asked.sort();
    assert_eq!(asked, [AnswerKind::Verdict, AnswerKind::Comparison]);
    assert_eq!(
        again.finish(|ask| moving_debate(&plan, ask)),
        StateName::Complete
    );
    assert_eq!(value(&again.log).agents_changed_position(), 2);
}

#[test]
fn resume_after_any_event_yields_the_same_comparison() {
    let plan = comparison_plan();
    let mut straight = Player::started(plan.clone());
    all_but_the_clerk(&mut straight, &plan);
    let outcome = moving_debate(&plan, &straight.open[0].clone());
    straight.answer(0, outcome);
    let whole = value(&straight.log);
    for cut in 5..=straight.log.len() {
        let mut again = match Player::resumed(&straight.log[..cut], Duration::from_secs(60), None) {
            Ok(again) => again,
            Err(error) => panic!("after event {cut}: {error}"),
        };
        all_but_the_clerk(&mut again, &plan);
        assert_eq!(
            again.finish(|ask| moving_debate(&plan, ask)),
            StateName::Complete,
            "after event {cut}"
        );
        let value = value(&again.log);
        assert_eq!(value.agents, whole.agents, "after event {cut}");
        assert_eq!(value.key_insights, whole.key_insights, "after event {cut}");
        assert!(replay(&again.log).is_ok(), "after event {cut}");
    }
}

#[test]
fn cancelled_comparison_replays_and_an_open_one_is_repeated() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    all_but_the_clerk(&mut player, &plan);
    let in_the_moment = player.log.clone();
    while !player.machine.state().is_terminal() {
        player.fire();
    }
    assert_eq!(
        replay(&player.log).unwrap().consultation.state(),
        StateName::Complete
    );
    let mut again = Player::resumed(&in_the_moment, Duration::from_secs(86_400), None).unwrap();
    assert_eq!(
        again.machine.state(),
        StateName::Verdict,
        "the clerk is asked again, and waited for again"
    );
    assert_eq!(
        again.open.len(),
        1,
        "the clerk is asked again, and waited for again"
    );
    let resumed = again.now;
    while !again.machine.state().is_terminal() {
        assert!(again.fire());
    }
    assert_eq!(again.now.since(resumed), GRACE);
}

#[test]
fn failed_judge_cancels_the_comparison_and_resume_repeats_it() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while !player
        .open
        .iter()
        .any(|ask| ask.answer == AnswerKind::CrossExam)
    {
        let outcome = moving_debate(&plan, &player.open[0].clone());
        player.answer(0, outcome);
    }
    while !player.machine.state().is_terminal() {
        let at = player
            .open
            .iter()
            .position(|ask| ask.answer == AnswerKind::CrossExam)
            .unwrap();
        player.answer(at, failure(FailureClass::ModelMissing, "no such model"));
    }
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut again = Player::resumed(&player.log, Duration::from_secs(60), None).unwrap();
    assert_eq!(
        again.finish(|ask| moving_debate(&plan, ask)),
        StateName::Complete
    );
    assert_eq!(clerks_calls(&again.log), 2);
    assert_eq!(value(&again.log).agents_changed_position(), 2);
}

#[test]
fn comparison_needs_at_least_three_rounds() {
    for (rounds, calls, status) in [
        (1, 0, ComparisonStatus::NotApplicable),
        (2, 0, ComparisonStatus::NotApplicable),
        (3, 1, ComparisonStatus::Compared),
        (4, 1, ComparisonStatus::Compared),
    ] {
        let mut plan = comparison_plan();
        plan.debate.rounds = Rounds::new(rounds).unwrap();
        let mut player = Player::started(plan.clone());
        assert_eq!(
            player.finish(|ask| moving_debate(&plan, ask)),
            StateName::Complete
        );
        let value = value(&player.log);
        assert_eq!(clerks_calls(&player.log), calls, "{rounds} rounds");
        assert_eq!(value.status, status, "{rounds} rounds");
        if rounds == 3 {
            assert_eq!(
                value.verdict_changed_after_round_2, None,
                "no judge gave a verdict"
            );
            assert_eq!(value.convergence_score, None, "no judge gave a verdict");
        }
    }
    let mut plan = comparison_plan();
    plan.debate.rounds = Rounds::new(3).unwrap();
    let mut player = Player::started(plan.clone());
    all_but_the_clerk(&mut player, &plan);
    assert_eq!(player.machine.state(), StateName::CrossExam);
    let merged = player.now;
    while !player.machine.state().is_terminal() {
        assert!(player.fire());
    }
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(player.now.since(merged), GRACE);
}

#[test]
fn comparison_is_skipped_when_off_or_without_a_helper() {
    let off = Plan {
        debate: DebateOptions {
            debate_analysis: DebateAnalysis::Off,
            ..comparison_plan().debate
        },
        ..comparison_plan()
    };
    let alone = Plan {
        debate: DebateOptions {
            helper: None,
            ..comparison_plan().debate
        },
        ..comparison_plan()
    };
    let no_model = Plan {
        debate: DebateOptions {
            debate_analysis: DebateAnalysis::NoModel,
            ..comparison_plan().debate
        },
        ..comparison_plan()
    };
    let nobody = "there is no cheap model with a key to compare with";
    for (plan, reason) in [
        (off, "no comparison was asked for"),
        (alone, nobody),
        (no_model, nobody),
    ] {
        let player = played(&plan, || unreachable!("nobody is asked"));
        let value = value(&player.log);
        assert_eq!(value.status, ComparisonStatus::Skipped);
        assert_eq!(value.reason.as_deref(), Some(reason));
        assert_eq!(clerks_calls(&player.log), 0);
        assert_eq!(value.headline(), None);
        assert_eq!(value.comparison_cost, None);
        assert!(value.agents[1].conformity, "by its own word it changed");
    }
}

#[test]
fn single_expert_is_compared_with_itself() {
    let mut plan = comparison_plan();
    plan.panel.seats.truncate(1);
    let mut player = Player::started(plan.clone());
    let label = plan.labels().label(&SeatId::new("security"));
    let state = player.finish(|ask| match ask.answer {
        AnswerKind::Comparison => reply(&format!(
            r#"{{"comparisons":[{}],"key_insights":[]}}"#,
            comparison_entry(&label, "x", "moderate_shift")
        )),
        _ => moving_debate(&plan, ask),
    });
    assert_eq!(state, StateName::Complete);
    let value = value(&player.log);
    assert_eq!(value.agents_compared(), 1);
    assert_eq!(value.total_agents, 1);
    assert_eq!(value.change_rate(), Some(1.0));
    assert!(
        !value.agents[0].conformity,
        "there is no majority that it is not in"
    );
}

#[test]
fn failed_expert_is_not_compared_or_counted() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    let state = player.finish(|ask| match (ask.answer, ask.model.provider.as_str()) {
        (AnswerKind::Revision, "google") => failure(FailureClass::ModelMissing, "gone"),
        _ => moving_debate(&plan, ask),
    });
    assert_eq!(state, StateName::Complete);
    let value = value(&player.log);
    assert_eq!(value.agents.len(), 3);
    assert_eq!(value.agents_compared(), 2);
    assert_eq!(value.total_agents, 3);
    assert_eq!(value.change_rate(), Some(1.0));
    let silent = &value.agents[2];
    assert_eq!(silent.magnitude, ChangeMagnitude::Unknown);
    assert_eq!(silent.position_changed(), None);
    assert_eq!(silent.revised_position, None);
    assert_eq!(
        value.headline().unwrap(),
        "2/2 agents changed positions during debate (1 could not be compared)"
    );
}

#[test]
fn comparison_never_breaks_the_ceiling() {
    let mut plan = comparison_plan();
    let dear = plan
        .prices
        .price(&plan.panel.seats[0].model)
        .copied()
        .unwrap();
    let mut dearest = dear;
    dearest.base.output = MicroUsd(900_000_000);
    plan.prices
        .0
        .insert(plan.debate.helper.clone().unwrap(), dearest);
    plan.control.max_cost = Some(MicroUsd(1_000_000));
    let player = played(&plan, || unreachable!("there is no room for it"));
    assert_eq!(clerks_calls(&player.log), 0);
    assert_eq!(value(&player.log).status, ComparisonStatus::Failed);
    assert!(!player.log_text().contains("ceiling_reached"));
}
