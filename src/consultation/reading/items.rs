//! Reads lists of items in the forms in which models write them.

use serde_json::{Map, Value};

use super::fields::{self, FieldValue, Fields, Name};
use super::reader::Reader;
use super::text::{has_words, words};

impl Reader<'_> {
    /// Reads an item's main text: its own field, else all text it has. `None` for an item without
    /// text.
    pub(super) fn main(&mut self, item: &mut Fields, name: Name) -> Option<String> {
        let mut main = item.take(name, &mut self.notes);
        if let Some(text) = self.text(&main) {
            return Some(text);
        }
        main.value = Some(Value::String(words(&Value::Object(std::mem::take(
            &mut item.members,
        )))));
        let rest = self.text(&main);
        let what = match &rest {
            Some(_) => "is missing; the item's other text is used",
            None => "is missing; the item was left out",
        };
        self.notes.flagged(main.path, what);
        rest
    }

    /// Reads the items of a list of objects. A text instead of an object is the item's main text.
    pub(super) fn each<T>(
        &mut self,
        list: FieldValue,
        main: Name,
        mut read: impl FnMut(&mut Self, &mut Fields) -> Option<T>,
    ) -> Vec<T> {
        let at = list.path.clone();
        let mut items = Vec::new();
        for (place, item) in self.items(list).into_iter().enumerate() {
            let path = format!("{at}[{place}]");
            let members = match item {
                Value::Object(members) => members,
                other => {
                    self.notes.repaired(&path, "a text was read as an object");
                    Map::from_iter([(main.name.to_owned(), Value::String(words(&other)))])
                }
            };
            let mut fields = Fields::new(members, path);
            if let Some(item) = read(self, &mut fields) {
                fields.end(&mut self.notes);
                items.push(item);
            }
        }
        items
    }

    /// Reads the items of a list of statements by agents, which may also be written as an object
    /// with the agents as keys.
    pub(super) fn each_by_agent<T>(
        &mut self,
        list: FieldValue,
        said: Name,
        make: impl Fn(String, String) -> T,
    ) -> Vec<T> {
        let list = self.by_agent(list, said);
        self.each(list, said, |reader, item| {
            let [from] = reader.take(item, [fields::AGENT]);
            let text = reader.main(item, said)?;
            Some(make(reader.agent(&from), text))
        })
    }

    /// Turns `{"Expert A": "…"}` into a list of objects; returns any other value unchanged.
    pub(super) fn by_agent(&mut self, list: FieldValue, said: Name) -> FieldValue {
        let FieldValue { value, path } = list;
        let value = match value {
            Some(Value::Object(members)) if members.keys().any(|key| self.known(key).is_some()) => {
                self.notes.repaired(&path, "an object was read as a list");
                let item = |(agent, text): (String, Value)| {
                    Value::Object(Map::from_iter([
                        ("agent".to_owned(), agent.into()),
                        (said.name.to_owned(), words(&text).into()),
                    ]))
                };
                Some(members.into_iter().map(item).collect())
            }
            other => other,
        };
        FieldValue { value, path }
    }

    /// Returns the items of a value that should be an array.
    fn items(&mut self, mut list: FieldValue) -> Vec<Value> {
        self.decode(&mut list);
        match list.value {
            None => {
                self.notes.flagged(list.path, "is missing");
                Vec::new()
            }
            Some(Value::Array(items)) => items,
            Some(one) if has_words(&words(&one)) => {
                self.notes
                    .repaired(list.path, "one value was read as a list of one");
                vec![one]
            }
            Some(_) => {
                self.notes
                    .repaired(list.path, "an empty value was read as an empty list");
                Vec::new()
            }
        }
    }
}
