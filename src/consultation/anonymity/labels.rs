//! Anonymous labels for the experts: `Expert A`, `Expert B`, … in an order drawn from the run's
//! seed, because known identities and a fixed order both bias a judge.
//!
//! Invariant: `order` and `names` have one entry for each seat, and no two seats share an id.

use serde::{Deserialize, Serialize};

use crate::domain::ids::SeatId;
use crate::domain::panel::Seat;
use crate::domain::random::SplitMix64;

/// Words that may precede a letter in a label.
const TITLES: [&str; 7] = [
    "experts",
    "expert",
    "agent",
    "panelist",
    "participant",
    "member",
    "speaker",
];

/// The assignment of labels to seats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    pub order: Vec<SeatId>,
    /// The display names, in the same order; only used to resolve names in answers.
    pub(super) names: Vec<String>,
}

impl Labels {
    /// The same seats and seed always give the same order.
    pub fn draw(seats: &[Seat], seed: u64) -> Self {
        let mut drawn: Vec<&Seat> = seats.iter().collect();
        SplitMix64::new(seed).shuffle(&mut drawn);
        Self {
            order: drawn.iter().map(|seat| seat.id.clone()).collect(),
            names: drawn.iter().map(|seat| seat.name().to_owned()).collect(),
        }
    }

    /// `None` if the order lacks one of these seats.
    pub fn in_order(order: &[SeatId], seats: &[Seat]) -> Option<Self> {
        let names = order
            .iter()
            .map(|id| Some(seats.iter().find(|seat| seat.id == *id)?.name().to_owned()))
            .collect::<Option<Vec<_>>>()?;
        (names.len() == seats.len()).then(|| Self {
            order: order.to_vec(),
            names,
        })
    }

    /// The first seat gets the last label.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            order: self.order.iter().rev().cloned().collect(),
            names: self.names.iter().rev().cloned().collect(),
        }
    }

    /// Returns these labels, and behind them one for each seat that only an earlier panel had.
    #[must_use]
    pub fn followed_by(&self, earlier: &Self) -> Self {
        let mut labels = self.clone();
        for (seat, name) in earlier.order.iter().zip(&earlier.names) {
            if labels.place(seat).is_none() {
                labels.order.push(seat.clone());
                labels.names.push(name.clone());
            }
        }
        labels
    }

    /// For a seat that is not on the panel, its id.
    pub fn label(&self, seat: &SeatId) -> String {
        match self.place(seat) {
            Some(place) => format!("Expert {}", letters(place)),
            None => seat.as_str().to_owned(),
        }
    }

    pub(crate) fn letters_of(&self, seat: &SeatId) -> Option<String> {
        self.place(seat).map(letters)
    }

    pub(crate) fn lettered(&self, wanted: &str) -> Option<&SeatId> {
        self.order
            .iter()
            .enumerate()
            .find(|(place, _)| letters(*place) == wanted)
            .map(|(_, seat)| seat)
    }

    /// Text that is not a seat's id is returned unchanged.
    pub fn shown(&self, agent: &str) -> String {
        self.resolve(agent)
            .map_or_else(|| agent.to_owned(), |seat| self.label(&seat))
    }

    /// Seats that are not on the panel come last.
    pub fn rank(&self, seat: &SeatId) -> usize {
        self.place(seat).unwrap_or(self.order.len())
    }

    /// Returns the seat that a model's text names, ignoring case, punctuation and markdown. `None`
    /// if it names no seat, or more than one.
    ///
    /// Labels are tried first, because the model saw them; then seat ids; then persona names.
    pub fn resolve(&self, text: &str) -> Option<SeatId> {
        self.by_words(&words(text)).or_else(|| {
            // `Expert A (the first one)` names Expert A.
            let (name, _) = text.split_once(['(', '['])?;
            self.by_words(&words(name))
        })
    }

    fn place(&self, seat: &SeatId) -> Option<usize> {
        self.order.iter().position(|id| id == seat)
    }

    fn by_words(&self, words: &[String]) -> Option<SeatId> {
        if words.is_empty() {
            return None;
        }
        let whole = words.concat();
        self.by_label(words)
            .or_else(|| self.only(self.order.iter().map(SeatId::as_str), &whole))
            .or_else(|| {
                let bare = whole.strip_prefix("the").unwrap_or(&whole);
                self.only(self.names.iter().map(String::as_str), &whole)
                    .or_else(|| self.only(self.names.iter().map(String::as_str), bare))
            })
    }

    /// Resolves `Expert B`, `expert_b`, `ExpertB`, `the expert B`, `B`, `Expert B's`.
    fn by_label(&self, words: &[String]) -> Option<SeatId> {
        let words = words
            .strip_prefix(["the".to_owned()].as_slice())
            .unwrap_or(words);
        let words = words
            .strip_suffix(["s".to_owned()].as_slice())
            .filter(|rest| !rest.is_empty())
            .unwrap_or(words);
        let name = match words {
            [one] => TITLES
                .iter()
                .find_map(|title| one.strip_prefix(title))
                .unwrap_or(one),
            [title, name] if TITLES.contains(&title.as_str()) => name,
            _ => return None,
        };
        self.order
            .iter()
            .enumerate()
            .find(|(place, _)| letters(*place).eq_ignore_ascii_case(name))
            .map(|(_, seat)| seat.clone())
    }

    /// Compares letters and digits only.
    fn only<'a>(&self, texts: impl Iterator<Item = &'a str>, wanted: &str) -> Option<SeatId> {
        let mut found = texts
            .zip(&self.order)
            .filter(|(text, _)| words(text).concat() == wanted)
            .map(|(_, seat)| seat);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }
}

