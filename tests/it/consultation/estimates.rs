//! Estimates of a consultation and the worst case of one call: the bill of a well-behaved provider
//! lies within them.

use conclave::consultation::plan::OutputTokens;
use conclave::consultation::plan::preview::{Places, planned_calls};
use conclave::consultation::prompt::filter::PromptMaterial;
use conclave::consultation::protocol::call::{Prompt, Reply};
use conclave::domain::context::{Context, ContextText, ContextTokens};
use conclave::domain::cost::pricing::{LongContext, Price, Rates};
use conclave::domain::cost::tokens::Usage;
use conclave::domain::hash::sha256;
use conclave::domain::model::billing::Billing;
use conclave::domain::model::dialect::PromptCaching;
use proptest::prelude::*;
use serde_json::Value;

use crate::consultation::prelude::*;

fn model() -> ModelRef {
    ModelRef::new("openai", "gpt-6.1-sol")
}

/// Returns a plan with a model that has two price tiers and its own price for cache writes.
fn with_tiers(above_tokens: u64) -> Plan {
    let rates = |factor: u64| Rates {
        input: MicroUsd(factor * 1_000_000),
        output: MicroUsd(factor * 5_000_000),
        cache_read: Some(MicroUsd(factor * 100_000)),
        cache_write: Some(MicroUsd(factor * 1_250_000)),
    };
    let mut plan = plan();
    plan.prices.0.insert(
        model(),
        Price {
            base: rates(1),
            long_context: Some(LongContext {
                above_tokens,
                rates: rates(2),
            }),
        },
    );
    plan
}

/// The length of an answer and the usage that the provider reports.
#[derive(Clone, Copy, Debug)]
struct Behaviour {
    /// Position of the answer's length between the low and the high expectation, in percent.
    length: u64,
    /// Share of thinking in the output, in percent.
    thinking: u64,
    /// Tokens that the vendor adds to the schema as input; `None` if it counts no schema.
    around: Option<u64>,
    /// Shares of the prompt that are read from and written to a cache, in percent.
    read: u64,
    written: u64,
}

/// Any percentage, with the ends more often than others.
fn percent() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(100), 0u64..=100]
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    (
        percent(),
        percent(),
        proptest::option::of(0u64..400),
        percent(),
        percent(),
    )
        .prop_map(|(length, thinking, around, read, written)| Behaviour {
            length,
            thinking,
            around,
            read,
            written: written * (100 - read) / 100,
        })
}

/// Nine calls, often all the same.
fn behaviours() -> impl Strategy<Value = Vec<Behaviour>> {
    prop_oneof![
        behaviour().prop_map(|behaviour| vec![behaviour; 9]),
        proptest::collection::vec(behaviour(), 9)
    ]
}

/// Returns a valid answer of at least this many characters.
fn long_text(kind: AnswerKind, characters: u64) -> String {
    let mut answer: Value = serde_json::from_str(good_text(kind)).unwrap();
    let place = match kind {
        AnswerKind::Independent => "/rationale",
        AnswerKind::Synthesis => "/consensus_points/0/point",
        AnswerKind::Revision => "/revised_position",
        AnswerKind::CrossExam => "/unresolved/0",
        AnswerKind::Verdict | AnswerKind::Menu => "/summary",
        AnswerKind::PersonaSelection => "/reason",
        AnswerKind::Comparison | AnswerKind::Consistency => "/comparisons/0/reasoning",
    };
    let missing = usize::try_from(characters)
        .unwrap()
        .saturating_sub(answer.to_string().len());
    let text = answer.pointer_mut(place).unwrap();
    *text = Value::String(format!(
        "{} {}",
        text.as_str().unwrap(),
        "word ".repeat(missing / 5)
    ));
    answer.to_string()
}

