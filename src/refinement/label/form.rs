//! The forms of the lines that an answer has to hold: a label, and a placeholder for what follows.

use crate::stopping::convergence::QuestionKey;

use super::mark::numbered;

/// A line about a question, a claim or something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingForm {
    Answered,
    Unanswered,
    Deferred,
    Dissent,
    Contradicted,
    New,
    NewBlocker,
}

/// A line about what a plain document says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractionForm {
    High,
    Medium,
    Open,
}

impl FindingForm {
    pub const ALL: [Self; 7] = [
        Self::Answered,
        Self::Unanswered,
        Self::Deferred,
        Self::Dissent,
        Self::Contradicted,
        Self::New,
        Self::NewBlocker,
    ];

    /// Returns its name in the template.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Unanswered => "unanswered",
            Self::Deferred => "deferred",
            Self::Dissent => "dissent",
            Self::Contradicted => "contradicted",
            Self::New => "new",
            Self::NewBlocker => "new_blocker",
        }
    }

    /// Returns the line with its placeholder, for the first question or claim.
    pub fn line(self, mark: Option<&str>) -> String {
        let label = match self {
            Self::Answered => format!("{} ANSWERED", numbered("Q", 1, mark)),
            Self::Unanswered => format!("{} OPEN", numbered("Q", 1, mark)),
            Self::Deferred => format!("{} DEFERRED", numbered("Q", 1, mark)),
            Self::Dissent => format!("{} DISSENT", numbered("Q", 1, mark)),
            Self::Contradicted => format!("{} CONTRADICTED", numbered("C", 1, mark)),
            Self::New => marked("NEW", mark),
            Self::NewBlocker => format!("{} BLOCKER", marked("NEW", mark)),
        };
        format!("{label}: <{}>", self.placeholder())
    }

    fn placeholder(self) -> &'static str {
        match self {
            Self::Answered => "the answer, in one or two sentences that can stand in the document",
            Self::Unanswered => "what is missing to answer it",
            Self::Deferred => "why only a person can decide it",
            Self::Dissent => "who disagrees with this answer, and why",
            Self::Contradicted => "what is wrong with this claim, and how you know it",
            Self::New => "a question that the document must answer and does not ask",
            Self::NewBlocker => "such a question, if work cannot begin without its answer",
        }
    }
}

impl ExtractionForm {
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Open];
    /// The most lines of each form.
    pub const MOST_LINES: usize = 30;

    /// Returns its name in the template.
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Open => "open",
        }
    }

    /// Returns its label.
    pub fn label(self) -> &'static str {
        match self {
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Open => "OPEN",
        }
    }

    /// Returns the line with its placeholder.
    pub fn line(self) -> String {
        format!("{}: <{}>", self.label(), self.placeholder())
    }

    /// Returns the lines for small models, which list a few facts and questions.
    pub fn short_lines(self) -> String {
        let lines = self.short_placeholders();
        let lines = lines.map(|placeholder| format!("{}: <{placeholder}>", self.label()));
        lines.join("\n")
    }

    fn short_placeholders(self) -> [&'static str; 2] {
        match self {
            Self::High => [
                "a fact that the document settles",
                "another fact that the document settles",
            ],
            Self::Medium => [
                "a fact that the document states",
                "another fact that the document states",
            ],
            Self::Open => [
                "a question that the document does not answer?",
                "another question that the document does not answer?",
            ],
        }
    }

    fn placeholder(self) -> &'static str {
        match self {
            Self::High => "a statement that the document treats as settled",
            Self::Medium => "a statement that it assumes, proposes or is not sure of",
            Self::Open => "a question that it asks or leaves open, or a contradiction in it",
        }
    }
}

/// Returns whether a text repeats a placeholder, with or without more words: small models copy
/// their instructions.
pub fn is_placeholder(text: &str) -> bool {
    let key = QuestionKey::of(text);
    let findings = FindingForm::ALL.into_iter().map(FindingForm::placeholder);
    let extractions = ExtractionForm::ALL
        .into_iter()
        .map(ExtractionForm::placeholder);
    let short = ExtractionForm::ALL
        .into_iter()
        .flat_map(ExtractionForm::short_placeholders);
    let all = findings.chain(extractions).chain(short);
    let mut placeholders = all.map(QuestionKey::of);
    placeholders.any(|placeholder| key.as_str().starts_with(placeholder.as_str()))
}

fn marked(word: &str, mark: Option<&str>) -> String {
    match mark {
        Some(mark) => format!("{word}-{mark}"),
        None => word.to_owned(),
    }
}
