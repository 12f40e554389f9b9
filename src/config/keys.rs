//! The settings by name: what they are called in the file and in the environment, and what their
//! values must be.

use std::fmt;

use crate::domain::vendors;

use super::control::HedgeAfter;

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
    Panels,
    Personas,
    PersonaSets,
    DefaultPersonas,
    Endpoints,
    Parameters,
    LocalServers,
    MaxInFlight,
    MaxCost,
    MonthlyBudget,
    OnFailure,
    HedgeAfter,
    PulseSeconds,
    MaxWaitSeconds,
    Mode,
    Rounds,
    EarlyStop,
    ConfidenceThreshold,
    ErrorCorrelation,
    DebateAnalysis,
    JudgePasses,
    TargetRuns,
    TargetMedianSeconds,
    TargetMonthlyCost,
}

impl Key {
    pub const ALL: [Self; 33] = [
        Self::AlwaysAllowUnder,
        Self::MaxOutputTokens,
        Self::ConnectTimeoutSeconds,
        Self::IdleTimeoutSeconds,
        Self::LocalThreads,
        Self::LocalContext,
        Self::LocalModel,
        Self::Panel,
        Self::Judge,
        Self::Panels,
        Self::Personas,
        Self::PersonaSets,
        Self::DefaultPersonas,
        Self::Endpoints,
        Self::Parameters,
        Self::LocalServers,
        Self::MaxInFlight,
        Self::MaxCost,
        Self::MonthlyBudget,
        Self::OnFailure,
        Self::HedgeAfter,
        Self::PulseSeconds,
        Self::MaxWaitSeconds,
        Self::Mode,
        Self::Rounds,
        Self::EarlyStop,
        Self::ConfidenceThreshold,
        Self::ErrorCorrelation,
        Self::DebateAnalysis,
        Self::JudgePasses,
        Self::TargetRuns,
        Self::TargetMedianSeconds,
        Self::TargetMonthlyCost,
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
            Self::Panels => "panels",
            Self::Personas => "personas",
            Self::PersonaSets => "persona_sets",
            Self::DefaultPersonas => "default_personas",
            Self::Endpoints => "endpoints",
            Self::Parameters => "parameters",
            Self::LocalServers => "local_servers",
            Self::MaxInFlight => "max_in_flight",
            Self::MaxCost => "max_cost",
            Self::MonthlyBudget => "monthly_budget",
            Self::OnFailure => "on_failure",
            Self::HedgeAfter => "hedge_after",
            Self::PulseSeconds => "pulse_seconds",
            Self::MaxWaitSeconds => "max_wait_seconds",
            Self::Mode => "mode",
            Self::Rounds => "rounds",
            Self::EarlyStop => "early_stop",
            Self::ConfidenceThreshold => "confidence_threshold",
            Self::ErrorCorrelation => "error_correlation",
            Self::DebateAnalysis => "debate_analysis",
            Self::JudgePasses => "judge_passes",
            Self::TargetRuns => "target_runs",
            Self::TargetMedianSeconds => "target_median_seconds",
            Self::TargetMonthlyCost => "target_monthly_cost",
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
            Self::Panels => "CONCLAVE_PANELS",
            Self::Personas => "CONCLAVE_PERSONAS",
            Self::PersonaSets => "CONCLAVE_PERSONA_SETS",
            Self::DefaultPersonas => "CONCLAVE_DEFAULT_PERSONAS",
            Self::Endpoints => "CONCLAVE_ENDPOINTS",
            Self::Parameters => "CONCLAVE_PARAMETERS",
            Self::LocalServers => "CONCLAVE_LOCAL_SERVERS",
            Self::MaxInFlight => "CONCLAVE_MAX_IN_FLIGHT",
            Self::MaxCost => "CONCLAVE_MAX_COST",
            Self::MonthlyBudget => "CONCLAVE_MONTHLY_BUDGET",
            Self::OnFailure => "CONCLAVE_ON_FAILURE",
            Self::HedgeAfter => "CONCLAVE_HEDGE_AFTER",
            Self::PulseSeconds => "CONCLAVE_PULSE_SECONDS",
            Self::MaxWaitSeconds => "CONCLAVE_MAX_WAIT_SECONDS",
            Self::Mode => "CONCLAVE_MODE",
            Self::Rounds => "CONCLAVE_ROUNDS",
            Self::EarlyStop => "CONCLAVE_EARLY_STOP",
            Self::ConfidenceThreshold => "CONCLAVE_CONFIDENCE_THRESHOLD",
            Self::ErrorCorrelation => "CONCLAVE_ERROR_CORRELATION",
            Self::DebateAnalysis => "CONCLAVE_DEBATE_ANALYSIS",
            Self::JudgePasses => "CONCLAVE_JUDGE_PASSES",
            Self::TargetRuns => "CONCLAVE_TARGET_RUNS",
            Self::TargetMedianSeconds => "CONCLAVE_TARGET_MEDIAN_SECONDS",
            Self::TargetMonthlyCost => "CONCLAVE_TARGET_MONTHLY_COST",
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
            Self::AlwaysAllowUnder | Self::MaxCost | Self::MonthlyBudget => {
                "an amount of dollars such as 0.50"
            }
            Self::TargetMonthlyCost => "an amount of dollars above 0, such as 20",
            Self::MaxOutputTokens
            | Self::LocalContext
            | Self::LocalThreads
            | Self::MaxInFlight
            | Self::TargetRuns => "a whole number above 0",
            Self::ConnectTimeoutSeconds
            | Self::IdleTimeoutSeconds
            | Self::MaxWaitSeconds
            | Self::TargetMedianSeconds => "a number of seconds above 0",
            Self::PulseSeconds => "a number of seconds, or 0 for never",
            Self::HedgeAfter => HedgeAfter::WANTED,
            Self::OnFailure => "`ask`, `substitute`, `skip` or `fail`",
            Self::Mode => "`converge` or `explore`",
            Self::Rounds => "1, 2, 3 or 4",
            Self::EarlyStop => "`ask`, `auto` or `never`",
            Self::DebateAnalysis => "`on` or `off`",
            Self::JudgePasses => "1 or 2",
            Self::ConfidenceThreshold | Self::ErrorCorrelation => "a number from 0.0 to 1.0",
            Self::LocalModel | Self::Judge => "a text",
            Self::Panel => "the name of a panel, a text of seats or a list of seats",
            Self::Panels => "an object of panels by name",
            Self::Personas => "an object of personas by id",
            Self::PersonaSets => "an object of lists of personas by name",
            Self::DefaultPersonas => "`auto`, a text of personas and sets, or a list of them",
            Self::Endpoints => "an object of servers by name, or a list of objects with a `name`",
            Self::Parameters => "an object of body fields by `provider` or `provider:model`",
            Self::LocalServers => "`auto`, `none` or a list of addresses",
        }
    }
}

