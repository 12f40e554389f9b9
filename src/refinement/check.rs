//! Says whether a document has converged, from its front matter and its items alone.

use serde::{Deserialize, Serialize};

use crate::stopping::convergence::{DocumentMeasure, criteria};
use crate::text::clean::count;

use super::front_matter::ConvergenceEntry;
use super::front_matter::entry::{STRICT_SEED, fingerprint, high_confidence_ratio};

/// The state of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConvergenceCheck {
    pub state: ConvergenceState,
    /// What it means, in a sentence.
    pub message: String,
    /// Open questions now; `None` if no section could be read.
    pub open_questions_count: Option<u64>,
    /// What the front matter says; `None` if it says nothing.
    pub recorded: Option<ConvergenceEntry>,
}

/// Whether a document has converged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConvergenceState {
    Converged,
    /// The front matter records no refinement.
    NotRefined,
    NotConverged,
    /// It has other open questions than when it converged, or the rule that decided would no longer
    /// be met.
    ChangedSince,
}

pub fn check(recorded: Option<&ConvergenceEntry>, measure: &DocumentMeasure) -> ConvergenceCheck {
    let open = open_questions(measure);
    let (state, message) = match recorded {
        None => (
            ConvergenceState::NotRefined,
            "The document has not been refined: its front matter records no convergence."
                .to_owned(),
        ),
        Some(entry) if entry.last_decision != "converged" => (
            ConvergenceState::NotConverged,
            format!(
                "The document has not converged: the decision after iteration {} was `{}`.",
                entry.iteration, entry.last_decision
            ),
        ),
        Some(entry) => match change(entry, measure) {
            Some(change) => (
                ConvergenceState::ChangedSince,
                format!("The document has changed since it converged: {change}."),
            ),
            None => (
                ConvergenceState::Converged,
                format!(
                    "The document has converged after {}, with {}.",
                    count(entry.iteration, "iteration"),
                    questions(open)
                ),
            ),
        },
    };
    ConvergenceCheck {
        state,
        message,
        open_questions_count: open,
        recorded: recorded.cloned(),
    }
}

/// Returns what has changed since: the open questions, or what the rule that decided would no
/// longer find.
fn change(entry: &ConvergenceEntry, measure: &DocumentMeasure) -> Option<String> {
    let (then, now) = (entry.open_questions_count, open_questions(measure));
    if then != now {
        let (then, now) = (questions(then), questions(now));
        return Some(format!("it had {then}, now it has {now}"));
    }
    if entry.questions != fingerprint(&measure.questions) {
        return Some("its open questions are others".to_owned());
    }
    let low_questions = Some(criteria::LOW_QUESTIONS);
    if entry.rule.as_deref() == low_questions && measure.open_blockers > 0 {
        return Some("one of its open questions is a blocker now".to_owned());
    }
    let (then, now) = (
        entry.high_confidence_ratio?,
        high_confidence_ratio(measure)?,
    );
    let rule = entry.rule.as_deref()?;
    let rule = rule.strip_suffix(STRICT_SEED).unwrap_or(rule);
    // The front matter has two decimals.
    (rule == criteria::HIGH_CONFIDENCE && now + 0.005 < then)
        .then(|| format!("{then:.2} of its items were of high confidence, now it is {now:.2}"))
}

fn open_questions(measure: &DocumentMeasure) -> Option<u64> {
    measure.counts.map(|counts| counts.open)
}

fn questions(open: Option<u64>) -> String {
    match open {
        Some(0) => "no open question".to_owned(),
        Some(open) => count(open, "open question"),
        None => "no readable section".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::stopping::convergence::{ItemCounts, QuestionKey};

    use super::*;

    fn measure(questions: &[&str]) -> DocumentMeasure {
        DocumentMeasure {
            counts: Some(ItemCounts {
                open: u64::try_from(questions.len()).unwrap(),
                ..ItemCounts::default()
            }),
            questions: questions.iter().map(|text| QuestionKey::of(text)).collect(),
            ..DocumentMeasure::default()
        }
    }

    fn recorded(last_decision: &str, questions: &[&str]) -> ConvergenceEntry {
        let measure = measure(questions);
        ConvergenceEntry {
            iteration: 3,
            questions_stable_count: 1,
            open_questions_count: measure.counts.map(|counts| counts.open),
            high_confidence_ratio: Some(0.5),
            last_decision: last_decision.to_owned(),
            rule: None,
            questions: fingerprint(&measure.questions),
        }
    }

    #[test]
    fn a_document_that_is_as_it_was_has_converged() {
        let check = check(
            Some(&recorded("converged", &["a", "b"])),
            &measure(&["B?", "a"]),
        );
        assert_eq!(check.state, ConvergenceState::Converged);
        let expected = "The document has converged after 3 iterations, with 2 open questions.";
        assert_eq!(check.message, expected);
    }

    #[test]
    fn a_document_without_an_entry_was_not_refined() {
        let check = check(None, &measure(&["a"]));
        assert_eq!(check.state, ConvergenceState::NotRefined);
    }

    #[test]
    fn another_decision_is_named() {
        let check = check(Some(&recorded("exhausted", &["a"])), &measure(&["a"]));
        assert_eq!(check.state, ConvergenceState::NotConverged);
        let expected =
            "The document has not converged: the decision after iteration 3 was `exhausted`.";
        assert_eq!(check.message, expected);
    }

    #[test]
    fn other_questions_than_recorded_are_a_change() {
        let entry = recorded("converged", &["a"]);
        let more = check(Some(&entry), &measure(&["a", "b"]));
        assert_eq!(more.state, ConvergenceState::ChangedSince);
        let expected = "it had 1 open question, now it has 2 open questions.";
        assert!(more.message.ends_with(expected));
        let other = check(Some(&entry), &measure(&["b"]));
        assert_eq!(other.state, ConvergenceState::ChangedSince);
        let unread = check(Some(&entry), &DocumentMeasure::default());
        assert_eq!(unread.state, ConvergenceState::ChangedSince);
    }

    #[test]
    fn the_rule_that_decided_must_still_be_met() {
        let with_rule = |rule: &str| ConvergenceEntry {
            rule: Some(rule.to_owned()),
            ..recorded("converged", &["a"])
        };
        let with_blocker = DocumentMeasure {
            open_blockers: 1,
            ..measure(&["a"])
        };
        let few = with_rule(criteria::LOW_QUESTIONS);
        let expected = ConvergenceState::Converged;
        assert_eq!(check(Some(&few), &measure(&["a"])).state, expected);
        let blocked = check(Some(&few), &with_blocker);
        assert_eq!(blocked.state, ConvergenceState::ChangedSince);
        let stable = with_rule(criteria::QUESTION_STABILITY);
        let expected = ConvergenceState::Converged;
        assert_eq!(check(Some(&stable), &with_blocker).state, expected);

        let confident = with_rule(criteria::HIGH_CONFIDENCE);
        let with_high = |high: u64| DocumentMeasure {
            counts: Some(ItemCounts {
                high,
                open: 1,
                ..ItemCounts::default()
            }),
            ..measure(&["a"])
        };
        let expected = ConvergenceState::Converged;
        assert_eq!(check(Some(&confident), &with_high(1)).state, expected);
        let lower = check(Some(&confident), &with_high(0));
        assert_eq!(
            lower.message,
            "The document has changed since it converged: 0.50 of its items were of high \
             confidence, now it is 0.00."
        );
    }
}
