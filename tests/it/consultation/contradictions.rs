//! Answers of the judge that can be read but contradict themselves: doubt without dissent, and open
//! points of a round without challenges.

use conclave::terminal::report::{page, report};

use crate::consultation::prelude::*;

const DOUBT: &str = r#"{"summary":"They differ.","evidence":[],"dissent":[],"recommendation":"Wait.","confidence":0.55}"#;

const EXPLAINED: &str = r#"{"summary":"They differ.","evidence":[],"dissent":[{"agent":"Expert C","concern":"Effort.","severity":"low"}],"recommendation":"Wait.","confidence":0.55}"#;

const NOTE: &str =
    "**Confidence:** 55%, stated by the judge; low for a verdict that states no dissent";

/// Plays until the judge is asked for a verdict.
fn player_before_verdict(plan: Plan) -> Player {
    let mut player = Player::started(plan);
    while player.open[0].answer != AnswerKind::Verdict {
        let answer = good(&player.open[0]);
        player.answer(0, answer);
    }
    player
}

/// Returns the purposes of the calls for the verdict.
fn purposes(transcript: &Transcript) -> Vec<Purpose> {
    transcript
        .calls
        .iter()
        .filter(|call| call.answer == AnswerKind::Verdict)
        .map(|call| call.purpose)
        .collect()
}

#[test]
fn verdict_with_doubt_but_no_dissent_is_repaired() {
    let mut player = player_before_verdict(plan());
    player.answer_agent("judge", reply(DOUBT));
    let task = &player.open[0].prompt.task;
    let expected = "\n- dissent: is empty although the confidence is below 0.70\n";
    assert!(task.contains(expected), "{task}");
    assert!(task.contains(DOUBT), "{task}");
    player.answer_agent("judge", reply(EXPLAINED));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(purposes(&transcript), [Purpose::Answer, Purpose::Repair]);
    assert_eq!(transcript.verdict().unwrap().dissent[0].concern, "Effort.");
    let report = report(&transcript.stored_record());
    let expected = "**Confidence:** 55%, stated by the judge";
    assert!(report.contains(expected), "{report}");
}

