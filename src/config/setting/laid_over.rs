//! How a setting of a repository is laid over the user's own: it cannot spend more.

use serde_json::Value;

use crate::config::value::{ConfigValue, ValueError};

/// From the user's value and the repository's.
pub(super) type LayOver = fn(&Value, Value) -> Result<Value, ValueError>;

pub(super) fn taken(_: &Value, value: Value) -> Result<Value, ValueError> {
    Ok(value)
}

/// Keeps the user's entries of other names. The models of a panel are checked; those of single
/// personas, which any panel can have, are not taken.
pub(super) fn added(own: &Value, mut value: Value) -> Result<Value, ValueError> {
    let Some(entries) = value.as_object_mut() else {
        return Ok(value);
    };
    if let Some((id, entry)) = entries
        .iter()
        .find(|(_, entry)| entry.get("model").is_some())
    {
        let at = ConfigValue::new(format!("personas.{id}.model"), entry);
        return Err(at.error("is not for a repository to set; name models in its `panel`"));
    }
    for (name, entry) in own.as_object().into_iter().flatten() {
        entries.entry(name).or_insert_with(|| entry.clone());
    }
    Ok(value)
}

/// The smaller amount.
pub(super) fn lowered(own: &Value, value: Value) -> Result<Value, ValueError> {
    let amounts = own.as_f64().zip(value.as_f64());
    let is_higher = amounts.is_some_and(|(own, value)| value > own);
    Ok(if is_higher { own.clone() } else { value })
}
