//! The page of a consultation: that of `history export`, or its progress as long as it runs. With
//! `.json` or `.md` behind the id, the record or the report as a file.

use super::site::{Live, Page, Reply, Request, Site};
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::history::follow_ups;
use crate::session::load;
use crate::terminal::report::{page_parts, report};

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
    let asked_further = site.ask(|index| follow_ups(&index.connection, id.as_str()));
    record.follow_ups = asked_further.unwrap_or_default();
    Ok(match ending {
        Some(".json") => Reply::File("application/json", load::json(&logs, &id, &record)?),
        Some(_) => Reply::File("text/markdown; charset=utf-8", report(&record)),
        None => Reply::Page(Page {
            title: record.question.clone(),
            current: "/",
            parts: page_parts(&record),
            ..Page::default()
        }),
    })
}
