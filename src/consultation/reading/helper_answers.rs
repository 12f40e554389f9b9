//! Reads the helper's answers: comparisons and persona selection.

use crate::domain::artifact::{Comparison, PairComparison, PersonaSelection};

use super::fields::{self, FieldValue, Fields};
use super::reader::Reader;

impl Reader<'_> {
    /// Reads a comparison of pairs of texts; `label` reads the name of a pair.
    pub(super) fn comparison(
        &mut self,
        fields: &mut Fields,
        label: impl Fn(&mut Self, &FieldValue) -> String,
    ) -> Comparison {
        let [pairs] = self.take(fields, [fields::COMPARISONS]);
        let pairs = self.by_agent(pairs, fields::MAGNITUDE);
        if pairs.value.is_none() {
            self.notes.fatal(&pairs.path, "is missing");
        }
        let comparisons = self.each(pairs, fields::MAGNITUDE, |reader, item| {
            let names = [fields::PAIR, fields::REASONING, fields::MAGNITUDE];
            let [pair, reasoning, stated] = reader.take(item, names);
            let magnitude = reader.magnitude(&stated)?;
            Some(PairComparison {
                pair: label(reader, &pair),
                reasoning: reader.optional(&reasoning),
                magnitude,
            })
        });
        Comparison {
            comparisons,
            key_insights: self.texts_in(fields, fields::KEY_INSIGHTS),
        }
    }

    pub(super) fn persona_selection(&mut self, fields: &mut Fields) -> PersonaSelection {
        let [chosen] = self.take(fields, [fields::PERSONAS]);
        let path = chosen.path.clone();
        let personas = self.texts(chosen);
        if personas.is_empty() {
            self.notes.fatal(path, "names no persona");
        }
        PersonaSelection {
            task_type: self.optional_in(fields, fields::TASK_TYPE),
            reason: self.optional_in(fields, fields::REASON),
            personas,
        }
    }
}
