//! The command line: its subcommands and exit codes, and where errors are printed.

mod help;
mod man;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use jiff::tz::TimeZone;

use crate::commands::agent_loop::{circuit, exit_check};
use crate::commands::consult::resume;
use crate::commands::history::consult_stats;
#[cfg(feature = "fleet")]
use crate::commands::inventory::fleet;
use crate::commands::inventory::setup;
use crate::commands::inventory::{doctor, login, models, personas};
use crate::commands::{
    App, benchmark, completions, config, consult, history, mcp, refine, scrub, view,
};
use crate::config::env::Environment;
use crate::engine::clock::Clock;
use crate::engine::host;
use crate::error::{Error, Exit};
use crate::setup::context::scrubber;
use crate::terminal::output::printer::{Mask, Printer, Verbosity, clean_panics};
use crate::terminal::output::style::Paint;

/// Ask a panel of language models one question, let them debate it in an auditable protocol, and
/// know when to stop.
#[derive(Debug, Parser)]
#[command(name = "conclave", version, about, after_help = help::after_help(), max_term_width = 100)]
#[command(override_usage = "\
conclave <COMMAND>
       conclave \"QUESTION\" [OPTIONS OF consult]")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(visible_alias = "ask")]
    Consult(Box<consult::Args>),
    Resume(resume::Args),
    Refine(Box<refine::Args>),
    History(history::Args),
    Ls(history::ListArgs),
    View(view::Args),
    #[command(visible_alias = "stats")]
    ConsultStats(consult_stats::Args),
    Benchmark(Box<benchmark::Args>),
    #[cfg(feature = "fleet")]
    Worker(fleet::worker::Args),
    #[cfg(feature = "fleet")]
    Fleet(fleet::Args),
    Mcp(mcp::Args),
    #[command(name = "exit-check")]
    ExitCheck(Box<exit_check::Args>),
    Circuit(circuit::Args),
    Setup(setup::Args),
    /// Sign in, so that a ChatGPT plan pays for calls to `chatgpt:`
    #[command(subcommand)]
    Login(login::LoginCommand),
    Logout(login::LogoutArgs),
    Doctor(doctor::Args),
    Config(config::Args),
    #[command(visible_alias = "model")]
    Models(models::Args),
    Personas(personas::Args),
    Scrub(scrub::Args),
    Completions(completions::Args),
    /// Print the manual page
    Man,
    /// Print the version
    Version,
}

/// Runs the program as this process and returns its exit code.
pub fn main() -> ExitCode {
    clean_panics(None);
    forbid_core_files();
    let environment = Environment::read();
    let parsed = match completions::answer_shell(Cli::command) {
        Ok(true) => return ExitCode::from(Exit::Answer.code()),
        Ok(false) => words::parse(std::env::args_os()),
        Err(error) => Err(error),
    };
    let now = (Clock::system(), TimeZone::system as fn() -> TimeZone);
    let exit = run_parsed(parsed, &environment, now, |verbosity, mask| {
        host::survive_file_size_limit();
        let printer = Printer::for_process(&|name| environment.text(name), verbosity, mask);
        clean_panics(Some(&printer));
        printer
    });
    ExitCode::from(exit.code())
}

/// Runs the program with these words, the program's name first, within the caller's process, whose
/// working folder, standard input and signals it uses. Days are shown in UTC.
///
/// `printer` is asked once for the printer, with how much is printed and what masks the messages.
pub fn run(
    words: impl IntoIterator<Item = OsString>,
    environment: &Environment,
    clock: Clock,
    printer: impl FnOnce(Verbosity, Mask) -> Printer,
) -> Exit {
    let now = (clock, (|| TimeZone::UTC) as fn() -> TimeZone);
    run_parsed(words::parse(words), environment, now, printer)
}

fn run_parsed(
    parsed: clap::error::Result<(Cli, Verbosity)>,
    environment: &Environment,
    (clock, zone): (Clock, fn() -> TimeZone),
    printer: impl FnOnce(Verbosity, Mask) -> Printer,
) -> Exit {
    let mask = Box::new(scrubber::of_messages(environment));
    let (cli, verbosity) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return parse_error(&error, &printer(Verbosity::Normal, mask)),
    };
    let printer = printer(verbosity, mask);
    let app = App {
        environment,
        printer: &printer,
        clock,
        zone,
    };
    carry_out(cli.command, app).unwrap_or_else(|error| {
        if error.is_chosen {
            printer.ending(error.source(), &error.hints);
        } else {
            printer.error(error.source(), &error.hints);
        }
        error.exit
    })
}

fn carry_out(command: Command, app: App<'_>) -> Result<Exit, Error> {
    match command {
        Command::Refine(args) => return refine::run(&args, app),
        Command::Benchmark(args) => return benchmark::run(&args, app),
        #[cfg(feature = "fleet")]
        Command::Worker(args) => return fleet::worker::run(&args, app),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => fleet::run(&args, app),
        Command::ExitCheck(args) => return exit_check::run(&args, app),
        Command::Circuit(args) => return circuit::run(&args, app),
        Command::Consult(args) => consult::run(&args, app),
        Command::Resume(args) => resume::run(&args, app),
        Command::ConsultStats(args) => consult_stats::run(&args, app),
        Command::History(args) => history::run(&args, app),
        Command::Ls(args) => history::list(&args, app),
        Command::View(args) => view::run(&args, app),
        Command::Login(command) => login::run(&command, app),
        Command::Logout(args) => login::log_out(&args, app),
        Command::Doctor(args) => doctor::run(&args, app),
        Command::Models(args) => models::run(&args, app),
        Command::Personas(args) => personas::run(&args, app),
        Command::Scrub(args) => scrub::run(&args, app),
        Command::Mcp(args) => mcp::run(&args, app),
        Command::Setup(args) => setup::run(args, app),
        Command::Config(args) => config::run(&args, app),
        Command::Completions(args) => completions::run(&args, app.printer),
        Command::Man => man::run(&Cli::command(), &help::man_sections(), app.printer),
        Command::Version => Ok(app.printer.result(&Cli::command().render_version())?),
    }?;
    Ok(Exit::Answer)
}

/// A limit, not `PR_SET_DUMPABLE`: it exists on every Unix, holds for started programs too, and
/// leaves `/proc/self` and debuggers usable.
fn forbid_core_files() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Lowering a limit needs no rights; a system without this one writes no core files.
    let _ = setrlimit(Resource::Core, none);
}

/// Prints why the command line cannot be run, or the help or version that it asks for.
///
/// Both can quote text from outside: arguments, and the values of environment variables.
fn parse_error(error: &clap::Error, printer: &Printer) -> Exit {
    let text = |paint: Paint| {
        let text = error.render();
        if paint.has_colour {
            return text.ansi().to_string();
        }
        text.to_string()
    };
    if error.use_stderr() {
        let message = text(printer.err_traits().paint);
        let message = printer.masked(&message).replace("  tip: ", "hint: ");
        printer.lines(message.trim_end());
        return Exit::Usage;
    }
    match printer.result(&text(printer.out_traits().paint)) {
        Ok(()) => Exit::Answer,
        Err(failed) => {
            printer.error(&failed, &[]);
            Exit::Failed
        }
    }
}
