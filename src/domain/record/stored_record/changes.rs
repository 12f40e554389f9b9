//! What the cross-examination did to the experts' positions: the one judgement that summary,
//! report and page show.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{DebateValue, StoredRecord};
use crate::domain::answer::artifact::{Revision, Severity, Tension};
use crate::domain::answer::confidence::Confidence;
use crate::domain::answer::debate_value::{ChangeMagnitude, PositionChange};
use crate::domain::ids::SeatId;

/// The positions of Round 3 against those of Round 1.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionChanges<'a> {
    /// The experts that answered Round 3, in the order of the panel.
    pub experts: Vec<ExpertChange<'a>>,
    /// Experts that answered Round 1 but not Round 3, if Round 3 was held.
    pub silent: Vec<&'a SeatId>,
    /// The reason why a model did not compare the positions; `None` if it did, or if none is
    /// recorded.
    pub not_compared: Option<String>,
}

/// One expert's position of Round 3 against that of Round 1.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertChange<'a> {
    pub revision: &'a Revision,
    /// The confidence of Round 1.
    pub confidence_before: Option<Confidence>,
    /// `None` if it is unknown whether it changed.
    pub change: Option<PositionChange>,
    pub magnitude: ChangeMagnitude,
    /// The difference in the words of the model that compared; empty if it gave none.
    pub reasoning: String,
    /// True if it moved towards the majority and named no argument.
    pub conformity: bool,
}

impl StoredRecord {
    pub fn position_changes(&self) -> PositionChanges<'_> {
        let value = self.debate_value_analysis.clone().unwrap_or_default();
        let mut positions = self.positions_of_round_3();
        positions.sort_by_key(|revision| self.place_on_panel(&revision.agent_id));
        let expert = |revision| self.expert_change(revision, &value);
        let is_silent =
            |seat: &&SeatId| positions.iter().all(|revision| revision.agent_id != **seat);
        let answered_first = self.independents().map(|held| &held.agent_id);
        let silent = if positions.is_empty() {
            Vec::new()
        } else {
            answered_first.filter(is_silent).collect()
        };
        PositionChanges {
            experts: positions.iter().copied().map(expert).collect(),
            silent,
            not_compared: value.reason,
        }
    }

    /// Agents outside it come last.
    fn place_on_panel(&self, seat: &SeatId) -> usize {
        let mut seats = self.agents.iter();
        seats
            .position(|agent| agent.id == *seat)
            .unwrap_or(self.agents.len())
    }

    fn expert_change<'a>(&self, revision: &'a Revision, value: &DebateValue) -> ExpertChange<'a> {
        let seat = &revision.agent_id;
        let compared = value.agents.iter().find(|moved| moved.agent_id == *seat);
        ExpertChange {
            revision,
            confidence_before: self.independent(seat).and_then(|held| held.confidence),
            change: value.position_change(seat),
            magnitude: compared.map(|moved| moved.magnitude).unwrap_or_default(),
            reasoning: compared
                .map(|moved| moved.reasoning.clone())
                .unwrap_or_default(),
            conformity: compared.is_some_and(|moved| moved.conformity),
        }
    }
}

impl<'a> PositionChanges<'a> {
    /// Returns the experts to whose positions this happened; `None` is what is unknown.
    pub fn of(&self, change: Option<PositionChange>) -> impl Iterator<Item = &ExpertChange<'a>> {
        let experts = self.experts.iter();
        experts.filter(move |expert| expert.change == change)
    }

    /// Returns a sentence without a full stop: how many experts changed their minds, and how many
    /// refined their positions. `None` if no expert answered Round 3.
    pub fn headline(&self) -> Option<String> {
        let total = self.experts.len();
        let count = |change| self.of(change).count();
        let changed = count(Some(PositionChange::Changed));
        let refined = count(Some(PositionChange::Refined));
        let unknown = count(None);
        let mut text = match changed {
            _ if total == 0 => return None,
            0 if unknown == total => {
                "Whether the experts changed their minds is not known".to_owned()
            }
            0 if unknown > 0 => "No expert is known to have changed its mind".to_owned(),
            0 => "No expert changed its mind".to_owned(),
            1 => format!("1 of {total} experts changed its mind"),
            _ => format!("{changed} of {total} experts changed their minds"),
        };
        match refined {
            0 => {}
            1 => text.push_str(", 1 refined its position"),
            _ => {
                let _ = write!(text, ", {refined} refined their positions");
            }
        }
        match &self.not_compared {
            Some(reason) if unknown > 0 => {
                text.extend(["; positions were not compared: ", reason.trim()]);
            }
            None if (1..total).contains(&unknown) => {
                let _ = write!(text, "; {unknown} could not be compared");
            }
            Some(_) | None => {}
        }
        Some(text)
    }
}

