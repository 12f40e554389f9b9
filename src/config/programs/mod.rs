//! The setting `programs`: programs that answer in a seat, and changes to those that are known by
//! name.
//!
//! Invariant: an entry runs only what the user has written in their own settings; a repository
//! cannot set it.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::keys::detection::holds_key;
use crate::config::value::{ConfigValue, NO_KEYS_HERE, ValueError, optional};
use crate::domain::ids::ProviderId;
use crate::domain::model::billing::Billing;
use crate::domain::model::program::{AnswerPaths, AnswerReader, Program};

pub static FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let fields = "name argv schema_argv prompt answer answer_path error_path input_tokens_path \
                  output_tokens_path pass_env set_env check login time_limit_seconds max_parallel \
                  max_output_bytes billing overage allowed";
    fields.split(' ').collect()
});

const TIME_LIMIT: Duration = Duration::from_secs(600);
const MAX_PARALLEL: u32 = 2;
const MAX_OUTPUT_BYTES: u64 = 4 * 1024 * 1024;

/// The programs that are known by name, as entries of the setting.
static KNOWN: LazyLock<BTreeMap<String, Map<String, Value>>> =
    LazyLock::new(|| toml::from_str(include_str!("known.toml")).unwrap_or_default());

/// The entries of the setting, as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Programs(BTreeMap<String, Map<String, Value>>);

impl Programs {
    /// Those that are known by name first, with the user's changes, then the user's own.
    pub fn all(&self) -> Vec<Program> {
        let own = self.0.keys().filter(|name| !KNOWN.contains_key(*name));
        let names = KNOWN.keys().chain(own);
        // An entry was read once when the settings were.
        names
            .filter_map(|name| self.program(name, "programs").ok())
            .collect()
    }

    pub(super) fn read(setting: &ConfigValue<'_>) -> Result<Self, ValueError> {
        let mut programs = Self::default();
        for (name, place) in setting.named()? {
            let fields = place.fields(&FIELDS)?;
            let written = fields
                .iter()
                .map(|(field, at)| ((*field).to_owned(), at.value.clone()));
            programs.0.insert(name.clone(), written.collect());
            programs.program(&name, &setting.at)?;
        }
        Ok(programs)
    }

    fn program(&self, name: &str, setting: &str) -> Result<Program, ValueError> {
        let known = KNOWN.get(name);
        let mut entry = known.cloned().unwrap_or_default();
        for (field, own) in self.0.get(name).into_iter().flatten() {
            match (entry.get_mut(field), own) {
                // What shuts a known program off from the machine stays.
                (Some(Value::Object(known)), Value::Object(own)) => known.extend(own.clone()),
                _ => drop(entry.insert(field.clone(), own.clone())),
            }
        }
        let entry = Value::Object(entry);
        let place = ConfigValue::new(format!("{setting}.{name}"), &entry);
        let fields = place.fields(&FIELDS)?;
        let words = |field: &str| Ok(optional(&fields, field, words)?.unwrap_or_default());
        let argv: Vec<String> = words("argv")?;
        if argv.first().is_none_or(String::is_empty) {
            return Err(place.error("has no `argv`: the program and its arguments, as a list"));
        }
        let own_id = || format!("{}:{name}", ProviderId::COMMAND);
        let text = |field: &str| optional(&fields, field, ConfigValue::text);
        let pointer = |field: &str| optional(&fields, field, pointer);
        // Only a program that is known by name has a reader of its own.
        let own = known.and_then(|known| known.get("answer")?.as_str());
        let among: Vec<&str> = ["text", "json", "jsonl"].into_iter().chain(own).collect();
        let reader = optional(&fields, "answer", |at| at.choice(&among))?.unwrap_or_default();
        // A text has no parts.
        let answer = pointer("answer_path")?.filter(|_| reader != AnswerReader::Text);
        let is_chosen = |field: &str, usual: &str, other: &str| {
            let chosen: Option<String> = optional(&fields, field, |at| at.choice(&[usual, other]))?;
            Ok(chosen.as_deref() == Some(other))
        };
        Ok(Program {
            id: ProviderId::new(known.map_or_else(own_id, |_| name.to_owned())),
            name: text("name")?.unwrap_or_else(|| name.to_owned()),
            argv,
            schema_argv: words("schema_argv")?,
            system_in_file: is_chosen("prompt", "stdin", "system_in_file")?,
            reader,
            paths: AnswerPaths {
                answer: answer.unwrap_or_default(),
                error: pointer("error_path")?,
                input_tokens: pointer("input_tokens_path")?,
                output_tokens: pointer("output_tokens_path")?,
            },
            pass_env: words("pass_env")?,
            set_env: optional(&fields, "set_env", variables)?.unwrap_or_default(),
            check: words("check")?,
            login: text("login")?,
            time_limit: optional(&fields, "time_limit_seconds", |at| {
                let seconds = at.value.as_f64().and_then(crate::config::value::duration);
                let seconds = seconds.filter(|time| !time.is_zero());
                seconds.ok_or_else(|| at.error("must be a number of seconds above 0"))
            })?
            .unwrap_or(TIME_LIMIT),
            max_parallel: optional(&fields, "max_parallel", ConfigValue::count)?
                .unwrap_or(MAX_PARALLEL),
            max_output: optional(&fields, "max_output_bytes", |at| {
                let bytes = at.value.as_u64().filter(|bytes| *bytes > 0);
                bytes.ok_or_else(|| at.error("must be a whole number above 0"))
            })?
            .unwrap_or(MAX_OUTPUT_BYTES),
            billing: optional(&fields, "billing", |at| {
                at.choice(&["plan", "free", "metered"])
            })?
            .unwrap_or(Billing::Plan),
            allows_overage: is_chosen("overage", "refuse", "allow")?,
            allowed: optional(&fields, "allowed", ConfigValue::truth)?,
            executable: None,
        })
    }
}

