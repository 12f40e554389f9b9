//! The list of consultations: those that run now, then the past ones, newest first. All that it is
//! asked for stands in its address.

use url::form_urlencoded::Serializer;

use super::site::{Live, Page, Reply, Request, Site};
use crate::commands::flags::dollars;
use crate::domain::names::by_stored_name;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::history::{self, Filter, Search};
use crate::records::statistics::calendar;
use crate::terminal::document::{Field, FieldKind, Line, Part, nested_list, paragraph, titled};
use crate::terminal::output::format::thousands;
use crate::terminal::tables::history::{link_to, listed};

/// On one page.
const MOST: usize = 50;

const STATES: &[&str] = &["completed", "aborted", "declined", "unfinished"];
const MODES: &[&str] = &["explore", "converge"];

/// Names, labels and kinds of the fields.
const FIELDS: [(&str, &str, FieldKind); 8] = [
    ("q", "Search", FieldKind::Text),
    ("state", "State", FieldKind::Choice(STATES)),
    ("mode", "Mode", FieldKind::Choice(MODES)),
    ("model", "Model", FieldKind::Text),
    ("since", "From", FieldKind::Date),
    ("until", "To", FieldKind::Date),
    ("min", "From $", FieldKind::Dollars),
    ("max", "To $", FieldKind::Dollars),
];

pub(super) fn page(site: &Site, request: &Request) -> Result<Reply, Error> {
    let filter = filter(site, request);
    let number = request.value("page").parse().unwrap_or(1);
    let (found, total, number, open) = site.ask(|index| {
        let connection = &index.connection;
        let total = history::count(connection, &filter)?;
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let number = number.clamp(1, total.div_ceil(MOST).max(1));
        let skipped = (number - 1) * MOST;
        let found = history::list_from(connection, &filter, skipped, Some(MOST))?;
        let open = history::open_consultations(connection)?;
        Ok((found, total, number, open))
    })?;
    let (logs, now) = (site.home.logs_folder(), site.clock.now());
    let mut files = vec![site.home.index_file().with_extension("db-wal")];
    let mut running = Vec::new();
    let is_first = number == 1 && filter == past();
    for id in open.into_iter().filter(|_| is_first) {
        let row = site.running.show(&logs, &id, |run, _| {
            let link = link_to(&id, run.question());
            vec![link, Line::from(run.words(now))]
        });
        if let Some(row) = row {
            files.push(ConsultationFiles::in_folder(&logs, &id).journal);
            running.push(row);
        }
    }
    let mut parts = vec![Part::Heading(1, "Consultations".into())];
    parts.extend(titled(2, "Running", nested_list(running)));
    parts.push(Part::Heading(2, "Past".into()));
    parts.push(match total {
        0 if filter == past() => {
            paragraph("None yet. Ask something with `conclave consult \"…\"`.", [])
        }
        0 => paragraph("None match.", []),
        _ => paragraph("{} found, newest first.", [&thousands(total as u64)]),
    });
    parts.extend(listed(&found, now, &site.zone));
    parts.extend(pages(request, number, total.div_ceil(MOST)));
    Ok(Reply::Page(Page {
        title: "Consultations".to_owned(),
        current: "/",
        form: form(request),
        parts,
        live: Some(Live {
            version: None,
            files,
        }),
    }))
}

/// Those that made no call are left out.
fn past() -> Filter {
    Filter {
        calls: Some(true),
        ..Filter::default()
    }
}

/// What cannot be read filters nothing.
fn filter(site: &Site, request: &Request) -> Filter {
    let given = |name| Some(request.value(name)).filter(|value: &&str| !value.is_empty());
    let day = |name| given(name).and_then(|day| calendar::day(day).ok());
    let days = calendar::days(day("since"), day("until")).ok();
    let range = days.map(|days| calendar::range(days, &site.zone, site.clock.now()));
    let amount = |name| given(name).and_then(|amount| dollars(amount).ok());
    let state = given("state").and_then(by_stored_name);
    Filter {
        state,
        mode: given("mode").map(str::to_owned),
        search: given("q").and_then(|words| Search::parse(words).ok()),
        model: given("model").map(str::to_owned),
        since: range.as_ref().and_then(|range| range.from),
        before: range.as_ref().and_then(|range| range.until),
        cost: (amount("min"), amount("max")),
        calls: state.is_none().then_some(true),
    }
}

fn form(request: &Request) -> Vec<Field> {
    let field = |(name, label, kind)| Field {
        name,
        label,
        value: request.value(name).to_owned(),
        kind,
    };
    FIELDS.into_iter().map(field).collect()
}

/// Links to the pages beside this one.
fn pages(request: &Request, number: usize, last: usize) -> Option<Part> {
    let link = |to: usize, words: &'static str| {
        let mut query = Serializer::new(String::new());
        let others = request.query.iter().filter(|(name, _)| name != "page");
        query
            .extend_pairs(others)
            .append_pair("page", &to.to_string());
        Line::link(format!("/?{}", query.finish()), words)
    };
    let newer = (number > 1).then(|| link(number - 1, "Newer"));
    let older = (number < last).then(|| link(number + 1, "Older"));
    let at = Line::of(
        "page {} of {}",
        [&thousands(number as u64), &thousands(last as u64)],
    );
    let links = Line::joined([newer, Some(at), older].into_iter().flatten(), " · ");
    (last > 1).then_some(Part::Paragraph(links))
}
