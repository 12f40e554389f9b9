//! `conclave setup`: a dialogue about the settings that matter first. It checks what works, asks
//! for the panel, the judge and the spending, and writes the answers through the editor of the
//! settings.
//!
//! [`crate::setup`] is another thing: it makes the plan of a consultation.
//!
//! Invariants: nothing is written before the last question; no key is read into a setting.

use serde_json::Value;

use crate::commands::config::edit;
use crate::commands::flags::dollars;
use crate::commands::inventory::doctor::{self, FreeChecks};
use crate::commands::runtime::until_interrupted;
use crate::config::env::Environment;
use crate::config::key_detection::holds_key;
use crate::config::paths::Home;
use crate::config::setting::{self, ALWAYS_ALLOW_UNDER};
use crate::config::settings::Settings;
use crate::domain::ids::ModelRef;
use crate::domain::money::MicroUsd;
use crate::domain::panel::Panel;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit, whole};
use crate::setup::embedded_model::EmbeddedModels;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::panel;
use crate::setup::panel::context::SelectionContext;
use crate::setup::panel::spec::PanelSpec;
use crate::setup::personas::PersonaRegistry;
use crate::setup::plan::sources::Sources;
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::request::PanelRequest;
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError, LineChange};
use crate::terminal::prompt::{StdinUse, can_ask};
use crate::terminal::tables::doctor::check_lines;

/// Set up the panel, the judge and what may be spent, in a dialogue
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "\
Checks keys and local servers by free requests, asks, shows the lines, and writes them to \
config.json after you agree. It can be repeated: the present settings are the defaults. \
API keys are never stored: they stay in their variables.

Keys: Enter accepts, the arrows move, Esc leaves and writes nothing.")]
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
    // All of them when no vendor answers: the network may be down.
    let is_usable = |access: &&ProviderAccess| {
        found.answering.is_empty()
            || !access.is_selectable()
            || found.answering.contains(&access.id)
    };
    let usable: Vec<ProviderAccess> = access_list.iter().filter(is_usable).cloned().collect();
    let embedded = embedded.default_model();
    let has_server = found.servers.iter().any(|server| !server.models.is_empty());
    let can_ask = usable.iter().any(ProviderAccess::is_selectable);
    if !can_ask && !has_server && embedded.is_none() {
        return Err(
            Error::failed("no model can be asked yet, so there is nothing to set up")
                .hint(
                    "set a key, such as `export ANTHROPIC_API_KEY=…`, `OPENAI_API_KEY` or \
                 `GEMINI_API_KEY`, and repeat `conclave setup`",
                )
                .hint("or start a local server, such as Ollama"),
        );
    }

    dialogue.remark("Enter accepts, ↑ and ↓ move. Esc leaves; nothing is written before the end.");
    let mut draft = settings.clone();
    let by_keys = || sources.selection_context(embedded.clone(), &servers);
    let answering = (usable.len() < access_list.len()).then(|| SelectionContext {
        access_list: &usable,
        ..by_keys()
    });
    let questions = Questions {
        dialogue: &dialogue,
        personas: &sources.personas,
        by_keys: by_keys(),
        answering,
    };
    questions.ask(&mut draft).await.map_err(left)?;
    dialogue.remark(&storage(&sources.home));
    let changes = between(settings, &draft);
    agree_and_write(&changes, &sources.home, environment, &dialogue, printer).await
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

/// The settings that the dialogue asks for, in the order in which they are written.
const ASKED: [&str; 5] = [
    "panel",
    "default_personas",
    "judge",
    ALWAYS_ALLOW_UNDER,
    "monthly_budget",
];

/// A new value of a setting; without one, the setting is removed.
#[derive(Clone, Debug)]
struct SettingChange {
    setting: &'static setting::Setting,
    value: Option<Value>,
}

/// Returns what the answers change. The amount that is spent unasked is written even if it is the
/// default: a person has agreed to it.
fn between(present: &Settings, draft: &Settings) -> Vec<SettingChange> {
    let change = |setting: &'static setting::Setting| {
        let value = setting.value(draft);
        let is_agreed =
            setting.name == ALWAYS_ALLOW_UNDER && !present.origins.contains_key(setting.name);
        (value != setting.value(present) || is_agreed).then(|| SettingChange {
            setting,
            value: Some(value).filter(|value| !value.is_null()),
        })
    };
    ASKED
        .iter()
        .filter_map(|name| change(setting::find(name)?))
        .collect()
}