impl ExpertChange<'_> {
    /// Describes what happened to the position, as the rest of a sentence about the expert.
    pub fn in_words(&self) -> &'static str {
        match (self.change, self.magnitude, self.conformity) {
            (None, ..) => "after Round 3",
            (Some(PositionChange::Held), ..) => "held its position",
            (Some(PositionChange::Refined), ..) => "refined its position",
            (Some(PositionChange::Changed), _, true) => {
                "changed its mind, towards the majority and without naming an argument"
            }
            (Some(PositionChange::Changed), ChangeMagnitude::SignificantChange, false) => {
                "changed its mind, a significant change"
            }
            (Some(PositionChange::Changed), ..) => "changed its mind, a moderate shift",
        }
    }

    /// `74% → 83%`, `74%` if it is the same. `None` if it states none in Round 3.
    pub fn confidence_in_words(&self) -> Option<String> {
        let after = self.revision.revised_confidence?.to_string();
        Some(
            match self.confidence_before.map(|before| before.to_string()) {
                Some(before) if before == after => after,
                Some(before) => format!("{before} → {after}"),
                None => format!("now {after}"),
            },
        )
    }
}

/// A point that the debate left open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OpenPoint {
    pub topic: String,
    /// `None` for points that the judge left unresolved without a severity.
    pub severity: Option<Severity>,
    /// The sides, where the judge names them.
    pub views: Vec<OpenView>,
}

/// One side of an open point, with the name of its expert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OpenView {
    pub agent: String,
    pub view: String,
}

impl StoredRecord {
    /// The points that the cross-examination left unresolved; without one, the tensions of Round 2.
    pub fn points_left_open(&self) -> Vec<OpenPoint> {
        if let Some(examined) = self.cross_exam() {
            let unresolved = examined.unresolved.iter().map(|topic| OpenPoint {
                topic: topic.clone(),
                ..OpenPoint::default()
            });
            return unresolved.collect();
        }
        let tensions = self.synthesis().into_iter();
        let tensions = tensions.flat_map(|synthesis| &synthesis.tensions);
        tensions.map(|tension| self.tension(tension)).collect()
    }

    fn tension(&self, tension: &Tension) -> OpenPoint {
        let views = tension.viewpoints.iter().map(|view| OpenView {
            agent: self.name_of(&view.agent).to_owned(),
            view: view.viewpoint.clone(),
        });
        OpenPoint {
            topic: tension.topic.clone(),
            severity: Some(tension.severity),
            views: views.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expert(revision: &Revision, change: Option<PositionChange>) -> ExpertChange<'_> {
        ExpertChange {
            revision,
            confidence_before: Confidence::new(0.74),
            change,
            magnitude: ChangeMagnitude::ModerateShift,
            reasoning: String::new(),
            conformity: false,
        }
    }

    fn headline(changes: &[Option<PositionChange>], not_compared: Option<&str>) -> String {
        let revision = Revision::default();
        let experts = changes.iter().map(|change| expert(&revision, *change));
        let changes = PositionChanges {
            experts: experts.collect(),
            silent: Vec::new(),
            not_compared: not_compared.map(str::to_owned),
        };
        changes.headline().unwrap_or_default()
    }

    #[test]
    fn headline_counts_changes_and_says_what_is_not_known() {
        use PositionChange::{Changed, Held, Refined};
        let skipped = Some("no comparison was asked for");
        for (changes, not_compared, expected) in [
            (vec![Some(Held); 3], None, "No expert changed its mind"),
            (
                vec![Some(Held), Some(Changed), Some(Refined)],
                None,
                "1 of 3 experts changed its mind, 1 refined its position",
            ),
            (
                vec![Some(Refined), Some(Refined), Some(Held)],
                None,
                "No expert changed its mind, 2 refined their positions",
            ),
            (
                vec![Some(Changed), Some(Changed), None],
                None,
                "2 of 3 experts changed their minds; 1 could not be compared",
            ),
            (
                vec![Some(Held), None],
                skipped,
                "No expert is known to have changed its mind; positions were not compared: no \
                 comparison was asked for",
            ),
            (
                vec![None, None],
                None,
                "Whether the experts changed their minds is not known",
            ),
            (vec![], None, ""),
        ] {
            assert_eq!(headline(&changes, not_compared), expected);
        }
    }

    #[test]
    fn change_of_confidence_alone_is_no_change_of_mind() {
        let revision = Revision {
            revised_confidence: Confidence::new(0.83),
            ..Revision::default()
        };
        let held = expert(&revision, Some(PositionChange::Held));
        assert_eq!(held.in_words(), "held its position");
        assert_eq!(held.confidence_in_words().unwrap(), "74% → 83%");
        let changed = expert(&revision, Some(PositionChange::Changed));
        assert_eq!(changed.in_words(), "changed its mind, a moderate shift");
        let refined = expert(&revision, Some(PositionChange::Refined));
        assert_eq!(refined.in_words(), "refined its position");
    }
}
