//! Consultations of the past in a home: journal, record and Markdown, as the program leaves them.

use std::path::PathBuf;

use conclave::consultation::event::{ConsultationEvent, Envelope, Event};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ConsultationId;
use conclave::domain::time::Timestamp;
use conclave::records::files::ConsultationFiles;
use conclave::terminal::report::report;

use super::binary::Conclave;
use super::sample;

/// One consultation, to be kept.
pub(crate) struct Past {
    pub(crate) id: ConsultationId,
    pub(crate) events: Vec<Envelope>,
}

/// A complete one. It began at a moment such as `2026-03-01T10:00:00Z`.
pub(crate) fn complete(unique: &str, at: &str, question: &str) -> Past {
    past(sample::complete(), unique, at, question)
}

/// These events as another consultation's.
pub(crate) fn past(mut events: Vec<Envelope>, unique: &str, at: &str, question: &str) -> Past {
    let id = ConsultationId::from_unique(unique);
    let at: jiff::Timestamp = at.parse().unwrap();
    let later = at.as_millisecond() - events[0].at.0;
    for envelope in &mut events {
        envelope.consultation_id = id.clone();
        envelope.at = Timestamp(envelope.at.0 + later);
        if let Event::Consultation(ConsultationEvent::Started(terms)) = &mut envelope.event {
            question.clone_into(&mut terms.question);
        }
    }
    Past { id, events }
}

impl Past {
    /// Everything that a consultation leaves.
    pub(crate) fn keep(&self, conclave: &Conclave) -> ConsultationFiles {
        let files = self.keep_journal(conclave);
        let transcript = Transcript::fold(&self.events).unwrap();
        files
            .write_results(&transcript, &report(&transcript))
            .unwrap();
        files
    }

    /// What one leaves whose process was killed.
    pub(crate) fn keep_journal(&self, conclave: &Conclave) -> ConsultationFiles {
        let files = ConsultationFiles::in_folder(&logs(conclave), &self.id);
        let lines: Vec<String> = self
            .events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap() + "\n")
            .collect();
        std::fs::write(&files.journal, lines.concat()).unwrap();
        files
    }
}

/// The folder of logs, made if need be.
pub(crate) fn logs(conclave: &Conclave) -> PathBuf {
    let logs = conclave.home().join("consult-logs");
    std::fs::create_dir_all(&logs).unwrap();
    logs
}