/// 0 is `A`, 25 `Z`, 26 `AA`.
fn letters(place: usize) -> String {
    let mut rest = place;
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(
            b'A' + u8::try_from(rest % 26).unwrap_or_default(),
        ));
        match (rest / 26).checked_sub(1) {
            Some(next) => rest = next,
            None => break letters.iter().rev().collect(),
        }
    }
}

/// Runs of letters and digits, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ModelRef;

    fn seat(id: &str, name: &str) -> Seat {
        Seat::named(id, name, ModelRef::new("scripted", "m"))
    }

    fn three() -> Labels {
        let seats = [
            seat("security", "Security Expert"),
            seat("architecture", "Architect"),
            seat("pragmatic", "Pragmatist"),
        ];
        Labels::draw(&seats, 7)
    }

    #[test]
    fn a_seed_fixes_the_order_and_all_orders_occur() {
        assert_eq!(three(), three());
        let seats = [seat("a1", "x"), seat("b1", "y"), seat("c1", "z")];
        let orders: std::collections::BTreeSet<Vec<SeatId>> = (0..100)
            .map(|seed| Labels::draw(&seats, seed).order.clone())
            .collect();
        assert_eq!(orders.len(), 6);
    }

    #[test]
    fn the_order_of_a_seed_never_changes() {
        let order = |seed| {
            let seats = [seat("a", "x"), seat("b", "y"), seat("c", "z")];
            let labels = Labels::draw(&seats, seed);
            let ids: Vec<&str> = labels.order.iter().map(SeatId::as_str).collect();
            ids.concat()
        };
        let expected = ["abc", "cab", "bca", "cba"];
        assert_eq!([1, 2, 7, 1_234_567].map(order), expected);
    }

    #[test]
    fn a_label_is_resolved_in_any_spelling() {
        let labels = three();
        let [first, second, _] = labels.order.as_slice() else {
            panic!("three seats")
        };
        for text in [
            "Expert A",
            "expert_a",
            "EXPERT-A",
            "A",
            "a",
            "**Expert A:**",
            "`Expert A`",
            "the Expert A",
            "ExpertA",
            "Expert A's",
            "Expert A (first)",
            "Agent A.",
        ] {
            assert_eq!(labels.resolve(text).as_ref(), Some(first), "{text}");
        }
        assert_eq!(labels.resolve(&labels.label(second)).as_ref(), Some(second));
    }

    #[test]
    fn seat_ids_and_persona_names_are_resolved() {
        let labels = three();
        for text in [
            "security",
            "Security Expert",
            "the security expert",
            "SECURITY",
            "security_expert",
        ] {
            let expected = Some(SeatId::new("security"));
            assert_eq!(labels.resolve(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_and_ambiguous_names_are_not_resolved() {
        let twins = ["security", "security-2"].map(|id| seat(id, "Security Expert"));
        let twice = Labels::draw(&twins, 1);
        assert_eq!(twice.resolve("Security Expert"), None);
        assert_eq!(twice.resolve("security-2"), Some(SeatId::new("security-2")));
        for text in [
            "",
            " ",
            "the judge",
            "Expert D",
            "D",
            "Expert A and Expert B",
            "consensus",
            "s",
            "the",
            "專家",
        ] {
            assert_eq!(three().resolve(text), None, "{text}");
        }
        assert_eq!(three().shown("somebody"), "somebody");
    }

    #[test]
    fn labels_continue_after_z() {
        let expected = ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"];
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letters), expected);
    }

    #[test]
    fn labels_survive_storing() {
        let stored = serde_json::to_string(&three()).unwrap();
        assert_eq!(serde_json::from_str::<Labels>(&stored).unwrap(), three());
    }
}
