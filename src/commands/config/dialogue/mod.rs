//! `conclave setup`: a dialogue about the settings that matter first. It checks what works, asks
//! for the panel, the judge and the spending, and writes the answers through the editor of the
//! settings.
//!
//! [`crate::setup`] is another thing: it makes the plan of a consultation.
//!
//! Invariants: nothing is written before the last question; no key is read into a setting.

mod panel;
mod models;
mod spending;
mod changes;
pub(crate) mod offer;

use crate::commands::inventory::doctor::{self, FreeChecks};
use crate::commands::runtime::until_interrupted;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::setup::embedded_model::EmbeddedModels;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::panel::spec::PanelSpec;
use crate::setup::plan::sources::Sources;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};
use crate::terminal::prompt::{StdinUse, can_ask};
use crate::terminal::tables::doctor::check_lines;

use self::models::ModelMenu;
use self::panel::PanelQuestions;

/// Set up the panel, the judge and what may be spent, in a dialogue
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "\
Checks keys and local servers by free requests, asks, shows the lines, and writes them to \
config.json after you agree. It can be repeated: the present settings are the defaults. \
API keys are never stored: they stay in their variables.

Keys: Enter accepts, the arrows move, Space ticks, Esc leaves and writes nothing.")]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    if !can_run(printer) {
        let reason = if can_ask(printer, StdinUse::Free) {
            "`conclave setup` asks with menus, which this terminal cannot show: see `TERM`"
        } else {
            "`conclave setup` asks questions, and there is no terminal to ask on"
        };
        return Err(Error::usage(reason).hint(
            "change single settings with `conclave config set`; see them with `conclave config \
             show`",
        ));
    }
    set_up(environment, printer)
}

/// Returns whether there is a terminal that can show menus.
fn can_run(printer: &Printer) -> bool {
    can_ask(printer, StdinUse::Free) && printer.err_traits().is_animated
}

fn set_up(environment: &Environment, printer: &Printer) -> Result<(), Error> {
    until_interrupted(printer, interrupted, ask_and_write(environment, printer))
}

async fn ask_and_write(environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let sources = Sources::load(environment, Clock::system().now())?;
    let (settings, access_list) = (&sources.settings, &sources.access_list);
    let dialogue = Dialogue::open(printer);
    dialogue.say("Checking keys and local servers; this costs nothing.");
    let found = doctor::check_for_free(
        settings,
        access_list,
        &sources.catalog,
        sources.now,
        printer,
    )
    .await;
    show_checks(&found, printer);
    let embedded = EmbeddedModels::new(environment, settings, &sources.home, printer);
    let search = ServerSearch::new(settings, access_list)?;
    // Searched again only without a key, when a server's model would fill the panel.
    let servers = PanelSpec::default().find_servers(access_list, search).await;
    let menu = ModelMenu::new(&sources, &servers, &found, embedded.default_model());
    if menu.is_empty() {
        return Err(
            Error::failed("no model can be asked yet, so there is nothing to set up")
                .hint(
                    "set a key, such as `export ANTHROPIC_API_KEY=…`, `OPENAI_API_KEY` or \
                 `GEMINI_API_KEY`, and repeat `conclave setup`",
                )
                .hint("or start a local server, such as Ollama"),
        );
    }

    dialogue.remark(
        "Enter accepts, ↑ and ↓ move, Space ticks. Esc leaves; nothing is written before the end.",
    );
    let mut draft = settings.clone();
    PanelQuestions::new(&dialogue, &sources, &menu)
        .ask(&mut draft)
        .await?;
    spending::ask(&dialogue, &mut draft).await.map_err(left)?;
    dialogue.remark(&storage(&sources.home));
    let changes = changes::between(settings, &draft);
    changes::agree_and_write(&changes, &sources.home, environment, &dialogue, printer).await
}

fn show_checks(found: &FreeChecks, printer: &Printer) {
    let face = printer.err_traits();
    let lines = check_lines(&found.checks, Some(face.width), face.paint);
    printer.lines(&format!("\n{}", lines.trim_end()));
}

/// Returns what is saved: there is nothing to choose, but a person wants to know.
fn storage(home: &Home) -> String {
    let folder = home.logs_folder();
    format!(
        "Every consultation is saved in {}, for your account alone. `consult --no-log` saves \
         nothing; `history rm` deletes.",
        folder.display()
    )
}

fn interrupted() -> Error {
    left(DialogueError::Interrupted)
}

/// Returns the error of a dialogue that ended before its last question.
fn left(reason: DialogueError) -> Error {
    match reason {
        DialogueError::Cancelled => {
            Error::new(Exit::Declined, "setup was left; nothing was written")
        }
        DialogueError::Interrupted => {
            Error::new(Exit::Interrupted, "interrupted; nothing was written")
        }
        DialogueError::Terminal(_) => {
            Error::failed(reason).hint("change single settings with `conclave config set`")
        }
    }
}
