//! An evaluation as a tree: every rule with its outcome, and the decision last. Pure.

use std::cmp::Ordering;

use crate::stopping::evaluation::{
    Bound, Class, Decision, Evaluation, MILLION, Rule, RuleKind, RuleOutcome, Value,
};

use crate::terminal::markdown::escape::one_line;

/// Returns the tree under a heading such as `EARLY TERMINATION CHECK (Round 2)`.
pub fn evaluation_tree(heading: &str, evaluation: &Evaluation) -> Vec<String> {
    let mut lines = vec![heading.to_owned()];
    for rule in &evaluation.rules {
        lines.push(format!("├─ {}", of_rule(rule)));
        lines.extend(
            rule.detail
                .iter()
                .map(|detail| format!("│   └─ {}", one_line(detail))),
        );
    }
    lines.push(format!(
        "└─ DECISION: {}",
        of_decision(&evaluation.decision)
    ));
    lines
}

/// Describes the outcome of a rule by what it means for a rule of its kind.
fn of_rule(rule: &Rule) -> String {
    let (value, threshold) = figures(rule);
    let outcome = match (rule.outcome, rule.kind, value) {
        (RuleOutcome::NotApplicable, _, _) => "not applicable".to_owned(),
        (RuleOutcome::Unknown, _, _) | (_, _, None) => {
            format!("unknown: {} could not be measured", one_line(&rule.metric))
        }
        (RuleOutcome::Fired, RuleKind::Success, Some(value)) => {
            format!("met: {value} ({} {threshold})", bound(rule))
        }
        (RuleOutcome::Fired, RuleKind::Limit, Some(value)) => {
            format!("reached: {value} ({} {threshold})", bound(rule))
        }
        (RuleOutcome::Fired, RuleKind::Guard, Some(value)) => {
            format!("objects: {value} ({} {threshold})", bound(rule))
        }
        (RuleOutcome::Held, RuleKind::Success | RuleKind::Limit, Some(value)) => {
            format!("not reached: {value} of {threshold}")
        }
        (RuleOutcome::Held, RuleKind::Guard, Some(value)) => {
            format!("no objection: {value} ({} {threshold})", bound(rule))
        }
    };
    format!("{}: {outcome}{}", one_line(&rule.name), of_kind(rule.kind))
}

fn bound(rule: &Rule) -> &'static str {
    match rule.bound {
        Bound::AtLeast => "at least",
        Bound::MoreThan => "more than",
        Bound::AtMost => "at most",
        Bound::LessThan => "less than",
    }
}

/// Formats value and threshold: decimal fractions in percent, with as many decimals as it takes to
/// tell different ones apart.
fn figures(rule: &Rule) -> (Option<String>, String) {
    let (value, threshold) = (rule.value, rule.threshold);
    if !matches!(threshold, Value::Share { of: MILLION, .. }) {
        return (value.map(in_numbers), in_numbers(threshold));
    }
    let with = |digits| {
        let value = value.map(|value| in_percent(value, digits));
        (value, in_percent(threshold, digits))
    };
    let is_same = value
        .and_then(|value| value.compared(threshold))
        .is_some_and(Ordering::is_eq);
    let differs = |(value, threshold): &(Option<String>, String)| {
        is_same || value.as_ref() != Some(threshold)
    };
    (0..4).map(with).find(differs).unwrap_or_else(|| with(4))
}

fn in_numbers(value: Value) -> String {
    match value {
        Value::Count(number) => number.to_string(),
        Value::Share { part, of } => format!("{part} of {of}"),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for a screen, where a share has a few decimals"
)]
fn in_percent(value: Value, digits: usize) -> String {
    match value {
        Value::Count(number) => number.to_string(),
        Value::Share { part, of } => format!("{:.digits$}%", 100.0 * part as f64 / of as f64),
    }
}

fn of_kind(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Success => "",
        RuleKind::Limit => " (limit)",
        RuleKind::Guard => " (guard)",
    }
}

