//! What earlier processes of a run have spent, the calls in flight included. A killed process could
//! not log it: the journals of its consultations alone have it.

use crate::benchmark::state::BenchmarkState;
use crate::config::paths::Home;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::session::load::spend_of;

/// Returns what a run has cost so far, by its log and by the files of the case runs without a
/// result.
pub fn earlier_spending(state: &BenchmarkState, home: &Home) -> ConsultationSpend {
    let mut sum = ConsultationSpend::default();
    for result in &state.results {
        sum.add(&result.spend);
    }
    for pending in state.without_result() {
        let mut by_files = ConsultationSpend::default();
        for id in pending.consultations.iter().chain(&pending.gradings) {
            by_files.add(&spend_of(home, id));
        }
        let has_more = by_files.counted() > pending.spend.counted();
        sum.add(if has_more { &by_files } else { &pending.spend });
    }
    sum
}
