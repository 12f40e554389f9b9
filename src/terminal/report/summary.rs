//! What is left on the screen when a consultation is over: notices, the answer, what it rests on,
//! who objects, who changed their minds, the cost, and the next commands. The whole report has the
//! rest.
//!
//! Everything a model wrote is shown as plain text, but for the answer, which is rendered.

use std::borrow::Cow;
use std::time::Duration;

use console::measure_text_width;

use crate::domain::artifact::{MenuOption, Source, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::rejudgement::{Judgement, Rejudgement};
use crate::domain::stored_record::{Completion, ExpertChange, OpenPoint, StoredRecord};
use crate::terminal::markdown::escape::{block, inline, one_line};
use crate::terminal::markdown::plain::plain;
use crate::terminal::markdown::render::{WIDEST, render};
use crate::terminal::output::format::{
    ONE_FAMILY, amount, calibrated_words, count, model_address, seconds, stated, thousands,
};
use crate::terminal::output::style::Paint;

use super::agents::seat_name;

/// The lines of the answer that are shown.
const ANSWER_LINES: usize = 12;

/// The lines of an item of a list, such as one objection.
const ITEM_LINES: usize = 2;

/// The lines of a single fact, such as the confidence with what it rests on.
const FACT_LINES: usize = 4;

/// The items of a row.
const ITEMS: usize = 3;

/// The options of a menu, or the positions without a verdict.
const LIST_ITEMS: usize = 5;

/// The width below which an item may have one line more.
const NARROW: usize = 60;

/// The columns of the labels.
const LABEL: usize = 12;

/// The commands that a summary points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NextSteps {
    /// Nothing is stored, or only the answer was asked for.
    #[default]
    None,
    /// The commands take this name of the consultation, such as `last`.
    Of(String),
}

/// A summary, ready to be laid out.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    notices: Vec<String>,
    heading: String,
    /// Markdown; contained.
    answer: String,
    rows: Vec<Row>,
    next: NextSteps,
    is_complete: bool,
}

/// A label with its texts.
#[derive(Clone, Debug)]
struct Row {
    label: &'static str,
    items: Vec<String>,
    /// The lines of an item; more are cut.
    most_lines: usize,
}

impl Summary {
    /// Summarizes a consultation, finished or not.
    pub fn of(record: &StoredRecord, next: NextSteps) -> Self {
        let verdict = record.verdict();
        let is_complete = record.completion() == Completion::Completed;
        let mut rows = vec![
            Row::one("Confidence", confidence(record)),
            Row::one("Judge", judge_passes(record)),
            Row::list("Positions", positions(record), LIST_ITEMS),
            Row::list("Dissent", dissent(record), ITEMS),
            Row::list("Open", open_points(record), ITEMS),
            Row::list("Changes", changes(record), ITEMS),
            Row::one("Cost", Some(cost(record))),
        ];
        if let NextSteps::Of(_) = next {
            rows.push(Row::one("Saved as", Some(one_line(&record.id))));
        }
        rows.retain(|row| !row.items.is_empty());
        let is_menu = verdict.is_some_and(Verdict::is_menu);
        Self {
            notices: notices(record),
            heading: if is_menu { "Options" } else { "Answer" }.to_owned(),
            answer: answer(record),
            rows,
            next,
            is_complete,
        }
    }

    /// Summarizes a second judgement of stored answers.
    pub fn of_rejudgement(rejudgement: &Rejudgement, next: NextSteps) -> Self {
        let Rejudgement {
            before,
            after,
            cost,
            ..
        } = rejudgement;
        let judge = |side: &Judgement| side.judge.as_ref().map(model_address);
        let judges = judge(before)
            .zip(judge(after))
            .map(|(before, after)| changed(&before, &after));
        let confidence = match (&before.recommendation, &after.recommendation) {
            (Some(_), Some(_)) if after.options.is_empty() && before.options.is_empty() => Some(
                changed(&stated(before.confidence), &stated(after.confidence)),
            ),
            _ => None,
        };
        let mut rows = vec![
            Row::one("Verdict", Some(super::rejudge::held(rejudgement))),
            Row::one("Judge", judges),
            Row::one("Confidence", confidence),
            Row::one("Cost", cost.map(amount)),
        ];
        if let NextSteps::Of(_) = next {
            rows.push(Row::one("Saved as", Some(one_line(&after.consultation_id))));
        }
        rows.retain(|row| !row.items.is_empty());
        let options: Vec<String> = after
            .options
            .iter()
            .map(|option| format!("- {}", inline(option)))
            .collect();
        let recommendation = after.recommendation.as_deref().map(block);
        let parts = [options.join("\n"), recommendation.unwrap_or_default()];
        let answer: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Self {
            notices: Vec::new(),
            heading: "Answer now".to_owned(),
            answer: if answer.is_empty() {
                "_No verdict._".to_owned()
            } else {
                answer.join("\n\n")
            },
            rows,
            next,
            is_complete: true,
        }
    }

