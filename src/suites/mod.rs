//! L3: suites of cases in the formats that people have: JSON lines, CSV, YAML and JSON manifests, a
//! folder, and the test files of other tools.
//!
//! Every format becomes `node`s with their lines. `shapes` gives their rows the fields of a case,
//! whatever data set they come from, and `case` reads these, so that a field means the same in all
//! formats. A suite is checked whole: [`SuiteError`] lists the
//! problems of all files with their lines.

mod reader;
pub mod suite;
mod case_file;
mod log;
mod content;
mod raw_case;
mod shapes;
mod case;
mod matcher;
mod manifest;
mod folder;
mod promptfoo;
pub mod recorded_answers;

pub use log::{SuiteError, SuitePlace, SuiteProblem};
pub use reader::read;
pub use shapes::{FieldMap, field_pair};
pub use suite::Suite;

/// The most cases of a suite.
const MAX_CASES: usize = 100_000;
