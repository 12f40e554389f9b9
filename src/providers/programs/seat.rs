//! A program as the driver sees it: one provider.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::future::pending;
use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;
use tokio::sync::OnceCell;

use super::command::{self, Launch};
use super::environment::{self, Variables, hide_secrets};
use super::folder::{ProgramFolder, keeps_home};
use super::gate::ProgramGate;
use super::process::{self, ProgramLimits, ProgramStart};
use super::reading::{Flow, ProgramEnd, Reading};
use super::status::{self, Login, ProgramStatus, Report};
use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::domain::model::billing::Billing;
use crate::domain::model::program::{AnswerReader, Program};
use crate::engine::clock::Clock;
use crate::engine::ports::{BoxFuture, Delta, OnDelta, Provider};
use crate::text::clean::clean;

/// Until the first line, for programs that write one before the answer.
const START_LIMIT: Duration = Duration::from_secs(30);

/// What a report may take, such as a version.
const REPORT_LIMITS: ProgramLimits = ProgramLimits {
    start: None,
    time: Duration::from_secs(10),
    bytes: 1 << 20,
};

/// A program that can be asked.
pub struct ProgramSeat {
    pub program: Program,
    /// Of this process; an allow-list of them is passed on.
    variables: Variables,
    gate: ProgramGate,
    /// As the check beside an earlier call found it.
    login: OnceCell<Login>,
    /// The names that `--disable` may have; empty if they are not known.
    features: OnceCell<BTreeSet<String>>,
}

impl Debug for ProgramSeat {
    /// Without the variables: keys are among them.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ProgramSeat")
            .field(&self.program.id)
            .finish()
    }
}

impl ProgramSeat {
    /// All processes of this user share the folder of `locks`.
    pub fn new(program: Program, variables: Variables, locks: &Path) -> Self {
        Self {
            gate: ProgramGate::new(locks, &program.id),
            program,
            variables,
            login: OnceCell::new(),
            features: OnceCell::new(),
        }
    }

    /// Asks the program for its version and whether the user is logged in, without spending
    /// anything.
    pub async fn status(&self) -> ProgramStatus {
        let version = self.report(None, &["--version"]);
        let (version, login) = tokio::join!(version, self.ask_login());
        ProgramStatus {
            version: version.as_ref().and_then(status::version),
            login,
            keeps_home: keeps_home(&self.program, &self.variables),
        }
    }

    async fn ask_login(&self) -> Login {
        let Some((program, arguments)) = self.program.check.split_first() else {
            return Login::Unknown;
        };
        let is_other = self.program.argv.first() != Some(program);
        let other = is_other.then_some(program.as_ref());
        let report = self.report(other, arguments).await;
        let login = report.map(|report| status::login(self.program.reader, &report));
        login.unwrap_or_default()
    }

    /// Runs a command that spends nothing, of this program or of another; `None` if it does not end
    /// by itself.
    async fn report(&self, other: Option<&Path>, arguments: &[impl ToString]) -> Option<Report> {
        let launch = Launch {
            arguments: arguments.iter().map(ToString::to_string).collect(),
            ..Launch::default()
        };
        let start = self.start(other, |_| Ok(launch)).ok()?;
        let mut output = String::new();
        let mut on_line = |line: &str| {
            output.extend([line, "\n"]);
            Flow::Continue(())
        };
        let ran = Box::pin(process::run(start, REPORT_LIMITS, &mut on_line)).await;
        let (ProgramEnd::Exited(exit_code), errors) = ran.ok()? else {
            return None;
        };
        Some(Report {
            exit_code,
            output,
            errors,
        })
    }

    fn start(
        &self,
        other: Option<&Path>,
        launch: impl FnOnce(&Path) -> Result<Launch, Failure>,
    ) -> Result<ProgramStart, Failure> {
        let own = &self.variables;
        let program = other.or(self.program.executable.as_deref());
        let program = program.ok_or_else(|| self.not_started(&io::ErrorKind::NotFound.into()))?;
        let folder = ProgramFolder::create(&self.program, own);
        let folder = folder.map_err(|error| self.not_started(&error))?;
        let launch = launch(folder.root.path())?;
        let more = launch.variables.iter().chain(&folder.home).cloned();
        Ok(ProgramStart {
            program: program.to_owned(),
            variables: environment::variables(&self.program, own, more)?,
            launch,
            folder,
        })
    }

