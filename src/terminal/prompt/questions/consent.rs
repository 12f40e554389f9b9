//! The cost gate: what a consultation is estimated to cost, what makes it up, and why you are
//! asked.

use std::collections::BTreeSet;

use crate::consultation::event::Answer;
use crate::consultation::policy::consent::{ConsentRule, Month};
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{AgentId, ModelRef};

use super::threshold;
use crate::terminal::output::format::{count, dollars, thousands};
use crate::terminal::prompt::question::{KeyChoice, KeyQuestion, QuestionTrace};
use crate::text::clean::capitalised;

/// The setting of the amount below which nothing is asked.
const ALWAYS_ALLOW_UNDER: &str = "always_allow_under";

/// Models that are named; the rest is counted.
const MAX_NAMED: usize = 4;

/// The amount of `Always` is a suggestion. `ceiling` is what is left under it.
pub(in crate::terminal) fn question(
    estimate: &Estimate,
    why: &[GateReason],
    rule: &ConsentRule,
    ceiling: Option<MicroUsd>,
) -> KeyQuestion<Answer> {
    let mut lines = vec![size(estimate)];
    lines.extend(threshold_reason(why, rule.always_allow_under));
    lines.extend(reasons(estimate, why, rule.month));
    let mut choices = vec![
        KeyChoice::plain("yes", Answer::Yes),
        KeyChoice::plain("no", Answer::No),
    ];
    if is_helped_by_threshold(why) {
        let suggested = threshold::suggestion(estimate);
        let below = dollars(Cost::exactly(suggested));
        let label = format!("always below {below}");
        choices.push(KeyChoice::named("always", label, Answer::Always(suggested)));
    }
    KeyQuestion {
        lines,
        question: go_on(estimate, ceiling),
        choices,
        default: 'y',
        safe: 'n',
        trace: QuestionTrace::Whole,
    }
}

/// No threshold is offered: what is right for a run would be far too much for a consultation.
pub fn run_question(
    estimate: &Estimate,
    why: &[GateReason],
    rule: Option<&ConsentRule>,
    ceiling: Option<MicroUsd>,
) -> (Vec<String>, String) {
    let threshold = rule.and_then(|rule| threshold_reason(why, rule.always_allow_under));
    let month = rule.and_then(|rule| rule.month);
    let lines = threshold.into_iter().chain(reasons(estimate, why, month));
    (lines.collect(), go_on(estimate, ceiling))
}

/// Returns the reasons for asking that the figures do not show.
pub(in crate::terminal) fn reasons(
    estimate: &Estimate,
    why: &[GateReason],
    month: Option<Month>,
) -> Vec<String> {
    let words = |reason: &GateReason| match reason {
        GateReason::Cost | GateReason::FirstCost => Vec::new(),
        GateReason::Unpriced => {
            let models: BTreeSet<&ModelRef> = estimate
                .calls
                .iter()
                .filter(|call| call.cost.lower_bound)
                .map(|call| &call.model)
                .collect();
            vec![format!(
                "⚠️ No price is known for {}: its cost is not included.",
                named(&models)
            )]
        }
        GateReason::MonthlyBudget => vec![match month {
            Some(Month { budget, spent }) => {
                let after: Cost = spent + estimate.cost;
                format!(
                    "⚠️ This would bring the month to {after:.2}, above its budget of {budget:.2}."
                )
            }
            None => "⚠️ This would bring the month above its budget.".to_owned(),
        }],
        GateReason::LargeContext => vec![
            format!(
                "⚠️ Large context detected (~{} tokens)",
                thousands(estimate.context_tokens)
            ),
            "This may increase cost and response time.".to_owned(),
        ],
    };
    let by_plan = estimate.calls.iter().filter(|call| call.cost.by_plan);
    let by_plan: BTreeSet<&ModelRef> = by_plan.map(|call| &call.model).collect();
    let of_plan = (!by_plan.is_empty()).then(|| {
        format!(
            "Your plan pays for {}: not in this cost, and held by no ceiling in dollars.",
            named(&by_plan)
        )
    });
    why.iter().flat_map(words).chain(of_plan).collect()
}

fn threshold_reason(why: &[GateReason], threshold: MicroUsd) -> Option<String> {
    let amount = dollars(Cost::exactly(threshold));
    if why.contains(&GateReason::FirstCost) {
        return Some(format!(
            "Nothing has been spent here so far. After this, only consultations of {amount} or \
             more are asked about; change that with `conclave config set {ALWAYS_ALLOW_UNDER} USD`."
        ));
    }
    why.contains(&GateReason::Cost).then(|| match threshold {
        MicroUsd::ZERO => format!("You are asked about every cost (`{ALWAYS_ALLOW_UNDER}` is 0)."),
        _ => format!(
            "You are asked because the cost is not below {amount} (`{ALWAYS_ALLOW_UNDER}`)."
        ),
    })
}

