//! The runs of benchmarks: their list, and the report of one.

use super::reply;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::RunId;
use crate::commands::view::site::{Reply, Request, Site};
use crate::error::{Error, whole};
use crate::files::log::LogError;
use crate::records::runs::RunStore;
use crate::terminal::document::{Line, Part};
use crate::terminal::report::benchmark::{list_of_runs, page_parts};

pub(in crate::commands::view) fn list(site: &Site, _: &Request) -> Result<Reply, Error> {
    let store = store(site);
    let (mut reports, mut unread) = (Vec::new(), Vec::new());
    for id in &store.newest_first().map_err(Error::failed)? {
        match report(&store, id) {
            Ok(report) => reports.push(report),
            Err(error) => {
                let words = [id.as_str(), &whole(&error)];
                unread.push(Part::Paragraph(Line::of("{}: {}", words)));
            }
        }
    }
    let mut parts = list_of_runs(&reports);
    parts.extend((!unread.is_empty()).then_some(Part::Notice(unread)));
    Ok(reply("/benchmarks", "Benchmarks", parts))
}

pub(in crate::commands::view) fn one(site: &Site, request: &Request) -> Result<Reply, Error> {
    let store = store(site);
    let Some(id) = RunId::parse(&request.name).filter(|id| store.files(id).log.is_file()) else {
        return Ok(Reply::NotFound);
    };
    let report = report(&store, &id)?;
    let title = format!("Benchmark {}", report.terms.suite.name);
    Ok(reply("/benchmarks", title, page_parts(&report)))
}

pub(super) fn store(site: &Site) -> RunStore {
    RunStore::in_folder(site.home.runs_folder())
}

pub(super) fn report(store: &RunStore, id: &RunId) -> Result<BenchmarkReport, LogError> {
    let run = store.load(id)?;
    Ok(BenchmarkReport::of(&run.state, run.view()))
}
