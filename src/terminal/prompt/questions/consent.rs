//! The cost gate: what a consultation is estimated to cost, and why you are asked.

use std::collections::BTreeSet;

use crate::consultation::policy::consent::Month;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::Cost;

use crate::terminal::output::format::{cost_range, count, dollars, thousands};
use crate::terminal::prompt::choices::PromptChoices;

/// The cost gate's question.
pub(in crate::terminal) fn question(
    estimate: &Estimate,
    why: &[GateReason],
    month: Option<Month>,
) -> String {
    let mut text = format!(
        "Estimated cost: {}\n- Input tokens: {}\n- Expected output tokens: ~{}\n- {}\n\n",
        cost_range(estimate.low, estimate.cost, estimate.high, dollars),
        thousands(estimate.input_tokens),
        thousands(estimate.output_tokens),
        size(estimate),
    );
    for line in reasons(estimate, why, month) {
        text.extend([&line, "\n"]);
    }
    if why.iter().any(|why| *why != GateReason::Cost) {
        text.push('\n');
    }
    format!("{text}Proceed? {} ", choices(why).prompt())
}

/// Returns the accepted answers. `Always` is offered where a higher threshold would have let the
/// estimate pass.
pub(in crate::terminal) fn choices(why: &[GateReason]) -> PromptChoices {
    if why.contains(&GateReason::Cost) {
        PromptChoices::YES_NO_ALWAYS
    } else {
        PromptChoices::YES_NO
    }
}

/// Returns the reasons for asking that the figures do not show.
pub(in crate::terminal) fn reasons(
    estimate: &Estimate,
    why: &[GateReason],
    month: Option<Month>,
) -> Vec<String> {
    let lines = |reason: &GateReason| match reason {
        GateReason::Cost => vec![],
        GateReason::Unpriced => {
            let models: BTreeSet<&ModelRef> = estimate
                .calls
                .iter()
                .filter(|call| call.cost.lower_bound)
                .map(|call| &call.model)
                .collect();
            let models: Vec<String> = models.into_iter().map(ToString::to_string).collect();
            vec![format!(
                "⚠️ No price is known for {}: its cost is not included.",
                models.join(", ")
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
    why.iter().flat_map(lines).collect()
}

/// `3 agents × 4 rounds`, as the estimate counts them; judge and helper are not counted.
fn size(estimate: &Estimate) -> String {
    let agents: BTreeSet<&AgentId> = estimate
        .calls
        .iter()
        .map(|call| &call.agent_id)
        .filter(|agent| agent.seat().is_some())
        .collect();
    let rounds: BTreeSet<u8> = estimate
        .calls
        .iter()
        .map(|call| call.round_number)
        .collect();
    let asked = if agents.is_empty() {
        "the judge alone".to_owned()
    } else {
        count(agents.len(), "agent")
    };
    format!("{asked} × {}", count(rounds.len(), "round"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::policy::estimate::CallEstimate;
    use crate::consultation::protocol::answer::AnswerKind;
    use crate::domain::money::MicroUsd;

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

    #[test]
    fn gate_names_cost_tokens_and_size() {
        insta::assert_snapshot!(question(&estimate(), &[GateReason::Cost], None), @r"
        Estimated cost: $0.21 – $0.45 – $0.90
        - Input tokens: 1,234
        - Expected output tokens: ~8,000
        - 3 agents × 4 rounds

        Proceed? [Y/n/Always]
        ");
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
        insta::assert_snapshot!(question(&estimate, &why, month), @r"
        Estimated cost: ≥ $0.21 – $0.45 – $0.90
        - Input tokens: 1,234
        - Expected output tokens: ~8,000
        - 3 agents × 4 rounds

        ⚠️ No price is known for openai:model-of-a: its cost is not included.
        ⚠️ This would bring the month to ≥ $20.15, above its budget of $20.00.
        ⚠️ Large context detected (~12,500 tokens)
        This may increase cost and response time.

        Proceed? [Y/n]
        ");
    }
}
