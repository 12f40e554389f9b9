//! The configuration file of a loop: thresholds of the rules and of the circuit. It is `config.toml`
//! in the folder of the state, or the YAML of Blackbox3 where that has it.
//!
//! Here the file is read and its keys are checked. What the numbers may be is the business of the
//! rules that use them.

mod document;
mod toml;

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::names::did_you_mean;
use crate::files::{self, SizeLimit};

use self::document::{Entry, EntryValue, SyntaxError};

/// The file in the folder of the state.
const FILE_NAME: &str = "config.toml";

/// The file of Blackbox3, which has sections for other programs too.
const SHARED_FILE: &str = ".bb3/config.yaml";

/// A threshold that the file can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopSetting {
    MinConfidence,
    MinCompletion,
    MaxErrors,
    StagnationTurns,
    MaxTurns,
    SameErrorTurns,
    CompletionClaims,
    LowConfidenceTurns,
    QuestionTurns,
    FailedTurns,
    NoProgressTurns,
    CircuitSameErrorTurns,
    CooldownMinutes,
    ProbeMinutes,
}

const EXIT_DECISION: &str = "exit_decision";
const CIRCUIT: &str = "circuit";

/// Section, key and meaning. A meaning with two keys has two spellings.
const KEYS: [(&str, &str, LoopSetting); 15] = {
    use LoopSetting as Setting;
    [
        (EXIT_DECISION, "min_confidence", Setting::MinConfidence),
        (EXIT_DECISION, "min_completion", Setting::MinCompletion),
        (EXIT_DECISION, "max_errors", Setting::MaxErrors),
        (EXIT_DECISION, "stagnation_turns", Setting::StagnationTurns),
        (EXIT_DECISION, "stagnation_loops", Setting::StagnationTurns),
        (EXIT_DECISION, "max_turns", Setting::MaxTurns),
        (EXIT_DECISION, "same_error_turns", Setting::SameErrorTurns),
        (
            EXIT_DECISION,
            "completion_claims",
            Setting::CompletionClaims,
        ),
        (
            EXIT_DECISION,
            "low_confidence_turns",
            Setting::LowConfidenceTurns,
        ),
        (EXIT_DECISION, "question_turns", Setting::QuestionTurns),
        (EXIT_DECISION, "failed_turns", Setting::FailedTurns),
        (CIRCUIT, "no_progress_turns", Setting::NoProgressTurns),
        (CIRCUIT, "same_error_turns", Setting::CircuitSameErrorTurns),
        (CIRCUIT, "cooldown_minutes", Setting::CooldownMinutes),
        (CIRCUIT, "probe_minutes", Setting::ProbeMinutes),
    ]
};

impl LoopSetting {
    /// Returns its usual key in a file.
    pub fn key(self) -> &'static str {
        let key = KEYS.iter().find(|(_, _, setting)| *setting == self);
        key.map(|(_, key, _)| *key).unwrap_or_default()
    }
}

/// The settings of a file; none without a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopSettings {
    file: PathBuf,
    values: Vec<SettingLine>,
}

/// A setting, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SettingLine {
    setting: LoopSetting,
    key: String,
    value: u64,
    line: usize,
}

/// The reason why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoopSettingsError {
    #[error("the configuration file `{}` cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("`{}`, line {line}: {problem}", path.display())]
    Wrong {
        path: PathBuf,
        line: usize,
        problem: String,
    },
}

/// Whether the file is for this program alone, so that a section it does not know is a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Own,
    Shared,
}

impl LoopSettings {
    /// Reads the configuration file in the folder of the state, or that of Blackbox3 in the current
    /// folder; without a file there are no settings.
    pub fn find(state_folder: &Path) -> Result<Self, LoopSettingsError> {
        let own = state_folder.join(FILE_NAME);
        let shared = PathBuf::from(SHARED_FILE);
        if own.symlink_metadata().is_ok() {
            Self::read(own, Owner::Own)
        } else if shared.symlink_metadata().is_ok() {
            Self::read(shared, Owner::Shared)
        } else {
            Ok(Self::default())
        }
    }

