//! The stop conditions as rules, in order of priority.
//!
//! A batch without anything left to do is complete, whatever its last items were. Requests to stop
//! come next: what a person or a provider says outright needs no statistics. Then what stops a
//! batch soonest: the budget, failures in a row, and the two rates, of which retries cost least.

use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::MicroUsd;
use crate::stopping::evaluation::{Bound, Checks, Class, Evaluation, MILLION, Value};

use super::reason::{BASELINE_FAILS, CONSECUTIVE_FAILS};
use super::state::{BatchState, ItemWindow, StopRequest, Workload};

impl BatchState {
    pub fn evaluate(&self, workload: Workload) -> Evaluation {
        let conditions = &self.conditions;
        let checks = Checks::default()
            .success(Class::Done, "complete")
            .of("cases that remain")
            .at_most(Value::Count(workload.remaining), 0)
            .message("All cases are finished");
        let failed_probe = "The first case after the resume got no answer".to_owned();
        let checks = requests(checks, self.request.as_ref())
            .limit(Class::Halted, "probe_failed")
            .of("probe cases without an answer")
            .unless(self.probe_failed.then_some(failed_probe));
        let metric = "consecutive infrastructure failures";
        let limit = conditions.max_consecutive_outages;
        let checks =
            streak(checks, "provider_outage", metric, self.outages, limit).message(format!(
                "{} attempts in a row failed because of a provider",
                self.outages
            ));
        let checks = attempt_budget(checks, self, workload);
        let limit = conditions.max_consecutive_fails;
        let fails = self.consecutive_fails;
        let checks = streak(checks, CONSECUTIVE_FAILS, "consecutive fails", fails, limit);
        let is_compared = self.totals.baseline.finished() > 0;
        let metric = "consecutive fails of the baseline";
        let checks = match limit {
            Some(most) if !is_compared => {
                let checks = checks.limit(Class::Halted, BASELINE_FAILS).of(metric);
                not_applicable(checks, Value::Count(most))
            }
            limit => streak(checks, BASELINE_FAILS, metric, self.baseline_fails, limit),
        };
        let metric = "share of the last cases without a right answer";
        let most = conditions.max_reject_rate;
        let checks = self.rate(checks, "Reject", metric, &self.rejects, most);
        let metric = "share of the last cases with more than one attempt";
        let most = conditions.max_retry_rate;
        let checks = self.rate(checks, "Retry", metric, &self.retries, most);
        unanswered(checks, self, workload).evaluation()
    }

    /// A condition on the share of the last items, unknown until there are enough of them.
    fn rate(
        &self,
        checks: Checks,
        name: &str,
        metric: &str,
        window: &ItemWindow,
        limit: Option<Confidence>,
    ) -> Checks {
        let rule = format!("{}_rate", name.to_ascii_lowercase());
        let checks = checks.limit(Class::Halted, &rule).of(metric);
        let Some(most) = limit else {
            return not_applicable(checks, off());
        };
        let least = self.conditions.min_items;
        let (part, of) = (window.count(), window.len());
        checks
            .compare(
                (of >= least).then_some(Value::Share { part, of }),
                Bound::AtMost,
                Value::decimal(most),
            )
            .detail((of < least).then(|| format!("{of} of {least} cases")))
            .message(rate_message(name, (part, of), most))
    }
}

/// Requests of a person or a provider need no statistics.
fn requests(checks: Checks, request: Option<&StopRequest>) -> Checks {
    let interrupted = (request == Some(&StopRequest::Interrupt)).then(|| "Interrupted".to_owned());
    let (mut refused, mut empty, mut ceiling, mut month) = (None, None, None, None);
    match request {
        Some(StopRequest::Authentication { provider }) => {
            refused = Some(format!("Provider `{provider}` refuses the key"));
        }
        Some(StopRequest::Quota { provider }) => {
            empty = Some(format!("Provider `{provider}` reports no credit left"));
        }
        Some(StopRequest::CostCeiling {
            needed,
            ceiling: most,
        }) => ceiling = Some((*needed, *most)),
        Some(StopRequest::MonthlyBudget { needed, ceiling }) => month = Some((*needed, *ceiling)),
        Some(StopRequest::Interrupt | StopRequest::UnfinishedParts) | None => {}
    }
    let checks = checks
        .limit(Class::Cancelled, "interrupted")
        .of("interrupts")
        .unless(interrupted)
        .limit(Class::Halted, "authentication")
        .of("providers that refuse the key")
        .unless(refused)
        .limit(Class::Halted, "quota")
        .of("providers without credit")
        .unless(empty);
    let checks = money(checks, "cost_ceiling", "ceiling", ceiling);
    money(checks, "monthly_budget", "monthly budget", month)
}