#[test]
fn doubt_without_dissent_is_repaired_once_and_then_reported() {
    let mut player = player_before_verdict(plan());
    player.answer_agent("judge", reply(DOUBT));
    player.answer_agent("judge", reply(DOUBT));
    assert_eq!(player.finish(good), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(purposes(&transcript), [Purpose::Answer, Purpose::Repair]);
    assert!(transcript.degradations().is_empty());
    let report = report(&transcript.stored_record());
    assert!(report.contains(NOTE), "{report}");
    let page = page(&transcript.stored_record());
    let expected = "; low for a verdict that states no dissent";
    assert!(page.contains(expected), "{page}");
    let record = record_json(&transcript);
    let problems = &record["responses"]["round_4"]["agents"][0]["problems"];
    assert_eq!(problems.as_array().unwrap().len(), 2);
    assert_eq!(problems[1]["field"], "dissent");
    let expected = "is empty although the confidence is below 0.70";
    assert_eq!(problems[1]["what"], expected);
}

#[test]
fn failed_repair_leaves_the_verdict_as_it_was() {
    let failures: [Outcome; 4] = [
        reply("It depends."),
        stopped("", StopReason::Refused("No.".into())),
        stopped(r#"{"summary":"They d"#, StopReason::Length),
        bad_key(),
    ];
    for outcome in failures {
        let mut player = player_before_verdict(plan());
        player.answer_agent("judge", reply(DOUBT));
        player.answer_agent("judge", outcome.clone());
        assert_eq!(player.finish(good), StateName::Complete, "{outcome:?}");
        let transcript = fold(&player);
        let verdict = transcript.verdict().unwrap();
        assert_eq!(verdict.recommendation, "Wait.", "{outcome:?}");
        assert!(transcript.degradations().is_empty(), "{outcome:?}");
    }
}

#[test]
fn run_that_ends_during_the_repair_gives_the_verdict() {
    let interrupt: fn(&mut Player) = |player| player.give(Input::Interrupted);
    let wait: fn(&mut Player) = |player| while player.fire() {};
    for (end, max_wait) in [(interrupt, None), (wait, Some(Duration::from_secs(60)))] {
        let mut plan = plan();
        plan.control.max_wait = max_wait;
        let mut player = player_before_verdict(plan);
        player.answer_agent("judge", reply(DOUBT));
        end(&mut player);
        assert_eq!(player.machine.state(), StateName::Complete, "{max_wait:?}");
        let transcript = fold(&player);
        assert_eq!(transcript.verdict().unwrap().recommendation, "Wait.");
        assert!(transcript.failures.is_empty(), "{:?}", transcript.failures);
    }
}

#[test]
fn ceiling_that_forbids_the_repair_gives_the_verdict() {
    let mut player = player_before_verdict(expect_short_answers(plan()));
    let spent = fold(&player).total().cost.known;
    // The verdict itself is paid for; nothing is left after it.
    let mut plan = expect_short_answers(plan());
    plan.control.max_cost = Some(MicroUsd(spent.0 + reserve_of_verdict(&player)));
    player = player_before_verdict(plan);
    player.answer_agent("judge", reply(DOUBT));
    assert_eq!(player.machine.state(), StateName::Complete);
    let transcript = fold(&player);
    assert_eq!(purposes(&transcript), [Purpose::Answer]);
    assert_eq!(transcript.verdict().unwrap().recommendation, "Wait.");
}

fn reserve_of_verdict(player: &Player) -> u64 {
    let ask = &player.open[0];
    let plan = player.machine.plan();
    let input = plan.worst_input(&ask.prompt, ask.answer);
    let worst_case = plan.worst_case(&ask.model, input, plan.least_output(&ask.model, ask.answer));
    worst_case.known.0
}

#[test]
fn confidence_of_seventy_percent_needs_no_dissent() {
    let mut player = player_before_verdict(plan());
    player.answer_agent("judge", reply(&DOUBT.replace("0.55", "0.70")));
    assert_eq!(player.finish(good), StateName::Complete);
    assert_eq!(purposes(&fold(&player)), [Purpose::Answer]);
}

/// Answers with these challenges of the experts and of the judge, and with one open point.
fn open_points_after(of_experts: &str, of_judge: &str) -> (Vec<String>, Vec<String>) {
    let answer = |ask: &Ask| match ask.answer {
        AnswerKind::Revision => reply(&format!(
            r#"{{"challenges":[{of_experts}],"rebuttals":[],"changed":false,"because_of":[],"revised_position":"Use OAuth.","revised_confidence":0.85}}"#
        )),
        AnswerKind::CrossExam => reply(&format!(
            r#"{{"challenges":[{of_judge}],"rebuttals":[],"unresolved":["Effort"],"provisional_answer":{{"answer":"Wait.","confidence":0.5,"would_change_it":"A plan."}}}}"#
        )),
        _ => good(ask),
    };
    let mut player = Player::started(plan());
    assert_eq!(player.finish(answer), StateName::Complete);
    let transcript = fold(&player);
    let mut calls = transcript.calls.iter();
    let merge = calls.find(|call| call.answer == AnswerKind::CrossExam);
    let problems = merge.unwrap().problems.iter();
    (
        transcript.cross_exam().unwrap().unresolved.clone(),
        problems.map(|problem| problem.field.clone()).collect(),
    )
}

#[test]
fn round_without_challenges_leaves_nothing_unresolved() {
    let challenge = r#"{"challenger":"Expert B","target_agent":"Expert A","challenge":"No threat model.","evidence":["None."],"severity":"high"}"#;
    let (open_points, problems) = open_points_after("", "");
    assert!(open_points.is_empty(), "{open_points:?}");
    assert_eq!(problems, ["unresolved"]);

    let (open_points, problems) = open_points_after(challenge, challenge);
    assert_eq!(open_points, ["Effort"]);
    assert!(problems.is_empty(), "{problems:?}");

    // The judge left the expert's challenge out, so its open point may still be about it.
    let (open_points, problems) = open_points_after(challenge, "");
    assert_eq!(open_points, ["Effort"]);
    assert_eq!(problems, ["unresolved"]);
}
