//! `conclave config`: shows the settings with their origins, and changes them.
//!
//! No API key is ever shown: the settings hold none.

pub(crate) mod edit;
mod setting_path;

use std::fmt::Write;

use clap::Subcommand;
use serde_json::{Value, json};

use crate::commands::App;
use crate::commands::completions::values::{Names, completer};
use crate::commands::flags::JsonFlags;
use crate::config::setting::{SETTINGS, Setting};
use crate::config::settings::{SettingOrigin, Settings};
use crate::error::Error;
use crate::setup::settings;
use crate::terminal::document::{self, Line, Table, Tail};
use crate::terminal::output::style::{Paint, Tone};
use crate::text::clean::{one_line, pretty_json};

use self::setting_path::SettingPath;

/// Show and change the settings
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave config set always_allow_under 0.25
  conclave config set endpoints.work.base_url https://llm.example.com/v1
  conclave config set endpoints.work.api_key_env WORK_KEY
  conclave config set endpoints.anthropic.api_key_cmd 'pass show anthropic'
  conclave config set panels.fast 'security=work:small,architect=ollama:gemma4'
  conclave config set parameters.openai:gpt-6.1-sol.reasoning_effort low
  conclave config show")]
pub struct Args {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Clone, Debug, Subcommand)]
enum ConfigAction {
    /// Print the path of the settings file
    Path,
    /// Show every setting with its value, its origin and, with --json, its help
    Show {
        #[command(flatten)]
        json: JsonFlags,
    },
    /// Print the value of a setting; nothing if it has none
    Get {
        /// The setting, or a part of one, such as `endpoints.work.base_url`
        #[arg(add = completer(Names::Settings))]
        key: String,
    },
    /// Check a setting and write it to the file
    #[command(after_help = set_help())]
    Set {
        /// The setting, or a part of one, such as `endpoints.work.base_url`
        #[arg(add = completer(Names::Settings))]
        key: String,
        /// JSON, or plain text
        #[arg(allow_hyphen_values = true, add = completer(Names::Values))]
        value: String,
    },
    /// Open the file in $VISUAL or $EDITOR, and check it afterwards
    Edit,
    /// Remove a setting from the file
    Unset {
        /// The setting, or a part of one, such as `panels.fast`
        #[arg(add = completer(Names::Settings))]
        key: String,
    },
}

/// Lists all settings with purpose, form of the values, and default.
fn set_help() -> String {
    let mut text = "Flags and CONCLAVE_… variables override the file. API keys are not settings: \
         name a variable with `api_key_env`, or a command that prints the key with \
         `api_key_cmd`.\n\nSettings:"
        .to_owned();
    for setting in SETTINGS.iter() {
        let default = match setting.value(&Settings::default()) {
            Value::Null | Value::Object(_) => String::new(),
            Value::String(word) => format!(" [default: {word}]"),
            value => format!(" [default: {value}]"),
        };
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "\n  {}\n          {} ({}){default}",
            setting.name, setting.help, setting.expects
        );
    }
    text
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let home = app.home()?;
    let load = || settings::load(&home, app.environment);
    let result = match &args.action {
        ConfigAction::Path => format!("{}\n", home.config_file().display()),
        ConfigAction::Show { json } => {
            let settings = load()?;
            return app.print(json.is_json(), &as_json(&settings), |width, paint| {
                screen(&rows(&settings), width, paint)
            });
        }
        ConfigAction::Get { key } => get(key, &load()?)?,
        ConfigAction::Set { key, value } => {
            return edit::set(key, value, &home, app);
        }
        ConfigAction::Edit => return edit::open(&home, app),
        ConfigAction::Unset { key } => return edit::unset(key, &home, app),
    };
    Ok(app.printer.result(&result)?)
}

/// Texts without quotation marks, nothing if there is none.
fn get(name: &str, settings: &Settings) -> Result<String, Error> {
    let path = SettingPath::parse(name, &|setting| setting.value(settings))?;
    let Some(value) = path.value(settings)? else {
        return Ok(String::new());
    };
    Ok(match value {
        Value::Null => String::new(),
        Value::String(text) => text + "\n",
        Value::Array(_) | Value::Object(_) => pretty_json(&value).map_err(Error::failed)? + "\n",
        Value::Bool(_) | Value::Number(_) => format!("{value}\n"),
    })
}

fn as_json(settings: &Settings) -> Value {
    let entry = |setting: &Setting| {
        let value = setting.value(settings);
        let origin = settings.origins.get(setting.name);
        let origin = origin.map_or_else(|| "default".to_owned(), ToString::to_string);
        (
            setting.name.to_owned(),
            json!({"value": value, "origin": origin, "help": setting.help}),
        )
    };
    SETTINGS.iter().map(entry).collect()
}

/// A setting, or a part of one.
#[derive(Clone, Debug)]
struct SettingRow {
    name: String,
    value: String,
    origin: String,
    /// What it does; only the first part of a setting has it.
    help: Option<&'static str>,
}

/// `None` does not wrap.
fn screen(rows: &[SettingRow], width: Option<usize>, paint: Paint) -> String {
    let rows = rows.iter().map(|row| {
        let mut cells = [&row.name, &row.value, &row.origin]
            .map(|cell| cell.clone().into())
            .to_vec();
        cells.push(Line::toned(Tone::Quiet, row.help.unwrap_or_default()));
        cells
    });
    let table = Table::with_tail(Tail::Wrapped, 3, &[""; 4], rows);
    document::screen(table.as_slice(), width, paint)
}

