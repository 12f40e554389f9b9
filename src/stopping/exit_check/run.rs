//! The name of a run: one loop of an agent, from its first turn to its end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names a run. What one run left behind never ends another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