impl Key {
    /// Its value has parts, so that it is JSON also in the environment.
    pub fn is_structured(self) -> bool {
        match self {
            Self::Panels
            | Self::Personas
            | Self::PersonaSets
            | Self::Endpoints
            | Self::Parameters => true,
            Self::AlwaysAllowUnder
            | Self::MaxOutputTokens
            | Self::ConnectTimeoutSeconds
            | Self::IdleTimeoutSeconds
            | Self::LocalThreads
            | Self::LocalContext
            | Self::LocalModel
            | Self::Panel
            | Self::Judge
            | Self::DefaultPersonas
            | Self::LocalServers
            | Self::MaxInFlight
            | Self::MaxCost
            | Self::MonthlyBudget
            | Self::OnFailure
            | Self::HedgeAfter
            | Self::PulseSeconds
            | Self::MaxWaitSeconds
            | Self::Mode
            | Self::Rounds
            | Self::EarlyStop
            | Self::ConfidenceThreshold
            | Self::ErrorCorrelation
            | Self::DebateAnalysis
            | Self::JudgePasses
            | Self::TargetRuns
            | Self::TargetMedianSeconds
            | Self::TargetMonthlyCost => false,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name of the file in the spelling that this program uses.
pub fn snake_case(name: &str) -> String {
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
    likely(&snake_case(name), Key::ALL.into_iter().map(Key::name)).and_then(Key::of)
}

/// The one of some names that a wrong one was most likely meant to be.
pub fn likely<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.75);
    near.max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// A name under which people try to put a key where none belongs.
pub fn is_secret(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    [
        "key", "keys", "token", "tokens", "secret", "secrets", "password",
    ]
    .contains(&name.as_str())
        || [
            "apikey",
            "apikeys",
            "apitoken",
            "authtoken",
            "accesstoken",
            "secret",
            "secretkey",
        ]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Whether something in a text has the look of a vendor's key. A text without such a thing may
/// still hold a key.
pub fn holds_key(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    // Also keys of vendors without a row of their own.
    let begins = |word: &str| {
        vendors::of_key(word).is_some() || word.starts_with("sk_") || word.starts_with("gsk_")
    };
    let mut words = words.filter(|word| word.len() >= 20 && begins(word));
    words.any(|word| word.chars().any(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_under_its_own_name_and_variable() {
        for key in Key::ALL {
            assert_eq!(
                (Key::of(key.name()), closest(key.name())),
                (Some(key), Some(key))
            );
            assert_eq!(
                key.variable(),
                format!("CONCLAVE_{}", key.name().to_uppercase())
            );
        }
        assert_eq!(Key::of("alwaysAllowUnder"), Some(Key::AlwaysAllowUnder));
    }

    #[test]
    fn names_that_would_hold_a_key_are_known_and_names_that_say_where_it_is_are_not_among_them() {
        for name in [
            "api_key",
            "apiKey",
            "key",
            "token",
            "openai_api_key",
            "anthropicAuthToken",
            "OPENAI_API_KEY",
            "api-key",
            "api_keys",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "api_key_env",
            "api_key_cmd",
            "max_output_tokens",
            "max_tokens_field",
            "monkey",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(Key::ALL.iter().all(|key| !is_secret(key.name())));
    }

    #[test]
    fn the_look_of_a_key_is_known_inside_a_text() {
        for text in [
            "sk-proj-0123456789abcdef",
            "echo 'sk-ant-api03-0123456789'",
            "K=AIzaSy0123456789abcdefg",
            "Bearer xai-0123456789abcdefgh",
        ] {
            assert!(holds_key(text), "{text}");
        }
        for text in [
            "pass show sk-openai",
            "sk-something-without-figures",
            "gpt-6.1-sol",
            "risk-0123456789-0123456789",
            "",
        ] {
            assert!(!holds_key(text), "{text}");
        }
    }
}
