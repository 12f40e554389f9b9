//! Who sits on the panel and who judges.

use serde::{Deserialize, Serialize};

use super::ids::{ModelRef, SeatId};

/// An expert's point of view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// Short name in the catalogue: `security`.
    pub id: String,
    /// Name on screens: `Security Expert`.
    pub name: String,
    /// What the model is told about who it is.
    pub prompt: String,
    /// The same in a sentence, for a small model, which repeats a long text instead of thinking by it. Empty: the first paragraph.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
}

/// One expert: a persona played by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub id: SeatId,
    pub persona: Persona,
    pub model: ModelRef,
}

impl Seat {
    /// The name on screens.
    pub fn name(&self) -> &str {
        &self.persona.name
    }
}

/// The experts, in order, and the judge with its fallbacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panel {
    /// Invariant: at least one, ids unique.
    pub seats: Vec<Seat>,
    /// Invariant: at least one; the first judges, the others stand in for it in order.
    pub judges: Vec<ModelRef>,
}

impl Panel {
    pub fn seat(&self, id: &SeatId) -> Option<&Seat> {
        self.seats.iter().find(|seat| &seat.id == id)
    }

    /// True when all seats are played by models of one provider: agreement is then weak evidence.
    pub fn is_one_family(&self) -> bool {
        let mut providers = self.seats.iter().map(|seat| &seat.model.provider);
        let first = providers.next();
        providers.all(|provider| Some(provider) == first)
    }
}
