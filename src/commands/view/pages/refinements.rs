//! The documents that loops of this home have refined: their list, and the loops over one.

use std::cmp::Reverse;
use std::path::Path;

use super::reply;
use crate::commands::view::site::{Reply, Request, Site};
use crate::error::{Error, whole};
use crate::records::journal::is_being_written;
use crate::records::refinements::RefinementStore;
use crate::records::refinements::claims::sources;
use crate::refinement::state::RefinementState;
use crate::terminal::report::refinement::{RefinedDocument, list_of_documents, page_parts};

#[expect(clippy::unnecessary_wraps, reason = "a builder of pages")]
pub(in crate::commands::view) fn list(site: &Site, _: &Request) -> Result<Reply, Error> {
    let documents = sources(site.home.path()).into_iter();
    let documents = documents.map(|(key, source)| RefinedDocument {
        path: format!("/refinements/{key}"),
        is_running: is_being_written(&RefinementStore::beside(&source).files.log),
        state: state(&source),
        document: source.display().to_string(),
    });
    let mut documents: Vec<RefinedDocument> = documents.collect();
    documents.sort_by_key(|document| {
        let state = document.state.as_ref();
        Reverse(state.map(|state| state.current().updated_at).ok())
    });
    let parts = list_of_documents(&documents);
    Ok(reply("/refinements", "Refinements", parts, Vec::new()))
}

/// No path comes from the address.
pub(in crate::commands::view) fn one(site: &Site, request: &Request) -> Result<Reply, Error> {
    let mut sources = sources(site.home.path()).into_iter();
    let Some((_, source)) = sources.find(|(key, _)| *key == request.name) else {
        return Ok(Reply::NotFound);
    };
    let state = state(&source).map_err(Error::failed)?;
    let document = source.display().to_string();
    let title = format!("Refinement of {}", state.current().begun.source);
    let log = RefinementStore::beside(&source).files.log;
    let is_running = is_being_written(&log);
    let parts = page_parts(&document, &state, is_running);
    let files = is_running.then_some(log).into_iter().collect();
    Ok(reply("/refinements", title, parts, files))
}

fn state(source: &Path) -> Result<RefinementState, String> {
    let state = RefinementStore::beside(source).load();
    let state = state.map_err(|error| whole(&error))?;
    state.ok_or_else(|| "its log is not there any more".to_owned())
}
