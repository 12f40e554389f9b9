//! The configuration file of a loop: thresholds of the rules and of the circuit. The file is
//! `config.toml` in the folder of the state, or the YAML file of Blackbox3.
//!
//! This module reads the file and checks its keys. The rules that use the numbers check their
//! ranges.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::names::did_you_mean;
use crate::files::{self, SizeLimit};
use crate::text::node::toml;
use crate::text::node::yaml::{self, Aliases};
use crate::text::node::{Node, NodeMap, NodeValue, SyntaxProblem};

/// The file in the folder of the state.
const FILE_NAME: &str = "config.toml";

/// The file of Blackbox3, which has sections for other programs too.
const SHARED_FILE: &str = ".bb3/config.yaml";

/// A threshold that the file can set, by its section and its key.
pub type LoopSetting = (&'static str, &'static str);

pub const EXIT_DECISION: &str = "exit_decision";
pub const CIRCUIT: &str = "circuit";

/// The keys of each section. One has two spellings.
const KEYS: [(&str, &str); 2] = [
    (
        EXIT_DECISION,
        "min_confidence min_completion max_errors stagnation_turns stagnation_loops max_turns \
         same_error_turns completion_claims low_confidence_turns question_turns failed_turns",
    ),
    (
        CIRCUIT,
        "no_progress_turns same_error_turns cooldown_minutes probe_minutes",
    ),
];

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

impl LoopSettings {
    /// Reads the configuration file in the folder of the state, or that of Blackbox3 in the current
    /// folder; without a file there are no settings.
    pub fn find(state_folder: &Path) -> Result<Self, LoopSettingsError> {
        let files = [
            (state_folder.join(FILE_NAME), false),
            (PathBuf::from(SHARED_FILE), true),
        ];
        let mut existing = files.into_iter();
        match existing.find(|(file, _)| file.symlink_metadata().is_ok()) {
            None => Ok(Self::default()),
            Some((file, is_shared)) => match files::read_text(&file, SizeLimit::SETTINGS) {
                Ok(text) => Self::parse(file, &text, is_shared),
                Err(source) => Err(LoopSettingsError::Unreadable { path: file, source }),
            },
        }
    }

    fn parse(file: PathBuf, text: &str, is_shared: bool) -> Result<Self, LoopSettingsError> {
        match values(text, is_shared) {
            Ok(values) => Ok(Self { file, values }),
            Err(SyntaxProblem { line, problem }) => Err(LoopSettingsError::Wrong {
                path: file,
                line,
                problem,
            }),
        }
    }

    /// The keys of a section that are set, with their values.
    pub fn section(&self, name: &'static str) -> impl Iterator<Item = (&'static str, u64)> {
        let lines = self
            .values
            .iter()
            .filter(move |line| line.setting.0 == name);
        lines.map(|line| (line.setting.1, line.value))
    }

    pub fn get(&self, setting: LoopSetting) -> Option<u64> {
        self.line(setting).map(|line| line.value)
    }

    /// `` `min_confidence` in `.conclave/config.toml`, line 3``.
    pub fn origin(&self, setting: LoopSetting) -> Option<String> {
        let SettingLine { key, line, .. } = self.line(setting)?;
        Some(format!("`{key}` in `{}`, line {line}", self.file.display()))
    }

    fn line(&self, setting: LoopSetting) -> Option<&SettingLine> {
        self.values.iter().find(|line| line.setting == setting)
    }
}

fn values(text: &str, is_shared: bool) -> Result<Vec<SettingLine>, SyntaxProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = if is_shared {
        yaml::parse_with(text, Aliases::Ignored)?
    } else {
        Some(toml::parse(text)?)
    };
    let Some(root) = root.filter(|root| !root.is_null()) else {
        return Ok(Vec::new());
    };
    let Some(sections) = root.as_map() else {
        let problem = "expected keys with values, such as `exit_decision:`";
        return Err(SyntaxProblem::new(root.line, problem));
    };
    let mut values: Vec<SettingLine> = Vec::new();
    for (name, section) in sections {
        let known = KEYS.iter().find(|(known, _)| known == name);
        let Some((name, keys)) = known else {
            // In a file of other programs too, a section may be of one of them.
            if is_shared {
                continue;
            }
            return Err(unknown(name, section, &KEYS.map(|(name, _)| name)));
        };
        match &section.value {
            NodeValue::Map(settings) => add_section(&mut values, name, keys, settings)?,
            // A section whose settings are all comments.
            NodeValue::Null => {}
            _ => return Err(wrong(name, section, "must have settings beneath it")),
        }
    }
    Ok(values)
}

fn add_section(
    values: &mut Vec<SettingLine>,
    section: &'static str,
    keys: &'static str,
    settings: &NodeMap,
) -> Result<(), SyntaxProblem> {
    for (key, member) in settings {
        let Some(known) = keys.split(' ').find(|known| known == key) else {
            return Err(unknown(key, member, &keys.split(' ').collect::<Vec<_>>()));
        };
        let value = match &member.value {
            NodeValue::Number(number) if !number.starts_with('+') => number.parse().ok(),
            _ => None,
        };
        let value = SettingLine {
            setting: match known {
                "stagnation_loops" => (section, "stagnation_turns"),
                known => (section, known),
            },
            key: key.to_owned(),
            value: value.ok_or_else(|| wrong(key, member, "must be a whole number"))?,
            line: member.line,
        };
        let mut earlier = values.iter();
        if let Some(earlier) = earlier.find(|earlier| earlier.setting == value.setting) {
            let problem = format!(
                "`{key}` is set in line {} already, as `{}`",
                earlier.line, earlier.key
            );
            return Err(SyntaxProblem::new(value.line, problem));
        }
        values.push(value);
    }
    Ok(())
}

fn wrong(key: &str, member: &Node, but: &str) -> SyntaxProblem {
    let problem = format!("`{key}` is {}, but {but}", member.described());
    SyntaxProblem::new(member.line, problem)
}

fn unknown(key: &str, member: &Node, keys: &[&str]) -> SyntaxProblem {
    let suggestion = did_you_mean(key, keys.iter().copied());
    let known = match suggestion.as_str() {
        "" => format!("; the keys here are `{}`", keys.join("`, `")),
        _ => String::new(),
    };
    let problem = format!("unknown key `{key}`{suggestion}{known}");
    SyntaxProblem::new(member.line, problem)
}

#[cfg(test)]
mod tests;