/// A condition on the amount that the next call could bring the cost to.
fn money(checks: Checks, rule: &str, name: &str, reached: Option<(MicroUsd, MicroUsd)>) -> Checks {
    let checks = checks
        .limit(Class::Exhausted, rule)
        .of("dollars with the next call");
    let Some((needed, ceiling)) = reached else {
        return not_applicable(checks, Value::word("none"));
    };
    let with_it = (needed > ceiling).then(|| format!(": {needed} with it"));
    let with_it = with_it.unwrap_or_default();
    // What other calls have reserved counts too, and is not in the sum.
    let needed = needed.0.max(ceiling.0.saturating_add(1));
    let dollars = |micro| Value::Ratio {
        numerator: micro,
        denominator: MILLION,
    };
    checks
        .compare(dollars(needed), Bound::AtMost, dollars(ceiling.0))
        .message(format!(
            "The next call could exceed the {name} of {ceiling}{with_it}"
        ))
}

/// The budget matters only if another attempt is wanted: a batch that ends on its last attempt is
/// complete.
fn attempt_budget(checks: Checks, batch: &BatchState, workload: Workload) -> Checks {
    let checks = checks
        .limit(Class::Exhausted, "attempt_budget")
        .of("attempts");
    match batch.conditions.max_attempts {
        None => not_applicable(checks, off()),
        Some(budget) if workload.waiting == 0 => not_applicable(checks, Value::Count(budget)),
        Some(budget) => checks.reaches(batch.attempts, budget).message(format!(
            "{} attempts reach the budget of {budget}",
            batch.attempts
        )),
    }
}

fn unanswered(checks: Checks, batch: &BatchState, workload: Workload) -> Checks {
    let is_merged = batch.request == Some(StopRequest::UnfinishedParts);
    let is_idle = is_merged || (workload.waiting == 0 && workload.in_flight == 0);
    let stuck = if is_idle { workload.remaining } else { 0 };
    let cases = if stuck == 1 { "case has" } else { "cases have" };
    let why = if is_merged {
        "result in the merged runs"
    } else {
        "answer because of provider failures"
    };
    let metric = "cases without an answer and without attempts left";
    checks
        .limit(Class::Stalled, "unanswered")
        .of(metric)
        .at_most(Value::Count(stuck), 0)
        .message(format!("{stuck} {cases} no {why}"))
}

fn streak(checks: Checks, rule: &str, metric: &str, in_a_row: u64, limit: Option<u64>) -> Checks {
    let checks = checks.limit(Class::Halted, rule).of(metric);
    match limit {
        None => not_applicable(checks, off()),
        Some(most) => checks
            .reaches(in_a_row, most)
            .message(format!("{in_a_row} {metric} reach the threshold of {most}")),
    }
}

fn not_applicable(checks: Checks, threshold: Value) -> Checks {
    checks
        .compare(None, Bound::AtMost, threshold)
        .applies_if(false)
}

/// The threshold of a condition that is switched off.
fn off() -> Value {
    Value::word("off")
}

/// Returns `Reject rate 37.5% exceeds 30% threshold`, with as many decimals as it takes for the two
/// to differ.
fn rate_message(name: &str, (part, of): (u64, u64), most: Confidence) -> String {
    let shown = |digits| [(part, of), (most.millionths(), MILLION)].map(|it| percent(it, digits));
    let differs = |[value, threshold]: &[String; 2]| value != threshold;
    let shortest = (1..4).map(shown).find(differs);
    let [value, threshold] = shortest.unwrap_or_else(|| shown(4));
    format!("{name} rate {value} exceeds {threshold} threshold")
}

/// Without zeros at the end.
#[expect(clippy::cast_precision_loss, reason = "for a message")]
fn percent((part, of): (u64, u64), digits: usize) -> String {
    let percent = 100.0 * part as f64 / of.max(1) as f64;
    let text = format!("{percent:.digits$}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
