//! The panel of these tests.

use conclave::consultation::anonymity::labels::Labels;
use conclave::consultation::prompt::Templates;
use conclave::domain::ids::{ModelRef, SeatId};
use conclave::domain::panel::Seat;

use crate::support::script::persona_named;

/// Returns three experts of three vendors.
pub(super) fn seats() -> Vec<Seat> {
    let templates = Templates::builtin();
    let seat = |id: &str, provider: &str, model: &str| Seat {
        id: SeatId::new(id),
        persona: persona_named(&templates, id).unwrap(),
        model: ModelRef::new(provider, model),
    };
    vec![
        seat("security", "anthropic", "claude-opus-9"),
        seat("architecture", "openai", "gpt-12-sol"),
        seat("pragmatic", "google", "gemini-7-pro"),
    ]
}

/// Returns labels by which Expert A is the pragmatist, Expert B the architect and Expert C the
/// security expert.
pub(super) fn labels() -> Labels {
    Labels::draw(&seats(), 3)
}
