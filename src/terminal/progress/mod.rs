//! The progress of a consultation on standard error: live lines on a terminal, plain lines in a
//! pipe, a log or a dumb terminal. An abort is not reported here: the command prints it as an
//! error, also with `--quiet`.

mod reporter;
mod followed;
mod facts;
pub mod messages;
mod live_view;
mod answer_summary;
mod judge_stream;
mod judge_prose;
mod estimate;
pub(in crate::terminal) mod work_bar;
mod live_row;
pub mod benchmark;
pub mod refinement;

pub use self::followed::FollowedRun;
pub use self::reporter::ProgressReporter;