fn rows(settings: &Settings) -> Vec<SettingRow> {
    let mut rows = Vec::new();
    for setting in SETTINGS.iter() {
        let mut parts = Vec::new();
        leaves(setting.name, &setting.value(settings), &mut parts);
        let origin = match settings.origins.get(setting.name) {
            None => "default".to_owned(),
            Some(SettingOrigin::File(path) | SettingOrigin::Repository(path, _)) => path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned(),
            Some(origin) => origin.to_string(),
        };
        let mut help = Some(setting.help);
        for (name, value) in parts {
            rows.push(SettingRow {
                name: one_line(&name),
                value: one_line(&value),
                origin: origin.clone(),
                help: help.take(),
            });
        }
    }
    rows
}

fn leaves(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (field, value) in fields {
                leaves(&format!("{name}.{field}"), value, found);
            }
        }
        Value::Null => found.push((name.to_owned(), "-".to_owned())),
        Value::Object(_) if !name.contains('.') => found.push((name.to_owned(), "-".to_owned())),
        Value::String(text) => found.push((name.to_owned(), text.clone())),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items = items.iter().filter_map(Value::as_str);
            found.push((name.to_owned(), items.collect::<Vec<_>>().join(", ")));
        }
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => {
            found.push((name.to_owned(), value.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const CONFIG: &str = r#"{"judge": "a:j\u001b[31m", "endpoints": {"work": {"base_url": "h", "free": true}},
        "panels": {"fast": "security=a:m"}, "parameters": {"openai:gpt-6.1-sol": {"reasoning": {"effort": "low"}, "stop": null}}}"#;

    fn settings() -> Settings {
        Settings::default()
            .with_file(Path::new("config.json"), CONFIG)
            .unwrap()
    }

    #[test]
    fn every_setting_has_a_row_with_its_origin_and_its_help() {
        let rows = rows(&settings());
        for setting in SETTINGS.iter() {
            let mut own = rows.iter().filter(|row| row.name.starts_with(setting.name));
            assert!(own.any(|row| row.help == Some(setting.help)), "{setting}");
        }
        let threshold = &rows[0];
        assert_eq!(threshold.name, "always_allow_under");
        assert_eq!(threshold.value, "0.5");
        assert_eq!(threshold.origin, "default");
    }

    #[test]
    fn get_takes_the_name_of_every_part() {
        let settings = settings();
        let rows = rows(&settings);
        let in_file = rows.iter().filter(|row| row.origin == "config.json");
        for row in in_file.filter(|row| !["judge", "panels.fast.seats"].contains(&&*row.name)) {
            let got = get(&row.name, &settings).unwrap();
            let value = if row.value == "-" { "" } else { &row.value };
            let words = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(words(&got), words(value), "{}", row.name);
        }
    }

    #[test]
    fn json_has_value_origin_and_help() {
        let json = as_json(&settings());
        assert_eq!(json.as_object().unwrap().len(), SETTINGS.len());
        let value = json!({"work": {"base_url": "h", "free": true}});
        assert_eq!(json["endpoints"]["value"], value);
        assert_eq!(json["endpoints"]["origin"], "config.json");
        assert_eq!(json["panel"]["value"], Value::Null);
        assert_eq!(json["panel"]["origin"], "default");
        assert_eq!(json["panel"]["help"], "The experts, as for `--panel`");
    }

    #[test]
    fn table_fits_every_width() {
        let rows = rows(&settings());
        for width in [50, 80, 120, 200] {
            let table = screen(&rows, Some(width), Paint::PLAIN);
            let fits = |line: &str| console::measure_text_width(line) <= width;
            assert!(table.lines().all(fits), "{width}: {table}");
            assert!(!table.contains('\u{1b}'), "{table}");
        }
    }

    #[test]
    fn a_value_is_printed_by_itself_and_nothing_where_there_is_none() {
        let got = |name: &str| get(name, &settings()).map_err(|error| error.to_string());
        for (name, value) in [
            ("endpoints.work.base_url", "h\n"),
            ("endpoints.work.baseUrl", "h\n"),
            ("endpoints.work.free", "true\n"),
            ("endpoints.work.dialect", ""),
            ("endpoints.openai.base_url", ""),
            ("alwaysAllowUnder", "0.5\n"),
            ("panel", ""),
            ("parameters.openai:gpt-6.1-sol.reasoning.effort", "low\n"),
            ("parameters.openai:gpt-6.1-sol.seed", ""),
            ("panels.fast.seats", "[\n  \"security=a:m\"\n]\n"),
        ] {
            assert_eq!(got(name).unwrap(), value, "{name}");
        }
        for (name, words) in [
            ("jugde", "unknown setting `jugde`; did you mean `judge`?"),
            ("judge.x", "`judge` has no parts"),
            ("endpoints.wrok.base_url", "there is no `endpoints.wrok`"),
            (
                "endpoints.work.base_ulr",
                "`base_ulr` is not a field of `endpoints.work`; did you mean `base_url`?",
            ),
            (
                "endpoints.work.base_url.x",
                "`base_url` of `endpoints.work` has no parts",
            ),
        ] {
            assert_eq!(got(name).unwrap_err(), words, "{name}");
        }
    }
}