/// Shows the lines, asks, and writes them.
async fn agree_and_write(
    changes: &[SettingChange],
    home: &Home,
    environment: &Environment,
    dialogue: &Dialogue,
    printer: &Printer,
) -> Result<(), Error> {
    let file = home.config_file();
    if changes.is_empty() {
        dialogue.say("\nNothing to change: the settings are as you answered.");
        return Ok(());
    }
    printer.lines(&format!("\nChanges to {}:", file.display()));
    for change in changes {
        let kind = match change.value {
            Some(_) => LineChange::Added,
            None => LineChange::Removed,
        };
        dialogue.change(&line(change), kind);
    }
    let is_agreed = dialogue.confirm("Write them?", true).await.map_err(left)?;
    if !is_agreed {
        return Err(left(DialogueError::Cancelled));
    }
    for SettingChange { setting, value } in changes {
        match value {
            Some(value) => edit::write(setting.name, &value.to_string(), home).map(drop)?,
            None => edit::remove(setting.name, home).map(drop)?,
        }
    }
    dialogue.say("Written. See all settings with `conclave config show`.");
    for change in changes {
        edit::warn_of_variable(change.setting, environment, printer);
    }
    Ok(())
}

/// Returns the line of a change as the file has it; a removed setting is its name.
fn line(change: &SettingChange) -> String {
    let name = Value::from(change.setting.name);
    match &change.value {
        Some(Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("{name}: [{}]", items.join(", "))
        }
        Some(value) => format!("{name}: {value}"),
        None => name.to_string(),
    }
}

/// Offers setup to a person who has not been asked yet, and runs it if the answer is yes. A
/// dialogue that is left goes back to the question that was asked.
pub(crate) fn offer(environment: &Environment, printer: &Printer) -> Result<(), Error> {
    if !is_due(environment, printer) {
        return Ok(());
    }
    if !until_interrupted(printer, interrupted, ask(printer))? {
        return Ok(());
    }
    match set_up(environment, printer) {
        Err(error) if error.exit == Exit::Declined => {
            printer.note("Nothing was written; `conclave setup` can be run any time.");
            Ok(())
        }
        result => result,
    }
}

fn is_due(environment: &Environment, printer: &Printer) -> bool {
    let is_new = |home: Home| !home.config_file().exists() && !home.logs_folder().exists();
    can_run(printer)
        && printer.verbosity() > Verbosity::Quiet
        && environment.text("CI").is_none()
        && Home::find(environment).is_ok_and(is_new)
        && provider_access::all(&Settings::default(), environment)
            .iter()
            .any(ProviderAccess::is_selectable)
}

async fn ask(printer: &Printer) -> Result<bool, Error> {
    let dialogue = Dialogue::open(printer);
    match dialogue
        .confirm("No settings yet: set up panel and spending first?", false)
        .await
    {
        Ok(answer) => Ok(answer),
        Err(DialogueError::Cancelled) => Ok(false),
        Err(reason) => Err(left(reason)),
    }
}

/// Asks, and puts the answers in a draft of the settings.
#[derive(Debug)]
pub(super) struct Questions<'a> {
    pub(super) dialogue: &'a Dialogue,
    pub(super) personas: &'a PersonaRegistry,
    /// The models whose keys are set.
    pub(super) by_keys: SelectionContext<'a>,
    /// Those of vendors that answer; `None` if all do.
    pub(super) answering: Option<SelectionContext<'a>>,
}

/// A way to fill the seats.
enum PanelSource {
    Present,
    ByKeys,
    Answering(Panel),
    Typed,
}

