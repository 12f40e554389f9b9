//! The first sections: what is missing, the question, the answer, and dissent.

use crate::domain::artifact::{Dissent, MenuOption, Severity};
use crate::domain::stored_record::{Completion, StoredRecord};
use crate::domain::words::{amount, seconds, thousands};

use super::markup::Markup;

/// The notice on top: the reasons why the result is incomplete or degraded.
pub(super) fn notice(page: &mut Markup, record: &StoredRecord) {
    let is_degraded =
        record.status.as_deref() == Some("degraded") || !record.degradations.is_empty();
    match record.completion() {
        Completion::Completed if !is_degraded => return,
        Completion::Completed => page.put(
            "<aside class=\"notice\">\n\
             <p><strong>Degraded result:</strong> this is less than the panel promised.</p>\n",
        ),
        Completion::Aborted => {
            page.put("<aside class=\"notice\">\n<p><strong>Aborted");
            if let Some(during) = &record.aborted_during {
                page.put(" in ").inline(during);
            }
            page.put(".</strong>");
            if let Some(why) = record
                .abort_message
                .as_ref()
                .or(record.abort_reason.as_ref())
            {
                page.put(" ").inline(why);
            }
            page.put("</p>\n<p>The finished part follows. It is not a verdict.</p>\n")
        }
        Completion::Unfinished => {
            page.put(
                "<aside class=\"notice\">\n\
                 <p><strong>Incomplete:</strong> the consultation was interrupted or is still \
                 running.</p>\n",
            );
            page.put("<p>The finished part follows. It is not a verdict.</p>\n")
        }
    };
    page.list(&record.degradations).put("</aside>\n");
}

pub(super) fn head(page: &mut Markup, record: &StoredRecord) {
    page.put("<header>\n<p class=\"label\">Consultation</p>\n");
    let question = record.question.trim();
    if question.is_empty() {
        page.put("<h1>(no question)</h1>\n");
    } else {
        // Long questions are set smaller.
        let is_long = question.contains('\n') || question.chars().nth(160).is_some();
        page.put(if is_long {
            "<h1 class=\"said long\" dir=\"auto\">"
        } else {
            "<h1 class=\"said\" dir=\"auto\">"
        });
        page.text(question).put("</h1>\n");
    }
    page.put("<ul class=\"facts\">\n");
    if let Some(at) = record.at {
        page.put("<li>").moment(at).put("</li>\n");
    }
    if let Some(mode) = &record.mode {
        page.put("<li>").inline(mode).put(" mode</li>\n");
    }
    if let Some(cost) = record.total_cost() {
        page.put("<li>").text(&amount(cost)).put("</li>\n");
    }
    if let Some(duration) = record.duration() {
        page.put("<li>").text(&seconds(duration)).put("</li>\n");
    }
    if let Some(tokens) = record.total_tokens() {
        page.put("<li>")
            .text(&thousands(tokens))
            .put(" tokens</li>\n");
    }
    page.put("</ul>\n</header>\n");
}

pub(super) fn answer(page: &mut Markup, record: &StoredRecord) {
    page.put("<section class=\"answer\">\n<h2>Answer</h2>\n");
    let Some(recommendation) = &record.recommendation else {
        return without_verdict(page, record);
    };
    let options = record
        .verdict()
        .map(|verdict| verdict.recommendations.as_slice())
        .unwrap_or_default();
    page.put("<p class=\"stated\"><span class=\"label\">Confidence</span> <strong>");
    match record.confidence {
        _ if !options.is_empty() => page.put("each option has its own"),
        Some(confidence) => page.text(&confidence.to_string()),
        None => page.put("not stated"),
    };
    page.put("</strong>");
    if let Some(agreement) = record.agreement {
        let share = format!("{:.0}%", agreement * 100.0);
        page.put(" <span class=\"label\">Agreement</span> <strong>")
            .text(&share)
            .put("</strong>");
    }
    if let Some(grade) = &record.grade {
        page.put(" <span class=\"label\">Outcome</span> <strong>")
            .text(grade.outcome.name())
            .put("</strong>");
        if let Some(note) = &grade.note {
            page.put(" ").inline(note);
        }
    }
    page.put("</p>\n");
    rejudged(page, record);
    second_pass(page, record);
    if options.is_empty() || !recommendation.trim().is_empty() {
        page.block(recommendation);
    }
    for (at, choice) in options.iter().enumerate() {
        option(page, at + 1, choice);
    }
    if let Some(source) = record.verdict().and_then(|verdict| verdict.composed_from) {
        page.put("<p class=\"quiet\">")
            .put(source.description())
            .put("</p>\n");
    }
    if let Some(summary) = record
        .summary
        .as_ref()
        .filter(|summary| !summary.trim().is_empty() && *summary != recommendation)
    {
        page.put("<h3>Summary</h3>\n").block(summary);
    }
    if record.early_termination {
        page.put("<p class=\"quiet\">Ended after Round 2");
        if let Some(reason) = &record.early_termination_reason {
            page.put(": ").inline(reason);
        }
        page.put("</p>\n");
    }
    evidence(page, record);
    page.put("</section>\n");
}

