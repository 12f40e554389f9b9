//! The runs of benchmarks: their list, and the report of one.

use super::reply;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::RunId;
use crate::benchmark::state::BenchmarkStatus;
use crate::commands::view::runs::report;
use crate::commands::view::site::{Reply, Request, Site};
use crate::error::{Error, whole};
use crate::records::runs::RunStore;
use crate::terminal::document::{Line, Part};
use crate::terminal::report::benchmark::{list_of_runs, page_parts};

pub(in crate::commands::view) fn list(site: &Site, _: &Request) -> Result<Reply, Error> {
    let store = store(site);
    let (mut reports, mut unread) = (Vec::new(), Vec::new());
    for id in &store.newest_first().map_err(Error::failed)? {
        match site.runs.brief(&store, id) {
            Ok(report) => reports.push(report),
            Err(error) => {
                let words = [id.as_str(), &whole(&error)];
                unread.push(Part::Paragraph(Line::of("{}: {}", words)));
            }
        }
    }
    let mut parts = list_of_runs(&reports);
    parts.extend((!unread.is_empty()).then_some(Part::Notice(unread)));
    // A run that begins adds a folder.
    let mut files = vec![site.home.runs_folder()];
    let running = reports.iter().filter(|report| is_running(report));
    files.extend(running.map(|report| store.files(&report.run_id).log));
    Ok(reply("/benchmarks", "Benchmarks", parts, files))
}

pub(in crate::commands::view) fn one(site: &Site, request: &Request) -> Result<Reply, Error> {
    let store = store(site);
    let Some(id) = RunId::parse(&request.name).filter(|id| store.files(id).log.is_file()) else {
        return Ok(Reply::NotFound);
    };
    let report = report(&store, &id)?;
    let title = format!("Benchmark {}", report.terms.suite.name);
    let files = is_running(&report).then(|| store.files(&id).log);
    let files = files.into_iter().collect();
    Ok(reply("/benchmarks", title, page_parts(&report), files))
}

pub(super) fn store(site: &Site) -> RunStore {
    RunStore::in_folder(site.home.runs_folder())
}

fn is_running(report: &BenchmarkReport) -> bool {
    report.run_status == BenchmarkStatus::Running
}
