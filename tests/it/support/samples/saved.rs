//! Saved consultations in a home: journal, record and Markdown, as the program writes them.

use std::path::PathBuf;

use conclave::consultation::event::{ConsultationEvent, Envelope, Event};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ConsultationId;
use conclave::domain::time::Timestamp;
use conclave::records::files::ConsultationFiles;
use conclave::terminal::report::report;

use super::sample_events;
use crate::support::binary::Conclave;

/// A consultation that can be saved.
pub(crate) struct SavedConsultation {
    pub(crate) id: ConsultationId,
    pub(crate) events: Vec<Envelope>,
}

/// Returns a complete consultation that started at a time such as `2026-03-01T10:00:00Z`.
pub(crate) fn complete_consultation(unique: &str, at: &str, question: &str) -> SavedConsultation {
    consultation_with(sample_events::complete(), unique, at, question)
}

/// Returns a consultation of these events with another id, start and question.
pub(crate) fn consultation_with(
    mut events: Vec<Envelope>,
    unique: &str,
    at: &str,
    question: &str,
) -> SavedConsultation {
    let id = ConsultationId::from_unique(unique);
    let start: jiff::Timestamp = at.parse().unwrap();
    let offset = start.as_millisecond() - events[0].at.0;
    for envelope in &mut events {
        envelope.consultation_id = id.clone();
        envelope.at = Timestamp(envelope.at.0 + offset);
        if let Event::Consultation(ConsultationEvent::Started(terms)) = &mut envelope.event {
            question.clone_into(&mut terms.question);
        }
    }
    SavedConsultation { id, events }
}

impl SavedConsultation {
    /// Writes all files of the consultation.
    pub(crate) fn save(&self, conclave: &Conclave) -> ConsultationFiles {
        let files = self.save_journal(conclave);
        let record = Transcript::fold(&self.events).unwrap().stored_record();
        files.write_results(&record, &report(&record)).unwrap();
        files
    }

    /// Writes the journal alone, as a killed process leaves it.
    pub(crate) fn save_journal(&self, conclave: &Conclave) -> ConsultationFiles {
        let files = ConsultationFiles::in_folder(&log_folder(conclave), &self.id);
        let lines: Vec<String> = self
            .events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap() + "\n")
            .collect();
        std::fs::write(&files.journal, lines.concat()).unwrap();
        files
    }
}

/// Returns the folder of logs and creates it if it is missing.
pub(crate) fn log_folder(conclave: &Conclave) -> PathBuf {
    let logs = conclave.home().join("consult-logs");
    std::fs::create_dir_all(&logs).unwrap();
    logs
}
