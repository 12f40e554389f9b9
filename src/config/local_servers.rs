//! The setting `local_servers`: where to look for servers on the user's own machine.

use serde::Serialize;
use serde_json::{Value, json};

use super::endpoints::base_url;
use super::value::{ConfigValue, ValueError};

/// The addresses to look for servers that need no key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalServers {
    /// The usual ports of this machine.
    #[default]
    Auto,
    /// None.
    None,
    /// These, as the user wrote them.
    #[serde(untagged)]
    At(Vec<String>),
}

impl LocalServers {
    /// Reads a word, addresses separated by commas, or a list of addresses. An empty list means
    /// none.
    pub(super) fn read(setting: &ConfigValue<'_>) -> Result<Self, ValueError> {
        let no_form = || setting.error("must be `auto`, `none` or a list of addresses");
        let addresses: Vec<Value> = match setting.value {
            Value::String(text) => match text.trim() {
                "auto" => return Ok(Self::Auto),
                "none" => return Ok(Self::None),
                text => text
                    .split(',')
                    .map(|address| json!(address.trim()))
                    .collect(),
            },
            Value::Array(list) => list.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(no_form());
            }
        };
        let addresses = addresses
            .iter()
            .map(|value| base_url(&ConfigValue::new(&setting.at, value)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(if addresses.is_empty() {
            Self::None
        } else {
            Self::At(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_texts_and_lists_are_read() {
        let read = |value: Value| {
            LocalServers::read(&ConfigValue::new("local_servers", &value))
                .map_err(|error| error.what)
        };
        assert_eq!(read(json!("auto")), Ok(LocalServers::Auto));
        assert_eq!(read(json!("none")), Ok(LocalServers::None));
        assert_eq!(read(json!([])), Ok(LocalServers::None));
        let two = ["127.0.0.1:1234", "http://box:8000"];
        let at_two = LocalServers::At(two.map(ToOwned::to_owned).to_vec());
        assert_eq!(read(json!(two.join(", "))).as_ref(), Ok(&at_two));
        assert_eq!(read(json!(two)), Ok(at_two));
        for wrong in [json!("a b"), json!(true), json!("x,")] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