/// Names the consultation whose answers were rejudged.
fn rejudged(page: &mut Markup, record: &StoredRecord) {
    let Some(from) = &record.rejudged_from else {
        return;
    };
    page.put("<p class=\"quiet\">Rejudged from the answers of ")
        .inline(from);
    match record
        .rejudged
        .as_ref()
        .and_then(|rejudged| rejudged.consistent)
    {
        Some(true) => page.put(": its verdict held</p>\n"),
        Some(false) => page.put(": its verdict did not hold</p>\n"),
        None => page.put("</p>\n"),
    };
}

/// The result of the second pass, with the experts in reverse order; if it differs, its verdict.
fn second_pass(page: &mut Markup, record: &StoredRecord) {
    let Some(second) = record.second_pass() else {
        return;
    };
    let Some(other) = second.other_verdict() else {
        page.put("<p class=\"quiet\">Judged twice: ")
            .inline(&second.description(record.judge().as_ref()))
            .put("</p>\n");
        return;
    };
    page.put("<aside class=\"notice\">\n<p><strong>Judged twice:</strong> ")
        .inline(&second.description(record.judge().as_ref()))
        .put("</p>\n");
    page.put("<p>With the order reversed, the judge recommends:</p>\n");
    page.list(
        &other
            .recommendations
            .iter()
            .map(|choice| choice.option.clone())
            .collect::<Vec<_>>(),
    );
    page.block(&other.recommendation).put("</aside>\n");
}

/// One option of a menu.
fn option(page: &mut Markup, number: usize, choice: &MenuOption) {
    page.put("<article class=\"option\">\n<h3>Option ")
        .text(&number.to_string())
        .put(": ")
        .inline(&choice.option)
        .put("</h3>\n");
    page.put("<p class=\"stated\"><span class=\"label\">Confidence</span> <strong>");
    match choice.confidence {
        Some(confidence) => page.text(&confidence.to_string()),
        None => page.put("not stated"),
    };
    page.put("</strong></p>\n");
    if !choice.best_when.trim().is_empty() {
        page.put("<p><span class=\"label\">Best when</span> ")
            .inline(&choice.best_when)
            .put("</p>\n");
    }
    if !choice.description.trim().is_empty() {
        page.block(&choice.description);
    }
    page.put("<div class=\"side\">\n");
    for (heading, items) in [
        ("<h4>Pros</h4>\n", &choice.pros),
        ("<h4>Cons</h4>\n", &choice.cons),
    ] {
        if !items.is_empty() {
            page.put("<div>\n").put(heading).list(items).put("</div>\n");
        }
    }
    page.put("</div>\n</article>\n");
}

/// Shows what the panel agreed on, or points to the positions.
fn without_verdict(page: &mut Markup, record: &StoredRecord) {
    page.put(if record.completion() == Completion::Completed {
        "<p>No verdict was asked for"
    } else {
        "<p>No verdict was reached"
    });
    match &record.partial_consensus {
        Some(found) => page.put(". Points of agreement so far:</p>\n").block(found),
        None if record.independents().next().is_none() => {
            page.put(", and no expert has answered.</p>\n")
        }
        None => page.put(": the positions stand side by side below.</p>\n"),
    };
    page.put("</section>\n");
}

fn evidence(page: &mut Markup, record: &StoredRecord) {
    let Some(verdict) = record
        .verdict()
        .filter(|verdict| !verdict.evidence.is_empty())
    else {
        return;
    };
    page.put("<h3>Evidence</h3>\n<ul>\n");
    for evidence in &verdict.evidence {
        page.put("<li><span class=\"said\" dir=\"auto\">")
            .text(evidence.claim.trim())
            .put("</span>");
        if !evidence.agent.trim().is_empty() {
            page.put(" <span class=\"by\">")
                .inline(record.name_of(&evidence.agent))
                .put("</span>");
        }
        if !evidence.quote.trim().is_empty() {
            page.put("\n<q class=\"said\" dir=\"auto\">")
                .text(evidence.quote.trim())
                .put("</q>");
        }
        page.put("</li>\n");
    }
    page.put("</ul>\n");
}

pub(super) fn dissent(page: &mut Markup, record: &StoredRecord) {
    let Some(verdict) = record
        .verdict()
        .filter(|verdict| !verdict.dissent.is_empty())
    else {
        return;
    };
    page.put("<section class=\"dissent\">\n<h2>Dissent</h2>\n<ul>\n");
    for Dissent {
        agent,
        concern,
        severity: weight,
    } in &verdict.dissent
    {
        page.put("<li>");
        if !agent.trim().is_empty() {
            page.put("<strong>")
                .inline(record.name_of(agent))
                .put("</strong> ");
        }
        severity(page, *weight);
        page.put("\n").block(concern).put("</li>\n");
    }
    page.put("</ul>\n</section>\n");
}

/// Shows a severity in a word, not by colour alone.
pub(super) fn severity(page: &mut Markup, severity: Severity) {
    page.put(match severity {
        Severity::Low => "<span class=\"weight\">low</span>",
        Severity::Medium => "<span class=\"weight\">medium</span>",
        Severity::High => "<span class=\"weight high\">high</span>",
    });
}
