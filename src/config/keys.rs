//! The settings by name: what they are called in the file and in the environment, and what their values must be.

use std::fmt;

/// A setting by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    AlwaysAllowUnder,
    MaxOutputTokens,
    ConnectTimeoutSeconds,
    IdleTimeoutSeconds,
    LocalThreads,
    LocalContext,
    LocalModel,
    Panel,
    Judge,
}

impl Key {
    pub const ALL: [Self; 9] = [
        Self::AlwaysAllowUnder,
        Self::MaxOutputTokens,
        Self::ConnectTimeoutSeconds,
        Self::IdleTimeoutSeconds,
        Self::LocalThreads,
        Self::LocalContext,
        Self::LocalModel,
        Self::Panel,
        Self::Judge,
    ];

    /// Its name in `config.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlwaysAllowUnder => "always_allow_under",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::ConnectTimeoutSeconds => "connect_timeout_seconds",
            Self::IdleTimeoutSeconds => "idle_timeout_seconds",
            Self::LocalThreads => "local_threads",
            Self::LocalContext => "local_context",
            Self::LocalModel => "local_model",
            Self::Panel => "panel",
            Self::Judge => "judge",
        }
    }

    /// The environment variable that sets it.
    pub fn variable(self) -> &'static str {
        match self {
            Self::AlwaysAllowUnder => "CONCLAVE_ALWAYS_ALLOW_UNDER",
            Self::MaxOutputTokens => "CONCLAVE_MAX_OUTPUT_TOKENS",
            Self::ConnectTimeoutSeconds => "CONCLAVE_CONNECT_TIMEOUT_SECONDS",
            Self::IdleTimeoutSeconds => "CONCLAVE_IDLE_TIMEOUT_SECONDS",
            Self::LocalThreads => "CONCLAVE_LOCAL_THREADS",
            Self::LocalContext => "CONCLAVE_LOCAL_CONTEXT",
            Self::LocalModel => "CONCLAVE_LOCAL_MODEL",
            Self::Panel => "CONCLAVE_PANEL",
            Self::Judge => "CONCLAVE_JUDGE",
        }
    }

    /// The key of a name in `snake_case` or `camelCase`.
    pub fn of(name: &str) -> Option<Self> {
        let snake = snake_case(name);
        Self::ALL.into_iter().find(|key| key.name() == snake)
    }

    /// What a value must be.
    pub fn wants(self) -> &'static str {
        match self {
            Self::AlwaysAllowUnder => "an amount of dollars such as 0.50",
            Self::MaxOutputTokens | Self::LocalContext | Self::LocalThreads => "a whole number above 0",
            Self::ConnectTimeoutSeconds | Self::IdleTimeoutSeconds => "a number of seconds above 0",
            Self::LocalModel | Self::Judge => "a text",
            Self::Panel => "a text or a list of texts",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut snake, c| {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        snake
    })
}

/// The key that a wrong name was most likely meant to be.
pub fn closest(name: &str) -> Option<Key> {
    let name = snake_case(name);
    let likeness = |key: &Key| strsim::jaro_winkler(&name, key.name());
    Key::ALL.into_iter().filter(|key| likeness(key) > 0.75).max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_under_its_own_name_and_variable() {
        for key in Key::ALL {
            assert_eq!((Key::of(key.name()), closest(key.name())), (Some(key), Some(key)));
            assert_eq!(key.variable(), format!("CONCLAVE_{}", key.name().to_uppercase()));
        }
        assert_eq!(Key::of("alwaysAllowUnder"), Some(Key::AlwaysAllowUnder));
    }
}
