//! The panel: experts with their personas and models, and the judges.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{AgentId, ModelRef, SeatId};
use super::model::family;

/// An expert's point of view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Persona {
    /// Short name in the registry: `security`.
    pub id: String,
    /// Name on screens: `Security Expert`.
    pub name: String,
    /// The system prompt that describes the role to the model.
    pub prompt: String,
    /// The role in one sentence, for small models, which repeat long texts instead of applying
    /// them. If empty, the first paragraph of `prompt` is used.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
    /// Other names for the persona in requests. Empty on a panel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

/// Names that no persona may have, because they have another meaning.
pub const RESERVED_NAMES: [&str; 5] = ["judge", "judge2", "clerk", "consensus", "auto"];

impl Persona {
    /// Id, name and aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.id, &self.name]
            .into_iter()
            .chain(&self.aliases)
            .map(String::as_str)
    }

    /// Ignores case, spaces and punctuation.
    pub fn is_called(&self, text: &str) -> bool {
        let wanted = bare(text);
        !wanted.is_empty() && self.names().any(|name| bare(name) == wanted)
    }
}

/// Returns the letters and digits of a name in lower case.
pub fn bare(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The most seats of a panel: in Round 3, every one reads what all others say.
const MAX_SEATS: usize = 100;

/// Error for a panel with too many seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a panel has at most {MAX_SEATS} seats, and this one has {0}")]
pub struct TooManySeats(usize);

pub fn check_seats(seats: usize) -> Result<(), TooManySeats> {
    (seats <= MAX_SEATS)
        .then_some(())
        .ok_or(TooManySeats(seats))
}

/// Seats of the same persona are numbered.
pub fn seated(players: impl IntoIterator<Item = (Persona, ModelRef)>) -> Vec<Seat> {
    let mut seats: Vec<Seat> = Vec::new();
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    for (persona, model) in players {
        let times = met.entry(persona.id.clone()).or_default();
        let (mut id, mut name) = (persona.id.clone(), persona.name.clone());
        loop {
            *times += 1;
            if *times > 1 {
                (id, name) = (
                    format!("{}-{times}", persona.id),
                    format!("{} {times}", persona.name),
                );
            }
            // `security-2` may be the id of another persona.
            if seats.iter().all(|seat| seat.id.as_str() != id) {
                break;
            }
        }
        seats.push(Seat {
            id: SeatId::new(id),
            persona: Persona {
                name,
                aliases: Vec::new(),
                ..persona
            },
            model,
        });
    }
    seats
}

/// One expert: a persona played by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub id: SeatId,
    pub persona: Persona,
    pub model: ModelRef,
}

impl Seat {
    pub fn named(id: &str, name: &str, model: ModelRef) -> Self {
        Self {
            id: SeatId::new(id),
            persona: Persona {
                id: id.to_owned(),
                name: name.to_owned(),
                prompt: String::new(),
                brief: String::new(),
                aliases: Vec::new(),
            },
            model,
        }
    }

    pub fn name(&self) -> &str {
        &self.persona.name
    }
}

/// With its id where another of the names is the same.
pub fn unique_name<'a>(
    id: &SeatId,
    name: &'a str,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    let namesakes = names.into_iter().filter(|other| *other == name).count();
    if namesakes > 1 {
        format!("{name} [{id}]")
    } else {
        name.to_owned()
    }
}

/// The experts, in order, and the judge with its fallbacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panel {
    /// Invariant: at least one, ids unique.
    pub seats: Vec<Seat>,
    /// Invariant: at least one; the first judges, the others are its fallbacks in order.
    pub judges: Vec<ModelRef>,
}

impl Panel {
    pub fn seat(&self, id: &SeatId) -> Option<&Seat> {
        self.seats.iter().find(|seat| &seat.id == id)
    }

    /// `None` for an agent outside the panel.
    pub fn seat_of(&self, agent: &AgentId) -> Option<&Seat> {
        agent.seat().and_then(|id| self.seat(id))
    }

    /// The id of an agent without a seat on the panel.
    pub fn agent_name<'a>(&'a self, agent: &'a AgentId) -> &'a str {
        match agent {
            AgentId::Seat(id) => self.seat(id).map_or(id.as_str(), Seat::name),
            AgentId::Judge => "Judge",
            AgentId::SecondJudge => "Judge (second pass)",
            AgentId::Helper => "Helper",
        }
    }

    /// The models of the seats, then the judges.
    pub fn models(&self) -> impl Iterator<Item = &ModelRef> {
        let seats = self.seats.iter().map(|seat| &seat.model);
        seats.chain(&self.judges)
    }

    /// Agreement is then weak evidence.
    pub fn is_one_family(&self) -> bool {
        family::count(self.seats.iter().map(|seat| &seat.model)) <= 1
    }
}