    /// Lays it out for a terminal of `width` columns.
    pub fn render(&self, width: usize, paint: Paint) -> String {
        let room = width.saturating_sub(1).clamp(10, WIDEST);
        let mut lines = Vec::new();
        for notice in &self.notices {
            let wrapped = shortened(notice, room, ITEM_LINES, "   ");
            lines.extend(wrapped.iter().map(|line| paint.yellow(line)));
        }
        if !self.notices.is_empty() {
            lines.push(String::new());
        }
        lines.push(paint.heading(&self.heading));
        lines.extend(self.answer_lines(width, paint));
        lines.push(String::new());
        for row in &self.rows {
            lines.extend(row.lines(room, paint));
        }
        lines.extend(self.next_lines(room, paint));
        lines.join("\n") + "\n"
    }

    /// The answer, up to a bound.
    fn answer_lines(&self, width: usize, paint: Paint) -> Vec<String> {
        let rendered = render(&self.answer, width, paint);
        let mut lines: Vec<String> = rendered.trim_end().lines().map(str::to_owned).collect();
        // One line more is better than a line that says there is one.
        let left_out = lines.len().saturating_sub(ANSWER_LINES);
        if left_out > 1 {
            lines.truncate(ANSWER_LINES);
            let pointer = match &self.next {
                NextSteps::Of(name) => format!(": conclave history show {name}"),
                NextSteps::None => String::new(),
            };
            lines.push(paint.dim(&format!("… {left_out} more lines{pointer}")));
        }
        lines
    }

    fn next_lines(&self, room: usize, paint: Paint) -> Vec<String> {
        let NextSteps::Of(name) = &self.next else {
            return Vec::new();
        };
        let follow_up = match name.as_str() {
            "last" => "conclave consult --follow-up \"…\"".to_owned(),
            id => format!("conclave consult --follow-up \"…\" {id}"),
        };
        let mut steps = vec![(format!("conclave history show {name}"), "the whole report")];
        if self.is_complete {
            steps.push((
                format!("conclave history export {name} --open"),
                "as a page in the browser",
            ));
            steps.push((follow_up, "ask further"));
        }
        let widest = steps.iter().map(|(command, _)| measure_text_width(command));
        let column = widest.max().unwrap_or_default() + 2;
        let descriptions = steps.iter().map(|(_, what)| measure_text_width(what));
        let is_fitting = column + descriptions.max().unwrap_or_default() <= room;
        let step = |(command, what): (String, &str)| {
            if is_fitting {
                let blanks = " ".repeat(column - measure_text_width(&command));
                format!("{command}{blanks}{}", paint.dim(what))
            } else {
                command
            }
        };
        std::iter::once(String::new())
            .chain(steps.into_iter().map(step))
            .collect()
    }
}

impl Row {
    fn one(label: &'static str, text: Option<String>) -> Self {
        Self {
            label,
            items: text.into_iter().collect(),
            most_lines: FACT_LINES,
        }
    }

    /// Keeps the first items, and says how many more there are.
    fn list(label: &'static str, mut items: Vec<String>, most: usize) -> Self {
        let left_out = items.len().saturating_sub(most);
        if left_out > 0 {
            items.truncate(most);
            items.push(format!("… {left_out} more"));
        }
        Self {
            label,
            items,
            most_lines: ITEM_LINES,
        }
    }

    fn lines(&self, room: usize, paint: Paint) -> Vec<String> {
        // On a narrow screen, a column of labels leaves too little.
        let is_narrow = room < 4 * LABEL;
        let indent = if is_narrow { 2 } else { LABEL };
        let most_lines = self.most_lines + usize::from(room < NARROW);
        let mut lines = Vec::new();
        for item in &self.items {
            lines.extend(shortened(item, room - indent, most_lines, ""));
        }
        let mut labelled = Vec::new();
        if is_narrow {
            labelled.push(paint.bold(self.label));
        }
        for (at, line) in lines.iter().enumerate() {
            labelled.push(if at == 0 && !is_narrow {
                let blanks = " ".repeat(LABEL - self.label.len());
                format!("{}{blanks}{line}", paint.bold(self.label))
            } else {
                format!("{}{line}", " ".repeat(indent))
            });
        }
        labelled
    }
}

