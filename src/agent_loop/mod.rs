//! L3: what a turn of an agent's loop left behind, read from the outside: the last message in the
//! formats of common agent programs, the checklist, the Git working tree, the tests; and the files
//! that keep the state of the loop.
//!
//! Nothing here decides: [`crate::stopping::exit_check`] does.

pub mod response;
pub mod text;
pub mod signals;
pub mod checklist;
pub mod git;
pub mod test_command;
pub mod settings;
pub mod store;