/// Returns the reply of a provider whose tokens are this many tenths of a character long.
#[expect(clippy::unnecessary_wraps, reason = "the machine takes outcomes")]
fn replies(plan: &Plan, ask: &Ask, behaviour: Behaviour, tenths: u64) -> Outcome {
    let tokens = |characters: u64| (characters * 10).div_ceil(tenths);
    let expected = plan.expected_output(&ask.model, ask.answer);
    let output = expected.low + (expected.high - expected.low) * behaviour.length / 100;
    let text = long_text(
        ask.answer,
        (output * (100 - behaviour.thinking) / 100) * tenths / 10,
    );
    assert!(
        tokens(text.len() as u64) <= output + 1,
        "the shortest valid answer fits the low expectation"
    );
    let schema = behaviour.around.filter(|_| ask.cache_key.is_none());
    let around = schema.map_or(0, |words| {
        words + tokens(ask.answer.schema(ask.form).to_string().len() as u64)
    });
    let prompt = tokens(ask.prompt.text().len() as u64) + around;
    let (cache_read, cache_write) = (
        prompt * behaviour.read / 100,
        prompt * behaviour.written / 100,
    );
    let usage = Usage {
        input: prompt - cache_read - cache_write,
        cache_read,
        cache_write,
        output,
        ..Usage::default()
    };
    Ok(Reply {
        text,
        stop: StopReason::End,
        usage,
        served_model: None,
        reported_cost: None,
        plan: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn cost_without_failures_lies_between_the_low_and_high_estimate(
        behaviours in behaviours(),
        tenths in prop_oneof![
            Just((31, 31, 31)),
            Just((50, 50, 50)),
            (31u64..=50, 31u64..=50, 31u64..=50),
        ],
        above_tokens in 200u64..6_000,
        whole in any::<bool>(),
        context in proptest::option::of("([a-z]{2,9} ){100,1500}"),
        caching in prop_oneof![
            Just(PromptCaching::None),
            Just(PromptCaching::Automatic { min_tokens: 1_024 }),
            Just(PromptCaching::Breakpoints { min_tokens: 512 }),
        ],
    ) {
        let mut plan = with_tiers(above_tokens);
        plan.context = context.map(|text| Box::new(Context {
            bytes: text.len() as u64,
            sha256: sha256(&text),
            tokens: ContextTokens::by_ratio(&text),
            text: ContextText::from(text),
            ..Context::default()
        }));
        plan.material = if whole {
            PromptMaterial::Whole
        } else {
            PromptMaterial::Filtered
        };
        let lengths = OutputTokens { low: 200, expected: 400, high: 1_200 };
        for seat in &plan.panel.seats {
            let terms = ModelTerms { expected_output: lengths, caching, ..ModelTerms::default() };
            plan.models.insert(seat.model.clone(), terms);
        }
        let tokenizer = |model: &ModelRef| match model.provider.as_str() {
            "anthropic" => tenths.0,
            "openai" => tenths.1,
            _ => tenths.2,
        };
        let mut player = Player::started(plan.clone());
        let mut behaviours = behaviours.into_iter();
        let end = player.finish(|ask| {
            replies(&plan, ask, behaviours.next().unwrap(), tokenizer(&ask.model))
        });
        prop_assert_eq!(end, StateName::Complete);
        let transcript = fold(&player);
        let (cost, estimate) = (transcript.total().cost, transcript.estimate.unwrap());
        prop_assert!(!cost.lower_bound);
        prop_assert!(estimate.low.known <= estimate.cost.known);
        prop_assert!(estimate.cost.known <= estimate.high.known);
        prop_assert!(
            estimate.low.known <= cost.known && cost.known <= estimate.high.known,
            "{} is not between {} and {}",
            cost,
            estimate.low,
            estimate.high
        );
    }

    #[test]
    fn call_within_its_token_limit_costs_at_most_its_worst_case(
        text in "\\PC{0,400}",
        above_tokens in 0u64..10_000,
        max_output_tokens in 1u64..40_000,
        parts in (0u64..=100, 0u64..=100, 0u64..=100, 0u64..=100),
    ) {
        let plan = with_tiers(above_tokens);
        let prompt = Prompt { persona: text.clone(), task: text, ..Prompt::default() };
        let most = plan.worst_input(&prompt, AnswerKind::Independent);
        let (fresh, read, written, output) = parts;
        let shares = (fresh + read + written).max(1);
        let usage = Usage {
            input: most * fresh / shares,
            cache_read: most * read / shares,
            cache_write: most * written / shares,
            output: max_output_tokens * output / 100,
            ..Usage::default()
        };
        let worst_case = plan.worst_case(&model(), most, max_output_tokens);
        prop_assert!(!worst_case.lower_bound);
        prop_assert!(plan.expected_cost(&model(), &usage).known <= worst_case.known);
    }
}

#[test]
fn worst_case_is_zero_for_free_and_unbounded_for_unpriced_models() {
    let mut plan = plan();
    plan.models.insert(
        model(),
        ModelTerms {
            billing: Billing::Free,
            ..ModelTerms::default()
        },
    );
    assert_eq!(plan.worst_case(&model(), 4, 10), Cost::FREE);
    assert_eq!(
        plan.worst_case(&ModelRef::new("openai", "unheard-of"), 4, 10),
        Cost::at_least(MicroUsd::ZERO)
    );
    let sonnet = ModelRef::new("anthropic", "claude-sonnet-5-5");
    let expected = Cost::exactly(MicroUsd(4 + 2 * 10));
    assert_eq!(plan.worst_case(&sonnet, 4, 10), expected);
}

#[test]
fn estimated_input_includes_the_preceding_answers() {
    let mut plan = plan();
    let input = |plan: &Plan| -> Vec<u64> {
        plan.estimate()
            .unwrap()
            .calls
            .iter()
            .map(|call| call.input_tokens)
            .collect()
    };
    let before = input(&plan);
    let longer = OutputTokens {
        low: 2_000,
        expected: 3_000,
        high: 5_000,
    };
    let expert = plan.panel.seats[0].model.clone();
    plan.learnt_output
        .entry(expert.clone())
        .or_default()
        .insert(AnswerKind::Independent, longer);
    let more: Vec<u64> = input(&plan)
        .iter()
        .zip(&before)
        .map(|(after, before)| after - before)
        .collect();
    // The expert's own revision, the synthesis and the verdict contain its first answer; the other
    // experts never see it.
    assert_eq!(more, [0, 0, 0, 1_000, 1_000, 0, 0, 0, 1_000]);
    let estimate = plan.estimate().unwrap();
    let calls = estimate.calls.iter();
    let output: Vec<u64> = calls.map(|call| call.output_tokens).collect();
    let expected = [
        3_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000,
    ];
    assert_eq!(output, expected);
}

#[test]
fn whole_material_raises_the_expected_cost_within_equal_bounds() {
    let filtered = plan();
    let whole = Plan {
        material: PromptMaterial::Whole,
        ..filtered.clone()
    };
    let (filtered, whole) = (filtered.estimate().unwrap(), whole.estimate().unwrap());
    assert!(filtered.cost.known < whole.cost.known);
    assert_eq!(filtered.low, whole.low);
    assert_eq!(filtered.high, whole.high);
}

#[test]
fn sums_add_up_and_an_unpriced_model_makes_them_lower_bounds() {
    let mut plan = plan();
    let sum = |plan: &Plan| {
        let estimate = plan.estimate().unwrap();
        let calls = &estimate.calls;
        assert_eq!(estimate.low, calls.iter().map(|call| call.low).sum());
        assert_eq!(estimate.cost, calls.iter().map(|call| call.cost).sum());
        assert_eq!(estimate.high, calls.iter().map(|call| call.high).sum());
        let expected = calls.iter().map(|call| call.input_tokens).sum::<u64>();
        assert_eq!(estimate.input_tokens, expected);
        [
            estimate.low.lower_bound,
            estimate.cost.lower_bound,
            estimate.high.lower_bound,
        ]
    };
    assert_eq!(sum(&plan), [false; 3]);
    plan.prices.0.remove(&model());
    assert_eq!(sum(&plan), [true; 3]);
}

#[test]
fn context_tokens_grow_with_the_question() {
    let short = plan().estimate().unwrap().context_tokens;
    let long = Plan {
        question: "word ".repeat(8_000),
        ..plan()
    }
    .estimate()
    .unwrap();
    assert!(
        short < 60 && (10_000..10_100).contains(&long.context_tokens),
        "{short} {}",
        long.context_tokens
    );
}

#[test]
fn planned_prompts_match_the_sent_ones_except_for_answers() {
    let planned = planned_calls(&plan(), Places::Marked).unwrap();
    let mut player = Player::started(plan());
    let mut sent = Vec::new();
    player.finish(|ask| {
        sent.push(ask.clone());
        good(ask)
    });
    assert_eq!(planned.len(), sent.len());
    for (planned, sent) in planned.iter().zip(&sent) {
        assert_eq!(planned.answer, sent.answer);
        assert_eq!(planned.model, sent.model);
        assert_eq!(planned.prompt.system(), sent.prompt.system());
        let is_marked =
            planned.prompt.task.contains("<what ") || planned.prompt.task.contains("<the judge");
        assert_eq!(planned.prompt == sent.prompt, sent.answer.round() == 1);
        assert_eq!(is_marked, sent.answer.round() > 1);
    }
    let verdict = &planned.last().unwrap().prompt.task;
    for place in [
        "<what Expert A answers in Round 1>",
        "<what the judge finds in Round 2>",
        "<the judge's record of Round 3>",
    ] {
        assert!(verdict.contains(place), "{place}: {verdict}");
    }
}
