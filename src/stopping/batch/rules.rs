//! The stop conditions as rules, in order of priority.
//!
//! A batch without anything left to do is complete, whatever its last items were. Requests to stop
//! come next: what a person or a provider says outright needs no statistics. Then what stops a batch
//! soonest: the budget, failures in a row, and the two rates, of which retries cost least.

use crate::domain::money::MicroUsd;
use crate::stopping::evaluation::{
    Bound, Checks, Class, Evaluation, MILLION, Rule, RuleKind, Value,
};

use super::item::ItemRole;
use super::rate::Rate;
use super::reason::{BASELINE_FAILS, StopCondition};
use super::state::{BatchState, ItemWindow, StopRequest, Workload};

/// The threshold of a condition that is switched off.
const OFF: &str = "off";

impl BatchState {
    /// Checks all conditions.
    pub fn evaluate(&self, workload: Workload) -> Evaluation {
        evaluate(self, workload)
    }
}

fn evaluate(batch: &BatchState, workload: Workload) -> Evaluation {
    let conditions = &batch.conditions;
    Checks::default()
        .ending(
            Rule::measured(
                RuleKind::Success,
                "complete",
                "cases that remain",
                Some(Value::Count(workload.remaining)),
                (Bound::AtMost, Value::Count(0)),
            ),
            Class::Done,
            "All cases are finished".to_owned(),
        )
        .with(interrupted(batch))
        .with(authentication(batch))
        .with(quota(batch))
        .with(cost_ceiling(batch))
        .with(monthly_budget(batch))
        .with(probe_failed(batch))
        .with(provider_outage(batch))
        .with(attempt_budget(batch, workload))
        .with(consecutive_fails(batch))
        .with(baseline_fails(batch))
        .with(rate(
            batch,
            StopCondition::RejectRate,
            "share of the last cases without a right answer",
            &batch.rejects,
            conditions.max_reject_rate,
        ))
        .with(rate(
            batch,
            StopCondition::RetryRate,
            "share of the last cases with more than one attempt",
            &batch.retries,
            conditions.max_retry_rate,
        ))
        .with(unanswered(batch, workload))
        .evaluation()
}

/// A rule with the stop that it leads to.
type Ending = (Rule, Class, String);

fn interrupted(batch: &BatchState) -> Ending {
    let is_interrupted = matches!(batch.request, Some(StopRequest::Interrupt));
    flag(
        StopCondition::Interrupted,
        "interrupts",
        is_interrupted,
        "Interrupted".to_owned(),
    )
}

fn authentication(batch: &BatchState) -> Ending {
    let provider = if let Some(StopRequest::Authentication { provider }) = &batch.request {
        Some(provider)
    } else {
        None
    };
    let message = provider.map(|provider| format!("Provider `{provider}` refuses the key"));
    flag(
        StopCondition::Authentication,
        "providers that refuse the key",
        provider.is_some(),
        message.unwrap_or_default(),
    )
}

fn quota(batch: &BatchState) -> Ending {
    let provider = if let Some(StopRequest::Quota { provider }) = &batch.request {
        Some(provider)
    } else {
        None
    };
    let message = provider.map(|provider| format!("Provider `{provider}` reports no credit left"));
    flag(
        StopCondition::Quota,
        "providers without credit",
        provider.is_some(),
        message.unwrap_or_default(),
    )
}

fn cost_ceiling(batch: &BatchState) -> Ending {
    let reached = match batch.request {
        Some(StopRequest::CostCeiling { needed, ceiling }) => Some((needed, ceiling)),
        _ => None,
    };
    money(StopCondition::CostCeiling, "ceiling", reached)
}

fn monthly_budget(batch: &BatchState) -> Ending {
    let reached = match batch.request {
        Some(StopRequest::MonthlyBudget { needed, ceiling }) => Some((needed, ceiling)),
        _ => None,
    };
    money(StopCondition::MonthlyBudget, "monthly budget", reached)
}

/// A condition on the amount that the next call could bring the cost to.
fn money(condition: StopCondition, name: &str, reached: Option<(MicroUsd, MicroUsd)>) -> Ending {
    const METRIC: &str = "dollars with the next call";
    let Some((needed, ceiling)) = reached else {
        return not_applicable(condition, condition.rule(), METRIC, Value::word("none"));
    };
    let message = if needed > ceiling {
        format!("The next call could exceed the {name} of {ceiling}: {needed} with it")
    } else {
        format!("The next call could exceed the {name} of {ceiling}")
    };
    // What other calls have reserved counts too, and is not in the sum.
    let needed = needed.0.max(ceiling.0.saturating_add(1));
    let dollars = |micro| Value::Ratio {
        numerator: micro,
        denominator: MILLION,
    };
    let rule = Rule::measured(
        RuleKind::Limit,
        condition.rule(),
        METRIC,
        Some(dollars(needed)),
        (Bound::AtMost, dollars(ceiling.0)),
    );
    (rule, condition.class(), message)
}

fn probe_failed(batch: &BatchState) -> Ending {
    flag(
        StopCondition::ProbeFailed,
        "probe cases without an answer",
        batch.probe_failed,
        "The first case after the resume got no answer".to_owned(),
    )
}

fn provider_outage(batch: &BatchState) -> Ending {
    let (rule, class, _) = streak(
        StopCondition::ProviderOutage,
        StopCondition::ProviderOutage.rule(),
        "consecutive infrastructure failures",
        batch.outages,
        batch.conditions.max_consecutive_outages,
    );
    let message = format!(
        "{} attempts in a row failed because of a provider",
        batch.outages
    );
    (rule, class, message)
}

