//! `conclave setup`: a dialogue about the settings that matter first. It checks what works and
//! shows the panel, asks about panel and judge where there is a choice, asks what may be spent, and
//! writes the answers with the settings editor.
//!
//! [`crate::setup`] is something else: it makes the plan of a consultation.
//!
//! Invariants: nothing is written before the last question; no key is read into a setting.

use futures_util::future::OptionFuture;
use serde_json::Value;

use super::doctor;
use crate::commands::App;
use crate::commands::config::edit;
use crate::commands::flags::dollars;
use crate::commands::until_interrupted;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::setting::{self, ALWAYS_ALLOW_UNDER, PROGRAMS};
use crate::config::settings::Settings;
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::panel::Panel;
use crate::engine::ports::Confirmation;
use crate::error::{Error, Exit};
use crate::setup::embedded_model::EmbeddedModels;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::panel;
use crate::setup::panel::context::{LOG_IN, SelectionContext};
use crate::setup::panel::spec::PanelSpec;
use crate::setup::personas::PersonaRegistry;
use crate::setup::plan::sources::PlanSources;
use crate::setup::programs::consent::ProgramConsent;
use crate::setup::programs::{ProgramList, allowed_setting};
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::request::PanelRequest;
use crate::terminal::document::{Line, Part, fact, screen};
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::output::style::Tone;
use crate::terminal::prompt::keyboard::Keyboard;
use crate::terminal::prompt::{InputError, StdinUse, ask_line, can_ask, choose, confirm};
use crate::terminal::tables::doctor::check_lines;

/// See the panel that your keys give, and set up what may be spent, in a dialogue
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "\
Checks keys and local servers by free requests, asks, shows the lines, and writes them to \
config.json after you agree. It can be repeated: the present settings are the defaults. \
API keys are never stored: they stay in their variables.

Keys: Enter accepts, Esc leaves and writes nothing.")]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, app: App<'_>) -> Result<(), Error> {
    if !can_ask(app.printer, StdinUse::Free) {
        let reason = "`conclave setup` asks questions, and there is no terminal to ask on";
        return Err(Error::usage(reason).hint(
            "change single settings with `conclave config set`; see them with `conclave config \
             show`",
        ));
    }
    set_up(app)
}

fn set_up(app: App<'_>) -> Result<(), Error> {
    until_interrupted(app.printer, interrupted, ask_and_write(app))
}

async fn ask_and_write(app: App<'_>) -> Result<(), Error> {
    let (environment, printer) = (app.environment, app.printer);
    let sources = PlanSources::load(environment, app.clock.now())?;
    // What is written is for all repositories.
    let repository = sources.settings.repository.as_ref();
    let settings = repository.map_or(&sources.settings, |repository| &repository.own);
    let access_list = &sources.access_list;
    printer.prose(
        "Checking keys and local servers; this costs nothing.",
        Tone::Plain,
    );
    let found = doctor::check_for_free(
        settings,
        access_list,
        &sources.catalog,
        sources.now,
        printer,
    )
    .await;
    let face = printer.err_traits();
    let lines = check_lines(&found.checks, Some(face.width), face.paint);
    printer.lines(&format!("\n{}", lines.trim_end()));
    let embedded = EmbeddedModels::new(environment, settings, &sources.home, printer);
    let search = ServerSearch::new(settings, access_list)?;
    // Searched again only without a key, when a server's model would fill the panel.
    let servers = PanelSpec::default();
    let servers = servers.find_servers(access_list, &[], search).await;
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
    let programs = &ProgramList::load(settings, environment, &sources.home);
    let has_program = !can_ask && !programs.ready().await.is_empty();
    if !can_ask && !has_program && !has_server && embedded.is_none() {
        return Err(
            Error::failed("no model can be asked yet, so there is nothing to set up")
                .hint(
                    "set a key, such as `export ANTHROPIC_API_KEY=…`, `OPENAI_API_KEY` or \
                 `GEMINI_API_KEY`, and repeat `conclave setup`",
                )
                .hint(LOG_IN)
                .hint("or start a local server, such as Ollama"),
        );
    }

    remark(
        printer,
        "Enter accepts, Esc leaves; nothing is written before the end.",
    );
    let mut draft = settings.clone();
    let consent = ProgramConsent {
        programs,
        face: printer,
        mode: ConsentMode::Interactive,
        dry_run: false,
        keeps: false,
    };
    let usual_programs = OptionFuture::from(has_program.then(|| consent.offer())).await;
    let usual_programs = usual_programs.unwrap_or_default();
    let by_keys = || SelectionContext {
        usual_programs: &usual_programs,
        ..sources.selection_context(embedded.clone(), &servers, programs)
    };
    let answering = (usable.len() < access_list.len()).then(|| SelectionContext {
        access_list: &usable,
        ..by_keys()
    });
    let questions = SetupQuestions {
        printer,
        personas: &sources.personas,
        by_keys: by_keys(),
        answering,
    };
    questions.ask(&mut draft).await.map_err(left)?;
    // There is nothing to choose, but a person wants to know.
    let saved = format!(
        "Every consultation is saved in {}, for your account alone. `consult --no-log` saves \
         nothing; `history rm` deletes.",
        sources.home.logs_folder().display()
    );
    remark(printer, &saved);
    let mut changes = between(settings, &draft);
    let allow = |program: &ProviderId| {
        Some(SettingChange {
            setting: setting::find(PROGRAMS)?,
            path: allowed_setting(program),
            value: Some(Value::Bool(true)),
        })
    };
    changes.extend(programs.agreed().iter().filter_map(allow));
    agree_and_write(&changes, &sources.home, environment, printer).await
}

