//! What is compared, and the result.

use conclave::consultation::plan::options::{DebateAnalysis, Rounds};
use conclave::domain::answer::debate_value::{ChangeMagnitude, ComparisonStatus};

use super::{GRACE_PERIOD, answer_all_but_helper, play_with_helper, value};
use crate::consultation::prelude::*;
use crate::support::comparison::{comparison_entry, comparison_plan, moving_debate};

#[test]
fn one_call_compares_all_changed_positions_beside_the_cross_exam() {
    let plan = comparison_plan();
    let mut player = Player::started(plan.clone());
    while fold(&player).revisions().count() < 3 {
        let outcome = moving_debate(&plan, &player.open[0].clone());
        player.answer(0, outcome);
    }
    let open_kinds: Vec<AnswerKind> = player.open.iter().map(|ask| ask.answer).collect();
    assert_eq!(
        open_kinds,
        [AnswerKind::CrossExam, AnswerKind::Comparison],
        "the judge is asked first, with the helper beside it"
    );
    let prompt = player.open[1].prompt.text();
    let labels = plan.labels();
    for (seat, is_shown) in [
        ("security", true),
        ("architecture", true),
        ("pragmatic", false),
    ] {
        let label = labels.label(&SeatId::new(seat));
        let shows = prompt.contains(&format!("{label}, first:"));
        assert_eq!(shows, is_shown, "{seat}\n{prompt}");
    }
    for name in [
        "Security",
        "Pragmatist",
        "Architect",
        "claude",
        "gpt",
        "gemini",
    ] {
        assert!(!prompt.contains(name), "the helper sees {name}");
    }
    let expected = StateName::Complete;
    assert_eq!(player.finish(|ask| moving_debate(&plan, ask)), expected);
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
    assert_eq!(value.agents_changed_position, Some(2));
    assert_eq!(value.total_agents, Some(3));
    assert_eq!(value.change_rate, Some(0.666_667));
    assert_eq!(value.agents[0].influenced_by, [SeatId::new("pragmatic")]);
    assert_eq!(
        value
            .agents
            .iter()
            .map(|agent| agent.conformity)
            .collect::<Vec<_>>(),
        [false; 3],
        "a refinement is no change of mind"
    );
    assert_eq!(value.key_influencers, [SeatId::new("pragmatic")]);
    assert_eq!(value.key_insights, ["Effort is what is contested."]);
    assert!((value.avg_confidence_increase.unwrap() - 0.1).abs() < 1e-9);
    let cost = value.comparison_cost.unwrap().cost().unwrap().known;
    assert_eq!(cost, MicroUsd(1_200));
    let cost = value.later_rounds_cost.unwrap().cost().unwrap().known;
    assert_eq!(cost, MicroUsd(5 * 1_200), "the comparison is excluded");
}

#[test]
fn unchanged_positions_need_no_comparison() {
    let mut player = Player::started(comparison_plan());
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(helper_calls(&player), 0);
    let value = value(&player.log);
    assert_eq!(value.status, ComparisonStatus::Compared);
    assert_eq!(value.agents_compared, Some(3));
    assert_eq!(value.change_rate, Some(0.0));
    assert_eq!(value.comparison_cost, None);
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
        let expected = StateName::Complete;
        assert_eq!(player.finish(|ask| moving_debate(&plan, ask)), expected);
        let value = value(&player.log);
        assert_eq!(helper_calls(&player), calls, "{rounds} rounds");
        assert_eq!(value.status, status, "{rounds} rounds");
        if rounds == 3 {
            assert_eq!(
                value.verdict_changed_after_round_2, None,
                "there is no verdict of a judge"
            );
            assert_eq!(
                value.convergence_score, None,
                "there is no verdict of a judge"
            );
        }
    }
    let mut plan = comparison_plan();
    plan.debate.rounds = Rounds::new(3).unwrap();
    let mut player = Player::started(plan.clone());
    answer_all_but_helper(&mut player, &plan);
    assert_eq!(player.machine.state(), StateName::CrossExam);
    let merged_at = player.now;
    fire_to_the_end(&mut player);
    assert_eq!(player.machine.state(), StateName::Complete);
    assert_eq!(player.now.since(merged_at), GRACE_PERIOD);
}

#[test]
fn comparison_is_skipped_when_off_or_without_a_helper() {
    let changed = |change: fn(&mut DebateOptions)| {
        let mut plan = comparison_plan();
        change(&mut plan.debate);
        plan
    };
    let off = changed(|debate| debate.debate_analysis = DebateAnalysis::Off);
    let without_helper = changed(|debate| debate.helper = None);
    let no_model = changed(|debate| debate.debate_analysis = DebateAnalysis::NoModel);
    let no_helper = "there is no cheap model with a key to compare with";
    for (plan, reason) in [
        (off, "no comparison was asked for"),
        (without_helper, no_helper),
        (no_model, no_helper),
    ] {
        let player = play_with_helper(&plan, || unreachable!("no helper is asked"));
        let value = value(&player.log);
        assert_eq!(value.status, ComparisonStatus::Skipped);
        assert_eq!(value.reason.as_deref(), Some(reason));
        assert_eq!(helper_calls(&player), 0);
        assert_eq!(value.change_rate, None);
        assert_eq!(value.comparison_cost, None);
        assert!(
            !value.agents[1].conformity,
            "its own answer is no judgement"
        );
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
    assert_eq!(value.agents_compared, Some(1));
    assert_eq!(value.total_agents, Some(1));
    assert_eq!(value.change_rate, Some(1.0));
    assert!(!value.agents[0].conformity, "there is no other majority");
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
    assert_eq!(value.agents_compared, Some(2));
    assert_eq!(value.total_agents, Some(3));
    assert_eq!(value.change_rate, Some(1.0));
    let failed_expert = &value.agents[2];
    assert_eq!(failed_expert.magnitude, ChangeMagnitude::Unknown);
    assert_eq!(failed_expert.magnitude.differs(), None);
    assert_eq!(failed_expert.revised_position, None);
    let record = fold(&player).stored_record();
    let changes = record.position_changes();
    let expected = "1 of 2 experts changed its mind, 1 refined its position";
    assert_eq!(changes.headline().unwrap(), expected);
    assert_eq!(changes.silent, [&failed_expert.agent_id]);
}

#[test]
fn comparison_never_breaks_the_ceiling() {
    let mut plan = comparison_plan();
    let price = plan
        .prices
        .price(&plan.panel.seats[0].model)
        .copied()
        .unwrap();
    let mut helper_price = price;
    helper_price.base.output = MicroUsd(900_000_000);
    plan.prices
        .0
        .insert(plan.debate.helper.clone().unwrap(), helper_price);
    plan.control.max_cost = Some(MicroUsd(1_000_000));
    let player = play_with_helper(&plan, || unreachable!("the ceiling has no room for it"));
    assert_eq!(helper_calls(&player), 0);
    assert_eq!(value(&player.log).status, ComparisonStatus::Failed);
    assert!(!player.log_text().contains("ceiling_reached"));
}