/// Wraps a text and cuts it behind a word with `…` where it has more than `most` lines.
fn shortened(text: &str, room: usize, most: usize, indent: &str) -> Vec<String> {
    let options = textwrap::Options::new(room)
        .subsequent_indent(indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, &options);
    let mut lines: Vec<String> = lines.into_iter().map(Cow::into_owned).collect();
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while measure_text_width(last) + 2 > room {
                let blank = last.trim_end().rfind(' ');
                let Some(shorter) = blank.and_then(|blank| last.get(..blank)) else {
                    break;
                };
                if shorter.trim().is_empty() {
                    break;
                }
                last.truncate(shorter.len());
            }
            let end = last.trim_end_matches([' ', ',', ';', ':']).len();
            last.truncate(end);
            last.push_str(" …");
        }
    }
    lines
}

fn changed(before: &str, after: &str) -> String {
    if before == after {
        after.to_owned()
    } else {
        format!("{before} → {after}")
    }
}

/// How the result falls short: of a verdict, of the panel, of a judge that decides the same twice.
fn notices(record: &StoredRecord) -> Vec<String> {
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

/// The answer as Markdown; without a verdict, what there is instead.
fn answer(record: &StoredRecord) -> String {
    if let Some(verdict) = record.verdict() {
        return verdict_text(verdict);
    }
    if let Some(recommendation) = &record.recommendation {
        return block(recommendation);
    }
    let why = if record.completion() == Completion::Completed {
        "No verdict was asked for"
    } else {
        "No verdict was reached"
    };
    match record.synthesis() {
        Some(synthesis) if !synthesis.consensus_points.is_empty() => {
            let points = synthesis.consensus_points.iter();
            let points: Vec<String> = points
                .map(|point| {
                    let stated = point.confidence.map(|stated| format!(" ({stated})"));
                    format!("- {}{}", inline(&point.point), stated.unwrap_or_default())
                })
                .collect();
            format!("_{why}. The experts agree on:_\n\n{}", points.join("\n"))
        }
        _ => format!("_{why}._"),
    }
}

fn verdict_text(verdict: &Verdict) -> String {
    let recommendation = block(&verdict.recommendation);
    if !verdict.is_menu() {
        return super::sections::or_nothing(recommendation);
    }
    let option = |(at, choice): (usize, &MenuOption)| {
        let confidence = choice
            .confidence
            .map(|confidence| format!(" ({confidence})"))
            .unwrap_or_default();
        let best_when = inline(&choice.best_when);
        let best_when = super::sections::around(", best when ", &best_when, "");
        format!(
            "{}. **{}**{confidence}{best_when}",
            at + 1,
            inline(&choice.option)
        )
    };
    let options: Vec<String> = verdict
        .recommendations
        .iter()
        .enumerate()
        .map(option)
        .collect();
    let parts = [options.join("\n"), recommendation];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The figure, and what it rests on.
fn confidence(record: &StoredRecord) -> Option<String> {
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

fn judge_passes(record: &StoredRecord) -> Option<String> {
    let second = record.second_pass();
    second.map(|second| one_line(&second.description(record.judge().as_ref())))
}

/// The positions, where there is no verdict and no agreement to show.
fn positions(record: &StoredRecord) -> Vec<String> {
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

fn dissent(record: &StoredRecord) -> Vec<String> {
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
fn open_points(record: &StoredRecord) -> Vec<String> {
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

fn changes(record: &StoredRecord) -> Vec<String> {
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
    let reasons = super::sections::around(", because of ", &reasons.join("; "), "");
    format!("{name} {}{confidence}{reasons}", expert.in_words())
}

fn cost(record: &StoredRecord) -> String {
    let calls = record.cost.as_ref().and_then(|cost| cost.calls);
    let calls = calls.and_then(|calls| usize::try_from(calls).ok());
    let saved = record
        .cost_saved()
        .map(|saved| format!("about {} saved by ending after Round 2", amount(saved)));
    let parts = [
        record.total_cost().map(amount),
        record.duration().map(minutes),
        calls.map(|calls| count(calls, "call")),
        record
            .total_tokens()
            .map(|tokens| format!("{} tokens", thousands(tokens))),
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
