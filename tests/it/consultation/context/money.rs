//! Estimates and worst cases of consultations with context: the context counts as its own count
//! says, and a vendor's cache makes later calls cheaper.

use std::collections::BTreeSet;

use conclave::consultation::event::ConsultationEvent;
use conclave::consultation::machine::Question;
use conclave::consultation::plan::OutputTokens;
use conclave::consultation::policy::estimate::GateReason;
use conclave::consultation::protocol::call::Prompt;
use conclave::domain::context::ContextText;
use conclave::domain::cost::pricing::{Price, Rates};
use conclave::domain::cost::tokens::{Usage, estimate_tokens};
use conclave::domain::model::dialect::PromptCaching;

use super::{context, plan_with};
use crate::consultation::prelude::*;

/// The tokens of each answer.
const ANSWER: u64 = 100;

/// Returns a plan with 50,000 tokens of context at vendors that cache it and bill the writing.
fn cached_plan(caching: PromptCaching) -> Plan {
    let mut plan = plan_with(context(&"let total = price * amount;\n".repeat(7_150)));
    let tokens = plan.context.as_ref().unwrap().tokens.expected;
    assert!((49_000..51_000).contains(&tokens), "{tokens}");
    plan.debate.helper = None;
    let rates = Rates {
        input: MicroUsd(1_000_000),
        output: MicroUsd(5_000_000),
        cache_read: Some(MicroUsd(100_000)),
        cache_write: Some(MicroUsd(1_250_000)),
    };
    let models: BTreeSet<ModelRef> = plan.panel.models().cloned().collect();
    for model in models {
        let expected_output = OutputTokens {
            low: ANSWER,
            expected: ANSWER,
            high: ANSWER,
        };
        let terms = ModelTerms {
            expected_output,
            caching,
            ..ModelTerms::default()
        };
        plan.models.insert(model.clone(), terms);
        let price = Price {
            base: rates,
            long_context: None,
        };
        plan.prices.0.insert(model, price);
    }
    plan
}

/// A vendor that caches what prompts begin with, once a call for an earlier kind of answer has
/// brought it.
#[derive(Default)]
struct CachingVendors {
    written: BTreeSet<(ModelRef, AnswerKind)>,
}

impl CachingVendors {
    fn reply(&mut self, ask: &Ask) -> Outcome {
        let prompt = &ask.prompt;
        let context = prompt.context.tokens().expected + estimate_tokens(&prompt.preamble);
        let cached = if ask.cache_key.is_some() { context } else { 0 };
        let is_warm = self
            .written
            .iter()
            .any(|(model, answer)| *model == ask.model && *answer != ask.answer);
        self.written.insert((ask.model.clone(), ask.answer));
        let (cache_read, cache_write) = if is_warm { (cached, 0) } else { (0, cached) };
        let mut outcome = good(ask);
        if let Ok(reply) = &mut outcome {
            reply.usage = Usage {
                input: prompt.tokens().expected - cached,
                cache_read,
                cache_write,
                output: ANSWER,
                ..Usage::default()
            };
        }
        outcome
    }
}

fn bill(plan: Plan) -> Transcript {
    let mut vendors = CachingVendors::default();
    let mut player = Player::started(plan);
    player.give(Input::Answered(Answer::Yes));
    let end = player.finish(|ask| vendors.reply(ask));
    assert_eq!(end, StateName::Complete);
    fold(&player)
}

#[test]
fn estimate_and_bill_agree_where_vendors_cache_the_context() {
    let transcript = bill(cached_plan(PromptCaching::Breakpoints {
        min_tokens: 1_024,
    }));
    let (cost, estimate) = (transcript.total().cost, transcript.estimate.unwrap());
    assert!(estimate.low.known <= cost.known);
    assert!(cost.known <= estimate.high.known);
    let difference = cost.known.0.abs_diff(estimate.cost.known.0);
    assert!(
        difference * 50 < cost.known.0,
        "{cost} is not within 2 % of {}",
        estimate.cost
    );
}

