//! The facts of a summary, each as a line of text, from the record alone.

use std::time::Duration;

use crate::domain::artifact::{MenuOption, Source, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::stored_record::{
    Completion, ExpertChange, OpenPoint, StoredCaching, StoredRecord,
};
use crate::terminal::document::{Line, Part, list, paragraph};
use crate::terminal::markdown::plain::plain;
use crate::terminal::output::format::{
    ONE_FAMILY, amount, calibrated_words, count, seconds, stated, thousands,
};
use crate::terminal::report::agents::seat_name;
use crate::terminal::report::sections;
use crate::text::clean::one_line;

/// How the result falls short: of a verdict, of the panel, of a judge that decides the same twice.
pub(super) fn notices(record: &StoredRecord) -> Vec<String> {
    let mut notices = Vec::new();
    match record.completion() {
        Completion::Completed | Completion::Declined => {}
        Completion::Aborted | Completion::Unfinished => {
            notices
                .push("🛑 Partial result: the consultation has not reached a verdict".to_owned());
        }
    }
    let reasons = record.degradations.iter().map(|reason| one_line(reason));
    notices.extend(reasons.map(|reason| format!("⚠️ {reason}")));
    let hedges = record.hedge_notices();
    if !hedges.is_empty() {
        notices.push(format!("🔀 {}", one_line(&hedges.join("; "))));
    }
    if record
        .second_pass()
        .is_some_and(|second| second.other_verdict().is_some())
    {
        notices.push("⚠️ The verdict depends on the order of the experts".to_owned());
    }
    if record.agents.iter().any(|agent| agent.demonstration) {
        notices.push(
            "⚠️ A local model took part; its answers are of demonstration quality".to_owned(),
        );
    }
    notices
}

/// The answer; without a verdict, what there is instead.
pub(super) fn answer(record: &StoredRecord) -> Vec<Part> {
    if let Some(verdict) = record.verdict() {
        let options = options(&verdict.recommendations);
        let lead = Part::Foreign(verdict.recommendation.clone());
        let lead =
            Some(lead).filter(|_| !verdict.is_menu() || !verdict.recommendation.trim().is_empty());
        return options.into_iter().chain(lead).collect();
    }
    let why = sections::without_verdict(record);
    let points = record
        .synthesis()
        .map_or(&[][..], |synthesis| &synthesis.consensus_points);
    match list(points.iter().map(sections::agreement)) {
        Some(points) => {
            let lead = Line::of("_{}. The experts agree on:_", [why]);
            vec![Part::Paragraph(lead), points]
        }
        None => vec![paragraph("_{}._", [why])],
    }
}

/// The options of a menu, numbered.
fn options(options: &[MenuOption]) -> Option<Part> {
    let mut lines = Line::default();
    for (number, choice) in (1..).zip(options) {
        let separator = if number == 1 {
            "{}. **{}**"
        } else {
            "\n{}. **{}**"
        };
        let confidence = choice.confidence.map(|confidence| confidence.to_string());
        lines = lines
            .and(separator, [&number.to_string(), &choice.option])
            .with(" ({})", &confidence.unwrap_or_default())
            .with(", best when {}", &choice.best_when);
    }
    (!options.is_empty()).then_some(Part::Paragraph(lines))
}

/// The figure, and what it rests on.
pub(super) fn confidence(record: &StoredRecord) -> Option<String> {
    let verdict = record.verdict();
    if record.recommendation.is_none() || verdict.is_some_and(Verdict::is_menu) {
        return None;
    }
    let composed_from = verdict.and_then(|verdict| verdict.composed_from);
    let source = match composed_from {
        None => "stated by the judge",
        Some(Source::Synthesis) => "averaged over Round 2's points of agreement, without a verdict",
        Some(Source::CrossExam) => {
            "averaged over Round 2's points of agreement, without a verdict after Round 3"
        }
    };
    let mut parts = vec![match (record.confidence, composed_from) {
        (None, None) => "not stated by the judge".to_owned(),
        (None, Some(_)) => "not stated; there is no verdict".to_owned(),
        (figure, _) => format!("{}, {source}", stated(figure)),
    }];
    parts.extend(
        verdict
            .and_then(Verdict::confidence_note)
            .map(str::to_owned),
    );
    if composed_from == Some(Source::Synthesis) {
        let calibrated = record.calibrated();
        parts.extend(
            calibrated.map(|calibrated| format!("calibrated {}", calibrated_words(&calibrated))),
        );
    }
    parts.extend(support(record));
    if record.panel.one_family {
        parts.push(ONE_FAMILY.to_owned());
    }
    Some(parts.join("; "))
}

/// How many experts support the strongest point of agreement.
fn support(record: &StoredRecord) -> Option<String> {
    let leading = record.synthesis()?.leading()?;
    let answered = record.independents().count();
    let supporters = record
        .independents()
        .filter(|held| leading.is_supported_by(&held.agent_id))
        .count();
    (answered > 0).then(|| {
        format!(
            "{supporters} of {} {} the strongest point",
            count(answered, "expert"),
            if supporters == 1 {
                "supports"
            } else {
                "support"
            }
        )
    })
}

pub(super) fn judge_passes(record: &StoredRecord) -> Option<String> {
    let second = record.second_pass();
    second.map(|second| one_line(&second.description(record.judge().as_ref())))
}

/// The positions, where there is no verdict and no agreement to show.
pub(super) fn positions(record: &StoredRecord) -> Vec<String> {
    if record.recommendation.is_some() || record.synthesis().is_some() {
        return Vec::new();
    }
    let positions = record.independents();
    positions
        .map(|held| {
            let seat = record.agent(&held.agent_id);
            let name = match seat {
                Some(seat) => one_line(&seat_name(record, seat)),
                None => one_line(held.agent_id.as_str()),
            };
            by_with(&name, held.confidence, &held.position)
        })
        .collect()
}

fn by_with(name: &str, confidence: Option<Confidence>, text: &str) -> String {
    match confidence {
        Some(confidence) => format!("{name} ({confidence}): {}", plain(text)),
        None => format!("{name}: {}", plain(text)),
    }
}

pub(super) fn dissent(record: &StoredRecord) -> Vec<String> {
    let objections = record.verdict().map_or(&[][..], Verdict::objections);
    objections
        .iter()
        .map(|dissent| {
            let name = one_line(record.name_of(&dissent.agent));
            let severity = dissent.severity.name();
            let concern = plain(&dissent.concern);
            if name.is_empty() {
                format!("({severity}) {concern}")
            } else {
                format!("{name} ({severity}): {concern}")
            }
        })
        .collect()
}

/// The open points of an answer without a judge's verdict, which would have weighed them.
pub(super) fn open_points(record: &StoredRecord) -> Vec<String> {
    if record.is_judged() || record.recommendation.is_none() && record.synthesis().is_none() {
        return Vec::new();
    }
    let view = |point: &OpenPoint| {
        let views = point.views.iter().map(|side| {
            let (agent, view) = (one_line(&side.agent), plain(&side.view));
            let view = view.trim_end_matches('.').to_owned();
            if agent.is_empty() {
                view
            } else {
                format!("{agent}: {view}")
            }
        });
        let views: Vec<String> = views.collect();
        let topic = plain(&point.topic);
        if views.is_empty() {
            topic
        } else {
            format!("{topic} — {}", views.join("; "))
        }
    };
    record.points_left_open().iter().map(view).collect()
}

pub(super) fn changes(record: &StoredRecord) -> Vec<String> {
    let changes = record.position_changes();
    let lines: Vec<String> = changes
        .changed()
        .map(|expert| change(record, expert))
        .collect();
    if lines.is_empty() {
        changes
            .headline()
            .map(|line| one_line(&line))
            .into_iter()
            .collect()
    } else {
        lines
    }
}

fn change(record: &StoredRecord, expert: &ExpertChange<'_>) -> String {
    let revision = expert.revision;
    let name = one_line(record.name_of(revision.agent_id.as_str()));
    let confidence = expert.confidence_in_words();
    let confidence = confidence
        .map(|words| format!(" ({words})"))
        .unwrap_or_default();
    let reasons: Vec<String> = revision
        .because_of
        .iter()
        .map(|because| {
            let by = one_line(record.name_of(&because.agent));
            format!("{by}: {}", plain(&because.argument))
        })
        .collect();
    let because = if reasons.is_empty() {
        ""
    } else {
        ", because of "
    };
    format!(
        "{name} {}{confidence}{because}{}",
        expert.in_words(),
        reasons.join("; ")
    )
}

pub(super) fn cost(record: &StoredRecord) -> String {
    let calls = record.cost.as_ref().and_then(|cost| cost.total.calls);
    let calls = calls.and_then(|calls| usize::try_from(calls).ok());
    let saved = record
        .cost_saved()
        .map(|saved| format!("about {} saved by ending after Round 2", amount(saved)));
    let caching = record.caching().and_then(StoredCaching::saving_in_words);
    let parts = [
        record.total_cost().map(amount),
        record.duration().map(minutes),
        calls.map(|calls| count(calls, "call")),
        record
            .total_tokens()
            .map(|tokens| format!("{} tokens", thousands(tokens))),
        caching.map(|saving| format!("prompt caching {saving}")),
        saved,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "not recorded".to_owned()
    } else {
        parts.join(" · ")
    }
}

/// `8.2s`, `2m 34s`.
fn minutes(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole < 60 {
        seconds(duration)
    } else {
        format!("{}m {:02}s", whole / 60, whole % 60)
    }
}
