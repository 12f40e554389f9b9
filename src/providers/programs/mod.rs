//! Programs that answer in a seat: the transport of processes, and the codecs that put a call into
//! a command line and read what the program writes.
//!
//! [`command`] makes a [`command::Launch`] of a call, [`reading`] turns the lines of its output
//! into an outcome; both are pure. Everything that runs a process is the transport's.

pub mod command;
pub mod reading;
pub mod seat;
pub mod status;
mod environment;
mod folder;
mod gate;
mod process;
#[cfg(test)]
mod tests;
