//! A resumed run sends the prompts that the uninterrupted one sends.

use std::collections::BTreeMap;
use std::time::Duration;

use conclave::consultation::event::{CallEvent, CallStarted, Envelope, Event, StateName};
use conclave::consultation::plan::Plan;
use conclave::domain::ids::AgentId;

use super::{context, plan_with};
use crate::support::script::{Player, good, reply};

/// Returns the hashes of all prompts, by agent.
fn prompts(log: &[Envelope]) -> BTreeMap<AgentId, Vec<String>> {
    let mut prompts: BTreeMap<AgentId, Vec<String>> = BTreeMap::new();
    for envelope in log {
        if let Event::Call(CallEvent::Started(CallStarted {
            agent_id,
            prompt_sha256,
            ..
        })) = &envelope.event
        {
            let of_agent = prompts.entry(agent_id.clone()).or_default();
            if !of_agent.contains(prompt_sha256) {
                of_agent.push(prompt_sha256.clone());
            }
        }
    }
    prompts
}

fn finish(player: &mut Player) {
    let end = player.finish_in(|log, ask| {
        let is_first = !log
            .iter()
            .any(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))));
        if is_first {
            reply("It depends.")
        } else {
            good(ask)
        }
    });
    assert_eq!(end, StateName::Complete);
}

#[test]
fn resume_after_any_event_sends_the_same_prompts() {
    let plan = plan_with(context(&"let total = price * amount;\n".repeat(100)));
    let mut uninterrupted = Player::started(plan);
    finish(&mut uninterrupted);
    for cut in 1..uninterrupted.log.len() {
        let mut resumed = Player::resumed(&uninterrupted.log[..cut], Duration::ZERO, None).unwrap();
        finish(&mut resumed);
        assert_eq!(
            prompts(&resumed.log),
            prompts(&uninterrupted.log),
            "resumed after event {cut}"
        );
    }
}

#[test]
fn journal_names_the_context_and_leaves_out_its_text() {
    let plan = plan_with(context("a text that no event contains"));
    let mut player = Player::started(plan.clone());
    finish(&mut player);
    let log = serde_json::to_string(&player.log).unwrap();
    assert!(!log.contains("a text that no event contains"));
    let stored: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    let (stored, sent) = (stored.context.unwrap(), plan.context.unwrap());
    assert_eq!(stored.sha256, sent.sha256);
    assert_eq!(stored.tokens, sent.tokens);
    assert!(stored.text.is_empty());
}