    /// Makes one call. Returns whether it may be repeated alone: others ran, whose login may have
    /// been refreshed in the meantime.
    async fn call(
        &self,
        ask: &Ask,
        is_doubted: bool,
        on: OnDelta<'_>,
    ) -> Result<(Outcome, bool), Failure> {
        let (first, features) = tokio::join!(self.gate.first(is_doubted), self.features());
        let mut first = first?;
        let launch = |folder: &Path| {
            let mut launch = command::launch(&self.program, ask, folder)?;
            leave_out_unknown(&mut launch.arguments, features);
            Ok(launch)
        };
        // Held until the call has ended.
        let _one_of_all = self.gate.program(self.program.time_limit).await?;
        let start = self.start(None, launch)?;
        let variables = start.variables.clone();
        // These may write nothing before their answer is complete.
        let is_late = [AnswerReader::Text, AnswerReader::Json].contains(&self.program.reader);
        let limits = ProgramLimits {
            start: (!is_late).then_some(START_LIMIT),
            time: self.program.time_limit,
            bytes: self.program.max_output,
        };
        let mut reading = Reading::new(&self.program, ask);
        let (mut is_connected, mut may_repeat) = (false, first.is_none());
        let mut on_line = |line: &str| {
            if !std::mem::replace(&mut is_connected, true) {
                on(Delta::Connected);
            }
            reading.line(line, &mut |delta| {
                if delta.shows_answer() {
                    may_repeat = false;
                    self.gate.proven(first.take());
                }
                on(delta);
            })
        };
        let (end, errors) = tokio::select! {
            // The call starts first.
            biased;
            ran = Box::pin(process::run(start, limits, &mut on_line)) => {
                ran.map_err(|error| self.not_started(&error))?
            }
            refused = self.refused_login() => return Err(refused),
        };
        let errors = hide_secrets(&clean(&errors), &variables);
        let (now, user) = (Clock::system().now(), TimeZone::system());
        let mut outcome = reading.finish(end, &errors, now, &user);
        match &mut outcome {
            Ok(reply) => {
                self.gate.proven(first.take());
                // If the program does not say it with its answer.
                if let Some(Login::Plan(Some(name))) = self.login.get() {
                    let plan = &mut reply.plan.get_or_insert_default().plan;
                    plan.get_or_insert_with(|| name.clone());
                }
            }
            Err(failure) => failure.message = hide_secrets(&failure.message, &variables),
        }
        may_repeat &= matches!(&outcome, Err(failure) if failure.class == FailureClass::Auth);
        Ok((outcome, may_repeat))
    }

    fn not_started(&self, error: &io::Error) -> Failure {
        let message = format!("`{}` cannot be started: {error}", self.program.name);
        Failure {
            usage: Some(Box::default()),
            ..Failure::new(FailureClass::Transport, message)
        }
    }

    /// Names that Codex does not know would end it.
    async fn features(&self) -> &BTreeSet<String> {
        let list = async || {
            if self.program.reader != AnswerReader::Codex {
                return BTreeSet::new();
            }
            let report = self.report(None, &["features", "list"]).await;
            let report = report.filter(|report| report.exit_code == Some(0));
            let lines = report.iter().flat_map(|report| report.output.lines());
            let names = lines.filter_map(|line| line.split_whitespace().next());
            names.map(ToOwned::to_owned).collect()
        };
        self.features.get_or_init(list).await
    }

    /// Checks the login, once for all calls that it allows. Ends only if it does not.
    async fn refused_login(&self) -> Failure {
        let check = async || match (self.ask_login().await, self.program.billing) {
            (Login::No, _) => Err("is not logged in".to_owned()),
            (Login::Billed(what), Billing::Plan) => Err(format!(
                "is logged in with `{what}`, which is billed by use, not with a plan"
            )),
            (login, _) => Ok(login),
        };
        let Err(why) = self.login.get_or_try_init(check).await else {
            return pending().await;
        };
        let hint = |login| format!("; log in with `{login}`");
        let hint = self.program.login.as_ref().map(hint).unwrap_or_default();
        let message = format!("{} {why}{hint}", self.program.name);
        Failure::new(FailureClass::Auth, message)
    }
}

impl Provider for ProgramSeat {
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            // Before it waits for anything.
            environment::variables(&self.program, &self.variables, [])?;
            match self.call(ask, false, on).await? {
                (Err(_), true) => self.call(ask, true, on).await?.0,
                (outcome, _) => outcome,
            }
        })
    }
}

/// Leaves out `--disable NAME` where the name is not known.
fn leave_out_unknown(arguments: &mut Vec<String>, known: &BTreeSet<String>) {
    for at in (1..arguments.len()).rev().filter(|_| !known.is_empty()) {
        let pair = arguments.get(at - 1..=at);
        if matches!(pair, Some([flag, name]) if flag == "--disable" && !known.contains(name)) {
            arguments.drain(at - 1..=at);
        }
    }
}
