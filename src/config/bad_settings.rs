//! Where a setting comes from, and what is said where one cannot be used.

use std::fmt;
use std::path::PathBuf;

use super::fields::Problem;
use super::keys::Key;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("`{}` is not JSON", path.display())]
    NotJson {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("`{}` does not hold an object of settings", path.display())]
    NotAnObject { path: PathBuf },
    #[error("unknown setting `{key}` in `{}`{}", path.display(), suggestion.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default())]
    UnknownKey {
        path: PathBuf,
        key: String,
        suggestion: Option<Key>,
    },
    #[error("`{key}` in `{origin}` is `{value}`, and must be {}", key.wants())]
    BadValue {
        origin: Origin,
        key: Key,
        value: String,
    },
    #[error("`{key}` is given twice in `{}`", path.display())]
    Twice { path: PathBuf, key: Key },
    #[error("`{variable}` is not JSON, and must be {}", key.wants())]
    VariableNotJson {
        variable: &'static str,
        key: Key,
        source: serde_json::Error,
    },
    #[error(transparent)]
    Inside(Problem),
}

impl SettingsError {
    /// What mends it.
    pub fn remedy(&self) -> String {
        let elsewhere = |origin: &str| {
            let is_variable = Key::ALL.into_iter().any(|key| key.variable() == origin);
            if is_variable {
                format!("change or unset {origin}")
            } else {
                "mend or remove it there".to_owned()
            }
        };
        match self {
            Self::Unreadable { path, .. } => {
                format!(
                    "make `{}` a file of text that you can read, or set CONCLAVE_HOME to another folder",
                    path.display()
                )
            }
            Self::NotJson { .. } | Self::NotAnObject { .. } | Self::Twice { .. } => {
                "mend or remove it".to_owned()
            }
            Self::UnknownKey { key, .. } => format!("take it out: conclave config unset '{key}'"),
            Self::BadValue {
                origin: Origin::File(_),
                key,
                ..
            } => {
                format!(
                    "write another: conclave config set {key} VALUE; or take it out: conclave config unset {key}"
                )
            }
            Self::BadValue {
                origin: Origin::Variable(variable),
                ..
            }
            | Self::VariableNotJson { variable, .. } => elsewhere(variable),
            Self::Inside(problem) => elsewhere(&problem.origin),
        }
    }
}
