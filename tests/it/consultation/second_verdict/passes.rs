//! The two passes: their prompts, models and estimate.

use super::{plan_without_helper, play_to_verdict, two_pass_plan, verdict};
use crate::consultation::prelude::*;

const POSITIONS: [&str; 3] = ["Position one.", "Position two.", "Position three."];

#[test]
fn second_pass_sees_the_same_texts_reversed_under_swapped_labels() {
    let mut player = Player::started(plan_without_helper());
    for (agent, position) in ["security", "architecture", "pragmatic"]
        .into_iter()
        .zip(POSITIONS)
    {
        let answer = good_text(AnswerKind::Independent).replace("Use OAuth.", position);
        player.answer_agent(agent, reply(&answer));
    }
    let synthesis = good_text(AnswerKind::Synthesis).replace(
        "Tokens must be short-lived.",
        "Experts A and B want short lives; Expert C does not.",
    );
    player.answer(0, reply(&synthesis));
    play_to(&mut player, StateName::Verdict);
    assert_eq!(agents(&player), ["judge", "judge-2"]);
    let [first, second] = [0, 1].map(|at| player.open[at].clone());
    assert_eq!(first.model, second.model);
    assert_eq!(first.answer, second.answer);
    let first_positions = labelled_positions(&first.prompt.task);
    let labels: Vec<&str> = first_positions
        .iter()
        .map(|(label, _)| label.as_str())
        .collect();
    assert_eq!(labels, ["Expert A", "Expert B", "Expert C"]);
    let reversed: Vec<(String, String)> = first_positions
        .iter()
        .rev()
        .map(|(label, position)| (swap_labels(label), position.clone()))
        .collect();
    assert_eq!(labelled_positions(&second.prompt.task), reversed);
    // Prose that mentions experts means the same ones in both passes.
    for (prompt, sentence) in [
        (
            &first.prompt,
            "Experts A and B want short lives; Expert C does not.",
        ),
        (
            &second.prompt,
            "Experts C and B want short lives; Expert A does not.",
        ),
    ] {
        assert!(prompt.task.contains(sentence), "{}", prompt.task);
    }
    // Only labels, order and fences differ.
    let swapped = sorted_lines(&swap_labels(&first.prompt.task).replace("Experts A", "Experts C"));
    assert_eq!(swapped, sorted_lines(&second.prompt.task));
    assert_eq!(first.prompt.shared, second.prompt.shared);
    assert_eq!(first.prompt.persona, second.prompt.persona);
}

/// Exchanges the labels of the first and the last expert.
fn swap_labels(text: &str) -> String {
    text.replace("Expert A", "Expert ?")
        .replace("Expert C", "Expert A")
        .replace("Expert ?", "Expert C")
}

/// Returns the positions of a prompt in their order, each with the label before it.
fn labelled_positions(prompt: &str) -> Vec<(String, String)> {
    let mut positions: Vec<(usize, &str)> = POSITIONS
        .into_iter()
        .map(|position| {
            (
                prompt.find(&format!("Position: {position}")).unwrap(),
                position,
            )
        })
        .collect();
    positions.sort_unstable();
    let label_before = |at: usize| {
        let labels = ["Expert A", "Expert B", "Expert C"];
        labels
            .into_iter()
            .max_by_key(|label| prompt[..at].rfind(label))
            .unwrap()
    };
    positions
        .into_iter()
        .map(|(at, position)| (label_before(at).to_owned(), position.to_owned()))
        .collect()
}

/// Returns the lines outside of fence marks in a fixed order.
fn sorted_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !line.contains("<<<TEXT") && !line.contains("TEXT "))
        .map(sorted_words)
        .collect();
    lines.sort();
    lines
}

/// Returns the words of a line in a fixed order, since the passes list experts in opposite orders.
fn sorted_words(line: &str) -> String {
    let mut words: Vec<&str> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.sort_unstable();
    words.join(" ")
}

#[test]
fn second_pass_labels_resolve_to_the_right_experts() {
    let mut player = play_to_verdict(plan_without_helper());
    player.answer_agent("judge", verdict());
    player.answer_agent("judge-2", verdict());
    let transcript = fold(&player);
    let order = &transcript.terms.expert_order;
    let (first, second) = (
        transcript.verdict().unwrap(),
        transcript
            .second_pass
            .as_ref()
            .unwrap()
            .verdict
            .as_ref()
            .unwrap(),
    );
    assert_eq!(first.evidence[0].agent.as_str(), order[0].as_str());
    assert_eq!(second.evidence[0].agent.as_str(), order[2].as_str());
}

#[test]
fn replacement_judge_makes_both_passes() {
    let mut player = Player::started(two_pass_plan());
    let fails = |ask: &Ask| ask.answer == AnswerKind::Synthesis && is_at(ask, "openai");
    while player.machine.state() != StateName::Verdict {
        let ask = player.open[0].clone();
        player.answer(
            0,
            if fails(&ask) {
                no_such_model()
            } else {
                good(&ask)
            },
        );
    }
    let open = player.open.iter();
    let judges: Vec<String> = open.map(|ask| ask.model.to_string()).collect();
    assert_eq!(judges, ["anthropic:claude-sonnet-5-5"; 2]);
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
    let expected = ["judge verdict", "judge-2 verdict", "clerk consistency"];
    assert_eq!(calls(&two_pass_plan()), expected);
    let expected = ["judge verdict", "judge-2 verdict"];
    assert_eq!(calls(&plan_without_helper()), expected);
    let estimate = two_pass_plan().estimate().unwrap();
    let [first, second] = [8, 9].map(|at| &estimate.calls[at]);
    assert_eq!(first.input_tokens, second.input_tokens);
    assert_eq!(first.cost, second.cost);
}
