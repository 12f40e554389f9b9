//! Checks of the programs that can sit in a seat: which are installed, and whether their user is
//! logged in. The programs say so themselves; no file of theirs is read.

use crate::domain::model::program::Program;
use crate::providers::programs::status::{Login, ProgramStatus};
use crate::setup::programs::ProgramList;
use crate::terminal::tables::doctor::{Check, CheckStatus};

/// A line for each that is installed, and one for all others.
pub(super) async fn check(programs: &ProgramList) -> Vec<Check> {
    let statuses = programs.statuses().await.iter();
    let mut checks: Vec<Check> = statuses.map(check_of).collect();
    let absent = programs.iter().filter(|it| it.executable.is_none());
    let absent: Vec<&str> = absent.map(|it| it.id.as_str()).collect();
    if !absent.is_empty() {
        let message = format!("not installed: {}", absent.join(", "));
        checks.push(Check::new(CheckStatus::Note, message, "").of("programs", "programs"));
    }
    checks
}

fn check_of((program, status): &(Program, ProgramStatus)) -> Check {
    let level = match status.login {
        Login::Plan(_) => CheckStatus::Ok,
        Login::Billed(_) => CheckStatus::Warning,
        Login::Unknown | Login::No => CheckStatus::Note,
    };
    let words = match &status.login {
        Login::Plan(Some(plan)) => format!("logged in ({plan})"),
        Login::Plan(None) => "logged in".to_owned(),
        Login::Billed(by) => format!("logged in with {by}: its calls are billed by use"),
        Login::Unknown => "not known whether it is logged in".to_owned(),
        Login::No => "not logged in".to_owned(),
    };
    let needs_login = matches!(status.login, Login::Billed(_) | Login::No);
    let command = program.login.as_ref().filter(|_| needs_login);
    let fix = command.map_or_else(String::new, |login| format!("log in with `{login}`"));
    let keeps_home = status.keeps_home && matches!(status.login, Login::Plan(_));
    let home = keeps_home.then_some("login in a keyring: runs in your own CODEX_HOME");
    let message = status.version.iter().chain([&words]).map(String::as_str);
    let message = message.chain(home).collect::<Vec<_>>().join(" · ");
    Check::new(level, message, fix).of(format!("program.{}", program.id), program.id.as_str())
}