#[test]
fn caching_halves_the_expected_cost_of_a_long_context() {
    let cached = cached_plan(PromptCaching::Automatic { min_tokens: 1_024 });
    let uncached = cached_plan(PromptCaching::None);
    let expected = |plan: &Plan| plan.estimate().unwrap().cost.known;
    assert!(expected(&cached).0 * 2 < expected(&uncached).0 * 11 / 10);
    let cost = bill(cached).total().cost.known;
    assert!(cost.0 * 2 < bill(uncached).total().cost.known.0 * 11 / 10);
}

#[test]
fn caching_changes_neither_the_low_nor_the_high_estimate_of_a_prompt() {
    let cached = cached_plan(PromptCaching::Automatic { min_tokens: 1_024 });
    let uncached = cached_plan(PromptCaching::None);
    let (cached, uncached) = (cached.estimate().unwrap(), uncached.estimate().unwrap());
    for (one, other) in cached.calls.iter().zip(&uncached.calls) {
        assert_eq!(one.low, other.low, "{:?}", one.answer);
        assert!(one.high.known <= other.high.known, "{:?}", one.answer);
        assert!(one.low.known <= one.cost.known && one.cost.known <= one.high.known);
    }
}

#[test]
fn short_context_is_expected_at_the_full_price() {
    let at = |min_tokens| {
        let plan = cached_plan(PromptCaching::Automatic { min_tokens });
        plan.estimate().unwrap().cost
    };
    let uncached = cached_plan(PromptCaching::None).estimate().unwrap().cost;
    assert_eq!(at(1_000_000), uncached);
    assert!(at(10_000).known < uncached.known);
}

#[test]
fn first_calls_of_a_model_write_the_context_and_later_ones_read_it() {
    let plan = cached_plan(PromptCaching::Breakpoints { min_tokens: 1_024 });
    let estimate = plan.estimate().unwrap();
    for call in &estimate.calls {
        let (cost, tokens) = (call.cost.known.0, call.input_tokens);
        if call.answer == AnswerKind::Independent {
            assert!(cost * 10 > tokens * 12, "{call:?}");
        } else {
            assert!(cost * 2 < tokens, "{call:?}");
        }
    }
}

#[test]
fn worst_case_of_a_long_context_is_its_own_and_not_a_token_a_byte() {
    let plan = cached_plan(PromptCaching::None);
    let mut player = Player::started(plan.clone());
    player.give(Input::Answered(Answer::Yes));
    let ask = player.open[0].clone();
    let context = plan.context.as_ref().unwrap();
    let without = Prompt {
        context: ContextText::default(),
        ..ask.prompt.clone()
    };
    let [with, without] =
        [&ask.prompt, &without].map(|prompt| plan.worst_input(prompt, ask.answer));
    let around = with - without - context.tokens.worst;
    assert!(around < 100, "{around}");
    assert!(context.tokens.worst * 10 < context.bytes * 6);
}

#[test]
fn large_context_is_asked_about_once_with_its_size() {
    let mut plan = cached_plan(PromptCaching::None);
    plan.control.consent.always_allow_under = MicroUsd(1);
    let player = Player::started(plan);
    let Some(Question::Consent { estimate, why }) = &player.question else {
        panic!("{:?}", player.question);
    };
    assert_eq!(*why, [GateReason::Cost, GateReason::LargeContext]);
    assert!((49_000..51_500).contains(&estimate.context_tokens));
}

#[test]
fn consultation_does_not_begin_without_the_text_of_its_context() {
    let mut plan = cached_plan(PromptCaching::None);
    plan.context.as_mut().unwrap().text = ContextText::default();
    let player = Player::started(plan);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let aborted = player
        .log
        .iter()
        .find_map(|envelope| match &envelope.event {
            Event::Consultation(ConsultationEvent::Aborted(aborted)) => Some(aborted),
            _ => None,
        });
    let aborted = aborted.unwrap();
    assert_eq!(aborted.reason, AbortReason::Prompt);
    let expected = "the text of the context is not loaded";
    assert!(aborted.message.contains(expected));
}
