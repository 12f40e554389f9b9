//! The evaluation of a refinement's convergence as a tree, in the form of the criteria reference.
//! Pure: everything in it is from the evaluation.

use std::cmp::Ordering;

use crate::stopping::convergence::criteria;
use crate::stopping::evaluation::{Bound, Evaluation, Notation, Rule, RuleOutcome};

use super::evaluation_tree::{EvaluationTree, is_met};

/// Returns the tree under its heading, `CONVERGENCE CHECK (Iteration 3)`.
pub fn convergence_tree(iteration: u64, evaluation: &Evaluation) -> EvaluationTree {
    let heading = format!("CONVERGENCE CHECK (Iteration {iteration})");
    let rules = LABELS.iter().filter_map(|(name, label)| {
        let rule = evaluation.rule(name)?;
        Some((rule, format!("{label}: {}", outcome(rule))))
    });
    EvaluationTree::new(heading, rules, &evaluation.decision)
}

/// The rules in the order of the tree, with their labels.
const LABELS: [(&str, &str); 9] = [
    (criteria::MINIMUM_ITERATIONS, "Minimum met"),
    (criteria::MAXIMUM_ITERATIONS, "Maximum reached"),
    (criteria::QUESTION_STABILITY, "Questions stable"),
    (criteria::LOW_QUESTIONS, "Low questions"),
    (criteria::HIGH_CONFIDENCE, "High confidence"),
    (criteria::OPEN_BLOCKERS, "No open blockers"),
    (criteria::PARSED, "Items found"),
    (criteria::OSCILLATION, "Oscillation"),
    (criteria::NOTHING_TO_ASK, "Nothing to ask"),
];

/// Answers the label with the figures: `NO (5 > 3)`.
fn outcome(rule: &Rule) -> String {
    let answer = match is_met(rule) {
        None if rule.outcome == RuleOutcome::Unknown => return "UNKNOWN (not measured)".to_owned(),
        None => return "NOT APPLICABLE".to_owned(),
        Some(true) => "YES",
        Some(false) => "NO",
    };
    let (value, threshold) = rule.figures(Notation::Decimals);
    let value = value.unwrap_or_default();
    match rule.name.as_str() {
        criteria::QUESTION_STABILITY | criteria::OSCILLATION => {
            format!("{answer} (count: {value}, need: {threshold})")
        }
        criteria::NOTHING_TO_ASK => format!("{answer} ({value} deferred)"),
        _ => format!("{answer} ({value} {} {threshold})", relation(rule)),
    }
}

/// Returns how the value stands to the threshold. Where they are equal, the bound says which of the
/// two signs meant it.
fn relation(rule: &Rule) -> &'static str {
    let order = rule.value.as_ref();
    let order = order.and_then(|value| value.compared(&rule.threshold));
    match (rule.bound, order) {
        (_, None) | (Bound::Is | Bound::IsNot, Some(_)) => rule.bound.in_words(),
        (Bound::AtLeast | Bound::LessThan, Some(Ordering::Greater | Ordering::Equal)) => ">=",
        (Bound::AtMost | Bound::MoreThan, Some(Ordering::Greater)) => ">",
        (Bound::AtMost, Some(Ordering::Less | Ordering::Equal))
        | (Bound::MoreThan, Some(Ordering::Equal)) => "<=",
        (Bound::AtLeast | Bound::LessThan | Bound::MoreThan, Some(Ordering::Less)) => "<",
    }
}

#[cfg(test)]
mod tests {
    use crate::stopping::convergence::{
        Criteria, DocumentMeasure, ItemCounts, Preset, QuestionKey, evaluate,
    };

    use super::*;

    fn measure(high: u64, medium: u64, open: u64) -> DocumentMeasure {
        let counts = ItemCounts {
            high,
            sourced_high: high,
            medium,
            open,
        };
        let question = |number: u64| QuestionKey::of(&number.to_string());
        DocumentMeasure {
            counts: Some(counts),
            questions: (0..open).map(question).collect(),
            ..DocumentMeasure::default()
        }
    }

    fn tree(criteria: &Criteria, measures: &[DocumentMeasure]) -> String {
        let iteration = u64::try_from(measures.len()).unwrap();
        convergence_tree(iteration, &evaluate(criteria, measures))
            .lines()
            .join("\n")
    }

    fn balanced() -> Criteria {
        Preset::Balanced.criteria()
    }

    #[test]
    fn the_tree_of_the_strict_rules_is_that_of_the_reference() {
        let criteria = balanced().in_strict_seed();
        let measures = [measure(9, 4, 7), measure(10, 4, 7), measure(13, 4, 5)];
        let expected = "\
CONVERGENCE CHECK (Iteration 3)
├─ Minimum met: YES (3 >= 2)
├─ Maximum reached: NO (3 < 5)
├─ Questions stable: NO (count: 0, need: 2)
│   └─ Previous: 7, Current: 5, Changed: YES
├─ Low questions: NO (5 > 3)
├─ High confidence: NO (0.59 < 0.80)
│   └─ High: 13, Medium: 4, Open: 5
└─ DECISION: CONTINUE";
        assert_eq!(tree(&criteria, &measures), expected);
    }

    #[test]
    fn the_corrected_rules_follow_in_the_same_style() {
        let measure = DocumentMeasure {
            open_blockers: 1,
            deferred: 1,
            ..measure(16, 2, 2)
        };
        let expected = "\
CONVERGENCE CHECK (Iteration 1)
├─ Minimum met: NO (1 < 2)
├─ Maximum reached: NO (1 < 5)
├─ Questions stable: NO (count: 0, need: 2)
│   └─ Previous: none, Current: 2
├─ Low questions: YES (2 <= 3)
├─ High confidence: NO (0.80 <= 0.80)
│   └─ High: 16, Medium: 2, Open: 2
├─ No open blockers: NO (1 > 0)
├─ Items found: YES (20 >= 1)
├─ Oscillation: NO (count: 0, need: 2)
├─ Nothing to ask: NOT APPLICABLE
└─ DECISION: CONTINUE";
        assert_eq!(tree(&balanced(), &[measure]), expected);
    }

    #[test]
    fn a_stop_names_its_class_and_reason() {
        let converged = tree(&balanced(), &[measure(1, 1, 9), measure(9, 1, 3)]);
        let last = converged.lines().last().unwrap();
        assert_eq!(last, "└─ DECISION: STOP converged: 3 questions are open");
        let deferred = DocumentMeasure {
            deferred: 5,
            ..measure(5, 5, 5)
        };
        let needs_person = tree(&balanced(), &[measure(1, 1, 9), deferred]);
        assert!(needs_person.contains("├─ Nothing to ask: YES (5 of 5 deferred)"));
        let exhausted = [9, 8, 7, 6, 5].map(|open| measure(1, 1, open));
        let exhausted = tree(&balanced(), &exhausted);
        assert!(exhausted.contains("├─ Maximum reached: YES (5 >= 5)"));
        assert!(exhausted.ends_with("DECISION: STOP exhausted: all 5 iterations are used up"));
    }

    #[test]
    fn what_could_not_be_measured_is_unknown() {
        let unread = tree(&balanced(), &[DocumentMeasure::default()]);
        assert!(unread.contains("├─ Low questions: UNKNOWN (not measured)"));
        let high = measure(18, 2, 2);
        let ratio = tree(&balanced(), &[high.clone(), high]);
        assert!(ratio.contains("├─ High confidence: YES (0.82 > 0.80)"));
    }
}
