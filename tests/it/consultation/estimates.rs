//! What a consultation is expected to take, and the most that one call can: no well-behaved provider's bill is outside of it.

use conclave::consultation::answer::AnswerKind;
use conclave::consultation::call::Prompt;
use conclave::consultation::plan::{AROUND_A_PROMPT, ModelTerms, Plan};
use conclave::domain::ids::ModelRef;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::pricing::{LongContext, Price, Rates};
use conclave::domain::tokens::Usage;
use proptest::prelude::*;

use crate::support::script::plan;

fn model() -> ModelRef {
    ModelRef::new("openai", "gpt-6.1-sol")
}

/// The plan with a model that has two tiers and writes to a cache at a price of its own.
fn with_tiers(above_tokens: u64) -> Plan {
    let rates = |factor: u64| Rates {
        input: MicroUsd(factor * 1_000_000),
        output: MicroUsd(factor * 5_000_000),
        cache_read: Some(MicroUsd(factor * 100_000)),
        cache_write: Some(MicroUsd(factor * 1_250_000)),
    };
    let mut plan = plan();
    plan.prices.0.insert(model(), Price { base: rates(1), long_context: Some(LongContext { above_tokens, rates: rates(2) }) });
    plan
}

proptest! {
    #[test]
    fn no_call_within_its_room_costs_more_than_its_worst_case(
        text in "\\PC{0,400}",
        above_tokens in 0u64..10_000,
        room in 1u64..40_000,
        parts in (0u64..=100, 0u64..=100, 0u64..=100, 0u64..=100),
    ) {
        let plan = with_tiers(above_tokens);
        let prompt = Prompt { persona: text.clone(), task: text, ..Prompt::default() };
        let most = prompt.text().len() as u64 + AROUND_A_PROMPT;
        let (fresh, read, written, output) = parts;
        let whole = (fresh + read + written).max(1);
        let usage = Usage {
            input: most * fresh / whole,
            cache_read: most * read / whole,
            cache_write: most * written / whole,
            output: room * output / 100,
            ..Usage::default()
        };
        let worst_case = plan.worst_case(&model(), &prompt, room);
        prop_assert!(!worst_case.lower_bound && plan.expected_cost(&model(), &usage).known <= worst_case.known);
    }
}

#[test]
fn the_worst_case_is_nothing_for_what_is_free_and_no_bound_for_what_has_no_price() {
    let mut plan = plan();
    plan.models.insert(model(), ModelTerms { free: true, ..ModelTerms::default() });
    let prompt = Prompt { task: "word".to_owned(), ..Prompt::default() };
    assert_eq!(plan.worst_case(&model(), &prompt, 10), Cost::FREE);
    assert_eq!(plan.worst_case(&ModelRef::new("openai", "unheard-of"), &prompt, 10), Cost::at_least(MicroUsd::ZERO));
    let sonnet = ModelRef::new("anthropic", "claude-sonnet-5-5");
    assert_eq!(plan.worst_case(&sonnet, &prompt, 10), Cost::exactly(MicroUsd(AROUND_A_PROMPT + 4 + 2 * 10)));
}

#[test]
fn every_schema_fits_into_what_is_allowed_around_a_prompt() {
    for answer in AnswerKind::ALL {
        assert!(answer.schema().len() as u64 * 5 / 4 < AROUND_A_PROMPT, "{}", answer.name());
    }
}
