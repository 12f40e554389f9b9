//! The words of what a person is asked. Pure; who asks, and what comes of it, is `person`'s
//! business. A question ends in its prompt, without an end of line.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::consultation::event::{
    DecidedBy, EarlyTermination, EarlyTerminationDecision, Estimate, GateReason, StillWaiting,
    SubstitutionReason,
};
use crate::consultation::policy::consent::Month;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::{Cost, MicroUsd};
use crate::stopping::evaluation::Rule;

use super::choices::Choices;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::{calibrated_words, count, dollars, thousands, whole_seconds};

/// Characters of a provider's own words that a question has room for.
const WORDS: usize = 200;

/// What can be answered to an estimate. `Always` is offered where a threshold would have let it
/// pass.
pub(in crate::terminal) fn consent_choices(why: &[GateReason]) -> Choices {
    if why.contains(&GateReason::Cost) {
        Choices::YES_NO_ALWAYS
    } else {
        Choices::YES_NO
    }
}

/// The cost gate's question.
pub(in crate::terminal) fn consent(
    estimate: &Estimate,
    why: &[GateReason],
    month: Option<Month>,
) -> String {
    let mut text = format!(
        "Estimated cost: {}\n- Input tokens: {}\n- Expected output tokens: ~{}\n- {}\n\n",
        cost_range(estimate),
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
    format!("{text}Proceed? {} ", consent_choices(why).prompt())
}

/// `$0.21 – $0.45 – $0.90`, or the one figure that all three are; `≥` before what may be more.
pub(in crate::terminal) fn cost_range(estimate: &Estimate) -> String {
    let Estimate {
        low, cost, high, ..
    } = *estimate;
    let mut figures = [low, cost, high].map(|cost| dollars(cost.known)).to_vec();
    figures.dedup();
    let bound = if cost.lower_bound { "≥ " } else { "" };
    format!("{bound}{}", figures.join(" – "))
}

/// `3 agents × 4 rounds`, as the estimate counts them; judge and clerk are none of the agents.
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
    let who = if agents.is_empty() {
        "the judge alone".to_owned()
    } else {
        count(agents.len(), "agent")
    };
    format!("{who} × {}", count(rounds.len(), "round"))
}

/// Why it is asked about, as far as the figures do not say it themselves.
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
                "⚠️ No price is known for {}: what it costs comes on top.",
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

/// Asks from which amount on to ask again. An empty line takes the one in brackets.
pub(in crate::terminal) fn threshold(suggested: MicroUsd) -> String {
    format!(
        "Auto-approve consultations under: $[{}] ",
        format!("{suggested:.2}").trim_start_matches('$')
    )
}

/// What is said to a line that is no amount.
pub(in crate::terminal) const NO_AMOUNT: &str =
    "Please enter an amount of dollars such as 0.50; 0 means always ask: $";

/// An amount that would have let this estimate pass: its high, rounded up to a figure that is
/// easily remembered.
pub(in crate::terminal) fn suggested_threshold(estimate: &Estimate) -> MicroUsd {
    let high = estimate.high.known.max(estimate.cost.known).0;
    let step = match high {
        ..1_000_000 => 100_000,
        1_000_000..10_000_000 => 500_000,
        10_000_000.. => 1_000_000,
    };
    MicroUsd((high / step + 1).saturating_mul(step))
}

/// Reads an amount of dollars; an empty line is the suggested one.
pub(in crate::terminal) fn read_threshold(line: &str, suggested: MicroUsd) -> Option<MicroUsd> {
    let typed = line.trim();
    if typed.is_empty() {
        return Some(suggested);
    }
    typed
        .trim_start_matches('$')
        .trim_start()
        .parse()
        .ok()
        .and_then(MicroUsd::from_usd)
}

/// That the amount has been saved, and where.
pub(in crate::terminal) fn saved(amount: MicroUsd, place: &str) -> String {
    match amount {
        MicroUsd::ZERO => format!("Every consultation will be asked about (saved in {place})"),
        amount => format!(
            "Consultations under {} will be auto-approved (saved in {place})",
            dollars(amount)
        ),
    }
}

/// That the amount could not be saved, and what holds all the same.
pub(in crate::terminal) fn not_saved(why: &str) -> String {
    format!(
        "⚠️ The amount could not be saved: {}. This consultation goes on.",
        one_line(why).trim_end_matches('.')
    )
}

/// Whom a round still waits for, on one line.
pub(in crate::terminal) fn still_waiting(waiting: &[StillWaiting]) -> String {
    match waiting {
        [agent] => format!(
            "⏱️ Still waiting on {} ({} elapsed).",
            one_line(&agent.name),
            elapsed(agent)
        ),
        agents => {
            let names: Vec<String> = agents
                .iter()
                .map(|agent| format!("{} ({})", one_line(&agent.name), elapsed(agent)))
                .collect();
            format!("⏱️ Still waiting on {}.", names.join(", "))
        }
    }
}

