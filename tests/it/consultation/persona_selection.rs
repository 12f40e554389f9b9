//! Choosing the personas for the question: who sits, what is logged of it, and that nothing that
//! goes wrong with it costs more than the choice.

use std::time::Duration;

use conclave::consultation::event::{
    CallEvent, Envelope, Event, PanelEvent, PanelSelection, StateName,
};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::{ModelTerms, Plan};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::prompt::Size;
use conclave::consultation::protocol::Input;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome, StopReason};
use conclave::consultation::transcript::Transcript;
use conclave::consultation::transcript::summary::Status;
use conclave::domain::ids::{AgentId, ModelRef, SeatId};
use conclave::domain::money::MicroUsd;

use crate::support::script::{Player, failure, failure_with_hint, good, plan, reply, stopped};

const CHOICE: &str = r#"{"task_type":"accessibility review","reason":"Blind users.","personas":["accessibility","skeptic","testing"]}"#;

fn helper() -> ModelRef {
    ModelRef::new("mistral", "ministral-8b-latest")
}

/// The usual plan, whose personas a clerk is to choose.
fn open_plan() -> Plan {
    let mut plan = plan();
    plan.debate.selectable_personas = plan.templates.personas();
    plan.debate.helper = Some(helper());
    let price = *plan.prices.0.values().next().unwrap();
    plan.prices.0.insert(helper(), price);
    plan
}

#[test]
fn journals_with_former_template_names_can_be_replayed() {
    let player = played(open_plan(), clerk_says(reply(CHOICE)));
    let mut journal = serde_json::to_value(&player.log).unwrap();
    let started = &mut journal[0]["data"];
    let former = |name: &str| {
        name.replace("helper/", "clerk/")
            .replace("persona_selection", "casting")
    };
    for used in started["prompts"].as_array_mut().unwrap() {
        used["name"] = former(used["name"].as_str().unwrap()).into();
    }
    let used = started["prompts"].as_array_mut().unwrap();
    used.sort_by_key(|used| used["name"].as_str().unwrap().to_owned());
    let templates = started["plan"]["templates"].as_object_mut().unwrap();
    *templates = std::mem::take(templates)
        .into_iter()
        .map(|(name, text)| (former(&name), text))
        .collect();
    assert!(templates.contains_key("clerk/small/casting"));
    let log: Vec<Envelope> = serde_json::from_value(journal).unwrap();
    assert_eq!(replay(&log).unwrap().consultation, player.machine);
}

fn cast(player: &Player) -> PanelSelection {
    let mut cast = player
        .log
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Panel(PanelEvent::PersonasSelected(cast)) => Some((**cast).clone()),
            _ => None,
        });
    let found = cast.next().expect("the personas are chosen");
    assert!(cast.next().is_none(), "once");
    found
}

fn seats(player: &Player) -> Vec<String> {
    player
        .machine
        .plan()
        .panel
        .seats
        .iter()
        .map(|seat| seat.id.to_string())
        .collect()
}

fn clerks_calls(player: &Player) -> usize {
    let is_clerks = |event: &Event| matches!(event, Event::Call(CallEvent::Started { agent_id, .. }) if *agent_id == AgentId::Helper);
    player
        .log
        .iter()
        .filter(|envelope| is_clerks(&envelope.event))
        .count()
}

/// A world in which the clerk answers this, and everybody else well.
fn clerk_says(outcome: Outcome) -> impl FnMut(&Ask) -> Outcome {
    move |ask| {
        if ask.answer == AnswerKind::PersonaSelection {
            outcome.clone()
        } else {
            good(ask)
        }
    }
}

/// The whole run, which must be one that its log tells.
fn played(plan: Plan, mut world: impl FnMut(&Ask) -> Outcome) -> Player {
    let mut player = Player::started(plan);
    assert_eq!(
        player.finish(&mut world),
        StateName::Complete,
        "{}",
        player.log_text()
    );
    assert_eq!(replay(&player.log).unwrap().consultation, player.machine);
    player
}

fn assert_usual_panel(player: &Player, why: &str) {
    assert_eq!(seats(player), ["security", "architecture", "pragmatic"]);
    let cast = cast(player);
    assert_eq!(cast.chosen_by, None);
    assert!(
        cast.notes.iter().any(|note| note.contains(why)),
        "{why}: {:?}",
        cast.notes
    );
    let told = Transcript::fold(&player.log).unwrap();
    assert_eq!(told.status(), Status::Complete, "{why}");
    assert_eq!(told.degradations(), [""; 0], "{why}");
    assert!(
        !player.log_text().contains("cost:ceiling_reached"),
        "{}",
        player.log_text()
    );
}