/// The budget matters only if another attempt is wanted: a batch that ends on its last attempt is
/// complete.
fn attempt_budget(batch: &BatchState, workload: Workload) -> Ending {
    const METRIC: &str = "attempts";
    let condition = StopCondition::AttemptBudget;
    let Some(budget) = batch.conditions.max_attempts else {
        return not_applicable(condition, condition.rule(), METRIC, Value::word(OFF));
    };
    let threshold = Value::Count(budget);
    if workload.waiting == 0 {
        return not_applicable(condition, condition.rule(), METRIC, threshold);
    }
    let rule = Rule::measured(
        RuleKind::Limit,
        condition.rule(),
        METRIC,
        Some(Value::Count(batch.attempts)),
        (Bound::LessThan, threshold),
    );
    let message = format!("{} attempts reach the budget of {budget}", batch.attempts);
    (rule, condition.class(), message)
}

fn consecutive_fails(batch: &BatchState) -> Ending {
    streak(
        StopCondition::ConsecutiveFails,
        StopCondition::ConsecutiveFails.rule(),
        "consecutive fails",
        batch.consecutive_fails,
        batch.conditions.max_consecutive_fails,
    )
}

fn baseline_fails(batch: &BatchState) -> Ending {
    const METRIC: &str = "consecutive fails of the baseline";
    let condition = StopCondition::ConsecutiveFails;
    let is_compared = batch.totals_of(ItemRole::Baseline).finished() > 0;
    match batch.conditions.max_consecutive_fails {
        Some(most) if !is_compared => {
            not_applicable(condition, BASELINE_FAILS, METRIC, Value::Count(most))
        }
        limit => streak(
            condition,
            BASELINE_FAILS,
            METRIC,
            batch.baseline_fails,
            limit,
        ),
    }
}

fn unanswered(batch: &BatchState, workload: Workload) -> Ending {
    let is_merged = batch.request == Some(StopRequest::UnfinishedParts);
    let is_idle = is_merged || (workload.waiting == 0 && workload.in_flight == 0);
    let stuck = if is_idle { workload.remaining } else { 0 };
    let condition = StopCondition::Unanswered;
    let rule = Rule::measured(
        RuleKind::Limit,
        condition.rule(),
        "cases without an answer and without attempts left",
        Some(Value::Count(stuck)),
        (Bound::AtMost, Value::Count(0)),
    );
    let cases = if stuck == 1 { "case has" } else { "cases have" };
    let why = if is_merged {
        "result in the merged runs"
    } else {
        "answer because of provider failures"
    };
    let message = format!("{stuck} {cases} no {why}");
    (rule, condition.class(), message)
}

/// A condition that fires at the first time.
fn flag(condition: StopCondition, metric: &str, is_set: bool, message: String) -> Ending {
    let rule = Rule::measured(
        RuleKind::Limit,
        condition.rule(),
        metric,
        Some(Value::Count(u64::from(is_set))),
        (Bound::AtMost, Value::Count(0)),
    );
    (rule, condition.class(), message)
}

/// A condition on events in a row.
fn streak(
    condition: StopCondition,
    name: &str,
    metric: &str,
    in_a_row: u64,
    limit: Option<u64>,
) -> Ending {
    let Some(most) = limit else {
        return not_applicable(condition, name, metric, Value::word(OFF));
    };
    let rule = Rule::measured(
        RuleKind::Limit,
        name,
        metric,
        Some(Value::Count(in_a_row)),
        (Bound::LessThan, Value::Count(most)),
    );
    let message = format!("{in_a_row} {metric} reach the threshold of {most}");
    (rule, condition.class(), message)
}

/// A condition on the share of the last items, unknown until there are enough of them.
fn rate(
    batch: &BatchState,
    condition: StopCondition,
    metric: &str,
    window: &ItemWindow,
    limit: Option<Rate>,
) -> Ending {
    let Some(most) = limit else {
        return not_applicable(condition, condition.rule(), metric, Value::word(OFF));
    };
    let least = batch.conditions.min_items;
    let (part, of) = (window.count(), window.len());
    let value = (of >= least).then_some(Value::Share { part, of });
    let rule = Rule::measured(
        RuleKind::Limit,
        condition.rule(),
        metric,
        value,
        (Bound::AtMost, most.value()),
    );
    let rule = if of < least {
        rule.with_detail(format!("{of} of {least} cases"))
    } else {
        rule
    };
    let message = rate_message(condition, (part, of), most);
    (rule, condition.class(), message)
}

fn not_applicable(condition: StopCondition, name: &str, metric: &str, threshold: Value) -> Ending {
    let rule = Rule::measured(
        RuleKind::Limit,
        name,
        metric,
        None,
        (Bound::AtMost, threshold),
    );
    (rule.not_applicable(), condition.class(), String::new())
}

/// Returns `Reject rate 37.5% exceeds 30% threshold`, with as many decimals as it takes for the two
/// to differ.
fn rate_message(condition: StopCondition, (part, of): (u64, u64), most: Rate) -> String {
    let name = if condition == StopCondition::RejectRate {
        "Reject"
    } else {
        "Retry"
    };
    let shown = |digits| {
        (
            percent(part, of, digits),
            percent(most.millionths(), MILLION, digits),
        )
    };
    let (value, threshold) = (1..4)
        .map(shown)
        .find(|(value, threshold)| value != threshold)
        .unwrap_or_else(|| shown(4));
    format!("{name} rate {value} exceeds {threshold} threshold")
}

/// Returns a share in percent, without zeros at the end.
#[expect(clippy::cast_precision_loss, reason = "for a message")]
fn percent(part: u64, of: u64, digits: usize) -> String {
    let percent = 100.0 * part as f64 / of.max(1) as f64;
    let text = format!("{percent:.digits$}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
