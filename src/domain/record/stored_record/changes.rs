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
            change: value.position_change(seat, revision.changed),
            magnitude: compared.map(|moved| moved.magnitude).unwrap_or_default(),
            reasoning: compared
                .map(|moved| moved.reasoning.clone())
                .unwrap_or_default(),
            conformity: compared.is_some_and(|moved| moved.conformity),
        }
    }
}

impl<'a> PositionChanges<'a> {
    /// Returns the experts that changed their minds, as compared or as they state themselves.
    pub fn changed(&self) -> impl Iterator<Item = &ExpertChange<'a>> {
        self.experts.iter().filter(|expert| expert.is_change())
    }

    pub fn unchanged(&self) -> impl Iterator<Item = &ExpertChange<'a>> {
        self.experts.iter().filter(|expert| !expert.is_change())
    }

    /// Returns a sentence without a full stop: how many experts changed their minds, and how that
    /// is known. `None` if no expert answered Round 3.
    pub fn headline(&self) -> Option<String> {
        let total = self.experts.len();
        let count = |wanted: Option<PositionChange>| {
            let same = self.experts.iter().filter(|expert| expert.change == wanted);
            same.count()
        };
        let compared = count(Some(PositionChange::Changed));
        let stated = count(Some(PositionChange::Stated { changed: true }));
        let held = count(Some(PositionChange::Held));
        let unknown = count(None);
        let mut text = match (compared, stated, compared + stated) {
            _ if total == 0 => return None,
            (0, 0, _) if unknown == total => {
                "Whether the experts changed their minds is not known".to_owned()
            }
            (0, 0, _) if held == total => "No expert changed its mind".to_owned(),
            (0, 0, _) => "No expert says it changed its mind".to_owned(),
            (0, 1, _) => format!("1 of {total} experts says it changed its mind"),
            (0, stated, _) => format!("{stated} of {total} experts say they changed their minds"),
            (1, 0, _) => format!("1 of {total} experts changed its mind"),
            (changed, 0, _) => format!("{changed} of {total} experts changed their minds"),
            (_, stated, all) => {
                format!("{all} of {total} experts changed their minds, {stated} by its own account")
            }
        };
        if held + compared < total {
            match &self.not_compared {
                Some(reason) => text.extend(["; positions were not compared: ", reason.trim()]),
                None if held + compared > 0 => {
                    let left_out = total - held - compared;
                    let _ = write!(text, "; {left_out} could not be compared");
                }
                None => {}
            }
        }
        Some(text)
    }
}

impl ExpertChange<'_> {
    pub fn is_change(&self) -> bool {
        self.change.is_some_and(PositionChange::is_change)
    }

    /// Describes what happened to the position, as the rest of a sentence about the expert.
    pub fn in_words(&self) -> String {
        let what = PositionChange::in_words(self.change);
        let how_far = match self.magnitude {
            _ if self.change != Some(PositionChange::Changed) => "",
            ChangeMagnitude::Same | ChangeMagnitude::Unknown => "",
            ChangeMagnitude::MinorRefinement => ", a minor refinement",
            ChangeMagnitude::ModerateShift => ", a moderate shift",
            ChangeMagnitude::SignificantChange => ", a significant change",
        };
        let conformity = if self.conformity {
            ", towards the majority and without naming an argument"
        } else {
            ""
        };
        format!("{what}{how_far}{conformity}")
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

    /// Returns whether a judge gave the verdict, rather than a rule.
    pub fn is_judged(&self) -> bool {
        self.verdict()
            .is_some_and(|verdict| verdict.composed_from.is_none())
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
    fn headline_counts_changes_and_says_how_they_are_known() {
        use PositionChange::{Changed, Held};
        let says = |changed| Some(PositionChange::Stated { changed });
        let skipped = Some("no comparison was asked for");
        for (changes, not_compared, expected) in [
            (vec![Some(Held); 3], None, "No expert changed its mind"),
            (
                vec![Some(Held), Some(Changed), Some(Held)],
                None,
                "1 of 3 experts changed its mind",
            ),
            (
                vec![Some(Changed), Some(Changed), says(true)],
                None,
                "3 of 3 experts changed their minds, 1 by its own account; 1 could not be compared",
            ),
            (
                vec![Some(Held), says(false)],
                None,
                "No expert says it changed its mind; 1 could not be compared",
            ),
            (
                vec![says(true), says(false)],
                skipped,
                "1 of 2 experts says it changed its mind; positions were not compared: no \
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
    }
}
