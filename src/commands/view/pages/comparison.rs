//! Two consultations, or two runs of a benchmark, side by side: `/compare?a=ID&b=ID`.

use super::{benchmarks, reply};
use crate::benchmark::run::RunId;
use crate::commands::view::runs::report;
use crate::commands::view::site::{Reply, Request, Site};
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::session::load;
use crate::terminal::report::benchmark::two_runs;
use crate::terminal::report::comparison;

pub(in crate::commands::view) fn page(site: &Site, request: &Request) -> Result<Reply, Error> {
    let names = [request.value("a"), request.value("b")];
    if let [Some(one), Some(other)] = names.map(RunId::parse) {
        let store = benchmarks::store(site);
        let is_there = |id| store.files(id).log.is_file();
        if !is_there(&one) || !is_there(&other) {
            return Ok(Reply::NotFound);
        }
        let [one, other] = [one, other].map(|id| report(&store, &id));
        let parts = two_runs(&one?, &other?);
        return Ok(reply("/benchmarks", "Two runs", parts, Vec::new()));
    }
    let logs = site.home.logs_folder();
    let is_there = |id: &ConsultationId| {
        let files = ConsultationFiles::in_folder(&logs, id);
        files.record.is_file() || files.journal.is_file()
    };
    let ids = names.map(|name| ConsultationId::parse(name).ok().filter(is_there));
    let [Some(one), Some(other)] = ids else {
        return Ok(Reply::NotFound);
    };
    let (one, other) = (load::load(&logs, &one)?, load::load(&logs, &other)?);
    let parts = comparison(&one, &other);
    Ok(reply("/", "Comparison", parts, Vec::new()))
}
