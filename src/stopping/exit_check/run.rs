//! The name of a run: one loop of an agent, from its first turn to its end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names a run. What one run left behind never ends another.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RunId"))]
#[serde(transparent)]
pub struct LoopRunId(pub String);

impl fmt::Display for LoopRunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A run and the way it was named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRef {
    #[serde(rename = "run")]
    pub id: LoopRunId,
    #[serde(rename = "run_origin")]
    pub origin: RunOrigin,
}

/// How a run came by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOrigin {
    /// The caller named it: it lasts as long as checks name it.
    Named,
    /// Checks without a name share it until one of them stops it.
    #[default]
    Implicit,
}
