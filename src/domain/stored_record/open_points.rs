//! Points that the debate left open, with each side's view.

use serde::{Deserialize, Serialize};

use super::StoredRecord;
use crate::domain::artifact::{Severity, Tension};

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
    /// Returns the points that the debate left open: what the cross-examination left unresolved;
    /// without a cross-examination, the tensions of Round 2.
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
