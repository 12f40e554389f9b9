//! The statistics as a page: the figures that decide, pictures, and all that the dashboard says.

use super::numbers::{of_one, share, time};
use super::sections::micro_dollars;
use super::{covered, nothing_parts, sections, targets};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ProviderId;
use crate::domain::record::statistics::{DayNumbers, ModelNumbers, Span, Statistics, UsageNumbers};
use crate::terminal::document::plot::{self, Axis, Plot, Row, RowChart, Scale};
use crate::terminal::document::{Fact, Line, Part, Table, fact, titled};
use crate::terminal::output::format::{amount, dollars, thousands};

/// A bar of a picture: its name, its length, and its value in words.
type Bar = (String, u64, String);

/// The ranges that the page offers, each with its value in the address.
const RANGES: [(&str, &str); 3] = [
    ("week", "Last 7 days"),
    ("month", "This month"),
    ("all", "All time"),
];

/// `elsewhere` counts those outside the range if there are none in it; `calibration` is the section
/// of that name.
pub fn page(
    statistics: &Statistics,
    elsewhere: Option<&UsageNumbers>,
    name_of: fn(&ProviderId) -> &str,
    calibration: Vec<Part>,
) -> Vec<Part> {
    let range = Line::from(covered(statistics));
    let mut parts = vec![
        Part::Heading(1, "Statistics".into()),
        Part::Facts(vec![
            range.into(),
            fact("Range", ranges(statistics.range.span)),
        ]),
    ];
    if let Some(elsewhere) = elsewhere {
        parts.extend(nothing_parts(&statistics.range, elsewhere));
        return parts;
    }
    parts.push(Part::Tiles(tiles(statistics)));
    let costs = statistics.cost.by_provider.iter();
    let costs = costs.map(|(provider, numbers)| {
        let cost = numbers.cost;
        (name_of(provider).to_owned(), cost.known.0, dollars(cost))
    });
    let by_vendor = bars("Cost by vendor", "Cost", costs.collect(), micro_dollars);
    let days = days(&statistics.per_day, by_vendor);
    parts.extend(titled(2, "Runs and Cost", days));
    parts.extend(titled(2, "Models and Vendors", models(statistics, name_of)));
    let agreement = cards([agreement(statistics), early_ends(statistics)]);
    parts.extend(titled(2, "Agreement and Early Ends", agreement));
    parts.extend(titled(2, "Calibration", calibration));
    let targets = targets::targets(statistics).into_iter();
    let targets = targets.filter(|part| !matches!(part, Part::Heading(..)));
    let figures = [
        Some(sections::usage(statistics)),
        Some(sections::performance(statistics)),
        Some(sections::cost(statistics, name_of)),
        Some(sections::quality(statistics)),
        sections::debate(&statistics.debate_value),
        Some(titled(3, "Targets", targets)),
    ];
    let figures = cards(figures.map(|figures| figures.map(lowered)));
    parts.extend(titled(2, "All Figures", figures));
    parts
}

fn ranges(span: Span) -> Line {
    let current = match span {
        Span::Week => "week",
        Span::Month(_) => "month",
        Span::AllTime => "all",
        Span::Days { .. } => "",
    };
    let links = RANGES.into_iter().map(|(name, label)| {
        if name == current {
            Line::of("**{}**", [label])
        } else {
            Line::link(format!("/statistics?range={name}"), label)
        }
    });
    Line::joined(links, " · ")
}

fn tiles(statistics: &Statistics) -> Vec<Fact> {
    let quality = &statistics.quality;
    let saved = statistics.early_termination.saved;
    let tiles = [
        ("Consultations", Some(thousands(statistics.usage.total))),
        ("Cost", Some(dollars(statistics.cost.total))),
        ("Median time", statistics.performance.p50.map(time)),
        ("Confidence, mean", quality.avg_confidence.map(of_one)),
        ("Agreement, mean", quality.avg_agreement.map(of_one)),
        (
            "Saved by early ends",
            (saved.known > MicroUsd::ZERO).then(|| dollars(saved)),
        ),
    ];
    let known = tiles.into_iter();
    known
        .filter_map(|(label, value)| Some(fact(label, value?)))
        .collect()
}

/// With the cost of each vendor beside the days.
fn days(days: &[DayNumbers], by_vendor: Option<Vec<Part>>) -> Vec<Part> {
    let picture = |row: plot::BarRow| {
        let title = Part::Heading(3, Line::from(row.name).and(" per day", []));
        vec![title, Part::Plot(Plot::Bars(vec![row]))]
    };
    let active = days.iter().rev().filter(|day| day.runs > 0);
    let rows = active.map(|day| {
        let runs = thousands(day.runs);
        vec![day.date.to_string(), runs, amount(day.cost)]
    });
    let Some(table) = Table::of(1, &["Day", "Runs", "Cost"], rows) else {
        return Vec::new();
    };
    let mut pictures = sections::day_rows(days).map(picture).to_vec();
    pictures.extend(by_vendor);
    vec![
        Part::Articles(pictures),
        Part::Folded("The days in a table".into(), vec![table]),
    ]
}

