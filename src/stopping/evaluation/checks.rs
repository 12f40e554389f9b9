//! The rules of a policy in order of priority, and the decision that follows from them.

use super::rule::{Rule, RuleKind, RuleOutcome};
use super::{Class, Decision, Evaluation};

/// Rules in order of priority, with the stop that each leads to: the first that fires decides. A
/// success counts as fired only if none of its guards objects.
///
/// By default every success precedes every limit, so that work that ends on its last allowed turn
/// is done and not exhausted. [`Self::in_stated_order`] lets only the stated order decide.
#[derive(Debug, Default)]
pub struct Checks {
    rules: Vec<Rule>,
    /// The stops that the rules with these indices lead to.
    endings: Vec<(usize, Class, String)>,
    precedence: Precedence,
}

/// What decides between a success and a limit that fire together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Precedence {
    #[default]
    SuccessFirst,
    StatedOrder,
}

impl Checks {
    /// Returns checks of which the first stated rule that fires decides, be it a success or a
    /// limit.
    pub fn in_stated_order() -> Self {
        Self {
            precedence: Precedence::StatedOrder,
            ..Self::default()
        }
    }

    /// Adds a rule that is a reason to stop if it fires: a success or a limit.
    #[must_use]
    pub fn ending(mut self, rule: Rule, class: Class, message: String) -> Self {
        self.endings.push((self.rules.len(), class, message));
        self.rules.push(rule);
        self
    }

    /// Adds a rule with its ending, as [`Self::ending`].
    #[must_use]
    pub fn with(self, (rule, class, message): (Rule, Class, String)) -> Self {
        self.ending(rule, class, message)
    }

    /// Adds a guard of the successes that it names. Its place does not matter.
    #[must_use]
    pub fn guard(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    pub fn evaluation(self) -> Evaluation {
        let stop = match self.precedence {
            Precedence::SuccessFirst => self
                .first_stop(|kind| kind == RuleKind::Success)
                .or_else(|| self.first_stop(|kind| kind == RuleKind::Limit)),
            Precedence::StatedOrder => self.first_stop(|_| true),
        };
        Evaluation {
            decision: stop.unwrap_or(Decision::Continue),
            rules: self.rules,
        }
    }

    fn first_stop(&self, is_wanted: impl Fn(RuleKind) -> bool) -> Option<Decision> {
        self.endings.iter().find_map(|(at, class, message)| {
            let rule = self
                .rules
                .get(*at)
                .filter(|rule| is_wanted(rule.kind) && self.fires(rule))?;
            Some(Decision::Stop {
                class: *class,
                rule: rule.name.clone(),
                value: rule.value.clone(),
                threshold: rule.threshold.clone(),
                message: message.clone(),
            })
        })
    }

    fn fires(&self, rule: &Rule) -> bool {
        let is_guarded = rule.kind == RuleKind::Success
            && self.rules.iter().any(|guard| guard.objects_to(&rule.name));
        rule.outcome == RuleOutcome::Fired && !is_guarded
    }
}