fn is_helped_by_threshold(why: &[GateReason]) -> bool {
    why.iter()
        .any(|why| matches!(why, GateReason::Cost | GateReason::FirstCost))
}

/// `About $0.28, at most $0.96. Go on?`; a ceiling below that is the most.
fn go_on(estimate: &Estimate, ceiling: Option<MicroUsd>) -> String {
    let (expected, high) = (estimate.cost.known, estimate.high.known);
    let is_bound = estimate.cost.lower_bound || estimate.high.lower_bound;
    let most = match ceiling.filter(|ceiling| is_bound || *ceiling < high) {
        Some(ceiling) => Some(format!("at most {ceiling:.2} (your ceiling)")),
        None if !is_bound && high > expected => Some(format!("at most {high:.2}")),
        None => None,
    };
    let about = match (expected, is_bound) {
        (MicroUsd::ZERO, true) if most.is_none() => Some("price unknown".to_owned()),
        (MicroUsd::ZERO, _) => None,
        (expected, true) => Some(format!("at least {expected:.2}")),
        (expected, false) => Some(format!("about {expected:.2}")),
    };
    let is_cut = ceiling.is_some_and(|ceiling| ceiling < expected);
    let parts: Vec<String> = about.into_iter().chain(most).collect();
    match parts.join(if is_cut { ", but " } else { ", " }).as_str() {
        "" => "Go on?".to_owned(),
        cost => format!("{}. Go on?", capitalised(cost)),
    }
}

/// `9 calls in 4 rounds: 3 experts and the judge, with openai:gpt-6.1-sol and google:gemini-3-pro`.
fn size(estimate: &Estimate) -> String {
    let calls = &estimate.calls;
    let experts: BTreeSet<&AgentId> = calls
        .iter()
        .map(|call| &call.agent_id)
        .filter(|agent| agent.seat().is_some())
        .collect();
    let rounds: BTreeSet<u8> = calls.iter().map(|call| call.round_number).collect();
    let asks = |agent: &AgentId| calls.iter().any(|call| call.agent_id == *agent);
    let judge =
        (asks(&AgentId::Judge) || asks(&AgentId::SecondJudge)).then(|| "the judge".to_owned());
    let helper = asks(&AgentId::Helper).then(|| "the helper model".to_owned());
    let experts = (!experts.is_empty()).then(|| count(experts.len(), "expert"));
    let agents = experts.into_iter().chain(judge).chain(helper);
    let who = enumerated(&agents.collect::<Vec<_>>());
    let models: BTreeSet<&ModelRef> = calls.iter().map(|call| &call.model).collect();
    format!(
        "{} in {}: {who}, with {}",
        count(calls.len(), "call"),
        count(rounds.len(), "round"),
        named(&models)
    )
}

/// `openai:gpt-6.1-sol, google:gemini-3-pro and 3 more`.
fn named(models: &BTreeSet<&ModelRef>) -> String {
    let all = models.len();
    let shown = if all > MAX_NAMED + 1 { MAX_NAMED } else { all };
    let mut names: Vec<String> = models.iter().take(shown).map(ToString::to_string).collect();
    if all > shown {
        names.push(format!("{} more", all - shown));
    }
    enumerated(&names)
}

