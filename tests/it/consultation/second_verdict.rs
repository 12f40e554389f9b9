//! The judge is asked twice, with the experts in the opposite order: whether the verdict held, and
//! what happens when that cannot be found out.

use std::time::Duration;

use conclave::consultation::event::{AbortReason, Answer, CallEvent, Event, StateName};
use conclave::consultation::plan::Plan;
use conclave::consultation::plan::mode::Mode;
use conclave::consultation::plan::options::{DebateOptions, JudgePasses};
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome};
use conclave::consultation::protocol::{Input, Question};
use conclave::consultation::transcript::Transcript;
use conclave::domain::artifact::Magnitude;
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::second_pass::SecondPass;

use crate::support::script::{Player, failure, good, good_text, plan, reply};

const OTHER: &str = r#"{"summary":"It turned.","evidence":[],"dissent":[],"recommendation":"Use JWT, as Expert A says.","confidence":0.6}"#;

fn helper() -> ModelRef {
    ModelRef::new("google", "gemini-4-flash")
}

/// The usual plan, judged twice, with a clerk.
fn twice() -> Plan {
    let debate = DebateOptions {
        judge_passes: JudgePasses::Twice,
        helper: Some(helper()),
        ..DebateOptions::default()
    };
    let mut plan = Plan { debate, ..plan() };
    let price = plan.prices.0[&plan.panel.seats[2].model];
    plan.prices.0.insert(helper(), price);
    plan
}

fn without_clerk() -> Plan {
    let mut plan = twice();
    plan.debate.helper = None;
    plan
}

/// Plays on until the judge is at work on the verdict.
fn until_the_verdict(plan: Plan) -> Player {
    let mut player = Player::started(plan);
    while player.machine.state() != StateName::Verdict {
        let ask = player.open[0].clone();
        player.answer(0, good(&ask));
    }
    player
}

fn agents(player: &Player) -> Vec<String> {
    player
        .open
        .iter()
        .map(|ask| agent_of(player, ask))
        .collect()
}

fn agent_of(player: &Player, ask: &Ask) -> String {
    let started = player
        .log
        .iter()
        .find_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started { call, agent_id, .. }) if *call == ask.call => {
                Some(agent_id.to_string())
            }
            _ => None,
        });
    started.unwrap()
}

fn verdict() -> Outcome {
    reply(good_text(AnswerKind::Verdict))
}

fn compared(magnitude: &str) -> Outcome {
    reply(&format!(
        r#"{{"comparisons":[{{"pair":"Verdict","reasoning":"They differ so.","magnitude":"{magnitude}"}}],"key_insights":[]}}"#
    ))
}

fn second_pass(player: &Player) -> SecondPass {
    Transcript::fold(&player.log)
        .unwrap()
        .second_pass
        .expect("a second pass was told of")
}

/// Nothing is said of a second pass but that nobody knows, and why; the first verdict stands,
/// whole.
fn is_unknown(player: &Player, why: &str) {
    assert_eq!(
        player.machine.state(),
        StateName::Complete,
        "{}",
        player.log_text()
    );
    let told = Transcript::fold(&player.log).unwrap();
    let second = told.second_pass.clone().unwrap();
    assert_eq!(second.held.consistent, None);
    assert_eq!(second.held.magnitude, None);
    assert!(
        second
            .held
            .reason
            .as_deref()
            .is_some_and(|reason| reason.contains(why)),
        "{:?}",
        second.held.reason
    );
    assert_eq!(
        told.verdict().unwrap().recommendation,
        "Use OAuth with short-lived tokens."
    );
    assert!(told.degradations().is_empty(), "{:?}", told.degradations());
}

