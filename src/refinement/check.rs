//! Says whether a document has converged, from its front matter and its items alone.

use serde::{Deserialize, Serialize};

use crate::stopping::convergence::DocumentMeasure;

use super::front_matter::ConvergenceEntry;
use super::front_matter::entry::fingerprint;

/// The state of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConvergenceCheck {
    pub state: ConvergenceState,
    /// What it means, in a sentence.
    pub message: String,
    /// What the front matter says.
    pub recorded: Option<ConvergenceEntry>,
    /// Open questions now; `None` if no section could be read.
    pub open_questions_count: Option<u64>,
}

/// Whether a document has converged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConvergenceState {
    Converged,
    /// The front matter records no refinement.
    NotRefined,
    NotConverged,
    /// It has other open questions than when it converged.
    ChangedSince,
}

impl ConvergenceCheck {
    pub fn has_converged(&self) -> bool {
        self.state == ConvergenceState::Converged
    }
}

/// Compares what the front matter says with the document as it is.
pub fn check(recorded: Option<&ConvergenceEntry>, measure: &DocumentMeasure) -> ConvergenceCheck {
    let open = measure.counts.map(|counts| counts.open);
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
        Some(entry) if entry.open_questions_count != open => (
            ConvergenceState::ChangedSince,
            format!(
                "The document has changed since it converged: it had {}, now it has {}.",
                questions(entry.open_questions_count),
                questions(open)
            ),
        ),
        Some(entry) if entry.questions != fingerprint(&measure.questions) => (
            ConvergenceState::ChangedSince,
            "The document has changed since it converged: its open questions are others."
                .to_owned(),
        ),
        Some(entry) => (
            ConvergenceState::Converged,
            format!(
                "The document has converged after {}, with {}.",
                counted(entry.iteration, "iteration"),
                questions(open)
            ),
        ),
    };
    ConvergenceCheck {
        state,
        message,
        recorded: recorded.cloned(),
        open_questions_count: open,
    }
}

fn questions(count: Option<u64>) -> String {
    match count {
        Some(0) => "no open question".to_owned(),
        Some(count) => counted(count, "open question"),
        None => "no readable section".to_owned(),
    }
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
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
        assert!(check.has_converged());
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
        assert!(
            more.message
                .ends_with("it had 1 open question, now it has 2 open questions.")
        );
        let other = check(Some(&entry), &measure(&["b"]));
        assert_eq!(other.state, ConvergenceState::ChangedSince);
        let unread = check(Some(&entry), &DocumentMeasure::default());
        assert_eq!(unread.state, ConvergenceState::ChangedSince);
    }
}
