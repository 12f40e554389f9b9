//! An evaluation as a tree: every rule with what it found, and the decision last. Pure.

use crate::stopping::evaluation::{Class, Decision, Evaluation, Outcome, Rule, RuleKind};

use super::escape::one_line;

/// The lines of the tree, under a heading such as `EARLY TERMINATION CHECK (Round 2)`.
pub fn evaluation_tree(heading: &str, evaluation: &Evaluation) -> Vec<String> {
    let mut lines = vec![heading.to_owned()];
    for rule in &evaluation.rules {
        lines.push(format!("├─ {}", of_rule(rule)));
        lines.extend(rule.detail.iter().map(|detail| format!("│   └─ {}", one_line(detail))));
    }
    lines.push(format!("└─ DECISION: {}", of_decision(&evaluation.decision)));
    lines
}

fn of_rule(rule: &Rule) -> String {
    let found = match rule.outcome {
        Outcome::Fired => "fired",
        Outcome::Held => "held",
        Outcome::Unknown => "unknown",
        Outcome::NotApplicable => return format!("{}: not applicable{}", one_line(&rule.name), of_kind(rule.kind)),
    };
    format!("{}: {} → {found}{}", one_line(&rule.name), rule.measure_in_words(), of_kind(rule.kind))
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
        Decision::Stop { class, message, .. } => format!("STOP {}: {}", of_class(*class), one_line(message)),
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