fn interrupted() -> Error {
    Error::new(Exit::Interrupted, "interrupted; nothing was written")
}

fn left(reason: InputError) -> Error {
    match reason {
        InputError::InputEnded => Error::declined("setup was left; nothing was written"),
        InputError::NoTerminal => {
            Error::failed(reason).hint("change single settings with `conclave config set`")
        }
    }
}

/// After an empty line.
fn remark(printer: &Printer, remark: &str) {
    printer.lines("");
    printer.prose(remark, Tone::Quiet);
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
    /// Its name, or that of a part of it.
    path: String,
    value: Option<Value>,
}

/// The amount that is spent unasked is written even if it is the default: a person has agreed to
/// it.
fn between(present: &Settings, draft: &Settings) -> Vec<SettingChange> {
    let change = |setting: &'static setting::Setting| {
        let value = setting.value(draft);
        let is_agreed =
            setting.name == ALWAYS_ALLOW_UNDER && !present.origins.contains_key(setting.name);
        (value != setting.value(present) || is_agreed).then(|| SettingChange {
            setting,
            path: setting.name.to_owned(),
            value: Some(value).filter(|value| !value.is_null()),
        })
    };
    ASKED
        .iter()
        .filter_map(|name| change(setting::find(name)?))
        .collect()
}

async fn agree_and_write(
    changes: &[SettingChange],
    home: &Home,
    environment: &Environment,
    printer: &Printer,
) -> Result<(), Error> {
    let file = home.config_file();
    if changes.is_empty() {
        printer.lines("");
        printer.prose(
            "Nothing to change: the settings are as you answered.",
            Tone::Plain,
        );
        return Ok(());
    }
    printer.lines(&format!("\nChanges to {}:", file.display()));
    for change in changes {
        let (sign, tone) = match change.value {
            Some(_) => ('+', Tone::Good),
            None => ('-', Tone::Bad),
        };
        printer.prose(&format!("  {sign} {}", line(change)), tone);
    }
    if confirm(printer, Vec::new(), "Write them?", 'y').await != Confirmation::Yes {
        return Err(left(InputError::InputEnded));
    }
    for SettingChange { path, value, .. } in changes {
        match value {
            Some(value) => edit::write(path, &value.to_string(), home).map(drop)?,
            None => edit::remove(path, home).map(drop)?,
        }
    }
    printer.prose(
        "Written. See all settings with `conclave config show`.",
        Tone::Plain,
    );
    for change in changes {
        edit::warn_of_variable(change.setting, environment, printer);
    }
    Ok(())
}

/// A removed setting is its name.
fn line(change: &SettingChange) -> String {
    let name = Value::from(change.path.as_str());
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
pub(crate) fn offer(app: App<'_>) -> Result<(), Error> {
    let (environment, printer) = (app.environment, app.printer);
    if !is_due(environment, printer) {
        return Ok(());
    }
    let question = "No settings yet: set up what may be spent first?";
    let asked = async { Ok(confirm(printer, Vec::new(), question, 'n').await) };
    if until_interrupted(printer, interrupted, asked)? != Confirmation::Yes {
        return Ok(());
    }
    match set_up(app) {
        Err(error) if error.exit == Exit::Declined => {
            printer.note("Nothing was written; `conclave setup` can be run any time.");
            Ok(())
        }
        result => result,
    }
}

fn is_due(environment: &Environment, printer: &Printer) -> bool {
    let is_new = |home: Home| !home.config_file().exists() && !home.logs_folder().exists();
    can_ask(printer, StdinUse::Free)
        && printer.err_traits().is_animated
        && printer.verbosity() > Verbosity::Quiet
        && environment.text("CI").is_none()
        && Home::find(environment).is_ok_and(is_new)
        && provider_access::all(&Settings::default(), environment)
            .iter()
            .any(ProviderAccess::is_selectable)
}

/// Asks, and puts the answers in a draft of the settings.
#[derive(Debug)]
struct SetupQuestions<'a> {
    printer: &'a Printer,
    personas: &'a PersonaRegistry,
    /// The models whose keys are set.
    by_keys: SelectionContext<'a>,
    /// Those of vendors that answer; `None` if all do.
    answering: Option<SelectionContext<'a>>,
}

