//! Reads the helper's answers: comparisons and persona selection.

use serde_json::Value;

use crate::consultation::anonymity::labels::Labels;
use crate::domain::artifact::{Comparison, PairComparison, PersonaSelection};

use super::agents::agent;
use super::fields::{self, Fields};
use super::notes::Notes;
use super::reader::Reader;
use super::text::optional;
use super::values::magnitude;

/// Reads the label of a pair of texts.
type ReadLabel = fn(Option<Value>, &str, &Labels, &mut Notes) -> String;

/// Reads the label of a pair that belongs to no expert.
fn as_written(label: Option<Value>, path: &str, _: &Labels, notes: &mut Notes) -> String {
    optional(label, path, notes)
}

impl Reader<'_> {
    pub(super) fn comparison(&mut self, fields: &mut Fields) -> Comparison {
        self.pairs(fields, agent)
    }

    pub(super) fn consistency(&mut self, fields: &mut Fields) -> Comparison {
        self.pairs(fields, as_written)
    }

    fn pairs(&mut self, fields: &mut Fields, label: ReadLabel) -> Comparison {
        let pairs = fields
            .take(fields::COMPARISONS, &mut self.notes)
            .map(|value| self.by_agent(value, "comparisons", fields::MAGNITUDE));
        if pairs.is_none() {
            self.notes
                .fatal(fields.at(fields::COMPARISONS), "is missing");
        }
        let comparisons = self.each(
            pairs,
            fields,
            fields::COMPARISONS,
            fields::MAGNITUDE,
            |reader, item| reader.compared(item, label),
        );
        Comparison {
            comparisons,
            key_insights: self.texts(fields, fields::KEY_INSIGHTS),
        }
    }

    fn compared(&mut self, mut item: Fields, label: ReadLabel) -> Option<PairComparison> {
        let pair = item.take(fields::PAIR, &mut self.notes);
        let reasoning = item.take(fields::REASONING, &mut self.notes);
        let stated = item.take(fields::MAGNITUDE, &mut self.notes);
        let at = item.at(fields::MAGNITUDE);
        let magnitude = magnitude(stated, &at, &mut self.notes)?;
        let pair = label(pair, &item.at(fields::PAIR), self.labels, &mut self.notes);
        let reasoning = optional(reasoning, &item.at(fields::REASONING), &mut self.notes);
        item.end(&mut self.notes);
        Some(PairComparison {
            pair,
            reasoning,
            magnitude,
        })
    }

    pub(super) fn persona_selection(&mut self, fields: &mut Fields) -> PersonaSelection {
        let personas = self.texts(fields, fields::PERSONAS);
        if personas.is_empty() {
            self.notes
                .fatal(fields.at(fields::PERSONAS), "names no persona");
        }
        PersonaSelection {
            task_type: self.optional(fields, fields::TASK_TYPE),
            reason: self.optional(fields, fields::REASON),
            personas,
        }
    }
}