/// `a, b and c`.
fn enumerated(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others @ [_, ..])) => format!("{} and {last}", others.join(", ")),
        Some(_) | None => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::policy::consent::ConsentMode;
    use crate::consultation::policy::estimate::CallEstimate;
    use crate::consultation::protocol::answer::AnswerKind;
    use crate::terminal::output::style::Paint;

    fn exactly(micro: u64) -> Cost {
        Cost::exactly(MicroUsd(micro))
    }

    /// Three experts and a judge, four rounds.
    fn estimate() -> Estimate {
        let call = |round_number, agent: &str, cost| CallEstimate {
            round_number,
            agent_id: AgentId::from(agent),
            answer: AnswerKind::Independent,
            model: ModelRef::new("openai", format!("model-of-{agent}")),
            input_tokens: 100,
            output_tokens: 500,
            cost,
            low: cost,
            high: cost,
            least_reserve: cost,
        };
        let experts = ["a", "b", "c"].map(|agent| call(1, agent, exactly(1)));
        let judge = [2, 3, 4].map(|round| call(round, "judge", exactly(1)));
        Estimate {
            cost: exactly(450_000),
            low: exactly(210_000),
            high: exactly(900_000),
            input_tokens: 1_234,
            output_tokens: 8_000,
            context_tokens: 12_500,
            calls: experts.into_iter().chain(judge).collect(),
        }
    }

    fn text(estimate: &Estimate, why: &[GateReason], month: Option<Month>) -> String {
        let rule = ConsentRule {
            always_allow_under: MicroUsd(500_000),
            consent_mode: ConsentMode::Interactive,
            month,
            asks_first_cost: false,
        };
        question(estimate, why, &rule, None).text(100, Paint::PLAIN)
    }

    #[test]
    fn gate_states_cost_size_and_models() {
        insta::assert_snapshot!(text(&estimate(), &[GateReason::Cost], None), @r#"
        6 calls in 4 rounds: 3 experts and the judge, with openai:model-of-a, openai:model-of-b,
          openai:model-of-c and openai:model-of-judge
        You are asked because the cost is not below $0.50 (`always_allow_under`).
        About $0.45, at most $0.90. Go on? [Y/n/a = always below $1.00]
        "#);
    }

    #[test]
    fn size_names_only_those_that_are_asked() {
        let mut estimate = estimate();
        estimate.calls[5].agent_id = AgentId::Helper;
        assert!(size(&estimate).contains(": 3 experts, the judge and the helper model, with"));
        estimate.calls.truncate(3);
        assert!(size(&estimate).starts_with("3 calls in 1 round: 3 experts, with"));
    }

    #[test]
    fn first_cost_says_how_to_change_what_is_asked() {
        insta::assert_snapshot!(text(&estimate(), &[GateReason::FirstCost], None), @r#"
        6 calls in 4 rounds: 3 experts and the judge, with openai:model-of-a, openai:model-of-b,
          openai:model-of-c and openai:model-of-judge
        Nothing has been spent here so far. After this, only consultations of $0.50 or more are asked
          about; change that with `conclave config set always_allow_under USD`.
        About $0.45, at most $0.90. Go on? [Y/n/a = always below $1.00]
        "#);
    }

    #[test]
    fn one_question_states_every_reason_for_asking() {
        let mut estimate = estimate();
        estimate.cost.lower_bound = true;
        estimate.calls[0].cost.lower_bound = true;
        let month = Some(Month {
            budget: MicroUsd(20_000_000),
            spent: exactly(19_700_000),
        });
        let why = [
            GateReason::Unpriced,
            GateReason::MonthlyBudget,
            GateReason::LargeContext,
        ];
        insta::assert_snapshot!(text(&estimate, &why, month), @r#"
        6 calls in 4 rounds: 3 experts and the judge, with openai:model-of-a, openai:model-of-b,
          openai:model-of-c and openai:model-of-judge
        ⚠️ No price is known for openai:model-of-a: its cost is not included.
        ⚠️ This would bring the month to ≥ $20.15, above its budget of $20.00.
        ⚠️ Large context detected (~12,500 tokens)
        This may increase cost and response time.
        At least $0.45. Go on? [Y/n]
        "#);
    }

    #[test]
    fn question_says_what_is_agreed_to() {
        let at_least = |micro| Cost::at_least(MicroUsd(micro));
        let (half, most) = (exactly(450_000), exactly(900_000));
        for (cost, high, ceiling, expected) in [
            (half, half, None, "About $0.45. Go on?"),
            (half, most, None, "About $0.45, at most $0.90. Go on?"),
            (
                half,
                most,
                Some(900_000),
                "About $0.45, at most $0.90. Go on?",
            ),
            (
                half,
                most,
                Some(500_000),
                "About $0.45, at most $0.50 (your ceiling). Go on?",
            ),
            (
                half,
                most,
                Some(300_000),
                "About $0.45, but at most $0.30 (your ceiling). Go on?",
            ),
            (
                at_least(450_000),
                at_least(900_000),
                None,
                "At least $0.45. Go on?",
            ),
            (at_least(0), at_least(0), None, "Price unknown. Go on?"),
            (
                at_least(0),
                at_least(0),
                Some(500_000),
                "At most $0.50 (your ceiling). Go on?",
            ),
            (Cost::FREE, exactly(4_200), None, "At most $0.0042. Go on?"),
        ] {
            let estimate = Estimate {
                cost,
                high,
                ..Estimate::default()
            };
            assert_eq!(go_on(&estimate, ceiling.map(MicroUsd)), expected);
        }
    }

    #[test]
    fn many_models_are_counted() {
        let models: Vec<ModelRef> = (0..7)
            .map(|number| ModelRef::new("openai", format!("m{number}")))
            .collect();
        assert_eq!(
            named(&models.iter().collect()),
            "openai:m0, openai:m1, openai:m2, openai:m3 and 3 more"
        );
        assert_eq!(
            named(&models.iter().take(2).collect()),
            "openai:m0 and openai:m1"
        );
    }
}