/// A way to fill the seats.
struct PanelOption {
    word: &'static str,
    meaning: &'static str,
    /// `None` if it cannot be asked now.
    panel: Option<Panel>,
    /// The settings `panel` and `default_personas`.
    settings: [Option<Vec<String>>; 2],
}

impl SetupQuestions<'_> {
    async fn ask(&self, draft: &mut Settings) -> Result<(), InputError> {
        self.ask_panel(draft).await?;
        self.ask_judge(draft).await?;
        let amount = |text: &str| dollars(text).map_err(|why| format!("The amount {why}."));
        let (printer, keyboard) = (self.printer, Keyboard::controlling());
        let prompt = "Spend without asking, in dollars (0: ask about every cost)";
        let present = draft.always_allow_under.usd().to_string();
        draft.always_allow_under = ask_line(printer, &keyboard, prompt, &present, amount).await?;
        let prompt = "Spend in a month, in dollars (none: no limit)";
        let present = draft.monthly_budget.map(MicroUsd::usd);
        let present = present.map_or_else(|| "none".to_owned(), |usd| usd.to_string());
        let read = |text: &str| (text != "none").then(|| amount(text)).transpose();
        draft.monthly_budget = ask_line(printer, &keyboard, prompt, &present, read).await?;
        Ok(())
    }

    async fn ask_panel(&self, draft: &mut Settings) -> Result<(), InputError> {
        let open = Settings {
            panel: None,
            default_personas: None,
            ..draft.clone()
        };
        let present = [draft.panel.clone(), draft.default_personas.clone()];
        let is_set = present.iter().any(Option::is_some);
        let mut options = Vec::new();
        options.extend(is_set.then(|| PanelOption {
            word: "present",
            meaning: "the panel that is set",
            panel: self.select(draft, &self.by_keys).ok(),
            settings: present.clone(),
        }));
        let answering = self.answering.as_ref();
        let answering = answering.and_then(|context| self.select(&open, context).ok());
        options.extend(answering.map(|panel| PanelOption {
            word: "answering",
            meaning: "only the vendors that answer now",
            settings: [Some(seats(&panel)), draft.default_personas.clone()],
            panel: Some(panel),
        }));
        let by_keys = self.select(&open, &self.by_keys).ok();
        options.extend(by_keys.map(|panel| PanelOption {
            word: "keys",
            meaning: "follow the keys that are set",
            panel: Some(panel),
            settings: [None, None],
        }));
        if let Some(panel) = options.first().and_then(|option| option.panel.as_ref()) {
            let title = if is_set {
                "The present panel:"
            } else {
                "The panel would be:"
            };
            remark(self.printer, title);
            self.printer.lines(&self.seats_and_judge(panel));
        }
        remark(
            self.printer,
            "Name seats or a judge of your own with `conclave config set panel` and `conclave \
             config set judge`.",
        );
        let items = options.iter().map(|it| (it.word, it.meaning.to_owned()));
        let choice = match options.len() {
            0 | 1 => 0,
            _ => choose(self.printer, "Which panel?", &items.collect::<Vec<_>>()).await?,
        };
        if let Some(option) = options.into_iter().nth(choice) {
            [draft.panel, draft.default_personas] = option.settings;
        }
        Ok(())
    }

    async fn ask_judge(&self, draft: &mut Settings) -> Result<(), InputError> {
        let Some(judge) = &draft.judge else {
            return Ok(());
        };
        let open = Settings {
            judge: None,
            ..draft.clone()
        };
        let context = self.answering.as_ref().unwrap_or(&self.by_keys);
        let suited = self.select(&open, context).ok();
        let suited = suited.and_then(|panel| panel.judges.first().cloned());
        let now = suited.map_or(String::new(), |model| format!(", now {model}"));
        let items = [
            ("keep", judge.clone()),
            ("suited", format!("to the panel{now}")),
        ];
        if choose(self.printer, "Which judge?", &items).await? > 0 {
            draft.judge = None;
        }
        Ok(())
    }

    fn seats_and_judge(&self, panel: &Panel) -> String {
        let row =
            |name: &str, model: &ModelRef| fact(Line::toned(Tone::Quiet, name), model.to_string());
        let seats = panel.seats.iter();
        let seats = seats.map(|seat| row(&seat.persona.id, &seat.model));
        let judge = panel.judges.first().map(|judge| row("judge", judge));
        let facts = Part::Facts(seats.chain(judge).collect());
        let face = self.printer.err_traits();
        let text = screen(&[facts], Some(face.width - 2), face.paint);
        let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
        lines.join("\n")
    }

    fn select(&self, settings: &Settings, context: &SelectionContext<'_>) -> Result<Panel, Error> {
        let spec = PanelSpec::new(&PanelRequest::default(), settings, self.personas)?;
        panel::select(&spec, context).map(|selected| selected.panel)
    }
}

/// As the setting `panel` takes them.
fn seats(panel: &Panel) -> Vec<String> {
    let seats = panel.seats.iter();
    seats
        .map(|seat| format!("{}={}", seat.persona.id, seat.model))
        .collect()
}
