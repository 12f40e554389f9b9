//! Reads a menu of options. Models write the options as a list of objects, as a list of texts, or
//! as an object with a key for each.

use serde_json::{Map, Value};

use crate::domain::artifact::{MenuOption, Verdict};

use super::fields::{self, Fields, Name};
use super::reader::Reader;
use super::surroundings::begin;
use super::text::{decoded, is_numbering, optional, text};
use super::values::confidence;

/// The fields of an option.
const OF_AN_OPTION: [Name; 7] = [
    fields::OPTION,
    fields::DESCRIPTION,
    fields::PROS,
    fields::CONS,
    fields::TRADE_OFFS,
    fields::BEST_WHEN,
    fields::CONFIDENCE,
];

/// The most characters before a colon, or of a description, that are taken as an option's name.
const NAME: usize = 60;

impl Reader<'_> {
    /// Reads a menu. The advice on how to choose is optional.
    pub(super) fn menu(&mut self, fields: &mut Fields) -> Verdict {
        let mut options = fields.take(fields::RECOMMENDATIONS, &mut self.notes);
        let mut how_to_choose = fields.take(fields::HOW_TO_CHOOSE, &mut self.notes);
        if options.is_none()
            && how_to_choose
                .as_ref()
                .is_some_and(|said| said.is_array() || said.is_object())
        {
            self.notes.repaired(
                fields.at(fields::RECOMMENDATIONS),
                "was called `recommendation`",
            );
            options = how_to_choose.take();
        }
        let options =
            options.map(|options| self.named_options(options, &fields.at(fields::RECOMMENDATIONS)));
        let recommendations = self.each(
            options,
            fields,
            fields::RECOMMENDATIONS,
            fields::OPTION,
            Self::choice,
        );
        if recommendations.is_empty() {
            self.notes
                .fatal(fields.at(fields::RECOMMENDATIONS), "names no option");
        }
        let recommendation = optional(
            how_to_choose,
            &fields.at(fields::HOW_TO_CHOOSE),
            &mut self.notes,
        );
        let summary = self.optional(fields, fields::SUMMARY);
        let (evidence, dissent) = self.grounds(fields);
        Verdict {
            recommendation,
            confidence: None,
            evidence,
            dissent,
            summary,
            recommendations,
            composed_from: None,
        }
    }

    /// Turns `{"Wait": …, "Move": …}`, or texts that begin with a name, into a list of named
    /// options; returns any other value unchanged.
    fn named_options(&mut self, value: Value, at: &str) -> Value {
        let value = match value {
            Value::String(text) => match decoded(&text) {
                Some(inside) => {
                    self.notes
                        .repaired(at, "a list inside a text was read as a list");
                    inside
                }
                None => Value::String(text),
            },
            other => other,
        };
        match value {
            Value::Object(members)
                if members
                    .keys()
                    .all(|key| OF_AN_OPTION.iter().all(|name| !name.is(key))) =>
            {
                self.notes.repaired(at, "an object was read as a list");
                members.into_iter().map(named).collect()
            }
            Value::Array(items) => {
                let item = |(place, item)| match item {
                    Value::String(text) => match name_and_rest(&text) {
                        Some((name, rest)) => {
                            self.notes.repaired(
                                format!("{at}[{place}]"),
                                "a text was read as an option's name and description",
                            );
                            option(name, rest)
                        }
                        None => Value::String(text),
                    },
                    other => other,
                };
                items.into_iter().enumerate().map(item).collect()
            }
            other => other,
        }
    }

    fn choice(&mut self, mut item: Fields) -> Option<MenuOption> {
        match item.take(fields::TRADE_OFFS, &mut self.notes) {
            Some(Value::Object(members)) => item.add(members),
            Some(other) => item.add(Map::from_iter([(fields::CONS.name.to_owned(), other)])),
            None => {}
        }
        let name = item.take(fields::OPTION, &mut self.notes);
        let name = text(name, &item.at(fields::OPTION), &mut self.notes);
        let description = item.take(fields::DESCRIPTION, &mut self.notes);
        let option = match (name, &description) {
            (Some(name), _) => name,
            (None, Some(Value::String(said))) if said.chars().any(char::is_alphanumeric) => {
                self.notes.flagged(
                    item.at(fields::OPTION),
                    "is missing; the description begins with it",
                );
                begin(said.trim(), NAME)
            }
            // Any text makes an option; without text there is none.
            (None, _) => self.main(&mut item, fields::OPTION)?,
        };
        let description = optional(description, &item.at(fields::DESCRIPTION), &mut self.notes);
        let [pros, cons] = [fields::PROS, fields::CONS].map(|name| self.texts(&mut item, name));
        let best_when = self.optional(&mut item, fields::BEST_WHEN);
        let stated = item.take(fields::CONFIDENCE, &mut self.notes);
        let confidence = confidence(stated, &item.at(fields::CONFIDENCE), &mut self.notes);
        item.end(&mut self.notes);
        Some(MenuOption {
            option,
            description,
            pros,
            cons,
            best_when,
            confidence,
        })
    }
}

/// Returns an option with its name. A number is not a name, and an option that has a name keeps it.
fn named((key, value): (String, Value)) -> Value {
    match value {
        Value::Object(members)
            if is_numbering(&key) || members.keys().any(|member| fields::OPTION.is(member)) =>
        {
            Value::Object(members)
        }
        Value::Object(mut members) => {
            members.insert(fields::OPTION.name.to_owned(), key.into());
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
        (fields::OPTION.name.to_owned(), name.trim().into()),
        (
            fields::DESCRIPTION.name.to_owned(),
            description.trim().into(),
        ),
    ]))
}

/// Splits `Wait: measure for a quarter` into its two parts.
fn name_and_rest(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text
        .split_once(": ")
        .or_else(|| text.split_once(" – "))
        .or_else(|| text.split_once(" - "))?;
    let is_name = name.chars().count() <= NAME && name.chars().any(char::is_alphanumeric);
    (is_name && rest.chars().any(char::is_alphanumeric)).then_some((name, rest))
}
