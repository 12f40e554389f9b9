//! What consultations have cost, in this process and before.

use std::collections::BTreeMap;

use crate::config::paths::Home;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::record::stored_record::spend::{ConsultationSpend, spend};
use crate::session::load::record_of;

/// The accounts of consultations: each counts once, however often it was resumed.
#[derive(Debug)]
pub struct Accounts {
    home: Home,
    counted: BTreeMap<ConsultationId, ConsultationAccount>,
}

/// What consultations have cost, the calls in flight included, and how long they took.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsultationAccount {
    pub spend: ConsultationSpend,
    pub duration_ms: u64,
}

impl Accounts {
    pub fn of(home: &Home) -> Self {
        Self {
            home: home.clone(),
            counted: BTreeMap::new(),
        }
    }

    pub fn count(&mut self, id: &ConsultationId, record: &StoredRecord) {
        let account = ConsultationAccount::of(record);
        self.counted.insert(id.clone(), account);
    }

    /// Reads the files of a consultation that did not end here: a killed process could not log what
    /// it spent.
    pub fn get(&self, id: &ConsultationId) -> ConsultationAccount {
        let from_files = || {
            record_of(&self.home, id)
                .as_ref()
                .map(ConsultationAccount::of)
        };
        let counted = self.counted.get(id).copied();
        counted.or_else(from_files).unwrap_or_default()
    }
}

impl ConsultationAccount {
    fn of(record: &StoredRecord) -> Self {
        Self {
            spend: spend([record]),
            duration_ms: record.duration_ms.unwrap_or_default(),
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.spend.add(&other.spend);
        self.duration_ms = self.duration_ms.saturating_add(other.duration_ms);
    }
}
