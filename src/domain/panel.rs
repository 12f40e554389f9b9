//! Who sits on the panel and who judges.

use serde::{Deserialize, Serialize};

use super::ids::{ModelRef, ProviderId, SeatId};

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

    /// True when all seats are played by models of one maker, as far as their names tell: agreement is then weak evidence.
    pub fn is_one_family(&self) -> bool {
        let mut families = self.seats.iter().map(|seat| family(&seat.model));
        let first = families.next();
        families.all(|family| Some(family) == first)
    }
}

/// Who made a model, as far as its name tells: its provider, and the maker where a provider offers models of several.
///
/// Such a provider has the maker's name before a slash: `openrouter:anthropic/claude-sonnet-5.5`.
pub fn family(model: &ModelRef) -> (&ProviderId, Option<&str>) {
    (&model.provider, model.model.split_once('/').map(|(maker, _)| maker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_a_maker_also_behind_one_provider() {
        let is_one_family = |models: &[&str]| {
            let seat = |model: &&str| Seat {
                id: SeatId::new(*model),
                persona: Persona { id: "p".into(), name: "P".into(), prompt: String::new(), brief: String::new() },
                model: model.parse().unwrap(),
            };
            Panel { seats: models.iter().map(seat).collect(), judges: vec![] }.is_one_family()
        };
        assert!(is_one_family(&["openai:a", "openai:b"]) && is_one_family(&["openrouter:x/a", "openrouter:x/b"]));
        assert!(!is_one_family(&["openai:a", "google:a"]) && !is_one_family(&["openrouter:x/a", "openrouter:y/a"]));
    }
}