fn pointer(place: &ConfigValue<'_>) -> Result<String, ValueError> {
    let text = Some(place.text()?).filter(|text| text.starts_with('/'));
    text.ok_or_else(|| place.error("must be a JSON pointer, such as `/result/text`"))
}

/// Empty ones are arguments too.
fn words(place: &ConfigValue<'_>) -> Result<Vec<String>, ValueError> {
    let words = Vec::<String>::deserialize(place.value);
    let words = words.map_err(|_| place.error("must be a list of strings"))?;
    if words.iter().any(|word| holds_key(word)) {
        return Err(place.error(NO_KEYS_HERE));
    }
    Ok(words)
}

fn variables(place: &ConfigValue<'_>) -> Result<BTreeMap<String, String>, ValueError> {
    let object = place.value.as_object();
    let object = object.ok_or_else(|| place.error("must be an object of strings by variable"))?;
    let variable = |(name, value): (&String, &Value)| {
        let at = place.inside(name, value);
        let text = value.as_str().ok_or_else(|| at.error("must be a string"))?;
        if holds_key(text) || name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
            return Err(at.error(NO_KEYS_HERE));
        }
        Ok((name.clone(), text.to_owned()))
    };
    object.iter().map(variable).collect()
}

/// Returns the name of a program's entry in the settings.
pub fn entry_name(id: &ProviderId) -> &str {
    id.command().unwrap_or(id.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Vec<Program>, String> {
        let programs = Programs::read(&ConfigValue::new("programs", value));
        programs
            .map(|programs| programs.all())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn known_programs_are_there_and_can_be_changed() {
        let ids = |value: &Value| {
            let all = read(value).unwrap();
            all.into_iter()
                .map(|program| program.id.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&json!({})), ["claude-code", "codex"]);
        let own = json!({"mine": {"argv": ["x"]}, "codex": {"max_parallel": 1}});
        assert_eq!(ids(&own), ["claude-code", "codex", "command:mine"]);
        let all = read(&own).unwrap();
        assert_eq!(all[1].max_parallel, 1);
        assert_eq!(all[1].reader, AnswerReader::Codex);
        assert_eq!(all[2].reader, AnswerReader::Text);
        assert!(all.iter().all(|program| program.allowed.is_none()));
        let more = json!({"claude-code": {"set_env": {"DISABLE_TELEMETRY": "0", "MORE": "1"}}});
        let set = &read(&more).unwrap()[0].set_env;
        let value = |name: &str| set.get(name).map(String::as_str);
        assert_eq!(value("CLAUDE_CODE_DISABLE_FILE_MENTIONS"), Some("1"));
        assert_eq!(
            (value("DISABLE_TELEMETRY"), value("MORE")),
            (Some("0"), Some("1"))
        );
    }

    #[test]
    fn entries_that_cannot_be_used_are_refused_with_their_place() {
        let cases = [
            (
                json!({}),
                "`programs.x` has no `argv`: the program and its arguments, as a list",
            ),
            (
                json!({"argv": "ls -l"}),
                "`programs.x.argv` must be a list of strings",
            ),
            (
                json!({"argv": ["a"], "answer": "codex"}),
                "`programs.x.answer` must be one of `text`, `json`, `jsonl`",
            ),
            (
                json!({"argv": ["a"], "answer_path": "x"}),
                "`programs.x.answer_path` must be a JSON pointer, such as `/result/text`",
            ),
            (
                json!({"argv": ["a"], "shell": true}),
                "`programs.x.shell` is not a field",
            ),
            (
                json!({"argv": ["a"], "time_limit_seconds": 0}),
                "`programs.x.time_limit_seconds` must be a number of seconds above 0",
            ),
        ];
        for (entry, expected) in cases {
            assert_eq!(read(&json!({"x": entry})).unwrap_err(), expected);
        }
        let key = json!({"x": {"argv": ["a", "sk-ant-api03-0123456789abcdef"]}});
        assert!(read(&key).unwrap_err().contains("would store a key"));
    }
}
