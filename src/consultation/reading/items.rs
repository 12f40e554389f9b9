//! Reads lists of items in the forms in which models write them.

use serde_json::{Map, Value};

use super::agents::agent;
use super::fields::{self, Fields, Name};
use super::reader::Reader;
use super::text::{decoded, text, words};

impl Reader<'_> {
    /// Reads an item's main text: its own field, else all text it has. `None` for an item without
    /// text.
    pub(super) fn main(&mut self, item: &mut Fields, name: Name) -> Option<String> {
        let value = item.take(name, &mut self.notes);
        let at = item.at(name);
        if let Some(text) = text(value, &at, &mut self.notes) {
            return Some(text);
        }
        let rest = std::mem::replace(item, Fields::new(Map::new(), item.path())).into_value();
        let rest = text(Some(Value::String(words(&rest))), &at, &mut self.notes);
        match &rest {
            Some(_) => self
                .notes
                .flagged(at, "is missing; the item's other text is used"),
            None => self.notes.flagged(at, "is missing; the item was left out"),
        }
        rest
    }

    /// Reads the items of a list of objects. A text instead of an object is the item's main text.
    pub(super) fn each<T>(
        &mut self,
        value: Option<Value>,
        fields: &Fields,
        name: Name,
        main: Name,
        mut read: impl FnMut(&mut Self, Fields) -> Option<T>,
    ) -> Vec<T> {
        let at = fields.at(name);
        let items = self.items(value, &at);
        let item = |(place, item)| {
            let path = format!("{at}[{place}]");
            let members = match item {
                Value::Object(members) => members,
                other => {
                    self.notes
                        .repaired(path.as_str(), "a text was read as an object");
                    Map::from_iter([(main.name.to_owned(), Value::String(words(&other)))])
                }
            };
            read(self, Fields::new(members, path))
        };
        items.into_iter().enumerate().filter_map(item).collect()
    }

    /// Reads the items of a list of statements by agents, which may also be written as an object
    /// with the agents as keys.
    pub(super) fn each_by_agent<T>(
        &mut self,
        value: Option<Value>,
        fields: &Fields,
        list: Name,
        said: Name,
        make: impl Fn(String, String) -> T,
    ) -> Vec<T> {
        let value = value.map(|value| self.by_agent(value, &fields.at(list), said));
        self.each(value, fields, list, said, |reader, mut item| {
            let from = item.take(fields::AGENT, &mut reader.notes);
            let text = reader.main(&mut item, said)?;
            let agent = agent(
                from,
                &item.at(fields::AGENT),
                reader.labels,
                &mut reader.notes,
            );
            item.end(&mut reader.notes);
            Some(make(agent, text))
        })
    }

    /// Turns `{"Expert A": "…"}` into a list of objects; returns any other value unchanged.
    pub(super) fn by_agent(&mut self, value: Value, at: &str, said: Name) -> Value {
        let Value::Object(members) = value else {
            return value;
        };
        if !members.keys().any(|key| self.labels.resolve(key).is_some()) {
            return Value::Object(members);
        }
        self.notes.repaired(at, "an object was read as a list");
        let item = |(agent, text): (String, Value)| {
            Value::Object(Map::from_iter([
                ("agent".to_owned(), agent.into()),
                (said.name.to_owned(), words(&text).into()),
            ]))
        };
        members.into_iter().map(item).collect()
    }

    /// Returns the items of a value that should be an array.
    fn items(&mut self, value: Option<Value>, at: &str) -> Vec<Value> {
        let value = match value {
            Some(Value::String(text)) => {
                let inside = decoded(&text);
                if inside.is_some() {
                    self.notes
                        .repaired(at, "a list inside a text was read as a list");
                }
                Some(inside.unwrap_or(Value::String(text)))
            }
            other => other,
        };
        match value {
            None => {
                self.notes.flagged(at, "is missing");
                Vec::new()
            }
            Some(Value::Array(items)) => items,
            Some(one) if words(&one).chars().any(char::is_alphanumeric) => {
                self.notes
                    .repaired(at, "one value was read as a list of one");
                vec![one]
            }
            Some(_) => {
                self.notes
                    .repaired(at, "an empty value was read as an empty list");
                Vec::new()
            }
        }
    }
}
