//! An evaluation as a tree: every rule with its outcome, and the decision last. Pure.

use crate::stopping::evaluation::{Class, Decision, Evaluation, Rule, RuleKind, RuleOutcome};

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

fn of_rule(rule: &Rule) -> String {
    let outcome = match rule.outcome {
        RuleOutcome::Fired => "fired",
        RuleOutcome::Held => "held",
        RuleOutcome::Unknown => "unknown",
        RuleOutcome::NotApplicable => {
            return format!(
                "{}: not applicable{}",
                one_line(&rule.name),
                of_kind(rule.kind)
            );
        }
    };
    format!(
        "{}: {} → {outcome}{}",
        one_line(&rule.name),
        rule.measure_in_words(),
        of_kind(rule.kind)
    )
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
    use crate::stopping::evaluation::{Bound, Checks, Value};

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
        let guard = |name, value, bound| Rule::measured(RuleKind::Guard, name, "", value, bound);
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
├─ stated_confidence: 0.92 (at least 0.90) → fired
├─ families: 1 (at least 2) → fired (guard)
├─ support: 2 of 3 (at least 3 of 3) → fired (guard)
├─ high_tensions: 0 (at most 0) → held (guard)
├─ rubber_stamp: unknown (less than 3 of 3) → unknown (guard)
│   └─ tensions: 0,[2J likeness: 0.93
├─ other: not applicable (guard)
├─ iterations: 3 (less than 5) → held (limit)
└─ DECISION: CONTINUE";
        assert_eq!(
            evaluation_tree("EARLY TERMINATION CHECK (Round 2)", &evaluation).join("\n"),
            expected
        );
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
