//! The path of a setting, or of a part of one, as a dotted name: `judge`,
//! `endpoints.work.base_url`, `parameters.openai:gpt-6.1-sol.reasoning_effort`.

use serde_json::Value;

use crate::config::keys::detection::{hide_keys, holds_key, is_key_name};
use crate::config::setting::{self, ENDPOINTS, Parts, Setting};
use crate::config::settings::Settings;
use crate::domain::model::vendors;
use crate::domain::names::{did_you_mean, snake_case};
use crate::error::Error;

/// The place of a value.
#[derive(Clone, Debug)]
pub(super) struct SettingPath {
    pub(super) setting: &'static Setting,
    /// The name of an entry, then the names of fields within it.
    pub(super) parts: Vec<String>,
}

impl SettingPath {
    /// Names of models may contain dots: their ends are found by the current value.
    pub(super) fn parse(dotted: &str, current: &dyn Fn(&Setting) -> Value) -> Result<Self, Error> {
        if holds_key(dotted) {
            return Err(no_keys_here(dotted.trim()));
        }
        let (name, rest) = dotted
            .trim()
            .split_once('.')
            .map_or((dotted.trim(), None), |(name, rest)| (name, Some(rest)));
        let setting = setting::find(name).ok_or_else(|| unknown(name))?;
        let parts = match rest {
            None => Vec::new(),
            Some(rest) if rest.split('.').any(str::is_empty) => {
                return Err(Error::usage(format!(
                    "`{dotted}` has a part without a name"
                )));
            }
            Some(rest) => match setting.parts {
                Parts::Entries { fields, .. } => entry(setting, rest, fields)?,
                Parts::Lists if rest.contains('.') => {
                    return Err(Error::usage(format!("a set in `{setting}` has no parts")));
                }
                Parts::Lists => vec![rest.to_owned()],
                Parts::BodyFields => parameter(rest, &current(setting)),
                Parts::None => return Err(Error::usage(format!("`{setting}` has no parts"))),
            },
        };
        Ok(Self { setting, parts })
    }

    pub(super) fn steps(&self) -> Vec<String> {
        let setting = self.setting.name.to_owned();
        std::iter::once(setting).chain(self.parts.clone()).collect()
    }

    /// `None` for a field that an entry does not have. Fails for an unknown entry.
    pub(super) fn value(&self, settings: &Settings) -> Result<Option<Value>, Error> {
        let whole = self.setting.value(settings);
        let Some((name, fields)) = self.parts.split_first() else {
            return Ok(Some(whole));
        };
        let Some(entry) = whole.get(name) else {
            if self.setting.name == ENDPOINTS && vendors::find(name).is_some() {
                return Ok(None);
            }
            let hint = match names(&whole).as_slice() {
                [] => "see the settings with `conclave config show`".to_owned(),
                names => format!("one of: {}", names.join(", ")),
            };
            return Err(Error::usage(format!("there is no `{}.{name}`", self.setting)).hint(hint));
        };
        let value = fields
            .iter()
            .try_fold(entry, |value, field| value.get(field));
        Ok(value.cloned())
    }
}

fn entry(key: &Setting, rest: &str, known: &[&str]) -> Result<Vec<String>, Error> {
    let parts: Vec<&str> = rest.split('.').collect();
    let [name, field, beyond @ ..] = parts.as_slice() else {
        return Ok(vec![rest.to_owned()]);
    };
    let snake = snake_case(field);
    if !known.contains(&snake.as_str()) {
        if is_key_name(field) {
            return Err(no_keys_here(field));
        }
        let meant = did_you_mean(field, known.iter().copied());
        let error = Error::usage(format!("`{field}` is not a field of `{key}.{name}`{meant}"));
        return Err(error.hint(format!("one of: {}", known.join(", "))));
    }
    if beyond.is_empty() {
        return Ok(vec![(*name).to_owned(), snake]);
    }
    let message = format!("`{field}` of `{key}.{name}` has no parts");
    Err(Error::usage(message))
}