fn of_decision(decision: &Decision) -> String {
    match decision {
        Decision::Continue => "CONTINUE".to_owned(),
        Decision::Stop { class, message, .. } => {
            format!("STOP {}: {}", of_class(*class), one_line(message))
        }
    }
}

fn of_class(class: Class) -> &'static str {
    match class {
        Class::Done => "done",
        Class::Converged => "converged",
        Class::Exhausted => "exhausted",
        Class::Halted => "halted",
        Class::Stalled => "stalled",
        Class::NeedsHuman => "needs human",
        Class::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::confidence::Confidence;
    use crate::stopping::evaluation::Checks;

    use super::*;

    fn decimal(value: f64) -> Value {
        Value::decimal(Confidence::new(value).unwrap())
    }

    fn stated(value: f64) -> Rule {
        Rule::measured(
            RuleKind::Success,
            "stated_confidence",
            "",
            Some(decimal(value)),
            (Bound::AtLeast, decimal(0.9)),
        )
    }

    #[test]
    fn every_rule_has_a_line_and_the_decision_comes_last() {
        let guard = |name, value, bound| {
            let metric = "signs of a rubber stamp";
            Rule::measured(RuleKind::Guard, name, metric, value, bound)
        };
        let families = guard(
            "families",
            Some(Value::Count(1)),
            (Bound::AtLeast, Value::Count(2)),
        );
        let support = guard(
            "support",
            Some(Value::share(2, 3)),
            (Bound::AtLeast, Value::share(3, 3)),
        );
        let none = (Bound::AtMost, Value::Count(0));
        let rubber_stamp = guard("rubber_stamp", None, (Bound::LessThan, Value::share(3, 3)))
            .with_detail("tensions: 0,\u{1b}[2J likeness: 0.93".to_owned());
        let limit = Rule::measured(
            RuleKind::Limit,
            "iterations",
            "",
            Some(Value::Count(3)),
            (Bound::LessThan, Value::Count(5)),
        );
        let evaluation = Checks::default()
            .ending(stated(0.92), Class::Converged, "never said".to_owned())
            .guard(families)
            .guard(support)
            .guard(guard("high_tensions", Some(Value::Count(0)), none))
            .guard(rubber_stamp)
            .guard(guard("other", None, none).not_applicable())
            .ending(limit, Class::Exhausted, String::new())
            .evaluation();
        let expected = "\
EARLY TERMINATION CHECK (Round 2)
├─ stated_confidence: met: 92% (at least 90%)
├─ families: objects: 1 (at least 2) (guard)
├─ support: objects: 2 of 3 (at least 3 of 3) (guard)
├─ high_tensions: no objection: 0 (at most 0) (guard)
├─ rubber_stamp: unknown: signs of a rubber stamp could not be measured (guard)
│   └─ tensions: 0,[2J likeness: 0.93
├─ other: not applicable (guard)
├─ iterations: not reached: 3 of 5 (limit)
└─ DECISION: CONTINUE";
        assert_eq!(
            evaluation_tree("EARLY TERMINATION CHECK (Round 2)", &evaluation).join("\n"),
            expected
        );
    }

    #[test]
    fn unmet_threshold_is_shown_beside_a_different_figure() {
        let line = |value| of_rule(&stated(value));
        assert_eq!(line(0.74), "stated_confidence: not reached: 74% of 90%");
        assert_eq!(
            line(0.8996),
            "stated_confidence: not reached: 89.96% of 90.00%"
        );
        assert_eq!(line(0.9), "stated_confidence: met: 90% (at least 90%)");
    }

    #[test]
    fn stop_names_its_class_and_reason() {
        let evaluation = Checks::default()
            .ending(
                stated(0.9),
                Class::Converged,
                "stated confidence is high".to_owned(),
            )
            .evaluation();
        let lines = evaluation_tree("CHECK", &evaluation);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("└─ DECISION: STOP converged: stated confidence is high")
        );
    }
}
