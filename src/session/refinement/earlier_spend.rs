//! What the consultations that an earlier process left unfinished have cost, the calls in flight
//! included. A killed process could not log it: their journals alone have it.

use crate::config::paths::Home;
use crate::refinement::event::RefinementEventKind;
use crate::refinement::state::RefinementLoop;
use crate::session::load::spend_of;

/// For each consultation that can be taken over and has cost more than the log has, what it has
/// cost so far.
pub fn missing_spending(resumed: &RefinementLoop, home: &Home) -> Vec<RefinementEventKind> {
    let extractions = resumed.extractions.iter();
    let extractions = extractions.map(|record| (&record.consultation, &record.spend));
    let batches = resumed.open_iteration().map(|open| &open.batches);
    let batches = batches.into_iter().flatten();
    let batches = batches.map(|batch| (&batch.consultation, &batch.spend));
    let left_over = resumed.left_over();
    let all = extractions.chain(batches);
    all.filter(|(id, _)| left_over.contains(id))
        .map(|(id, recorded)| (id, recorded, spend_of(home, id)))
        .filter(|(_, recorded, spend)| spend.counted() > recorded.counted())
        .map(|(id, _, spend)| RefinementEventKind::ConsultationCutOff {
            consultation: id.clone(),
            spend,
        })
        .collect()
}
