//! Two consultations side by side: a follow-up beside its question, a rejudgement beside the first
//! verdict, two runs of the same question.

use super::consultation::moment;
use super::sections;
use super::{head, rejudge};
use crate::domain::record::history::HistoryRow;
use crate::domain::record::rejudgement::{Judgement, Rejudgement};
use crate::domain::record::stored_record::StoredRecord;
use crate::terminal::document::{Line, Part, Table, fact, foreign, list, titled};
use crate::terminal::output::format::{model_address, seconds, stated, thousands};

/// A figure of a consultation, with its label.
type Figure = (&'static str, fn(&StoredRecord) -> Option<String>);

const FIGURES: [Figure; 9] = [
    ("Asked", |record| record.at.map(moment)),
    ("Mode", |record| record.mode.clone()),
    ("Judge", |record| record.judge().as_ref().map(model_address)),
    ("Confidence", |record| {
        record.confidence.map(|known| stated(Some(known)))
    }),
    ("Agreement", |record| {
        record
            .agreement
            .map(|share| format!("{:.0}%", share * 100.0))
    }),
    ("Rounds", |record| {
        record.rounds_completed.map(|rounds| rounds.to_string())
    }),
    ("Cost", StoredRecord::total_cost_in_words),
    ("Time", |record| record.duration().map(seconds)),
    ("Tokens", |record| record.total_tokens().map(thousands)),
];

/// The title of the page, and what the two are.
fn words(earlier: &StoredRecord, later: &StoredRecord) -> (&'static str, [&'static str; 2]) {
    if later.rejudged_from.as_ref() == Some(&earlier.id) {
        let sides = ["First verdict", "Judged again"];
        ("A second judgement beside the first", sides)
    } else if later.follow_up_of.as_ref() == Some(&earlier.id) {
        ("A follow-up beside its question", ["Question", "Follow-up"])
    } else if earlier.question == later.question {
        ("Two runs of one question", ["First run", "Second run"])
    } else {
        ("Two consultations", ["First", "Second"])
    }
}

/// The earlier one stands first, whichever is named first.
pub fn comparison(one: &StoredRecord, other: &StoredRecord) -> Vec<Part> {
    let mut in_order = [one, other];
    in_order.sort_by_key(|record| (record.at, record.id.clone()));
    let [earlier, later] = in_order;
    let (title, sides) = words(earlier, later);
    let both = Rejudgement::of(earlier, later);
    let mut parts = vec![Part::Heading(1, title.into())];
    let is_same = earlier.question == later.question;
    parts.extend(is_same.then(|| foreign(&earlier.question)).flatten());
    if later.rejudged_from.is_some() && is_same {
        let held = rejudge::head(&both).into_iter().skip(1);
        parts.push(Part::Facts(held.collect()));
    }
    let answers = [(earlier, &both.before), (later, &both.after)];
    let answers = sides.iter().zip(answers);
    let answers = answers.map(|(side, (record, judged))| answer(side, record, judged, is_same));
    parts.extend(titled(2, "Answers", [Part::Articles(answers.collect())]));
    let rows = FIGURES.into_iter().map(|(label, of)| {
        let known = |record| of(record).map_or("-".into(), Line::from);
        vec![label.into(), known(earlier), known(later)]
    });
    let heads = ["", sides[0], sides[1]];
    parts.extend(titled(2, "Figures", Table::of(3, &heads, rows)));
    let agreed = rejudge::changes(&both.consensus_points);
    parts.extend(titled(2, "Points of Agreement", agreed));
    parts.extend(titled(2, "Tensions", rejudge::changes(&both.tensions)));
    parts
}

fn answer(
    side: &'static str,
    record: &StoredRecord,
    judged: &Judgement,
    is_same: bool,
) -> Vec<Part> {
    let id = Line::default().consultations([&record.id]);
    let mut parts = vec![
        Part::Heading(3, side.into()),
        Part::Facts(vec![
            fact("Consultation", id),
            fact("Confidence", sections::confidence(record)),
        ]),
    ];
    if !is_same {
        let question = foreign(&record.question);
        parts.extend(titled(4, "Question", question));
        parts.push(Part::Heading(4, sections::answer_title(record).into()));
    }
    let notice = head::status_notice(record, head::abort_reason(record));
    parts.extend(notice);
    if record.verdict().is_some() {
        parts.extend(rejudge::recommendation(judged));
    } else {
        parts.extend(sections::without_verdict_parts(record));
    }
    let dissent = list(sections::dissent(record, |_| true));
    parts.extend(titled(4, "Dissent", dissent));
    parts
}

/// The comparisons in which a consultation can stand; `same_question` are others that were asked it.
pub fn comparisons(record: &StoredRecord, same_question: &[HistoryRow]) -> Option<Part> {
    let link = |words: &'static str, other: &str| {
        Line::link(format!("/compare?a={other}&b={}", record.id), words)
    };
    let first = record
        .rejudged_from
        .iter()
        .map(|id| link("the first verdict", id));
    let asked = record
        .follow_up_of
        .iter()
        .map(|id| link("the question before it", id));
    let follow_ups = record.follow_ups.iter().map(|id| link("its follow-up", id));
    let others = same_question.iter();
    let others =
        others.filter(|row| record.rejudged_from.as_deref() != Some(row.consultation_id.as_str()));
    let others = others.map(|row| {
        let words = match row.rejudged_from {
            Some(_) => "a second judgement",
            None => "another run of the question",
        };
        link(words, row.consultation_id.as_str())
    });
    let links: Vec<Line> = first.chain(asked).chain(follow_ups).chain(others).collect();
    let has_links = !links.is_empty();
    let offer = Line::from("Compare with ").then(Line::joined(links, ", "));
    has_links.then_some(Part::Paragraph(offer))
}
