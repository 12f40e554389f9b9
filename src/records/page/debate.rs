//! The sections on the rounds: positions side by side, the synthesis, changes of position, and
//! challenges.

use crate::domain::artifact::{Challenge, Independent, Revision, Severity, Synthesis};
use crate::domain::debate_value::{AgentMove, ComparisonStatus, PositionChange};
use crate::domain::ids::SeatId;
use crate::domain::stored_record::{RecordWriter, StoredRecord};
use crate::domain::words::model_name;

use super::answer::severity;
use super::markup::Markup;

/// Round 1: the panel in its order, then experts that are not on it.
pub(super) fn positions(page: &mut Markup, record: &StoredRecord) {
    let others: Vec<&Independent> = record
        .independents()
        .filter(|held| record.agent(&held.agent_id).is_none())
        .collect();
    let seats: Vec<_> = record
        .agents
        .iter()
        .map(|expert| {
            let failure = record.failure(1, &expert.id);
            (expert, record.independent(&expert.id), failure)
        })
        .filter(|(_, held, failure)| held.is_some() || failure.is_some())
        .collect();
    if seats.is_empty() && others.is_empty() {
        return;
    }
    page.put(
        "<section>\n<h2>Positions</h2>\n\
         <p class=\"quiet\">Round 1: each expert's answer, given without seeing the others.</p>\n\
         <div class=\"side\">\n",
    );
    for (expert, held, failure) in seats {
        page.put("<article>\n<h3>")
            .inline(&expert.name)
            .put("</h3>\n");
        if let Some(model) = record.model_of(expert) {
            page.put("<p class=\"by\">")
                .inline(&model_name(&model))
                .put("</p>\n");
        }
        match (held, failure) {
            (Some(held), _) => position(page, held),
            (None, failure) => no_answer(page, failure.unwrap_or_default()),
        }
        page.put("</article>\n");
    }
    for held in others {
        page.put("<article>\n<h3>")
            .inline(held.agent_id.as_str())
            .put("</h3>\n");
        position(page, held);
        page.put("</article>\n");
    }
    page.put("</div>\n</section>\n");
}

fn no_answer(page: &mut Markup, reason: &str) {
    page.put("<p><em>No answer</em>: ")
        .inline(reason)
        .put("</p>\n");
}

fn position(page: &mut Markup, held: &Independent) {
    page.put("<p class=\"stated\"><span class=\"label\">Confidence</span> <strong>");
    match held.confidence {
        Some(confidence) => page.text(&confidence.to_string()),
        None => page.put("not stated"),
    };
    page.put("</strong></p>\n")
        .block(&held.position)
        .list(&held.key_points);
    if !held.rationale.trim().is_empty() {
        page.put("<h4>Reasoning</h4>\n").block(&held.rationale);
    }
    // The whole answer, where it did not fit the schema: its beginning is the position then.
    if let Some(words) = held.own_words() {
        page.put("<h4>In its own words</h4>\n").block(words);
    }
}

/// Round 2.
pub(super) fn synthesis(page: &mut Markup, record: &StoredRecord) {
    let Some(synthesis) = record.synthesis() else {
        return;
    };
    page.put(
        "<section>\n<h2>Agreements and Tensions</h2>\n\
         <p class=\"quiet\">Round 2: the judge's synthesis of the positions.</p>\n",
    );
    if !synthesis.prose_excerpt.trim().is_empty() {
        page.block(&synthesis.prose_excerpt);
    }
    agreements(page, record, synthesis);
    tensions(page, record, synthesis);
    if !synthesis.priority_order.is_empty() {
        page.put("<h3>Priorities</h3>\n<ol>\n");
        for priority in &synthesis.priority_order {
            page.put("<li class=\"said\" dir=\"auto\">")
                .text(priority.trim())
                .put("</li>\n");
        }
        page.put("</ol>\n");
    }
    page.put("</section>\n");
}