fn models(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Vec<Part> {
    let providers = statistics.cost.by_provider.iter();
    let failures = providers.clone().map(|(provider, numbers)| {
        let failed = share(numbers.failures, numbers.calls);
        (name_of(provider).to_owned(), numbers.failures, failed)
    });
    let hedges = providers.map(|(provider, numbers)| {
        let won = thousands(numbers.hedges_won);
        (name_of(provider).to_owned(), numbers.hedges_won, won)
    });
    let pictures = [
        first_tokens(&statistics.models),
        bars(
            "Failed calls by vendor",
            "Calls",
            failures.collect(),
            thousands,
        ),
        bars(
            "Hedges won by vendor",
            "Hedges",
            hedges.collect(),
            thousands,
        ),
    ];
    let table = sections::models(&statistics.models).map(lowered);
    let table = table.into_iter().flatten();
    cards(pictures).into_iter().chain(table).collect()
}

/// From the median to the 95th percentile, the quickest model first.
fn first_tokens(models: &[ModelNumbers]) -> Option<Vec<Part>> {
    let measured = models.iter().filter_map(|model| {
        let [median, most] = [model.first_token_p50_ms?, model.first_token_p95_ms?];
        Some((model.model.to_string(), median, most))
    });
    let mut measured: Vec<(String, u64, u64)> = measured.collect();
    measured.sort_by_key(|(_, median, _)| *median);
    let scale = Scale::to(measured.iter().map(|(.., most)| *most).max()?);
    let rows = measured.into_iter().map(|(name, median, most)| Row {
        name,
        value: format!("{} – {}", time(median), time(most)),
        span: plot::Extent::From(scale.share(median), scale.share(most)),
    });
    let axis = Axis::new("Median to 95th percentile", scale.ticks(time));
    // The table of the models has the same figures.
    Some(picture("Time to the first token", axis, rows.collect()))
}

fn agreement(statistics: &Statistics) -> Option<Vec<Part>> {
    let levels = statistics.quality.by_agreement.iter();
    let levels = levels.map(|level| {
        let experts = format!("{}% of the experts", level.percent);
        let number = level.consultations;
        (experts, number, thousands(number))
    });
    let title = "Support of the strongest point";
    bars(title, "Consultations", levels.collect(), thousands)
}

fn early_ends(statistics: &Statistics) -> Option<Vec<Part>> {
    let early = &statistics.early_termination;
    let completed = statistics.usage.by_state.completed;
    let full = completed.saturating_sub(early.count);
    let rows = [("Ended after Round 2", early.count), ("Later", full)];
    let rows = rows.map(|(name, number)| (name.to_owned(), number, share(number, completed)));
    let mut parts = bars("Early ends", "Consultations", rows.to_vec(), thousands)?;
    let said = sections::early_termination(statistics).into_iter();
    parts.extend(said.flatten().skip(1));
    Some(parts)
}

/// With a table of the same figures; `None` if all are zero.
fn bars(
    title: &'static str,
    axis: &'static str,
    bars: Vec<Bar>,
    unit: fn(u64) -> String,
) -> Option<Vec<Part>> {
    let most = bars.iter().map(|(_, number, _)| *number).max()?;
    let scale = Scale::to(most);
    let heads = ["", axis];
    let axis = Axis::new(axis, scale.ticks(unit));
    let cells = bars
        .iter()
        .map(|(name, _, value)| vec![name.clone(), value.clone()]);
    let table = Table::of(1, &heads, cells);
    let rows = bars.into_iter().map(|(name, number, value)| Row {
        name,
        value,
        span: plot::Extent::Bar(scale.share(number)),
    });
    let mut parts = picture(title, axis, rows.collect());
    parts.extend(table.map(|table| Part::Folded("In a table".into(), vec![table])));
    (most > 0).then_some(parts)
}

fn picture(title: &'static str, axis: Axis, rows: Vec<Row>) -> Vec<Part> {
    let name = title.to_owned();
    let rows = RowChart { name, axis, rows };
    vec![Part::Heading(3, title.into()), Part::Plot(Plot::Rows(rows))]
}

fn cards(cards: impl IntoIterator<Item = Option<Vec<Part>>>) -> Vec<Part> {
    let cards: Vec<Vec<Part>> = cards.into_iter().flatten().collect();
    let articles = (!cards.is_empty()).then_some(Part::Articles(cards));
    articles.into_iter().collect()
}

/// A section of the dashboard below a title of the page.
fn lowered(parts: Vec<Part>) -> Vec<Part> {
    let parts = parts.into_iter().map(|part| match part {
        Part::Heading(_, title) => Part::Heading(3, title),
        part => part,
    });
    parts.collect()
}
