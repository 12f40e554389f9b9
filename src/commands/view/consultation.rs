//! The page of a consultation: that of `history export`, or its progress as long as it runs. With
//! `.json` or `.md` behind the id, the record or the report as a file.

use super::site::{Live, Page, Reply, Request, Site};
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::history::{follow_ups, same_question};
use crate::session::load;
use crate::terminal::document::Part;
use crate::terminal::report::{comparisons, page_parts, report};

/// Other runs of the question that a page leads to.
const MOST_COMPARED: usize = 5;

pub(super) fn page(site: &Site, request: &Request) -> Result<Reply, Error> {
    let formats = [".json", ".md"];
    let ending = formats
        .into_iter()
        .find(|ending| request.name.ends_with(ending));
    let name = request.name.strip_suffix(ending.unwrap_or_default());
    let Some(Ok(id)) = name.map(ConsultationId::parse) else {
        return Ok(Reply::NotFound);
    };
    let logs = site.home.logs_folder();
    let files = ConsultationFiles::in_folder(&logs, &id);
    let now = site.clock.now();
    let page = Page {
        current: "/",
        ..Page::default()
    };
    let running = site.running.show(&logs, &id, |run, events| Page {
        title: run.question().to_owned(),
        parts: run.page(now),
        live: Some(Live {
            version: Some(events),
            files: vec![files.journal.clone()],
        }),
        ..page
    });
    if let (Some(page), None) = (running, ending) {
        return Ok(Reply::Page(page));
    }
    if !files.journal.is_file() && !files.record.is_file() {
        return Ok(Reply::NotFound);
    }
    let mut record = load::load(&logs, &id)?;
    // What an index cannot say is left out.
    let asked_further = site.ask(|index| {
        let connection = &index.connection;
        let again = same_question(connection, id.as_str(), &record.question, MOST_COMPARED)?;
        Ok((follow_ups(connection, id.as_str())?, again))
    });
    let (follow_ups, asked_again) = asked_further.unwrap_or_default();
    record.follow_ups = follow_ups;
    let mut parts = page_parts(&record);
    // Above the answer.
    let is_section = |part: &Part| matches!(part, Part::Heading(2, _));
    let at = parts.iter().position(is_section).unwrap_or(parts.len());
    parts.splice(at..at, comparisons(&record, &asked_again));
    Ok(match ending {
        Some(".json") => Reply::File("application/json", load::json(&logs, &id, &record)?),
        Some(_) => Reply::File("text/markdown; charset=utf-8", report(&record)),
        None => Reply::Page(Page {
            title: record.question.clone(),
            current: "/",
            parts,
            ..Page::default()
        }),
    })
}