fn agreements(page: &mut Markup, record: &StoredRecord, synthesis: &Synthesis) {
    if synthesis.consensus_points.is_empty() {
        return;
    }
    page.put("<h3>Agreed</h3>\n<ul>\n");
    for point in &synthesis.consensus_points {
        page.put("<li><span class=\"said\" dir=\"auto\">")
            .text(point.point.trim())
            .put("</span>");
        if let Some(confidence) = point.confidence {
            page.put(" <span class=\"weight\">")
                .text(&confidence.to_string())
                .put("</span>");
        }
        if !point.supporting_agents.is_empty() {
            page.put("\n<span class=\"by\">");
            names(page, record, &point.supporting_agents);
            page.put("</span>");
        }
        page.put("</li>\n");
    }
    page.put("</ul>\n");
}

fn tensions(page: &mut Markup, record: &StoredRecord, synthesis: &Synthesis) {
    if synthesis.tensions.is_empty() {
        return;
    }
    page.put("<h3>Tensions</h3>\n");
    for tension in &synthesis.tensions {
        page.put("<div class=\"tension\">\n<h4>")
            .inline(&tension.topic);
        weight(page, record, tension.severity);
        page.put("</h4>\n");
        if !tension.viewpoints.is_empty() {
            page.put("<dl class=\"side\">\n");
            for view in &tension.viewpoints {
                page.put("<div><dt>")
                    .inline(record.name_of(&view.agent))
                    .put("</dt>\n<dd>");
                page.block(&view.viewpoint).put("</dd></div>\n");
            }
            page.put("</dl>\n");
        }
        page.put("</div>\n");
    }
}

fn names(page: &mut Markup, record: &StoredRecord, agents: &[String]) {
    for (at, agent) in agents.iter().enumerate() {
        if at > 0 {
            page.put(", ");
        }
        page.inline(record.name_of(agent));
    }
}

/// Round 3: each expert's position after the cross-examination.
pub(super) fn changes(page: &mut Markup, record: &StoredRecord) {
    let revisions = record.positions_of_round_3();
    if revisions.is_empty() {
        return;
    }
    page.put(
        "<section>\n<h2>Changes of Mind</h2>\n\
         <p class=\"quiet\">Round 3: each expert's position after the cross-examination.</p>\n\
         <div class=\"side\">\n",
    );
    for revision in revisions {
        change(page, record, revision);
    }
    page.put("</div>\n</section>\n");
}

fn change(page: &mut Markup, record: &StoredRecord, revision: &Revision) {
    let before = record
        .independent(&revision.agent_id)
        .and_then(|held| held.confidence);
    page.put("<article>\n<h3>")
        .inline(record.name_of(revision.agent_id.as_str()))
        .put("</h3>\n<p class=\"stated\"><strong>");
    page.put(change_words(record.change_of(revision)))
        .put("</strong>");
    if let Some(after) = revision.revised_confidence {
        page.put(" <span class=\"label\">Confidence</span> ");
        if let Some(before) = before {
            page.text(&before.to_string()).put(" → ");
        }
        page.text(&after.to_string());
    }
    page.put("</p>\n").block(&revision.revised_position);
    if !revision.because_of.is_empty() {
        page.put("<ul>\n");
        for because in &revision.because_of {
            page.put("<li>because of <strong>")
                .inline(record.name_of(&because.agent))
                .put("</strong>: <span class=\"said\" dir=\"auto\">");
            page.text(because.argument.trim()).put("</span></li>\n");
        }
        page.put("</ul>\n");
    }
    page.put("</article>\n");
}

fn change_words(change: PositionChange) -> &'static str {
    match change {
        PositionChange::Changed => "Changed its mind",
        PositionChange::Held => "Held its position",
        PositionChange::Stated { changed: true } => "Says it changed its mind",
        PositionChange::Stated { changed: false } => "Says it held its position",
    }
}

/// The value of the later rounds; nothing where no expert answered a second time.
pub(super) fn value(page: &mut Markup, record: &StoredRecord) {
    let Some(value) = record
        .debate_value()
        .filter(|value| value.status != ComparisonStatus::NotApplicable)
    else {
        return;
    };
    page.put("<section>\n<h2>Debate Value</h2>\n");
    if let Some(headline) = value.headline() {
        page.put("<p>").text(&headline).put("</p>\n<ul>\n");
        value
            .agents
            .iter()
            .for_each(|moved| move_of(page, record, moved));
        page.put("</ul>\n");
    } else {
        page.put("<p>Whether positions changed is unknown: ");
        page.inline(value.reason.as_deref().unwrap_or("no reason recorded"))
            .put("</p>\n");
    }
    if !value.key_insights.is_empty() {
        page.put("<h3>Key Insights</h3>\n")
            .list(&value.key_insights);
    }
    if let Some(worth) = value.worth_of_later_rounds() {
        page.put("<p>").text(&worth).put(".</p>\n");
    }
    page.put("</section>\n");
}

