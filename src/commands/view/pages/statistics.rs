//! The statistics of a week, a month or all time, as `consult-stats` has them.

use std::sync::PoisonError;

use super::reply;
use crate::commands::history::consult_stats::statistics_of;
use crate::commands::view::site::{Reply, Request, Site};
use crate::domain::model::vendors;
use crate::domain::record::statistics::Span;
use crate::error::Error;
use crate::records::statistics::calendar;
use crate::records::statistics::calibration::calibration;
use crate::terminal::tables::calibration::page_parts;
use crate::terminal::tables::dashboard::page as document;

pub(in crate::commands::view) fn page(site: &Site, request: &Request) -> Result<Reply, Error> {
    let (zone, now) = (&site.zone, site.clock.now());
    let span = match request.value("range") {
        "week" => Span::Week,
        "month" => Span::Month(calendar::date_of(now, zone)),
        _ => Span::AllTime,
    };
    let known = || {
        let known = site.statistics.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    };
    let reply = |parts| reply("/statistics", "Statistics", parts, Vec::new());
    let (of, found) = site.ask(|index| {
        // What the index lacked is in it by now.
        let of = (span, calendar::date_of(now, zone), site.index_state());
        if let Some((_, parts)) = known().as_ref().filter(|(known, _)| *known == of) {
            return Ok((of, Err(parts.clone())));
        }
        let (found, elsewhere) = statistics_of(index, span, zone, now, site.targets)?;
        let graded = calibration(&index.connection, &found.range)?;
        Ok((of, Ok((found, elsewhere, graded))))
    })?;
    let (found, elsewhere, graded) = match found {
        Ok(found) => found,
        Err(parts) => return Ok(reply(parts)),
    };
    let calibration = page_parts(&graded, &found.range);
    let parts = document(&found, elsewhere.as_ref(), vendors::name, calibration);
    *known() = Some((of, parts.clone()));
    Ok(reply(parts))
}