/// Whether to go on waiting.
pub(in crate::terminal) fn pulse(waiting: &[StillWaiting]) -> String {
    let who = match waiting {
        [_] => still_waiting(waiting),
        agents => {
            let lines = agents
                .iter()
                .map(|agent| format!("\n- {} ({})", one_line(&agent.name), elapsed(agent)));
            format!("⏱️ Still waiting on:{}", lines.collect::<String>())
        }
    };
    format!("{who}\nContinue waiting? {} ", Choices::YES_NO.prompt())
}

fn elapsed(agent: &StillWaiting) -> String {
    whole_seconds(Duration::from_millis(agent.elapsed_ms))
}

/// Whether to end here. What speaks against it stands between the news and the question.
pub(in crate::terminal) fn early_termination(findings: &EarlyTermination) -> String {
    let mut text = format!(
        "✨ Strong consensus reached (confidence: {})\n",
        stated(findings)
    );
    for line in grounds(findings) {
        text.extend(["   ", &line, "\n"]);
    }
    format!(
        "{text}Terminate early and skip {}? {} ",
        skipped(findings),
        Choices::YES_NO.prompt()
    )
}

/// What is known beside the stated confidence: how far it can be believed, what speaks against an
/// end, what one would save.
pub(in crate::terminal) fn grounds(findings: &EarlyTermination) -> Vec<String> {
    let calibrated = findings
        .calibrated
        .as_ref()
        .map(|calibrated| format!("Calibrated probability: {}", calibrated_words(calibrated)));
    let against = findings
        .evaluation
        .unmet_guards()
        .map(|rule| format!("Against it: {}", rule.in_words()));
    let saved = findings.estimated_cost_saved;
    let saved = (saved != Cost::FREE)
        .then(|| format!("{} would save about {}", skipped(findings), cost(saved)));
    calibrated.into_iter().chain(against).chain(saved).collect()
}

/// What was decided without asking; `None` where nothing was near.
pub(in crate::terminal) fn decided(decision: &EarlyTerminationDecision) -> Option<String> {
    let EarlyTerminationDecision {
        ended,
        by,
        findings,
    } = decision;
    let confidence = stated(findings);
    let saved = match findings.estimated_cost_saved {
        Cost::FREE => String::new(),
        saved => format!(", about {} saved", cost(saved)),
    };
    match (by, ended) {
        (DecidedBy::Threshold | DecidedBy::Person, _) => None,
        (DecidedBy::Guards | DecidedBy::NobodyThere, true) => Some(format!(
            "✨ Strong consensus reached (confidence: {confidence}): {} left out{saved}",
            skipped(findings)
        )),
        (DecidedBy::Guards | DecidedBy::NobodyThere, false) => {
            let against: Vec<String> = findings
                .evaluation
                .unmet_guards()
                .map(Rule::in_words)
                .collect();
            Some(format!(
                "   Strong consensus (confidence: {confidence}), but the debate goes on: {}",
                against.join("; ")
            ))
        }
    }
}

fn stated(findings: &EarlyTermination) -> String {
    findings.confidence.map_or_else(
        || "not stated".to_owned(),
        |confidence| confidence.to_string(),
    )
}

/// `Rounds 3-4`, or the one round that would be left out.
fn skipped(findings: &EarlyTermination) -> &'static str {
    if findings.rounds_skipped > 1 {
        "Rounds 3-4"
    } else {
        "Round 3"
    }
}

fn cost(cost: Cost) -> String {
    let bound = if cost.lower_bound { "≥ " } else { "" };
    format!("{bound}{}", dollars(cost.known))
}