fn move_of(page: &mut Markup, record: &StoredRecord, moved: &AgentMove) {
    let name = |agent: &SeatId| record.name_of(agent.as_str()).to_owned();
    page.put("<li><strong>")
        .inline(&name(&moved.agent_id))
        .put("</strong>: ")
        .inline(&moved.in_words(&name));
    if !moved.reasoning.trim().is_empty() {
        page.put("<div class=\"said quiet\" dir=\"auto\">")
            .text(moved.reasoning.trim())
            .put("</div>");
    }
    page.put("</li>\n");
}

/// Round 3: challenges, rebuttals, and what stays unresolved.
pub(super) fn objections(page: &mut Markup, record: &StoredRecord) {
    let merged = record.cross_exam();
    let (challenges, rebuttals) = (record.challenges(), record.rebuttals());
    let unresolved = merged
        .map(|merged| merged.unresolved.as_slice())
        .unwrap_or_default();
    let prose = merged
        .map(|merged| merged.prose_excerpt.as_str())
        .filter(|prose| !prose.trim().is_empty());
    let concerns = concerns(record, &challenges, unresolved);
    if challenges.is_empty()
        && rebuttals.is_empty()
        && unresolved.is_empty()
        && prose.is_none()
        && concerns.is_empty()
    {
        return;
    }
    page.put("<section>\n<h2>Challenges and Rebuttals</h2>\n");
    if let Some(prose) = prose {
        page.block(prose);
    }
    if !challenges.is_empty() {
        page.put("<h3>Challenges</h3>\n<ul>\n");
        for challenge in &challenges {
            one_challenge(page, record, challenge);
        }
        page.put("</ul>\n");
    }
    if !rebuttals.is_empty() {
        page.put("<h3>Rebuttals</h3>\n<ul>\n");
        for rebuttal in rebuttals {
            page.put("<li><strong>")
                .inline(record.name_of(&rebuttal.agent))
                .put("</strong>\n")
                .block(&rebuttal.rebuttal)
                .put("</li>\n");
        }
        page.put("</ul>\n");
    }
    if !unresolved.is_empty() {
        page.put("<h3>Unresolved</h3>\n").list(unresolved);
    }
    if !concerns.is_empty() {
        page.put("<h3>Concerns</h3>\n").list(&concerns);
    }
    page.put("</section>\n");
}

fn one_challenge(page: &mut Markup, record: &StoredRecord, challenge: &Challenge) {
    page.put("<li><strong>")
        .inline(record.name_of(&challenge.challenger))
        .put("</strong>");
    if !challenge.target_agent.trim().is_empty() {
        page.put(" to <strong>")
            .inline(record.name_of(&challenge.target_agent))
            .put("</strong>");
    }
    weight(page, record, challenge.severity);
    page.put("\n")
        .block(&challenge.challenge)
        .list(&challenge.evidence)
        .put("</li>\n");
}

/// Shows a severity; the original states none.
fn weight(page: &mut Markup, record: &StoredRecord, weight: Severity) {
    match record.writer {
        RecordWriter::Conclave => severity(page.put(" "), weight),
        RecordWriter::LlmConclave => {}
    }
}

/// Returns concerns that no other section shows: ours all come from the rounds.
fn concerns<'a>(
    record: &'a StoredRecord,
    challenges: &[&Challenge],
    unresolved: &[String],
) -> Vec<&'a str> {
    let elsewhere = |concern: &str| {
        challenges
            .iter()
            .any(|challenge| challenge.challenge == concern)
            || unresolved.iter().any(|text| text == concern)
    };
    match record.writer {
        RecordWriter::Conclave => Vec::new(),
        RecordWriter::LlmConclave => record
            .concerns
            .iter()
            .map(String::as_str)
            .filter(|concern| !elsewhere(concern))
            .collect(),
    }
}
