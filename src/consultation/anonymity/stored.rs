//! Replaces labels in a stored record by the names of the seats. Records of early versions have the
//! texts as the models wrote them; in later ones there is nothing left to replace.

use std::collections::BTreeMap;

use super::labels::Labels;
use super::names::with_names;
use super::texts::EditTexts;
use crate::domain::ids::ModelRef;
use crate::domain::panel::Seat;
use crate::domain::stored_record::{StoredAgent, StoredRecord};

/// The texts that were changed, by what they were before.
pub type NamedTexts = BTreeMap<String, String>;

/// Names the experts in every text that a person reads. Answers of Round 1 stay as they are: no
/// expert had seen a label.
pub fn name_experts(record: &mut StoredRecord) -> NamedTexts {
    let mut changed = NamedTexts::new();
    let seat = |agent: &StoredAgent| {
        let unknown = || ModelRef::new("", "");
        let model = agent.chosen_model().unwrap_or_else(unknown);
        Seat::named(agent.id.as_str(), &agent.name, model)
    };
    let seats: Vec<Seat> = record.agents.iter().map(seat).collect();
    if let Some(labels) = Labels::in_order(&record.expert_order, &seats) {
        edit(record, &mut |text| {
            let named = with_names(text, &labels);
            if named != *text {
                changed.insert(std::mem::replace(text, named.clone()), named);
            }
        });
    }
    changed
}

fn edit(record: &mut StoredRecord, edit: &mut dyn FnMut(&mut String)) {
    for round in record.responses.values_mut() {
        for artifact in &mut round.artifacts {
            artifact.content.edit_texts(edit);
        }
    }
    let answer = [
        &mut record.recommendation,
        &mut record.consensus,
        &mut record.summary,
        &mut record.partial_consensus,
    ];
    answer.into_iter().flatten().for_each(&mut *edit);
    record.concerns.iter_mut().for_each(&mut *edit);
    for concern in &mut record.concerns_detail {
        edit(&mut concern.text);
        concern.raised_by.iter_mut().for_each(&mut *edit);
    }
    for perspective in &mut record.perspectives {
        perspective.revised_opinion.iter_mut().for_each(&mut *edit);
    }
    if let Some(analysis) = &mut record.debate_value_analysis {
        for moved in &mut analysis.agent_analyses {
            edit(&mut moved.reasoning);
            moved.revised_position.iter_mut().for_each(&mut *edit);
        }
        analysis.key_insights.iter_mut().for_each(&mut *edit);
    }
    if let Some(passes) = &mut record.judge_passes {
        let second = passes.second.as_mut();
        if let Some(verdict) = second.and_then(|second| second.verdict.as_mut()) {
            verdict.edit_texts(edit);
        }
        passes.reason.iter_mut().for_each(&mut *edit);
    }
    let reasons = record.rejudged.iter_mut();
    let reasons = reasons.filter_map(|rejudged| rejudged.reason.as_mut());
    reasons.for_each(&mut *edit);
}