#[test]
fn second_pass_sees_the_same_texts_reversed_under_swapped_labels() {
    let mut player = Player::started(without_clerk());
    for (agent, position) in [
        ("security", "Position one."),
        ("architecture", "Position two."),
        ("pragmatic", "Position three."),
    ] {
        let said = good_text(AnswerKind::Independent).replace("Use OAuth.", position);
        player.answer_agent(agent, reply(&said));
    }
    let found = good_text(AnswerKind::Synthesis).replace(
        "Tokens must be short-lived.",
        "Experts A and B want short lives; Expert C does not.",
    );
    player.answer(0, reply(&found));
    while player.machine.state() != StateName::Verdict {
        let ask = player.open[0].clone();
        player.answer(0, good(&ask));
    }
    assert_eq!(agents(&player), ["judge", "judge-2"]);
    let [first, second] = [0, 1].map(|at| player.open[at].clone());
    assert_eq!(first.model, second.model);
    assert_eq!(first.answer, second.answer);
    let swapped = |text: &str| {
        text.replace("Expert A", "Expert ?")
            .replace("Expert C", "Expert A")
            .replace("Expert ?", "Expert C")
    };
    // The position that stands under a label of the first pass stands under its counterpart in the
    // second, the last first.
    let under = |prompt: &str| -> Vec<(String, String)> {
        let labels = ["Expert A", "Expert B", "Expert C"];
        let places = |label: &str| {
            prompt
                .match_indices(label)
                .map(|(at, _)| at)
                .collect::<Vec<_>>()
        };
        let positions = ["Position one.", "Position two.", "Position three."];
        let mut found: Vec<(usize, String)> = positions
            .iter()
            .map(|text| {
                (
                    prompt.find(&format!("Position: {text}")).unwrap(),
                    (*text).to_owned(),
                )
            })
            .collect();
        found.sort();
        let label = |at: usize| {
            labels
                .iter()
                .max_by_key(|label| places(label).into_iter().filter(|place| *place < at).max())
                .unwrap()
        };
        found
            .into_iter()
            .map(|(at, text)| ((*label(at)).to_owned(), text))
            .collect()
    };
    let (one, other) = (under(&first.prompt.task), under(&second.prompt.task));
    assert_eq!(
        one.iter()
            .map(|(label, _)| label.as_str())
            .collect::<Vec<_>>(),
        ["Expert A", "Expert B", "Expert C"]
    );
    let turned: Vec<(String, String)> = one
        .iter()
        .rev()
        .map(|(label, text)| (swapped(label), text.clone()))
        .collect();
    assert_eq!(other, turned);
    // What was said of experts in words is said of the same ones.
    assert!(
        first
            .prompt
            .task
            .contains("Experts A and B want short lives; Expert C does not.")
    );
    assert!(
        second
            .prompt
            .task
            .contains("Experts C and B want short lives; Expert A does not.")
    );
    // Apart from labels, order and the fences around them, nothing differs.
    let words = |text: &str| {
        let mut lines: Vec<String> = text
            .lines()
            .filter(|line| !line.contains("<<<TEXT") && !line.contains("TEXT "))
            .map(sorted)
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(
        words(&swapped(&first.prompt.task).replace("Experts A", "Experts C")),
        words(&second.prompt.task)
    );
    assert_eq!(first.prompt.shared, second.prompt.shared);
    assert_eq!(first.prompt.persona, second.prompt.persona);
}

/// A line's words, in no order: the experts that a line names are named the other way round.
fn sorted(line: &str) -> String {
    let mut words: Vec<&str> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.sort_unstable();
    words.join(" ")
}

#[test]
fn equal_verdicts_need_no_comparison() {
    let mut player = until_the_verdict(twice());
    player.answer_agent(
        "judge-2",
        reply(&good_text(AnswerKind::Verdict).replace("Use OAuth with", "use  **OAuth** with")),
    );
    assert_eq!(
        player.machine.state(),
        StateName::Verdict,
        "the first is waited for"
    );
    player.answer_agent("judge", verdict());
    assert_eq!(player.machine.state(), StateName::Complete);
    let second = second_pass(&player);
    assert_eq!(second.held.consistent, Some(true));
    assert_eq!(second.held.magnitude, Some(Magnitude::Same));
    let told = Transcript::fold(&player.log).unwrap();
    assert_eq!(told.calls.len(), 10, "nine calls and the second verdict");
    let mut first_order = told.terms.expert_order.clone();
    first_order.reverse();
    assert_eq!(second.expert_order, first_order);
}

#[test]
fn helper_decides_whether_different_verdicts_are_consistent() {
    for (magnitude, held) in [
        ("same", true),
        ("minor_refinement", true),
        ("moderate_shift", false),
        ("significant_change", false),
    ] {
        let mut player = until_the_verdict(twice());
        player.answer_agent("judge", verdict());
        player.answer_agent("judge-2", reply(OTHER));
        assert_eq!(agents(&player), ["clerk"]);
        assert_eq!(player.open[0].model, helper());
        assert_eq!(player.open[0].answer, AnswerKind::Consistency);
        let asked = &player.open[0].prompt.task;
        assert!(
            asked.contains("Use OAuth with short-lived tokens.")
                && asked.contains("Use JWT, as Expert C says."),
            "{asked}"
        );
        player.answer(0, compared(magnitude));
        assert_eq!(player.machine.state(), StateName::Complete);
        let second = second_pass(&player);
        assert_eq!(second.held.consistent, Some(held));
        assert_eq!(second.held.reason.as_deref(), Some("They differ so."));
        let told = Transcript::fold(&player.log).unwrap();
        assert_eq!(
            told.verdict().unwrap().recommendation,
            "Use OAuth with short-lived tokens.",
            "the first verdict is the verdict"
        );
        assert_eq!(told.calls.len(), 11);
        let last = told.calls.last().unwrap();
        assert_eq!(last.round_number, 4);
        assert_eq!(last.agent_id, AgentId::Helper);
        // Its labels were the other way round: what is kept of it names the experts as everything
        // else does.
        assert_eq!(
            second.verdict.unwrap().recommendation,
            "Use JWT, as Expert C says."
        );
    }
}

#[test]
fn second_pass_labels_resolve_to_the_right_experts() {
    let mut player = until_the_verdict(without_clerk());
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", verdict());
    let told = Transcript::fold(&player.log).unwrap();
    let order = &told.terms.expert_order;
    let (first, second) = (
        told.verdict().unwrap(),
        told.second_pass.as_ref().unwrap().verdict.as_ref().unwrap(),
    );
    assert_eq!(first.evidence[0].agent.as_str(), order[0].as_str());
    assert_eq!(second.evidence[0].agent.as_str(), order[2].as_str());
}

#[test]
fn menus_are_compared_by_options_and_recommendation() {
    let mut plan = twice();
    plan.debate.mode = Mode::Explore;
    let mut player = until_the_verdict(plan);
    let menu = good_text(AnswerKind::Menu);
    player.answer_agent("judge", reply(menu));
    player.answer_agent(
        "judge-2",
        reply(&menu.replace(r#""option":"JWT""#, r#""option":"Sessions""#)),
    );
    let asked = player.open[0].prompt.task.clone();
    for part in [
        "- OAuth: Use a provider.",
        "- JWT: Sign tokens.",
        "- Sessions: Sign tokens.",
        "Choose by the number of clients.",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    player.answer(0, compared("moderate_shift"));
    assert_eq!(second_pass(&player).held.consistent, Some(false));
}

#[test]
fn consistency_is_unknown_without_a_comparison() {
    let mut player = until_the_verdict(without_clerk());
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", reply(OTHER));
    is_unknown(&player, "no model was there to compare");

    for answer in [
        failure(FailureClass::Auth, "bad key"),
        reply(r#"{"comparisons":[],"key_insights":[]}"#),
    ] {
        let mut player = until_the_verdict(twice());
        player.answer_agent("judge", verdict());
        player.answer_agent("judge-2", reply(OTHER));
        player.finish(|_| answer.clone());
        is_unknown(&player, "were not compared");
        assert_eq!(
            second_pass(&player).verdict.unwrap().recommendation,
            "Use JWT, as Expert C says."
        );
    }
}

#[test]
fn failed_second_pass_leaves_the_verdict_unchanged() {
    for (on_failure, strict) in [
        (OnFailure::Substitute, false),
        (OnFailure::Fail, false),
        (OnFailure::Skip, true),
        (OnFailure::Fail, true),
    ] {
        for is_first_there in [true, false] {
            let mut plan = twice();
            (plan.control.on_failure, plan.control.strict) = (on_failure, strict);
            let mut player = until_the_verdict(plan);
            if is_first_there {
                player.answer_agent("judge", verdict());
            }
            while agents(&player).contains(&"judge-2".to_owned()) {
                player.answer_agent(
                    "judge-2",
                    failure(FailureClass::ModelMissing, "no such model"),
                );
            }
            if !is_first_there {
                player.answer_agent("judge", verdict());
            }
            is_unknown(&player, "the second pass failed: no such model");
        }
    }
}

#[test]
fn unreadable_second_verdict_leaves_consistency_unknown() {
    let mut player = until_the_verdict(twice());
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", reply("OAuth, I would say."));
    player.answer_agent("judge-2", reply("As I said."));
    is_unknown(&player, "could not be read as asked");
}

#[test]
fn judge_fallback_takes_over_the_second_pass_and_is_recorded() {
    let mut player = until_the_verdict(twice());
    player.answer_agent(
        "judge-2",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    let fallback = ModelRef::new("anthropic", "claude-sonnet-5-5");
    assert_eq!(player.open.last().unwrap().model, fallback);
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", verdict());
    let second = second_pass(&player);
    assert_eq!(second.held.consistent, Some(true));
    assert_eq!(second.model, Some(fallback));
    let told = Transcript::fold(&player.log).unwrap();
    assert!(
        told.degradations().is_empty(),
        "the verdict is the judge's own"
    );
    assert_eq!(told.judge().unwrap().to_string(), "openai:gpt-6.1-sol");
}

#[test]
fn replacement_judge_makes_both_passes() {
    let mut player = Player::started(twice());
    let fails =
        |ask: &Ask| ask.answer == AnswerKind::Synthesis && ask.model.provider.as_str() == "openai";
    while player.machine.state() != StateName::Verdict {
        let ask = player.open[0].clone();
        player.answer(
            0,
            if fails(&ask) {
                failure(FailureClass::ModelMissing, "no such model")
            } else {
                good(&ask)
            },
        );
    }
    let judges: Vec<String> = player
        .open
        .iter()
        .map(|ask| ask.model.to_string())
        .collect();
    assert_eq!(judges, ["anthropic:claude-sonnet-5-5"; 2]);
}

#[test]
fn resume_repeats_a_failed_judge_but_not_the_second_verdict() {
    let mut player = until_the_verdict(twice());
    player.answer_agent("judge-2", verdict());
    player.answer_agent(
        "judge",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    player.answer_agent("judge", failure(FailureClass::ModelMissing, "nor this one"));
    let abort = Transcript::fold(&player.log).unwrap().abort.unwrap();
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(abort.reason, AbortReason::JudgeFailed);
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(agents(&again), ["judge"]);
    assert_eq!(again.finish(good), StateName::Complete);
    assert_eq!(second_pass(&again).held.consistent, Some(true));
}

#[test]
fn resume_repeats_both_passes_interrupted_before_a_verdict() {
    let mut player = until_the_verdict(twice());
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(agents(&again), ["judge", "judge-2"]);
    again.finish(good);
    assert_eq!(second_pass(&again).held.consistent, Some(true));
}

#[test]
fn first_verdict_stands_when_the_second_pass_is_cut_short() {
    let mut player = until_the_verdict(twice());
    player.answer_agent("judge", verdict());
    player.give(Input::Interrupted);
    is_unknown(&player, "interrupted");
    assert_eq!(second_pass(&player).verdict, None);

    let mut plan = twice();
    plan.control.max_wait = Some(Duration::from_secs(30));
    let mut player = until_the_verdict(plan);
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", reply(OTHER));
    while player.machine.state() == StateName::Verdict && player.fire() {}
    assert_eq!(
        second_pass(&player).verdict.unwrap().recommendation,
        "Use JWT, as Expert C says."
    );
    assert_eq!(player.machine.state(), StateName::Complete);

    let mut plan = twice();
    plan.control.pulse = Some(Duration::from_secs(10));
    let mut player = until_the_verdict(plan);
    player.answer_agent("judge", verdict());
    while player.question.is_none() {
        assert!(player.fire());
    }
    player.give(Input::Answered(Answer::No));
    is_unknown(&player, "cancelled by user");
}

#[test]
fn second_pass_question_names_it_and_is_withdrawn_with_it() {
    let mut plan = twice();
    plan.control.on_failure = OnFailure::Ask;
    let mut player = until_the_verdict(plan);
    player.answer_agent(
        "judge-2",
        failure(FailureClass::ModelMissing, "no such model"),
    );
    let Some(Question::Substitution { agent_id, name, .. }) = &player.question else {
        panic!("{:?}", player.question)
    };
    assert_eq!(agent_id, &AgentId::SecondJudge);
    assert_eq!(name.as_str(), "Judge (second pass)");
    let mut refused = player.clone();
    refused.answer_agent("judge", verdict());
    refused.give(Input::Answered(Answer::No));
    is_unknown(&refused, "the second pass failed: no such model");
    player.answer_agent("judge", verdict());
    player.give(Input::Interrupted);
    is_unknown(&player, "interrupted");
}

#[test]
fn ceiling_without_room_for_the_second_pass_does_not_abort() {
    let room = |max_cost: MicroUsd| {
        let mut plan = twice();
        plan.control.max_cost = Some(max_cost);
        plan
    };
    let rich = until_the_verdict(room(MicroUsd(10_000_000)));
    assert_eq!(agents(&rich), ["judge", "judge-2"]);
    let worst_case = rich
        .log
        .iter()
        .rev()
        .find_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started { worst_case, .. }) => *worst_case,
            _ => None,
        });
    // Room for one verdict, after all that comes before it.
    let spent: Cost = Transcript::fold(&rich.log)
        .unwrap()
        .calls
        .iter()
        .map(|call| call.cost)
        .sum();
    let mut player = until_the_verdict(room((spent + worst_case.unwrap()).known));
    assert_eq!(agents(&player), ["judge"], "the second waits for room");
    player.answer_agent("judge", verdict());
    is_unknown(&player, "the ceiling leaves no room for it");
    assert!(
        !player.log_text().contains("ceiling_reached"),
        "{}",
        player.log_text()
    );
}

#[test]
fn resume_after_any_event_of_round_4_ends_as_uninterrupted() {
    let mut whole = until_the_verdict(twice());
    let world = |ask: &Ask, agent: &str| match ask.answer {
        AnswerKind::Verdict if agent == "judge-2" => reply(OTHER),
        AnswerKind::Consistency => compared("significant_change"),
        _ => good(ask),
    };
    let play_on = |player: &mut Player| {
        while !player.machine.state().is_terminal() {
            let ask = player.open[0].clone();
            let agent = agent_of(player, &ask);
            player.answer(0, world(&ask, &agent));
        }
    };
    let began = whole.log.len();
    play_on(&mut whole);
    for kept in began - 4..whole.log.len() {
        let mut again = Player::resumed(&whole.log[..kept], Duration::ZERO, None).unwrap();
        play_on(&mut again);
        assert_eq!(
            second_pass(&again),
            second_pass(&whole),
            "cut off after event {kept}: {}",
            again.log_text()
        );
        let calls = |player: &Player| Transcript::fold(&player.log).unwrap().calls.len();
        assert_eq!(calls(&again), calls(&whole));
    }
}

#[test]
fn estimate_counts_both_verdicts_and_the_comparison() {
    let calls = |plan: &Plan| -> Vec<String> {
        let estimate = plan.estimate().unwrap();
        estimate
            .calls
            .iter()
            .filter(|call| call.round_number == 4)
            .map(|call| format!("{} {}", call.agent_id, call.answer.name()))
            .collect()
    };
    assert_eq!(calls(&plan()), ["judge verdict"]);
    assert_eq!(
        calls(&twice()),
        ["judge verdict", "judge-2 verdict", "clerk consistency"]
    );
    assert_eq!(
        calls(&without_clerk()),
        ["judge verdict", "judge-2 verdict"]
    );
    let estimate = twice().estimate().unwrap();
    let [first, second] = [9 - 1, 9].map(|at| &estimate.calls[at]);
    assert_eq!(first.input_tokens, second.input_tokens);
    assert_eq!(first.cost, second.cost);
}
