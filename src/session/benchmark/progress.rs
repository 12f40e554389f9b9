//! What a face shows of a run under way.

use std::fmt::Debug;
use std::time::Duration;

use crate::benchmark::result::CaseResult;
use crate::domain::cost::money::Cost;

/// Shows the progress of one run.
pub trait RunProgress: Debug {
    /// So many case runs are in flight.
    fn running(&self, running: usize);

    /// The cost of the run so far.
    fn spent(&self, cost: Cost);

    /// Nothing more starts.
    fn ending(&self);

    /// A case run has a result. `is_measured` is false for the arm that the other is compared with;
    /// `elapsed` is the time of this process.
    fn finished(&self, result: &CaseResult, expected: &str, is_measured: bool, elapsed: Duration);
}
