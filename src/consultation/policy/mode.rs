//! The modes of debate: one strategy for each, with its prompts, the judge's task, and whether it
//! may end early.
//!
//! Invariant: all decisions that depend on the mode are made here; no other module tests for a
//! mode.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;

/// The mode of a consultation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// "No, because…": one answer, with the objections to it.
    #[default]
    Converge,
    /// "Yes, and…": a menu of answers, each with its pros and cons.
    Explore,
}

/// The strategy of a mode.
#[derive(Debug)]
pub struct Strategy {
    /// Its name, and the folder of its prompts.
    pub name: &'static str,
    /// The names of the parts of artifacts in prompts.
    pub headings: Headings,
    pub verdict: AnswerKind,
    pub ending: Ending,
}

/// Names for the parts of artifacts: every mode uses the same fields with different meanings.
#[derive(Debug)]
pub struct Headings {
    pub key_points: &'static str,
    pub consensus_points: &'static str,
    pub tensions: &'static str,
    pub priority_order: &'static str,
    pub because_of: &'static str,
    pub challenges: &'static str,
    pub rebuttals: &'static str,
    pub unresolved: &'static str,
    pub positions: &'static str,
}

/// Whether a consultation may end before its last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It may end early if the experts agree.
    MayBeEarly,
    /// It never ends early, because the mode does not aim at agreement; with the explanation for
    /// the user.
    AlwaysWhole(&'static str),
}

static CONVERGE: Strategy = Strategy {
    name: "converge",
    headings: Headings {
        key_points: "Key points",
        consensus_points: "Consensus points",
        tensions: "Tensions",
        priority_order: "Topics, the most decisive first",
        because_of: "Changed because of",
        challenges: "Challenges",
        rebuttals: "Rebuttals",
        unresolved: "Unresolved",
        positions: "Positions after the cross-examination",
    },
    verdict: AnswerKind::Verdict,
    ending: Ending::MayBeEarly,
};

static EXPLORE: Strategy = Strategy {
    name: "explore",
    headings: Headings {
        key_points: "Possibilities",
        consensus_points: "Common themes",
        tensions: "Choices to be made",
        priority_order: "All possibilities, the most promising first",
        because_of: "Taken up",
        challenges: "What ideas need",
        rebuttals: "What was added to ideas",
        unresolved: "Open until a fact is known",
        positions: "Positions after building on each other's ideas",
    },
    verdict: AnswerKind::Menu,
    ending: Ending::AlwaysWhole("🔍 Explore mode: all rounds will execute"),
};

impl Mode {
    pub const ALL: [Self; 2] = [Self::Converge, Self::Explore];

    pub fn strategy(self) -> &'static Strategy {
        match self {
            Self::Converge => &CONVERGE,
            Self::Explore => &EXPLORE,
        }
    }
}
