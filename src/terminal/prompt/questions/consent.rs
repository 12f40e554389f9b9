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

/// The setting of the amount below which nothing is asked.
const ALWAYS_ALLOW_UNDER: &str = "always_allow_under";

/// Models that are named; the rest is counted.
const MAX_NAMED: usize = 4;

/// The amount of `Always` is a suggestion.
pub(in crate::terminal) fn question(
    estimate: &Estimate,
    why: &[GateReason],
    rule: &ConsentRule,
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
        question: format!("{}. Go on?", cost(estimate)),
        choices,
        default: 'y',
        safe: 'n',
        trace: QuestionTrace::Whole,
    }
}

/// No threshold is offered: what is right for a run would be far too much for a consultation.
pub(in crate::terminal) fn run_question(
    estimate: &Estimate,
    why: &[GateReason],
    rule: Option<&ConsentRule>,
) -> (Vec<String>, String) {
    let threshold = rule.and_then(|rule| threshold_reason(why, rule.always_allow_under));
    let month = rule.and_then(|rule| rule.month);
    let lines = threshold.into_iter().chain(reasons(estimate, why, month));
    (lines.collect(), format!("{}. Go on?", cost(estimate)))
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
    why.iter().flat_map(words).collect()
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

/// `About $0.28, at most $0.96`; `At least $0.21` where a price is unknown.
fn cost(estimate: &Estimate) -> String {
    let figure = |cost: Cost| dollars(Cost::exactly(cost.known));
    let (expected, high) = (estimate.cost, estimate.high);
    if expected.lower_bound || high.lower_bound {
        return match expected.known {
            MicroUsd::ZERO => "The cost is unknown".to_owned(),
            _ => format!("At least {}", figure(expected)),
        };
    }
    if expected == Cost::FREE && high != Cost::FREE {
        format!("At most {}", figure(high))
    } else if high.known <= expected.known {
        format!("About {}", figure(expected))
    } else {
        format!("About {}, at most {}", figure(expected), figure(high))
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
        question(estimate, why, &rule).text(100, Paint::Plain)
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
    fn unknown_costs_are_stated_as_such() {
        let known = |expected, high| {
            cost(&Estimate {
                cost: expected,
                high,
                ..Estimate::default()
            })
        };
        let at_least = |micro| Cost::at_least(MicroUsd(micro));
        assert_eq!(known(exactly(450_000), exactly(450_000)), "About $0.45");
        assert_eq!(
            known(at_least(450_000), at_least(900_000)),
            "At least $0.45"
        );
        assert_eq!(known(at_least(0), at_least(0)), "The cost is unknown");
        assert_eq!(known(Cost::FREE, exactly(900_000)), "At most $0.90");
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