impl Questions<'_> {
    pub(super) async fn ask(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        self.ask_panel(draft).await?;
        self.ask_judge(draft).await?;
        let amount = |text: &str| dollars(text).map_err(|why| format!("The amount {why}."));
        let dialogue = self.dialogue;
        let prompt = "Spend without asking, in dollars (0: ask about every cost)";
        let present = draft.always_allow_under.usd().to_string();
        draft.always_allow_under = dialogue.edited_line(prompt, &present, amount).await?;
        let prompt = "Spend in a month, in dollars (none: no limit)";
        let present = draft.monthly_budget.map(MicroUsd::usd);
        let present = present.map_or_else(|| "none".to_owned(), |usd| usd.to_string());
        let read = |text: &str| (text != "none").then(|| amount(text)).transpose();
        draft.monthly_budget = dialogue.edited_line(prompt, &present, read).await?;
        Ok(())
    }

    async fn ask_panel(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        let open = Settings {
            panel: None,
            default_personas: None,
            ..draft.clone()
        };
        let mut sources = Vec::new();
        if draft.panel.is_some() || draft.default_personas.is_some() {
            let panel = self.select(draft, &self.by_keys).ok();
            sources.push((PanelSource::Present, "Keep the present panel", panel));
        }
        let answering = self.answering.as_ref();
        if let Some(panel) = answering.and_then(|context| self.select(&open, context).ok()) {
            let source = PanelSource::Answering(panel.clone());
            sources.push((source, "Only the vendors that answer now", Some(panel)));
        }
        if let Ok(panel) = self.select(&open, &self.by_keys) {
            let item = "Follow the keys that are set";
            sources.push((PanelSource::ByKeys, item, Some(panel)));
        }
        sources.push((PanelSource::Typed, "Name the seats", None));
        if let Some((source, _, Some(panel))) = sources.first() {
            self.dialogue.remark(match source {
                PanelSource::Present => "The present panel:",
                _ => "The panel would be:",
            });
            self.dialogue.table(&rows(panel));
        }
        let items: Vec<String> = sources.iter().map(|it| it.1.to_owned()).collect();
        let choice = self.dialogue.select("Panel", &items, 0).await?;
        match sources.into_iter().nth(choice).map(|(source, ..)| source) {
            Some(PanelSource::Present) => {}
            Some(PanelSource::ByKeys) => (draft.panel, draft.default_personas) = (None, None),
            Some(PanelSource::Answering(panel)) => draft.panel = Some(seats(&panel)),
            Some(PanelSource::Typed) | None => {
                let read = |text: &str| self.typed_seats(text, &open);
                self.dialogue
                    .remark("`conclave personas` and `conclave models` list what a seat can have.");
                let prompt = "Seats, as persona=provider:model, separated by commas";
                draft.panel = Some(self.dialogue.line(prompt, read).await?);
            }
        }
        Ok(())
    }

    async fn ask_judge(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        let open = Settings {
            judge: None,
            ..draft.clone()
        };
        let context = self.answering.as_ref().unwrap_or(&self.by_keys);
        let suited = self.select(&open, context).ok();
        let suited = suited.and_then(|panel| panel.judges.first().cloned());
        let now = suited.map_or(String::new(), |model| format!(", now {model}"));
        let kept = draft.judge.iter().map(|judge| format!("Keep {judge}"));
        let others = [
            format!("Suited to the panel{now}"),
            "Name a model".to_owned(),
        ];
        let items: Vec<String> = kept.chain(others).collect();
        let choice = self.dialogue.select("Judge", &items, 0).await?;
        match choice + usize::from(draft.judge.is_none()) {
            0 => {}
            1 => draft.judge = None,
            _ => {
                let read = |name: &str| self.typed_model(name);
                let model = self.dialogue.line("Model, as provider:model", read).await?;
                draft.judge = Some(model.to_string());
            }
        }
        Ok(())
    }

    /// Returns the panel of these settings.
    fn select(&self, settings: &Settings, context: &SelectionContext<'_>) -> Result<Panel, Error> {
        let spec = PanelSpec::new(&PanelRequest::default(), settings, self.personas)?;
        panel::select(&spec, context).map(|selected| selected.panel)
    }

    fn typed_seats(&self, text: &str, open: &Settings) -> Result<Vec<String>, String> {
        no_key(text)?;
        let settings = Settings {
            panel: Some(text.split(',').map(|seat| seat.trim().to_owned()).collect()),
            ..open.clone()
        };
        let panel = self.select(&settings, &self.by_keys);
        panel
            .map(|panel| seats(&panel))
            .map_err(|error| in_words(&error))
    }

    fn typed_model(&self, name: &str) -> Result<ModelRef, String> {
        no_key(name)?;
        self.by_keys.model(name).map_err(|error| in_words(&error))
    }
}

fn no_key(text: &str) -> Result<(), String> {
    if holds_key(text) {
        return Err("This looks like an API key; keys stay in their variables.".to_owned());
    }
    Ok(())
}

fn in_words(error: &Error) -> String {
    format!("{}: {}", whole(error.source()), error.hints.join("; "))
}

/// Returns the seats as the setting `panel` takes them.
fn seats(panel: &Panel) -> Vec<String> {
    let seats = panel.seats.iter();
    seats
        .map(|seat| format!("{}={}", seat.persona.id, seat.model))
        .collect()
}

/// Returns each seat and the judge with their models.
fn rows(panel: &Panel) -> Vec<(String, String)> {
    let seats = panel.seats.iter();
    let seats = seats.map(|seat| (seat.persona.id.clone(), seat.model.to_string()));
    let judge = panel.judges.first();
    let judge = judge.map(|judge| ("judge".to_owned(), judge.to_string()));
    seats.chain(judge).collect()
}
