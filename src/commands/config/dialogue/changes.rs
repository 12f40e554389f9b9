//! The end of the dialogue: the lines that would be written, the last question, and the write.

use serde_json::Value;

use crate::commands::config::edit::{self, SettingChange};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::setting::{self, ALWAYS_ALLOW_UNDER};
use crate::config::settings::Settings;
use crate::error::Error;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError, LineChange};

use super::left;

/// The settings that the dialogue asks for, in the order in which they are written.
const ASKED: [&str; 5] = [
    "panel",
    "default_personas",
    "judge",
    ALWAYS_ALLOW_UNDER,
    "monthly_budget",
];

/// Returns what the answers change. The amount that is spent unasked is written even if it is the
/// default: a person has agreed to it.
pub(super) fn between(present: &Settings, draft: &Settings) -> Vec<SettingChange> {
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
pub(super) async fn agree_and_write(
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
    edit::write_all(changes, home)?;
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
