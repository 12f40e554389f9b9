//! What the consultations that an earlier process left unfinished have cost. A killed process could
//! not log it: their journals alone have it.

use crate::config::paths::Home;
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::domain::stored_record::spend::{ConsultationSpend, spend};
use crate::records::files::ConsultationRef;
use crate::refinement::event::RefinementEventKind;
use crate::refinement::state::RefinementLoop;
use crate::session::load;

/// Returns the record of a consultation; `None` if it left no readable files.
pub(crate) fn record_of(home: &Home, id: &ConsultationId) -> Option<StoredRecord> {
    let loaded = load::load(&home.logs_folder(), &ConsultationRef::of(id)).ok()?;
    Some(loaded.record)
}

/// Returns the spend of a consultation from its files; nothing if it left none.
pub(crate) fn spend_of(home: &Home, id: &ConsultationId) -> ConsultationSpend {
    record_of(home, id).map_or_else(ConsultationSpend::default, |record| spend([&record]))
}

/// Returns the events that a resumed loop lacks: for each consultation that can be taken over and
/// has cost more than the log has, what it has cost so far.
pub(crate) fn missing_spending(resumed: &RefinementLoop, home: &Home) -> Vec<RefinementEventKind> {
    let extractions = resumed.extractions.iter();
    let extractions = extractions.map(|record| (&record.consultation, &record.spend));
    let batches = resumed.open_iteration().map(|open| &open.batches);
    let batches = batches.into_iter().flatten();
    let batches = batches.map(|batch| (&batch.consultation, &batch.spend));
    let left_over = resumed.left_over();
    let all = extractions.chain(batches);
    all.filter(|(id, _)| left_over.contains(id))
        .map(|(id, recorded)| (id, recorded, spend_of(home, id)))
        .filter(|(_, recorded, spend)| spend.calls > 0 && spend != *recorded)
        .map(|(id, _, spend)| RefinementEventKind::ConsultationCutOff {
            consultation: id.clone(),
            spend,
        })
        .collect()
}
