//! `conclave consult-stats`: what the consultations of this home say together, out of the index.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::config;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::domain::statistics::{Range, Span, Statistics, Targets, UsageNumbers};
use crate::domain::time::Timestamp;
use crate::domain::vendors;
use crate::engine::clock::Clock;
use crate::error::Error;
use crate::records::calibration::{self, calibration};
use crate::records::statistics::calendar::{self, SpanError};
use crate::records::statistics::{json, statistics};
use crate::session::index;
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::calibration as calibration_table;
use crate::terminal::tables::dashboard::charset::Charset;
use crate::terminal::tables::dashboard::{Border, Canvas, dashboard, nothing};

/// Show usage, response times, cost, quality and what the debates were worth
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
A consultation belongs to the day on which it began, by the calendar of your time zone (TZ).
Percentiles (p50, p95, p99) are by nearest rank over completed consultations: the smallest of their
durations that at least so many percent of them do not exceed. What is not known is not counted as
0; a cost of which a part is not known is shown as a lower bound.
The targets are settings: target_runs (in thirty days), target_median_seconds, target_monthly_cost.

Examples:
  conclave consult-stats --month 2026-11
  conclave consult-stats --since 2026-10-01 --json")]
pub struct Args {
    /// The last seven days, today included
    #[arg(long, conflicts_with_all = ["month", "all_time", "since", "until"])]
    week: bool,

    /// A month of the calendar; without a value this one
    #[arg(long, value_name = "YYYY-MM", num_args = 0..=1, conflicts_with_all = ["all_time", "since", "until"])]
    #[expect(clippy::option_option, reason = "a flag that may have a value")]
    month: Option<Option<String>>,

    /// All consultations: the default
    #[arg(long, conflicts_with_all = ["since", "until"])]
    all_time: bool,

    /// From this day on
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<String>,

    /// Up to this day, which is included
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<String>,

    #[arg(
        long,
        help = "Write JSON; its schema is schemas/consult_stats.schema.json"
    )]
    json: bool,

    /// Show how far stated confidence could be trusted, from what became of answers: conclave
    /// history outcome
    #[arg(long)]
    calibration: bool,

    /// Make the index anew from the logs, and nothing else
    #[arg(long, conflicts_with_all = ["week", "month", "all_time", "since", "until", "json", "calibration"])]
    rebuild_index: bool,

    /// Draw with ASCII characters only, as where the locale is not UTF-8
    #[arg(long)]
    ascii: bool,
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let charset = charset(args, environment);
    if args.rebuild_index {
        return index::rebuild(&home, printer, charset);
    }
    let (zone, now) = (TimeZone::system(), Clock::system().now());
    let span = span(args, &zone, now).map_err(Error::usage)?;
    if args.calibration {
        return calibrate(args, &home, printer, &calendar::range(span, &zone, now));
    }
    let targets = targets(&config::load(&home, environment)?);
    let (found, elsewhere) = find(&home, printer, span, &Calendar { zone, now }, targets)?;
    if args.json {
        let json = serde_json::to_string_pretty(&json::json(&found)).map_err(Error::failed)?;
        return printer.result(&format!("{json}\n")).map_err(Error::failed);
    }
    let canvas = canvas(printer, charset);
    let text = match elsewhere {
        None => dashboard(&found, vendors::name, canvas),
        Some(elsewhere) => nothing(&found.range, &elsewhere, canvas),
    };
    printer.result(&text).map_err(Error::failed)
}

/// Shows what was stated beside what became of it.
fn calibrate(args: &Args, home: &Home, printer: &Printer, range: &Range) -> Result<(), Error> {
    let found = index::with(home, printer, |index| {
        calibration(index.connection(), range)
    })?;
    if args.json {
        let json = serde_json::to_string_pretty(&calibration::json(&found, range))
            .map_err(Error::failed)?;
        return printer.result(&format!("{json}\n")).map_err(Error::failed);
    }
    let face = printer.out_traits();
    let width = if face.is_terminal { face.width } else { 80 };
    printer
        .result(&calibration_table::screen(&found, range, width, face.paint))
        .map_err(Error::failed)
}

/// Where and when a day is.
struct Calendar {
    zone: TimeZone,
    now: Timestamp,
}

/// The numbers of a span; and where there is nothing in it, what there is at any time.
fn find(
    home: &Home,
    printer: &Printer,
    span: Span,
    calendar: &Calendar,
    targets: Targets,
) -> Result<(Statistics, Option<UsageNumbers>), Error> {
    let Calendar { zone, now } = calendar;
    index::with(home, printer, |index| {
        let mut of = |span| {
            statistics(
                index.connection_mut(),
                &calendar::range(span, zone, *now),
                zone,
                *now,
                targets,
            )
        };
        let found = of(span)?;
        let elsewhere = if found.usage.total > 0 {
            None
        } else {
            Some(of(Span::AllTime)?.usage)
        };
        Ok((found, elsewhere))
    })
}

fn span(args: &Args, zone: &TimeZone, now: Timestamp) -> Result<Span, SpanError> {
    let day = |text: &Option<String>| text.as_deref().map(calendar::day).transpose();
    match &args.month {
        Some(Some(month)) => calendar::month(month),
        Some(None) => Ok(Span::Month(today(zone, now))),
        None if args.week => Ok(Span::Week),
        None => calendar::days(day(&args.since)?, day(&args.until)?),
    }
}

fn today(zone: &TimeZone, now: Timestamp) -> Date {
    jiff::Timestamp::from_millisecond(now.0).map_or(Date::MAX, |now| zone.to_datetime(now).date())
}

fn targets(settings: &Settings) -> Targets {
    Targets {
        runs: settings.target_runs,
        median_ms: u64::try_from(settings.target_median.as_millis())
            .unwrap_or(u64::MAX)
            .max(1),
        month: settings.target_monthly_cost,
    }
}

fn charset(args: &Args, environment: &Environment) -> Charset {
    let [all, characters, language] =
        ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| environment.text(name));
    if args.ascii {
        Charset::Ascii
    } else {
        Charset::of_locale(all, characters, language)
    }
}

/// A file or another program gets no frame, and lines that are as wide whoever asks.
fn canvas(printer: &Printer, charset: Charset) -> Canvas {
    let face = printer.out_traits();
    let (width, border) = if face.is_terminal {
        (face.width, Border::Frame)
    } else {
        (80, Border::None)
    };
    Canvas {
        width,
        paint: face.paint,
        charset,
        border,
    }
}
