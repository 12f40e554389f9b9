//! How a setting of a repository is laid over the user's own: it cannot spend more.

use serde_json::Value;

use crate::config::value::{ConfigValue, ValueError};
use crate::domain::names::snake_case;

/// What becomes of the user's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LaidOver {
    /// The repository's replaces it.
    Replaced,
    /// The user's entries stay. The models of a panel are checked; those of single
    /// personas, which any panel can have, are not taken.
    Extended,
    /// The smaller amount counts.
    Lowered,
}

impl LaidOver {
    pub(crate) fn value(self, own: &Value, mut value: Value) -> Result<Value, ValueError> {
        match (self, value.as_object_mut()) {
            (Self::Extended, Some(entries)) => {
                let names_model = |entry: &Value| {
                    let fields = entry.as_object();
                    fields
                        .is_some_and(|fields| fields.keys().any(|name| snake_case(name) == "model"))
                };
                let mut named = entries.iter();
                if let Some((id, entry)) = named.find(|(_, entry)| names_model(entry)) {
                    let at = ConfigValue::new(format!("personas.{id}.model"), entry);
                    let what = "is not for a repository to set; name models in its `panel`";
                    return Err(at.error(what));
                }
                for (name, entry) in own.as_object().into_iter().flatten() {
                    entries.insert(name.clone(), entry.clone());
                }
            }
            (Self::Lowered, None) => {
                let amounts = own.as_f64().zip(value.as_f64());
                if amounts.is_some_and(|(own, value)| value > own) {
                    value = own.clone();
                }
            }
            (Self::Replaced | Self::Extended | Self::Lowered, _) => {}
        }
        Ok(value)
    }
}