/// Whether another model may take over. Each model comes with its vendor's name.
pub(in crate::terminal) fn substitution(
    name: &str,
    original: (&str, &ModelRef),
    substitute: (&str, &ModelRef),
    reason: &SubstitutionReason,
    message: &str,
) -> String {
    let model = |(vendor, model): (&str, &ModelRef)| {
        format!("{} ({})", one_line(vendor), one_line(&model.model))
    };
    let said = shortened(&one_line(message));
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    };
    format!(
        "⚠️ {} is unavailable ({}).\n   {}{said}\nSwitch to {} for this agent? {} ",
        model(original),
        one_line(&reason.in_words("")),
        one_line(name),
        model(substitute),
        Choices::YES_NO_FAIL.prompt(),
    )
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::event::{CallEstimate, WhySubstituted};
    use crate::consultation::protocol::answer::AnswerKind;

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
    fn the_gate_names_cost_tokens_and_size() {
        insta::assert_snapshot!(consent(&estimate(), &[GateReason::Cost], None), @r"
        Estimated cost: $0.21 – $0.45 – $0.90
        - Input tokens: 1,234
        - Expected output tokens: ~8,000
        - 3 agents × 4 rounds

        Proceed? [Y/n/Always]
        ");
    }

    #[test]
    fn figures_that_are_the_same_are_shown_once_and_small_ones_with_all_their_digits() {
        let cost = |low, cost, high| {
            cost_range(&Estimate {
                cost,
                low,
                high,
                ..Estimate::default()
            })
        };
        assert_eq!(
            cost(exactly(450_000), exactly(450_000), exactly(450_000)),
            "$0.45"
        );
        assert_eq!(
            cost(exactly(1_200), exactly(3_400), exactly(90_000)),
            "$0.0012 – $0.0034 – $0.09"
        );
        let unpriced = Cost::at_least(MicroUsd(120_000));
        assert_eq!(cost(unpriced, unpriced, unpriced), "≥ $0.12");
    }

    #[test]
    fn every_reason_for_asking_is_said_in_the_same_question() {
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
        insta::assert_snapshot!(consent(&estimate, &why, month), @r"
        Estimated cost: ≥ $0.21 – $0.45 – $0.90
        - Input tokens: 1,234
        - Expected output tokens: ~8,000
        - 3 agents × 4 rounds

        ⚠️ No price is known for openai:model-of-a: what it costs comes on top.
        ⚠️ This would bring the month to ≥ $20.15, above its budget of $20.00.
        ⚠️ Large context detected (~12,500 tokens)
        This may increase cost and response time.

        Proceed? [Y/n]
        ");
    }

    #[test]
    fn the_suggested_amount_would_have_let_the_estimate_pass() {
        let suggested = |high| {
            suggested_threshold(&Estimate {
                high: exactly(high),
                ..Estimate::default()
            })
        };
        assert_eq!(
            [900_000, 990_000, 1_000_000, 12_300_000].map(|high| suggested(high).to_string()),
            ["$1.0000", "$1.0000", "$1.5000", "$13.0000"]
        );
        assert_eq!(
            threshold(MicroUsd(1_000_000)),
            "Auto-approve consultations under: $[1.00] "
        );
    }

    #[test]
    fn an_amount_is_read_as_people_write_it() {
        let read = |line| read_threshold(line, MicroUsd(7));
        assert_eq!(
            (read("\n"), read(" $0.5\n"), read("0")),
            (
                Some(MicroUsd(7)),
                Some(MicroUsd(500_000)),
                Some(MicroUsd::ZERO)
            )
        );
        assert_eq!(
            [read("-1"), read("much"), read("NaN"), read("1e12")],
            [None; 4]
        );
    }

    #[test]
    fn what_became_of_the_amount_is_said() {
        assert_eq!(
            saved(MicroUsd(750_000), "/h/config.json"),
            "Consultations under $0.75 will be auto-approved (saved in /h/config.json)"
        );
        assert_eq!(
            saved(MicroUsd::ZERO, "/h/config.json"),
            "Every consultation will be asked about (saved in /h/config.json)"
        );
        assert_eq!(
            not_saved("disk full."),
            "⚠️ The amount could not be saved: disk full. This consultation goes on."
        );
    }

    fn waiting(name: &str, elapsed_ms: u64) -> StillWaiting {
        StillWaiting {
            agent_id: AgentId::from(name),
            name: name.to_owned(),
            elapsed_ms,
        }
    }

    #[test]
    fn the_pulse_names_one_agent_or_lists_them() {
        let one = [waiting("Security Expert", 72_400)];
        assert_eq!(
            pulse(&one),
            "⏱️ Still waiting on Security Expert (72s elapsed).\nContinue waiting? [Y/n] "
        );
        let two = [
            waiting("Security Expert", 72_400),
            waiting("Architect", 65_000),
        ];
        assert_eq!(
            pulse(&two),
            "⏱️ Still waiting on:\n- Security Expert (72s)\n- Architect (65s)\nContinue waiting? [Y/n] "
        );
        assert_eq!(
            still_waiting(&two),
            "⏱️ Still waiting on Security Expert (72s), Architect (65s)."
        );
    }

    #[test]
    fn a_substitution_says_who_failed_why_and_who_would_take_over() {
        let (gemini, grok) = (
            ModelRef::new("google", "gemini-3-pro"),
            ModelRef::new("xai", "grok-4.7"),
        );
        let ask = |reason, message: &str| {
            substitution(
                "Pragmatist",
                ("Google", &gemini),
                ("xAI", &grok),
                &reason,
                message,
            )
        };
        insta::assert_snapshot!(ask(SubstitutionReason::Known(WhySubstituted::Timeout), "no answer\n within \u{1b}[31m120 s"), @r"
        ⚠️ Google (gemini-3-pro) is unavailable (timeout).
           Pragmatist: no answer within [31m120 s
        Switch to xAI (grok-4.7) for this agent? [Y/n/Fail]
        ");
        let long = ask(
            SubstitutionReason::Known(WhySubstituted::Failure),
            &"ü".repeat(500),
        );
        assert!(
            long.contains(&format!("   Pragmatist: {}…\n", "ü".repeat(200))),
            "{long}"
        );
        assert!(
            ask(SubstitutionReason::Known(WhySubstituted::HealthCheck), "")
                .contains("(health check).\n   Pragmatist\nSwitch")
        );
    }
}
