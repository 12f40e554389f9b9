//! An evaluation as a tree: every rule with its outcome, and the decision last. Pure.

use crate::domain::names::stored_name;
use crate::stopping::evaluation::{
    Bound, Decision, Evaluation, Notation, Rule, RuleKind, RuleOutcome, Value,
};

use crate::stopping::exit_check::event::TurnRecord;
use crate::text::clean::{one_line, shortened};

/// An evaluation as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationTree {
    pub heading: String,
    pub branches: Vec<Branch>,
    pub decision: String,
}

/// A rule with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    pub text: String,
    pub detail: Option<String>,
    /// Whether what the rule asks for is so; `None` if that is unknown or does not apply. A guard
    /// that does not object is a yes.
    pub is_met: Option<bool>,
}

impl EvaluationTree {
    pub(super) fn new<'a>(
        heading: String,
        rules: impl Iterator<Item = (&'a Rule, String)>,
        decision: &Decision,
    ) -> Self {
        let branches = rules.map(|(rule, text)| Branch {
            text,
            detail: rule.detail.as_deref().map(one_line),
            is_met: is_met(rule),
        });
        Self {
            heading,
            branches: branches.collect(),
            decision: format!("DECISION: {}", decision_in_words(decision)),
        }
    }

    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.heading.clone()];
        for branch in &self.branches {
            lines.push(format!("├─ {}", branch.text));
            let detail = branch.detail.iter();
            lines.extend(detail.map(|detail| format!("│   └─ {detail}")));
        }
        lines.push(format!("└─ {}", self.decision));
        lines
    }
}

pub(super) fn is_met(rule: &Rule) -> Option<bool> {
    match (rule.outcome, rule.kind) {
        (RuleOutcome::Unknown | RuleOutcome::NotApplicable, _) => None,
        (RuleOutcome::Fired, RuleKind::Success | RuleKind::Limit)
        | (RuleOutcome::Held, RuleKind::Guard) => Some(true),
        (RuleOutcome::Held, RuleKind::Success | RuleKind::Limit)
        | (RuleOutcome::Fired, RuleKind::Guard) => Some(false),
    }
}

/// Returns the lines of the tree under a heading such as `EARLY TERMINATION CHECK (Round 2)`.
pub fn evaluation_tree(heading: &str, evaluation: &Evaluation) -> Vec<String> {
    let rules = evaluation.rules.iter().map(|rule| (rule, of_rule(rule)));
    EvaluationTree::new(heading.to_owned(), rules, &evaluation.decision).lines()
}

fn of_rule(rule: &Rule) -> String {
    let outcome = match (rule.outcome, rule.kind, &rule.value) {
        (RuleOutcome::NotApplicable, _, _) => "not applicable".to_owned(),
        (RuleOutcome::Unknown, _, _) | (_, _, None) => {
            format!("unknown: {} could not be measured", rule.metric)
        }
        (RuleOutcome::Fired, RuleKind::Limit, Some(Value::Word(word))) => {
            format!("reached: {}", spaced(word))
        }
        (RuleOutcome::Held, RuleKind::Limit, Some(Value::Word(word))) => {
            format!("not reached: {}", spaced(word))
        }
        (RuleOutcome::Fired, RuleKind::Limit, Some(_)) if rule.bound == Bound::LessThan => {
            format!("reached: {}", fraction(rule))
        }
        (RuleOutcome::Fired, RuleKind::Limit, Some(_)) => {
            format!("out of bounds: {}", measure(rule))
        }
        (RuleOutcome::Held, RuleKind::Limit, Some(_)) if rule.bound == Bound::AtLeast => {
            format!("within bounds: {}", measure(rule))
        }
        (RuleOutcome::Held, RuleKind::Limit, Some(_)) => format!("not reached: {}", fraction(rule)),
        (RuleOutcome::Held, RuleKind::Success, Some(_)) => {
            format!("not reached: {}", fraction(rule))
        }
        (RuleOutcome::Fired, RuleKind::Success, Some(_)) => format!("met: {}", measure(rule)),
        (RuleOutcome::Held, RuleKind::Guard, Some(_)) => {
            format!("no objection: {}", measure(rule))
        }
        (RuleOutcome::Fired, RuleKind::Guard, Some(_)) => format!("objects: {}", measure(rule)),
    };
    one_line(&format!("{}: {outcome}{}", rule.name, of_kind(rule.kind)))
}

/// `92% (at least 90%)`.
fn measure(rule: &Rule) -> String {
    let (value, threshold) = rule.figures(Notation::Percent);
    let bound = rule.bound.in_words();
    let value = value.unwrap_or_default();
    format!("{} ({bound} {})", spaced(&value), spaced(&threshold))
}

/// Returns a number as a part of its threshold, `2 of 3`; anything else as [`measure`].
fn fraction(rule: &Rule) -> String {
    let is_word = matches!(rule.value, Some(Value::Word(_)));
    let (value, threshold) = rule.figures(Notation::Percent);
    match value {
        // `4 of 5` is a part already, and `30 s` a quantity.
        Some(value) if !is_word && !value.contains(' ') => format!("{value} of {threshold}"),
        _ => measure(rule),
    }
}

/// `not_done` as `not done`.
fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

fn of_kind(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Success => "",
        RuleKind::Limit => " (limit)",
        RuleKind::Guard => " (guard)",
    }
}