fn names(value: &Value) -> Vec<&str> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(name, _)| name.as_str()).collect()
}

fn parameter(rest: &str, current: &Value) -> Vec<String> {
    let of = |name: &&str| {
        rest.strip_prefix(name)
            .is_some_and(|fields| fields.is_empty() || fields.starts_with('.'))
    };
    let known = names(current).into_iter().filter(of);
    let name = known
        .max_by_key(|name| name.len())
        .unwrap_or_else(|| new_parameter(rest));
    let fields = rest.strip_prefix(name).unwrap_or_default();
    std::iter::once(name)
        .chain(fields.split('.').filter(|field| !field.is_empty()))
        .map(ToOwned::to_owned)
        .collect()
}

/// The parts after its last dots are fields if they look like names: versions, the other use of
/// dots, begin with a digit.
fn new_parameter(rest: &str) -> &str {
    if !rest.contains(':') {
        return rest.split('.').next().unwrap_or(rest);
    }
    let is_field = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let mut name = rest;
    while let Some((before, _)) = name
        .rsplit_once('.')
        .filter(|(before, last)| before.contains(':') && is_field(last))
    {
        name = before;
    }
    name
}

fn unknown(name: &str) -> Error {
    if is_key_name(name) {
        return no_keys_here(name);
    }
    let meant = did_you_mean(name, setting::names());
    let error = Error::usage(format!("unknown setting `{name}`{meant}"));
    if meant.is_empty() {
        error.hint("see the settings with `conclave config show`")
    } else {
        error
    }
}

pub(super) fn no_keys_here(name: &str) -> Error {
    Error::usage(format!(
        "`{}` would store an API key in the settings; conclave stores no API keys",
        hide_keys(name)
    ))
    .hint("set the vendor's variable, such as `OPENAI_API_KEY`")
    .hint(
        "or name a command that prints the key with `conclave config set \
         endpoints.openai.api_key_cmd 'pass show openai'`",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(dotted: &str, current: &Value) -> Vec<String> {
        SettingPath::parse(dotted, &|_| current.clone())
            .unwrap()
            .parts
    }

    #[test]
    fn dots_in_a_model_name_do_not_separate_fields() {
        for (dotted, expected) in [
            (
                "parameters.openai.reasoning_effort",
                &["openai", "reasoning_effort"][..],
            ),
            ("parameters.openai:gpt-6.1-sol", &["openai:gpt-6.1-sol"]),
            (
                "parameters.openai:gpt-6.1-sol.reasoning_effort",
                &["openai:gpt-6.1-sol", "reasoning_effort"],
            ),
            (
                "parameters.google:gemini-3.8-flash.generationConfig.topK",
                &["google:gemini-3.8-flash", "generationConfig", "topK"],
            ),
            (
                "parameters.google.generationConfig.topK",
                &["google", "generationConfig", "topK"],
            ),
        ] {
            assert_eq!(parts(dotted, &json!({})), expected, "{dotted}");
        }
        let now = json!({"llamacpp:a.gguf": {}, "llamacpp:a": {}});
        assert_eq!(
            parts("parameters.llamacpp:a.gguf.seed", &now),
            ["llamacpp:a.gguf", "seed"],
            "a name that is there is known"
        );
        assert_eq!(
            parts("parameters.llamacpp:a.seed", &now),
            ["llamacpp:a", "seed"]
        );
    }

    #[test]
    fn a_key_is_refused_with_the_way_out() {
        for name in [
            "openai_api_key",
            "api_key",
            "endpoints.work.api_key",
            "endpoints.openai.token",
        ] {
            let error = SettingPath::parse(name, &|_| json!({})).unwrap_err();
            assert!(
                error.to_string().contains("conclave stores no API keys")
                    && error.hints[1].contains("api_key_cmd"),
                "{error}"
            );
        }
    }
}
