//! `conclave consult-stats`: statistics over the consultations of this home, from the index.

use jiff::tz::TimeZone;

use crate::commands::App;
use crate::commands::flags::JsonFlags;
use crate::config::settings::Settings;
use crate::domain::model::vendors;
use crate::domain::record::statistics::{Span, Statistics, Targets, UsageNumbers};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::records::index::{Index, QueryResult};
use crate::records::statistics::calendar::{self, SpanError};
use crate::records::statistics::calibration::{CalibrationReport, calibration};
use crate::records::statistics::statistics;
use crate::session::index;
use crate::setup::settings;
use crate::terminal::output::style::Paint;
use crate::terminal::tables::calibration as calibration_table;
use crate::terminal::tables::dashboard::{Border, Canvas, dashboard, nothing};

/// The width of the text in a file or a pipe.
const PLAIN_WIDTH: usize = 80;

/// Show usage, response times, cost, quality and the value of the debates
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Write JSON; its schema is schemas/consult_stats.schema.json")))]
#[command(after_help = "\
A consultation counts on the day it began, in your time zone (TZ).
Percentiles (p50, p95, p99) are nearest-rank percentiles of the durations of completed \
consultations. Unknown values are left out, not counted as 0; a cost with an unknown part is shown \
as a lower bound.
The targets are settings: target_runs (in thirty days), target_median_seconds, target_monthly_cost.

Examples:
  conclave consult-stats --month 2026-11
  conclave consult-stats --since 2026-10-01 --json")]
pub(crate) struct Args {
    /// Cover the last seven days, including today
    #[arg(long, conflicts_with_all = ["month", "all_time", "since", "until"])]
    week: bool,

    /// Cover a calendar month [default: this month]
    #[arg(
        long,
        value_name = "YYYY-MM",
        num_args = 0..=1,
        conflicts_with_all = ["all_time", "since", "until"]
    )]
    #[expect(clippy::option_option, reason = "a flag that may have a value")]
    month: Option<Option<String>>,

    /// Cover all consultations (the default)
    #[arg(long, conflicts_with_all = ["since", "until"])]
    all_time: bool,

    /// Cover this day and later [default: from the first consultation on]
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<String>,

    /// Cover this day and earlier [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<String>,

    #[command(flatten)]
    json: JsonFlags,

    /// Compare stated confidence with the outcomes recorded with `conclave history outcome`
    #[arg(long)]
    calibration: bool,

    /// Rebuild the index from the records, and do nothing else
    #[arg(
        long,
        conflicts_with_all = [
            "week", "month", "all_time", "since", "until", "json", "format", "calibration",
        ]
    )]
    rebuild_index: bool,

    /// Draw with ASCII characters only (the default unless the locale is UTF-8)
    #[arg(long)]
    ascii: bool,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let (home, printer) = (app.home()?, app.printer);
    let drawn = |paint: Paint| if args.ascii { paint.in_ascii() } else { paint };
    if args.rebuild_index {
        let indexed = index::rebuild(&home, printer)?;
        let text = format!("✅ Index rebuilt successfully. [{indexed}] consultations indexed.\n");
        let paint = drawn(printer.out_traits().paint);
        return Ok(printer.result(&paint.charset.text(&text))?);
    }
    let (zone, now) = ((app.zone)(), app.clock.now());
    let span = span(args, &zone, now).map_err(Error::usage)?;
    let is_json = args.json.is_json();
    if args.calibration {
        // Stated confidence beside the recorded outcomes.
        let range = calendar::range(span, &zone, now);
        let found = index::with(&home, printer, |index| {
            calibration(&index.connection, &range)
        })?;
        return app.print(
            is_json,
            &CalibrationReport::new(&found, &range),
            |width, paint| {
                let width = width.unwrap_or(PLAIN_WIDTH);
                calibration_table::screen(&found, &range, width, drawn(paint))
            },
        );
    }
    let targets = targets(&settings::load_own(&home, app.environment)?);
    let (found, elsewhere) = index::with(&home, printer, |index| {
        statistics_of(index, span, &zone, now, targets)
    })?;
    app.print(is_json, &found, |width, paint| {
        // A file or a pipe gets no frame and a fixed width.
        let canvas = Canvas {
            width: width.unwrap_or(PLAIN_WIDTH),
            paint: drawn(paint),
            border: width.map_or(Border::None, |_| Border::Frame),
        };
        match elsewhere {
            None => dashboard(&found, vendors::name, canvas),
            Some(elsewhere) => nothing(&found.range, &elsewhere, canvas),
        }
    })
}

pub(crate) fn targets(settings: &Settings) -> Targets {
    let median_ms = u64::try_from(settings.target_median.as_millis());
    Targets {
        runs: settings.target_runs,
        median_ms: median_ms.map_or(u64::MAX, |ms| ms.max(1)),
        month: settings.target_monthly_cost,
    }
}

/// If the span is empty, the usage of all time is returned as well.
pub(crate) fn statistics_of(
    index: &mut Index,
    span: Span,
    zone: &TimeZone,
    now: Timestamp,
    targets: Targets,
) -> QueryResult<(Statistics, Option<UsageNumbers>)> {
    let mut of = |span| {
        let range = calendar::range(span, zone, now);
        statistics(&mut index.connection, &range, zone, now, targets)
    };
    let found = of(span)?;
    let elsewhere = match found.usage.total {
        0 => Some(of(Span::AllTime)?.usage),
        _ => None,
    };
    Ok((found, elsewhere))
}

fn span(args: &Args, zone: &TimeZone, now: Timestamp) -> Result<Span, SpanError> {
    let day = |text: &Option<String>| text.as_deref().map(calendar::day).transpose();
    match &args.month {
        Some(Some(month)) => calendar::month(month),
        Some(None) => Ok(Span::Month(calendar::date_of(now, zone))),
        None if args.week => Ok(Span::Week),
        None => calendar::days(day(&args.since)?, day(&args.until)?),
    }
}
