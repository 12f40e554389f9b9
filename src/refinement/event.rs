//! The events of a loop's log. The log is the truth: the state of a loop is the fold of it.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ConsultationId;
use crate::domain::record::log::LogEvent;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::stopping::convergence::{Criteria, DocumentMeasure};
use crate::stopping::evaluation::Evaluation;

use super::batches::QuestionBatch;
use super::change::ItemChange;
use super::finding::BatchFindings;

/// One line of the log.
pub type RefinementEvent = LogEvent<RefinementEventKind>;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RefinementEventKind {
    /// A loop begins; the ones before it in the log have ended or were given up.
    Begun(Box<LoopBegun>),
    /// The loop continues in another process.
    Resumed {
        criteria: Criteria,
    },
    /// A model begins to extract claims and questions from a plain document. Written before its
    /// first call.
    ExtractionStarted {
        consultation: ConsultationId,
        /// The text that it reads; what it finds is of no use for another one.
        document: TextHash,
    },
    ExtractionFinished(Box<Extraction>),
    /// An iteration begins on this text. The same iteration begins again if a person changed the
    /// document before its findings were merged; the findings stay.
    IterationStarted {
        iteration: u64,
        document: TextHash,
    },
    /// A consultation begins for a batch, or is taken over from an earlier process. Written before
    /// its first call.
    BatchStarted(Box<BatchStarted>),
    BatchFinished(Box<BatchFinished>),
    /// A consultation was cut off by an interrupt or a ceiling. It can be resumed.
    ConsultationCutOff {
        consultation: ConsultationId,
        /// What it has cost so far. Its end states the whole cost.
        spend: ConsultationSpend,
    },
    /// The findings are merged. Written before the document is: what a killed process did not write
    /// follows from the log. It replaces an earlier merge that was not written.
    Integrated(Box<Integrated>),
    /// The merged text is in its file.
    DocumentWritten {
        document: TextHash,
    },
    /// The loop stops here and can be resumed. The last event of its process: consultations in
    /// flight have ended or were cut off.
    Stopped {
        cause: StopCause,
        message: String,
    },
    /// The loop is over: the last evaluation decided it. Only criteria that would not have ended it
    /// resume it.
    Ended,
}

/// The SHA-256 of a text, in lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHash(String);

/// The beginning of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopBegun {
    /// The document that is read.
    pub source: String,
    /// The document that is written; the same for a change in place.
    pub output: String,
    pub document: TextHash,
    pub criteria: Criteria,
    pub tool_version: String,
    /// The fleet that holds its consultations; `None` if its process does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

/// The claims and questions that a plain document has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Extraction {
    pub consultation: ConsultationId,
    pub high: Vec<String>,
    pub medium: Vec<String>,
    pub open: Vec<String>,
    pub spend: ConsultationSpend,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The beginning of a batch's consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchStarted {
    pub iteration: u64,
    pub consultation: ConsultationId,
    /// As it was asked: its answer can be read after a person has edited the document.
    pub batch: QuestionBatch,
}

/// The end of a batch's consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchFinished {
    pub consultation: ConsultationId,
    /// `None` if the consultation has no answer.
    pub findings: Option<BatchFindings>,
    pub spend: ConsultationSpend,
    /// Why there is no answer, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The merge of an iteration's findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integrated {
    pub iteration: u64,
    /// The text on which the iteration began.
    pub before: TextHash,
    pub after: TextHash,
    pub changes: Vec<ItemChange>,
    pub measure: DocumentMeasure,
    pub evaluation: Evaluation,
}

/// Why a loop stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    Interrupt,
    CostCeiling,
    MonthlyBudget,
    /// A provider refuses its key.
    Authentication,
    /// A provider refuses for lack of credit.
    Quota,
    /// No consultation of the iteration has an answer.
    NoAnswer,
    /// A person changed the document while the panel worked.
    DocumentChanged,
}

impl RefinementEventKind {
    /// Returns the texts that quote the document as it stands.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::BatchStarted(started) => {
                let QuestionBatch { questions, claims } = &mut started.batch;
                let entries = questions.iter_mut().chain(claims);
                entries.map(|(_, text)| text).collect()
            }
            Self::Integrated(merge) => {
                let changes = merge.changes.iter_mut();
                let texts = changes.flat_map(|change| {
                    let own = change.before.iter_mut().chain(&mut change.after);
                    own.chain([&mut change.reason])
                });
                texts.collect()
            }
            Self::Begun(_)
            | Self::Resumed { .. }
            | Self::ExtractionStarted { .. }
            | Self::ExtractionFinished(_)
            | Self::IterationStarted { .. }
            | Self::BatchFinished(_)
            | Self::ConsultationCutOff { .. }
            | Self::DocumentWritten { .. }
            | Self::Stopped { .. }
            | Self::Ended => Vec::new(),
        }
    }
}

impl Integrated {
    pub fn applied_changes(&self) -> usize {
        let changes = self.changes.iter();
        changes.filter(|change| change.is_applied()).count()
    }
}

impl TextHash {
    pub fn of(text: &str) -> Self {
        Self(crate::domain::hash::sha256(text))
    }

    #[cfg(test)]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
