//! A program as the driver sees it: one provider.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::status::ProgramStatus;
use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::domain::model::program::Program;
use crate::domain::time::Timestamp;
use crate::engine::ports::{BoxFuture, Delta, Provider};

/// What a program is started with, beside what its table says.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The variables of this process, of which an allow-list is passed on.
    pub variables: BTreeMap<String, String>,
    /// The folder of locks that all processes of this user share.
    pub locks: PathBuf,
    /// Now, and the user's time zone.
    pub now: Timestamp,
    pub zone: TimeZone,
}

/// A program that can be asked.
#[derive(Debug)]
pub struct ProgramSeat {
    program: Program,
    executable: PathBuf,
    surroundings: Surroundings,
}

impl ProgramSeat {
    /// `executable` is absolute.
    pub fn new(program: Program, executable: PathBuf, surroundings: Surroundings) -> Self {
        Self {
            program,
            executable,
            surroundings,
        }
    }

    /// Asks the program for its version and whether the user is logged in, without spending
    /// anything.
    pub async fn status(&self) -> ProgramStatus {
        let _ = (&self.executable, &self.surroundings);
        ProgramStatus::default()
    }
}

impl Provider for ProgramSeat {
    fn ask<'a>(
        &'a self,
        _ask: &'a Ask,
        _on: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Outcome> {
        let message = format!("`{}` cannot be started", self.program.name);
        Box::pin(async { Err(Failure::new(FailureClass::Internal, message)) })
    }
}
