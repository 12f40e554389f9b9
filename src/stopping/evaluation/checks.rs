//! The rules of a policy in order of priority, and the decision that follows from them.

use super::rule::{Bound, Rule, RuleKind, RuleOutcome};
use super::value::Value;
use super::{Class, Decision, Evaluation};

/// Rules in order of priority, with the stop that each leads to: the first stated one that fires
/// decides. A success counts as fired only if none of its guards objects.
///
/// A policy states a success before the limits that it precedes, so that work that ends on its last
/// allowed turn is done and not exhausted.
///
/// A policy states a rule by its kind, and what follows is about that rule:
///
/// ```
/// use conclave::stopping::evaluation::{Bound, Checks, Class, Value};
///
/// let evaluation = Checks::default()
///     .limit(Class::Exhausted, "turns")
///     .of("turns of this run")
///     .compare(Value::Count(3), Bound::LessThan, Value::Count(3))
///     .message("the run has had its 3 turns")
///     .evaluation();
/// assert_eq!(evaluation.deciding_rule(), Some("turns"));
/// ```
#[must_use]
#[derive(Debug, Default)]
pub struct Checks {
    rows: Vec<StatedRule>,
}

/// A rule with the stop that it leads to.
#[derive(Debug)]
struct StatedRule {
    rule: Rule,
    /// `None` for guards.
    class: Option<Class>,
    message: String,
}

impl Checks {
    pub fn success(self, class: Class, name: &str) -> Self {
        self.with(Rule::new(RuleKind::Success, name, ""), Some(class))
    }

    pub fn limit(self, class: Class, name: &str) -> Self {
        self.with(Rule::new(RuleKind::Limit, name, ""), Some(class))
    }

    /// Adds a guard of the successes with these names; of every success without names. Its place
    /// does not matter.
    pub fn guard(self, successes: &[&str], name: &str) -> Self {
        let rule = Rule::new(RuleKind::Guard, name, "").guarding(successes);
        self.with(rule, None)
    }

    /// Adds a rule that is a reason to stop by a class, or a guard.
    pub fn with(mut self, rule: Rule, class: Option<Class>) -> Self {
        self.rows.push(StatedRule {
            rule,
            class,
            message: String::new(),
        });
        self
    }

    /// States what the last rule measures, in words.
    pub fn of(self, metric: &str) -> Self {
        self.change(|row| metric.clone_into(&mut row.rule.metric))
    }

    /// Compares the measured value of the last rule; `None` if it could not be measured.
    pub fn compare(self, value: impl Into<Option<Value>>, bound: Bound, threshold: Value) -> Self {
        self.change(|row| row.rule = row.rule.clone().measured(value.into(), bound, threshold))
    }

    pub fn at_least(self, value: impl Into<Option<Value>>, least: impl Into<Value>) -> Self {
        self.compare(value, Bound::AtLeast, least.into())
    }

    /// Compares the value of the last rule with a count.
    pub fn at_most(self, value: impl Into<Option<Value>>, most: u64) -> Self {
        self.compare(value, Bound::AtMost, Value::Count(most))
    }

    /// Compares the value of the last rule, a word.
    pub fn is<'a>(self, word: impl Into<Option<&'a str>>, wanted: &str) -> Self {
        self.compare(word.into().map(Value::word), Bound::Is, Value::word(wanted))
    }

    /// Compares the value of the last rule, a word.
    pub fn is_not(self, word: &str, unwanted: &str) -> Self {
        self.compare(Value::word(word), Bound::IsNot, Value::word(unwanted))
    }

    /// Measures the last rule, a limit that fires at the first time, with its message.
    pub fn unless(self, message: Option<String>) -> Self {
        self.at_most(Value::Count(message.is_some().into()), 0)
            .message(message.unwrap_or_default())
    }

    /// Measures the last rule, a limit, by a count: it fires at the threshold.
    pub fn reaches(self, count: impl Into<Option<u64>>, threshold: u64) -> Self {
        let count = count.into().map(Value::Count);
        self.compare(count, Bound::LessThan, Value::Count(threshold))
    }

    /// States the parts of the last rule's value.
    pub fn detail(self, detail: impl Into<Option<String>>) -> Self {
        self.change(|row| row.rule.detail = detail.into())
    }

    /// Marks the last rule as not applicable if there is nothing to measure, and nothing missing.
    pub fn applies_if(self, applies: bool) -> Self {
        if applies {
            return self;
        }
        self.change(|row| row.rule.clear())
    }

    pub fn message(self, message: impl Into<String>) -> Self {
        self.change(|row| row.message = message.into())
    }

    fn change(mut self, change: impl FnOnce(&mut StatedRule)) -> Self {
        if let Some(row) = self.rows.last_mut() {
            change(row);
        }
        self
    }

    /// Keeps the rules with these names, in this order.
    pub fn only(mut self, names: &[&str]) -> Self {
        let place = |row: &StatedRule| names.iter().position(|name| *name == row.rule.name);
        self.rows.retain(|row| place(row).is_some());
        self.rows.sort_by_key(place);
        self
    }

    pub fn evaluation(self) -> Evaluation {
        let stop = self.rows.iter().find_map(|row| {
            let rule = Some(&row.rule).filter(|rule| self.fires(rule))?;
            Some(Decision::Stop {
                class: row.class?,
                rule: rule.name.clone(),
                value: rule.value.clone(),
                threshold: rule.threshold.clone(),
                message: row.message.clone(),
            })
        });
        Evaluation {
            decision: stop.unwrap_or(Decision::Continue),
            rules: self.rows.into_iter().map(|row| row.rule).collect(),
        }
    }

    fn fires(&self, rule: &Rule) -> bool {
        let objects = |row: &StatedRule| row.rule.objects_to(&rule.name);
        let is_guarded = rule.kind == RuleKind::Success && self.rows.iter().any(objects);
        rule.outcome == RuleOutcome::Fired && !is_guarded
    }
}
