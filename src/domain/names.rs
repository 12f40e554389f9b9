//! Names: those of enumerations in what is stored, and those in files of settings and on the command
//! line, with their two spellings and suggestions for wrong ones.

use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Returns the name of an enumeration's value as it is stored; empty for what is stored otherwise.
pub fn stored_name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        Ok(_) | Err(_) => String::new(),
    }
}

/// Returns the value with this stored name; `None` for a name of a later version.
pub fn by_stored_name<'a, T: Deserialize<'a>>(name: &'a str) -> Option<T> {
    T::deserialize(IntoDeserializer::<ValueError>::into_deserializer(name)).ok()
}

pub fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut snake, c| {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        snake
    })
}

/// Returns the name that a wrong one was most likely meant to be.
pub fn likely<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.75);
    near.max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Returns a hint on a wrong name: which one was most likely meant, or all there are.
pub fn near_or_all(wrong: &str, names: &[&str]) -> String {
    match likely(wrong, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of: {}", names.join(", ")),
    }
}

/// Returns the rest of a sentence about a wrong name: which one was most likely meant; empty if
/// none is like it.
pub fn did_you_mean<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    likely(&snake_case(wrong), names)
        .map(|meant| format!("; did you mean `{meant}`?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::record::outcome::AnswerOutcome;

    #[test]
    fn stored_names_are_those_of_the_json() {
        for outcome in AnswerOutcome::ALL {
            let name = stored_name(&outcome);
            assert_eq!(serde_json::json!(outcome), name);
            assert_eq!(by_stored_name(&name), Some(outcome));
        }
        assert_eq!(stored_name(&[1]), "", "a list has none");
        assert_eq!(by_stored_name::<AnswerOutcome>("later"), None);
    }
}