    fn read(file: PathBuf, owner: Owner) -> Result<Self, LoopSettingsError> {
        match files::read_text(&file, SizeLimit::SETTINGS) {
            Ok(text) => Self::parse(file, &text, owner),
            Err(source) => Err(LoopSettingsError::Unreadable { path: file, source }),
        }
    }

    fn parse(file: PathBuf, text: &str, owner: Owner) -> Result<Self, LoopSettingsError> {
        let parsed = match owner {
            Owner::Own => toml::parse(text),
            Owner::Shared => document::of_yaml(text),
        };
        let values = parsed.and_then(|entries| values(&entries, owner));
        match values {
            Ok(values) => Ok(Self { file, values }),
            Err(SyntaxError { line, problem }) => Err(LoopSettingsError::Wrong {
                path: file,
                line,
                problem,
            }),
        }
    }

    /// Returns the value that the file sets.
    pub fn get(&self, setting: LoopSetting) -> Option<u64> {
        self.line(setting).map(|line| line.value)
    }

    /// Returns where the file sets it, for people: `` `min_confidence` in `.conclave/config.toml`,
    /// line 3``.
    pub fn origin(&self, setting: LoopSetting) -> Option<String> {
        let SettingLine { key, line, .. } = self.line(setting)?;
        Some(format!("`{key}` in `{}`, line {line}", self.file.display()))
    }

    fn line(&self, setting: LoopSetting) -> Option<&SettingLine> {
        self.values.iter().find(|line| line.setting == setting)
    }
}

/// Returns the settings of all sections.
fn values(entries: &[Entry], owner: Owner) -> Result<Vec<SettingLine>, SyntaxError> {
    let mut values: Vec<SettingLine> = Vec::new();
    for section in entries {
        let name = section.key.as_str();
        if name != EXIT_DECISION && name != CIRCUIT {
            match owner {
                Owner::Shared => continue,
                Owner::Own => return Err(unknown(section, &[EXIT_DECISION, CIRCUIT])),
            }
        }
        let settings = match &section.value {
            EntryValue::Section(settings) => settings,
            // A section whose settings are all comments.
            EntryValue::Null => continue,
            EntryValue::Number(_) | EntryValue::Other(_) => {
                return Err(section.wrong("but must have settings beneath it"));
            }
        };
        for entry in settings {
            let value = setting(name, entry)?;
            if let Some(earlier) = values
                .iter()
                .find(|earlier| earlier.setting == value.setting)
            {
                let (key, line) = (&value.key, earlier.line);
                return Err(SyntaxError {
                    line: value.line,
                    problem: format!(
                        "`{key}` is set in line {line} already, as `{}`",
                        earlier.key
                    ),
                });
            }
            values.push(value);
        }
    }
    Ok(values)
}

fn setting(section: &str, entry: &Entry) -> Result<SettingLine, SyntaxError> {
    let keys = KEYS.iter().filter(|(of, _, _)| *of == section);
    let Some((_, _, setting)) = keys.clone().find(|(_, key, _)| *key == entry.key) else {
        let keys: Vec<&str> = keys.map(|(_, key, _)| *key).collect();
        return Err(unknown(entry, &keys));
    };
    match entry.value {
        EntryValue::Number(value) => Ok(SettingLine {
            setting: *setting,
            key: entry.key.clone(),
            value,
            line: entry.line,
        }),
        EntryValue::Section(_) | EntryValue::Null | EntryValue::Other(_) => {
            Err(entry.wrong("but must be a whole number"))
        }
    }
}

/// Returns the error for a key that is none of these.
fn unknown(entry: &Entry, keys: &[&str]) -> SyntaxError {
    let suggestion = did_you_mean(&entry.key, keys.iter().copied());
    let known = match suggestion.as_str() {
        "" => format!("; the keys here are `{}`", keys.join("`, `")),
        _ => String::new(),
    };
    SyntaxError {
        line: entry.line,
        problem: format!("unknown key `{}`{suggestion}{known}", entry.key),
    }
}

#[cfg(test)]
mod tests;