/// `turn 2: continue · 2 of 3 tasks · tests passed · no progress 0 of 3`.
pub fn turn_line(record: &TurnRecord) -> String {
    let evaluation = &record.evaluation;
    let decision = match &evaluation.decision {
        Decision::Continue => "continue".to_owned(),
        Decision::Stop { class, message, .. } => {
            format!("{}: {}", spaced(&stored_name(class)), one_line(message))
        }
    };
    let mut parts = vec![format!("turn {}: {decision}", record.turn)];
    parts.extend(
        evaluation
            .rules
            .iter()
            .filter_map(|rule| news(rule, evaluation)),
    );
    parts.join(" · ")
}

/// The longest quotation in the line of a turn, in characters.
const LONGEST_QUOTATION: usize = 100;

/// What a turn shows of a rule: the tasks, the tests, turns in a row, and the objection to a
/// success.
fn news(rule: &Rule, evaluation: &Evaluation) -> Option<String> {
    let has_fired = |name: &String| {
        let rule = evaluation.rule(name);
        rule.is_some_and(|rule| rule.outcome == RuleOutcome::Fired)
    };
    Some(match (rule.name.as_str(), rule.value.as_ref()?) {
        ("all_tasks_done", Value::Share { part, of }) => format!("{part} of {of} tasks"),
        ("tests", Value::Word(result)) => format!("tests {result}"),
        ("stagnation", _) => format!("no progress {}", fraction(rule)),
        ("turns", _) | (_, Value::Count(0)) => return None,
        (name, Value::Count(_)) if rule.bound == Bound::LessThan => {
            format!("{} {}", spaced(name), fraction(rule))
        }
        (name, _) if rule.objects() && rule.guards.iter().any(has_fired) => match &rule.detail {
            Some(text) => format!(
                "held back by \"{}\"",
                shortened(&one_line(text), LONGEST_QUOTATION)
            ),
            None => format!("held back by {}", spaced(name)),
        },
        _ => return None,
    })
}

/// `CONTINUE`, or `STOP done: all 5 tasks are completed`.
pub fn decision_in_words(decision: &Decision) -> String {
    match decision {
        Decision::Continue => "CONTINUE".to_owned(),
        Decision::Stop { class, message, .. } => {
            format!(
                "STOP {}: {}",
                spaced(&stored_name(class)),
                one_line(message)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::answer::confidence::Confidence;
    use crate::stopping::evaluation::{Checks, Class};

    use super::*;

    fn decimal(value: f64) -> Value {
        Value::decimal(Confidence::new(value).unwrap())
    }

    fn stated(value: f64) -> Rule {
        let rule = Rule::new(RuleKind::Success, "stated_confidence", "");
        rule.measured(Some(decimal(value)), Bound::AtLeast, decimal(0.9))
    }

    #[test]
    fn every_rule_has_a_line_and_the_decision_comes_last() {
        let signs = "signs of a rubber stamp";
        let evaluation = Checks::default()
            .with(stated(0.92), Some(Class::Converged))
            .message("never said")
            .guard(&[], "families")
            .of(signs)
            .at_least(Value::Count(1), Value::Count(2))
            .guard(&[], "support")
            .of(signs)
            .at_least(Value::share(2, 3), Value::share(3, 3))
            .guard(&[], "high_tensions")
            .of(signs)
            .compare(Value::Count(0), Bound::AtMost, Value::Count(0))
            .guard(&[], "rubber_stamp")
            .of(signs)
            .compare(None, Bound::LessThan, Value::share(3, 3))
            .detail("tensions: 0,\u{1b}[2J likeness: 0.93".to_owned())
            .guard(&[], "other")
            .of(signs)
            .applies_if(false)
            .limit(Class::Exhausted, "iterations")
            .of("")
            .reaches(3, 5)
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
            .with(stated(0.9), Some(Class::Converged))
            .message("stated confidence is high")
            .evaluation();
        let lines = evaluation_tree("CHECK", &evaluation);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("└─ DECISION: STOP converged: stated confidence is high")
        );
    }

    #[test]
    fn words_durations_and_ratios_have_their_own_form() {
        use Bound::{AtLeast, AtMost, Is, IsNot, LessThan};
        let line = |kind| {
            move |value, bound, threshold| {
                of_rule(&Rule::new(kind, "rule", "").measured(Some(value), bound, threshold))
            }
        };
        let (limit, success) = (line(RuleKind::Limit), line(RuleKind::Success));
        let ratio = |numerator, denominator| Value::Ratio {
            numerator,
            denominator,
        };
        let (word, count, percent) = (Value::word, Value::Count, Value::percent);
        let lines = [
            limit(word("open"), IsNot, word("open")),
            limit(word("closed"), IsNot, word("open")),
            success(word("done"), Is, word("done")),
            success(word("not_done"), Is, word("done")),
            limit(ratio(8, 5), AtMost, ratio(3, 2)),
            success(Value::share(4, 5), AtLeast, percent(80)),
            limit(count(2), LessThan, count(3)),
            limit(count(3), LessThan, count(3)),
            limit(percent(80), AtLeast, percent(70)),
            limit(percent(60), AtLeast, percent(70)),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        rule: reached: open (limit)
        rule: not reached: closed (limit)
        rule: met: done (must be done)
        rule: not reached: not done (must be done)
        rule: out of bounds: 1.60 (at most 1.50) (limit)
        rule: met: 4 of 5 (at least 80%)
        rule: not reached: 2 of 3 (limit)
        rule: reached: 3 of 3 (limit)
        rule: within bounds: 80% (at least 70%) (limit)
        rule: out of bounds: 60% (at least 70%) (limit)
        ");
    }
}