#[test]
fn selected_personas_sit_in_order_with_the_models_of_their_seats() {
    let before = open_plan();
    let player = played(before.clone(), clerk_says(reply(CHOICE)));
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
    let cast = cast(&player);
    assert_eq!(cast.task_type, "accessibility review");
    assert_eq!(cast.reason, "Blind users.");
    assert_eq!(cast.chosen_by, Some(helper()));
    assert_eq!(cast.notes, [""; 0]);
    let told = Transcript::fold(&player.log).unwrap();
    assert_eq!(told.terms.panel, plan.panel);
    assert_eq!(told.terms.expert_order, plan.labels().order().to_vec());
    assert_eq!(
        told.calls.len(),
        10,
        "one call more than with given personas"
    );
    let answered: Vec<&str> = told
        .independents()
        .map(|held| held.agent_id.as_str())
        .collect();
    assert_eq!(answered, ["accessibility", "skeptic", "testing"]);
}

#[test]
fn helper_is_asked_alone_before_the_experts() {
    let mut player = Player::started(open_plan());
    let ask = player.open[0].clone();
    assert_eq!(player.open.len(), 1);
    assert_eq!(ask.answer, AnswerKind::PersonaSelection);
    assert_eq!(ask.model, helper());
    assert!(
        ask.prompt.text().contains("- skeptic: "),
        "{}",
        ask.prompt.text()
    );
    player.answer_agent("clerk", reply(CHOICE));
    let personas: Vec<&str> = player
        .open
        .iter()
        .map(|ask| ask.prompt.persona.as_str())
        .collect();
    let prompts: Vec<String> = player
        .machine
        .plan()
        .panel
        .seats
        .iter()
        .map(|seat| seat.persona.prompt.clone())
        .collect();
    assert_eq!(personas, prompts);
    assert!(prompts[0].contains("accessibility expert"), "{prompts:?}");
    let story = player.log_text();
    let told: Vec<&str> = story
        .lines()
        .skip_while(|line| !line.starts_with("round:started"))
        .collect();
    assert_eq!(
        told[..9],
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
    let player = played(open_plan(), clerk_says(reply(text)));
    assert_eq!(seats(&player), ["skeptic", "security", "architecture"]);
    let notes = cast(&player).notes;
    assert_eq!(
        notes,
        [
            "no persona is called `Astrologer`",
            "`skeptic` was named twice",
            "only 1 of 3 were chosen; with them sit, as usual: Security Expert, Architect"
        ]
    );
    let nobody = played(
        open_plan(),
        clerk_says(reply(
            r#"{"task_type":"x","reason":"y","personas":["Astrologer"]}"#,
        )),
    );
    assert_usual_panel(&nobody, "no persona is called `Astrologer`");
}

#[test]
fn surplus_personas_are_cut_and_surplus_seats_filled_twice() {
    let text = r#"{"task_type":"x","reason":"y","personas":["testing","devops","creative","performance"]}"#;
    assert_eq!(
        seats(&played(open_plan(), clerk_says(reply(text)))),
        ["testing", "devops", "creative"]
    );
    let mut small = open_plan();
    small
        .debate
        .selectable_personas
        .retain(|persona| ["security", "testing"].contains(&persona.id.as_str()));
    small
        .panel
        .seats
        .retain(|seat| seat.id.as_str() != "architecture");
    let mut again = small.panel.seats[0].clone();
    again.id = SeatId::new("security-2");
    again.persona.name = "Security Expert 2".to_owned();
    small.panel.seats.push(again.clone());
    again.id = SeatId::new("security-3");
    small.panel.seats.push(again);
    let player = played(
        small,
        clerk_says(reply(
            r#"{"task_type":"x","reason":"y","personas":["testing"]}"#,
        )),
    );
    assert_eq!(
        seats(&player),
        ["testing", "security", "pragmatic", "testing-2"]
    );
    let names: Vec<&str> = player
        .machine
        .plan()
        .panel
        .seats
        .iter()
        .map(conclave::domain::panel::Seat::name)
        .collect();
    assert_eq!(
        names,
        [
            "Test Engineer",
            "Security Expert",
            "Pragmatist",
            "Test Engineer 2"
        ]
    );
}

#[test]
fn fallbacks_stay_with_their_seats() {
    let mut plan = open_plan();
    let grok = ModelRef::new("xai", "grok-4.7");
    plan.fallbacks
        .insert(SeatId::new("architecture"), vec![grok.clone()]);
    let player = played(plan, clerk_says(reply(CHOICE)));
    assert_eq!(
        player.machine.plan().fallbacks,
        [(SeatId::new("skeptic"), vec![grok])].into()
    );
}

/// Whatever befalls the clerk, with the strictest of terms.
fn troubles() -> Vec<(&'static str, Outcome, usize)> {
    use FailureClass::{
        Auth, Billing, Context, Empty, Interrupted, Malformed, ModelMissing, Overload, Policy,
        RateLimit, Timeout, Transport,
    };
    let mut troubles: Vec<_> = [
        Auth,
        Billing,
        Context,
        Interrupted,
        Malformed,
        ModelMissing,
        Policy,
    ]
    .into_iter()
    .map(|class| ("gave no answer: broken", failure(class, "broken"), 1))
    .collect();
    troubles.extend(
        [Empty, Overload, RateLimit, Timeout, Transport]
            .map(|class| ("gave no answer: broken", failure(class, "broken"), 2)),
    );
    troubles.push((
        "asks to be left alone",
        failure_with_hint(
            FailureClass::RateLimit,
            "slow down",
            Duration::from_secs(20),
        ),
        1,
    ));
    troubles.push((
        "declined to answer",
        stopped("No.", StopReason::Refused(String::new())),
        1,
    ));
    troubles.push(("could not be read", reply("It depends."), 2));
    troubles.push((
        "could not be read",
        stopped("{\"task", StopReason::Length),
        2,
    ));
    troubles.push(("the answer was empty", reply(" "), 1));
    troubles
}

#[test]
fn helper_failure_seats_the_usual_personas_without_degradation() {
    for on_failure in [OnFailure::Ask, OnFailure::Fail, OnFailure::Substitute] {
        for (why, outcome, calls) in troubles() {
            let mut plan = open_plan();
            plan.control.strict = on_failure == OnFailure::Fail;
            plan.control.on_failure = on_failure;
            plan.control.consent.consent_mode = ConsentMode::Interactive;
            let player = played(plan, clerk_says(outcome));
            assert_eq!(clerks_calls(&player), calls, "{why}");
            assert_usual_panel(&player, why);
            assert!(
                !player.log_text().contains("provider:held")
                    && !player.log_text().contains("offered"),
                "{}",
                player.log_text()
            );
        }
    }
}

#[test]
fn unreadable_selection_is_repaired_once() {
    let mut answers = [reply("It depends."), reply(CHOICE)].into_iter();
    let player = played(open_plan(), |ask| {
        if ask.answer == AnswerKind::PersonaSelection {
            answers.next().unwrap()
        } else {
            good(ask)
        }
    });
    assert_eq!(clerks_calls(&player), 2);
    assert_eq!(seats(&player)[0].as_str(), "accessibility");
}

#[test]
fn helper_failure_does_not_count_against_its_provider() {
    let mut plan = open_plan();
    plan.debate.helper = Some(ModelRef::new("anthropic", "claude-sonnet-5-5"));
    plan.control.on_failure = OnFailure::Ask;
    let hint = Duration::from_secs(40);
    let mut player = Player::started(plan);
    player.answer_agent(
        "clerk",
        failure_with_hint(FailureClass::RateLimit, "slow down", hint),
    );
    assert_eq!(player.open.len(), 3, "{}", player.log_text());
    assert_eq!(player.finish(good), StateName::Complete);
}

#[test]
fn helper_is_not_asked_when_the_ceiling_has_no_room() {
    let mut plan = open_plan();
    plan.models.insert(
        helper(),
        ModelTerms {
            max_output_tokens: 30_000_000,
            ..ModelTerms::default()
        },
    );
    plan.control.max_cost = Some(MicroUsd(10_000_000));
    let player = played(plan, good);
    assert_eq!(clerks_calls(&player), 0);
    assert_usual_panel(&player, "the ceiling leaves no room for it");
}

#[test]
fn usual_personas_sit_without_a_helper() {
    let player = played(
        Plan {
            debate: conclave::consultation::plan::options::DebateOptions {
                helper: None,
                ..open_plan().debate
            },
            ..open_plan()
        },
        good,
    );
    assert_usual_panel(&player, "there is no model that could choose");
}

#[test]
fn remote_helper_times_out_after_30_s_and_a_local_one_never() {
    let mut player = Player::started(open_plan());
    let before = player.now;
    while player
        .open
        .iter()
        .any(|ask| ask.answer == AnswerKind::PersonaSelection)
    {
        assert!(player.fire(), "stuck: {}", player.log_text());
    }
    assert_eq!(player.now.since(before), Duration::from_secs(30));
    assert!(
        player.log_text().contains("call:cancelled 1 TooLate"),
        "{}",
        player.log_text()
    );
    assert_eq!(player.finish(good), StateName::Complete);
    assert_usual_panel(&player, "no answer within 30 s");
    assert_eq!(replay(&player.log).unwrap().consultation, player.machine);

    let mut plan = open_plan();
    plan.models.insert(
        helper(),
        ModelTerms {
            free: true,
            size: Size::Small,
            ..ModelTerms::default()
        },
    );
    let mut slow = Player::started(plan);
    assert!(!slow.fire(), "nothing waits for a timer");
    slow.answer_agent("clerk", reply(CHOICE));
    assert_eq!(seats(&slow)[0], "accessibility");
}

#[test]
fn interrupted_selection_is_repeated_and_a_finished_one_is_not() {
    let mut player = Player::started(open_plan());
    player.give(Input::Interrupted);
    let mut again = Player::resumed(&player.log, Duration::from_secs(3_600), None).unwrap();
    assert_eq!(again.open.len(), 1);
    assert_eq!(again.open[0].answer, AnswerKind::PersonaSelection);
    assert!(
        !again.fire()
            || again
                .open
                .iter()
                .any(|ask| ask.answer == AnswerKind::PersonaSelection),
        "it is waited for anew"
    );
    assert_eq!(again.finish(clerk_says(reply(CHOICE))), StateName::Complete);
    assert_eq!(clerks_calls(&again), 2);
    assert_eq!(seats(&again)[0].as_str(), "accessibility");

    let mut player = Player::started(open_plan());
    player.answer_agent("clerk", reply(CHOICE));
    player.give(Input::Interrupted);
    let mut again = Player::resumed(&player.log, Duration::from_secs(3_600), None).unwrap();
    assert_eq!(again.open.len(), 3);
    assert_eq!(again.finish(good), StateName::Complete);
    assert_eq!(clerks_calls(&again), 1);
    assert_eq!(seats(&again)[0].as_str(), "accessibility");
}

#[test]
fn run_ended_by_the_selection_resumes_with_its_personas() {
    let mut plan = open_plan();
    // The clerk's reply costs more than one and a half times what all was to cost.
    plan.models = plan
        .panel
        .seats
        .iter()
        .map(|seat| {
            (
                seat.model.clone(),
                ModelTerms {
                    free: true,
                    ..ModelTerms::default()
                },
            )
        })
        .collect();
    let mut player = Player::started(plan);
    let mut costly = reply(CHOICE).unwrap();
    costly.reported_cost = Some(MicroUsd(9_000_000));
    player.answer_agent("clerk", Ok(costly));
    assert_eq!(player.machine.state(), StateName::Aborted);
    assert_eq!(seats(&player)[0], "accessibility");
    let again = Player::resumed(&player.log, Duration::ZERO, None).unwrap();
    assert_eq!(again.open.len(), 3, "{}", again.log_text());
    assert_eq!(clerks_calls(&again), 1, "{}", again.log_text());
}

#[test]
fn resume_after_any_event_seats_the_same_personas() {
    for choice in [CHOICE, "It depends."] {
        let whole = played(open_plan(), clerk_says(reply(choice)));
        for kept in 1..whole.log.len() {
            let mut again =
                Player::resumed(&whole.log[..kept], Duration::from_secs(60), None).unwrap();
            assert_eq!(
                again.finish(clerk_says(reply(choice))),
                StateName::Complete,
                "cut off after event {kept}: {}",
                again.log_text()
            );
            assert_eq!(seats(&again), seats(&whole), "cut off after event {kept}");
            drop(cast(&again));
        }
    }
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
    let open = answers(&open_plan());
    assert_eq!(open.len(), 10);
    assert_eq!(open[0], AnswerKind::PersonaSelection);
    assert!(!answers(&plan()).contains(&AnswerKind::PersonaSelection));
}
