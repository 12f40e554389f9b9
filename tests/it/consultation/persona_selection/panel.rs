//! The panel after a selection.

use conclave::domain::panel::Seat;

use super::{
    SELECTION, assert_usual_panel, helper, helper_replies, play, seats, selection, selection_plan,
};
use crate::consultation::prelude::*;

#[test]
fn selected_personas_sit_in_order_with_the_models_of_their_seats() {
    let before = selection_plan();
    let player = play(before.clone(), helper_replies(reply(SELECTION)));
    assert_eq!(seats(&player), ["accessibility", "skeptic", "testing"]);
    let plan = player.machine.plan();
    let models = |plan: &Plan| {
        plan.panel
            .seats
            .iter()
            .map(|seat| seat.model.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(models(plan), models(&before));
    assert_eq!(plan.panel.judges, before.panel.judges);
    let selection = selection(&player);
    assert_eq!(selection.task_type, "accessibility review");
    assert_eq!(selection.reason, "Blind users.");
    assert_eq!(selection.chosen_by, Some(helper()));
    assert_eq!(selection.notes, [""; 0]);
    let transcript = fold(&player);
    assert_eq!(transcript.terms.panel, plan.panel);
    assert_eq!(transcript.terms.expert_order, plan.labels().order.clone());
    assert_eq!(transcript.calls.len(), 10, "the selection is one call more");
    let answered: Vec<&str> = transcript
        .independents()
        .map(|answer| answer.agent_id.as_str())
        .collect();
    assert_eq!(answered, ["accessibility", "skeptic", "testing"]);
}

#[test]
fn helper_is_asked_alone_before_the_experts() {
    let mut player = Player::started(selection_plan());
    let ask = player.open[0].clone();
    assert_eq!(player.open.len(), 1);
    assert_eq!(ask.answer, AnswerKind::PersonaSelection);
    assert_eq!(ask.model, helper());
    let prompt = &ask.prompt.text();
    assert!(prompt.contains("- skeptic: "), "{prompt}");
    player.answer_agent("clerk", reply(SELECTION));
    let personas: Vec<&str> = player
        .open
        .iter()
        .map(|ask| ask.prompt.persona.as_str())
        .collect();
    let seats = player.machine.plan().panel.seats.iter();
    let prompts: Vec<String> = seats.map(|seat| seat.persona.prompt.clone()).collect();
    assert_eq!(personas, prompts);
    assert!(prompts[0].contains("accessibility expert"), "{prompts:?}");
    let log = player.log_text();
    let round: Vec<&str> = log
        .lines()
        .skip_while(|line| !line.starts_with("round:started"))
        .collect();
    assert_eq!(
        round[..9],
        [
            "round:started 1",
            "agent:thinking clerk mistral:ministral-8b-latest",
            "call:started 1 clerk Answer",
            "call:finished 1 ok $0.001200",
            "agent:completed clerk $0.001200",
            "panel:cast accessibility, skeptic, testing",
            "agent:thinking accessibility anthropic:claude-sonnet-5-5",
            "agent:thinking skeptic openai:gpt-6.1-sol",
            "agent:thinking testing google:gemini-4-argon",
        ]
    );
}

#[test]
fn unknown_and_repeated_personas_are_noted_and_replaced() {
    let text = r#"{"task_type":"x","reason":"y","personas":["Astrologer","The Devil's Advocate","skeptic"]}"#;
    let player = play(selection_plan(), helper_replies(reply(text)));
    assert_eq!(seats(&player), ["skeptic", "security", "architecture"]);
    let notes = selection(&player).notes;
    assert_eq!(
        notes,
        [
            "no persona is called `Astrologer`",
            "`skeptic` was named twice",
            "only 1 of 3 were selected; default personas added: Security Expert, Architect"
        ]
    );
    let unknown_only = play(
        selection_plan(),
        helper_replies(reply(
            r#"{"task_type":"x","reason":"y","personas":["Astrologer"]}"#,
        )),
    );
    assert_usual_panel(&unknown_only, "no persona is called `Astrologer`");
}

#[test]
fn surplus_personas_are_cut_and_surplus_seats_filled_twice() {
    let text = r#"{"task_type":"x","reason":"y","personas":["testing","devops","creative","performance"]}"#;
    let seated = seats(&play(selection_plan(), helper_replies(reply(text))));
    assert_eq!(seated, ["testing", "devops", "creative"]);
    let mut plan = selection_plan();
    plan.debate
        .selectable_personas
        .retain(|persona| ["security", "testing"].contains(&persona.id.as_str()));
    plan.panel
        .seats
        .retain(|seat| seat.id.as_str() != "architecture");
    let mut seat = plan.panel.seats[0].clone();
    seat.id = SeatId::new("security-2");
    seat.persona.name = "Security Expert 2".to_owned();
    plan.panel.seats.push(seat.clone());
    seat.id = SeatId::new("security-3");
    plan.panel.seats.push(seat);
    let player = play(
        plan,
        helper_replies(reply(
            r#"{"task_type":"x","reason":"y","personas":["testing"]}"#,
        )),
    );
    let expected = ["testing", "security", "pragmatic", "testing-2"];
    assert_eq!(seats(&player), expected);
    let seats = player.machine.plan().panel.seats.iter();
    let names: Vec<&str> = seats.map(Seat::name).collect();
    let expected = [
        "Test Engineer",
        "Security Expert",
        "Pragmatist",
        "Test Engineer 2",
    ];
    assert_eq!(names, expected);
}

#[test]
fn fallbacks_stay_with_their_seats() {
    let mut plan = selection_plan();
    let grok = ModelRef::new("xai", "grok-4.7");
    plan.fallbacks
        .insert(SeatId::new("architecture"), vec![grok.clone()]);
    let player = play(plan, helper_replies(reply(SELECTION)));
    let expected = [(SeatId::new("skeptic"), vec![grok])].into();
    assert_eq!(player.machine.plan().fallbacks, expected);
}

#[test]
fn estimate_includes_the_selection_only_when_it_is_needed() {
    let answers = |plan: &Plan| {
        plan.estimate()
            .unwrap()
            .calls
            .iter()
            .map(|call| call.answer)
            .collect::<Vec<_>>()
    };
    let open = answers(&selection_plan());
    assert_eq!(open.len(), 10);
    assert_eq!(open[0], AnswerKind::PersonaSelection);
    assert!(!answers(&plan()).contains(&AnswerKind::PersonaSelection));
}
