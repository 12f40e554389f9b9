//! Reads a menu of options. Models write the options as a list of objects, as a list of texts, or
//! as an object with a key for each.

use serde_json::{Map, Value};

use crate::domain::answer::artifact::{MenuOption, Verdict};

use crate::consultation::reading::fields;
use crate::consultation::reading::fields::FieldValue;
use crate::consultation::reading::fields::Fields;
use crate::consultation::reading::reader::Reader;
use crate::consultation::reading::surroundings::begin;
use crate::consultation::reading::text::{has_words, is_numbering};

const OF_AN_OPTION: &str = "option description pros cons trade_offs best_when confidence";

/// The most characters before a colon, or of a description, that are taken as an option's name.
const NAME: usize = 60;

impl Reader<'_> {
    /// The advice on how to choose is optional.
    pub(crate) fn menu(&mut self, fields: &mut Fields) -> Verdict {
        let names = ["recommendations", "menu/recommendation"];
        let [mut options, mut how_to_choose] = self.take(fields, names);
        if options.value.is_none()
            && let Some(Value::Array(_) | Value::Object(_)) = how_to_choose.value
        {
            self.notes
                .repaired(&options.path, "was called `recommendation`");
            options.value = how_to_choose.value.take();
        }
        let path = options.path.clone();
        let options = self.named_options(options);
        let recommendations = self.each(options, "option", Self::choice);
        if recommendations.is_empty() {
            self.notes.fatal(path, "names no option");
        }
        let recommendation = self.optional(&how_to_choose);
        let summary = self.optional_in(fields, "summary");
        let (evidence, dissent) = self.grounds(fields);
        Verdict {
            recommendation,
            evidence,
            dissent,
            summary,
            recommendations,
            findings: self.findings(fields),
            ..Verdict::default()
        }
    }

    /// Turns `{"Wait": …, "Move": …}`, or texts that begin with a name, into a list of named
    /// options; returns any other value unchanged.
    fn named_options(&mut self, mut list: FieldValue) -> FieldValue {
        self.decode(&mut list);
        let FieldValue { value, path } = list;
        let is_option = |key: &String| OF_AN_OPTION.split(' ').any(|name| fields::is(name, key));
        let value = match value {
            Some(Value::Object(members)) if !members.keys().any(is_option) => {
                self.notes.repaired(&path, "an object was read as a list");
                Some(members.into_iter().map(named).collect())
            }
            Some(Value::Array(mut items)) => {
                for (place, item) in items.iter_mut().enumerate() {
                    if let Value::String(text) = item
                        && let Some((name, rest)) = name_and_rest(text)
                    {
                        self.notes.repaired(
                            format!("{path}[{place}]"),
                            "a text was read as an option's name and description",
                        );
                        *item = option(name, rest);
                    }
                }
                Some(Value::Array(items))
            }
            other => other,
        };
        FieldValue { value, path }
    }

    fn choice(&mut self, item: &mut Fields) -> Option<MenuOption> {
        let [trade_offs] = self.take(item, ["trade_offs"]);
        match trade_offs.value {
            Some(Value::Object(members)) => item.add(members),
            Some(other) => item.add(Map::from_iter([("cons".to_owned(), other)])),
            None => {}
        }
        let [name] = self.take(item, ["option"]);
        let stated_name = self.text(&name);
        let [description] = self.take(item, ["description"]);
        let option = match (stated_name, &description.value) {
            (Some(name), _) => name,
            (None, Some(Value::String(said))) if has_words(said) => {
                self.notes
                    .flagged(name.path, "is missing; the description begins with it");
                begin(said.trim(), NAME)
            }
            // Any text makes an option; without text there is none.
            (None, _) => self.main(item, "option")?,
        };
        let description = self.optional(&description);
        let [pros, cons] = ["pros", "cons"].map(|name| self.texts_in(item, name));
        let best_when = self.optional_in(item, "best_when");
        let [stated] = self.take(item, ["confidence"]);
        Some(MenuOption {
            option,
            description,
            pros,
            cons,
            best_when,
            confidence: self.confidence(&stated),
        })
    }
}

/// A number is not a name, and an option that has a name keeps it.
fn named((key, value): (String, Value)) -> Value {
    match value {
        Value::Object(members)
            if is_numbering(&key) || members.keys().any(|member| fields::is("option", member)) =>
        {
            Value::Object(members)
        }
        Value::Object(mut members) => {
            members.insert("option".to_owned(), key.into());
            Value::Object(members)
        }
        Value::String(text) if is_numbering(&key) => match name_and_rest(&text) {
            Some((name, rest)) => option(name, rest),
            None => Value::String(text),
        },
        Value::String(text) => option(&key, &text),
        other => other,
    }
}

fn option(name: &str, description: &str) -> Value {
    Value::Object(Map::from_iter([
        ("option".to_owned(), name.trim().into()),
        ("description".to_owned(), description.trim().into()),
    ]))
}

/// Splits `Wait: measure for a quarter` into its two parts.
fn name_and_rest(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text
        .split_once(": ")
        .or_else(|| text.split_once(" – "))
        .or_else(|| text.split_once(" - "))?;
    let is_name = name.chars().count() <= NAME && has_words(name);
    (is_name && has_words(rest)).then_some((name, rest))
}
