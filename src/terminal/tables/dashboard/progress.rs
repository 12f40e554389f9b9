//! How far it is to what the user wants to reach: a line for each target that is reached, and where
//! one is not, all three with their figures.

use super::charset::Charset;
use super::line::{Line, Tone};
use super::numbers::{amount, limit, money, percent, time};
use crate::domain::statistics::{Progress, Statistics, Targets};
use crate::terminal::output::format::thousands;

/// Where a figure stands to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Within,
    /// Within, and nine tenths of the way to the limit or more.
    Near,
    Beyond,
    /// Within as far as is known, or not known at all.
    Unknown,
}

impl Reach {
    pub(crate) fn tone(self) -> Tone {
        match self {
            Self::Within => Tone::Good,
            Self::Near => Tone::Warning,
            Self::Beyond => Tone::Bad,
            Self::Unknown => Tone::Plain,
        }
    }

    fn is_kept(self) -> bool {
        match self {
            Self::Within | Self::Near => true,
            Self::Beyond | Self::Unknown => false,
        }
    }
}

/// Nine tenths of the way, or more.
fn is_near(value: u64, limit: u64) -> bool {
    u128::from(value) * 10 >= u128::from(limit) * 9
}

pub(crate) fn speed_reach(targets: &Targets, median_ms: u64) -> Reach {
    match median_ms < targets.median_ms {
        false => Reach::Beyond,
        true if is_near(median_ms, targets.median_ms) => Reach::Near,
        true => Reach::Within,
    }
}

pub(crate) fn cost_reach(progress: &Progress) -> Reach {
    match progress.is_cheap_enough() {
        None => Reach::Unknown,
        Some(false) => Reach::Beyond,
        Some(true) if is_near(progress.month.known.0, progress.targets.month.0) => Reach::Near,
        Some(true) => Reach::Within,
    }
}

pub(crate) fn progress(statistics: &Statistics, charset: Charset) -> Vec<Line> {
    let progress = &statistics.progress;
    let is_used = progress.is_used_enough();
    let speed = progress.median_ms.map_or(Reach::Unknown, |median| {
        speed_reach(&progress.targets, median)
    });
    let cost = cost_reach(progress);
    let reached = [
        is_used.then(|| format!("{}SUCCESS: Consistent usage!", charset.before("✅", ""))),
        speed.is_kept().then(|| {
            format!(
                "{}SPEED: Excellent response times!",
                charset.before("⚡", "")
            )
        }),
        cost.is_kept()
            .then(|| format!("{}COST: Within budget target!", charset.before("💰", ""))),
    ];
    let are_all_reached = reached.iter().all(Option::is_some);
    let mut lines: Vec<Line> = reached
        .into_iter()
        .flatten()
        .map(|text| Line::toned(text, Tone::Good))
        .collect();
    if are_all_reached {
        return lines;
    }
    if !lines.is_empty() {
        lines.push(Line::empty());
    }
    lines.push(Line::heading(&format!(
        "{}Progress toward Success Criteria:",
        charset.before("📊", "")
    )));
    lines.push(usage_line(progress, charset));
    lines.push(speed_line(progress, speed, charset));
    lines.push(cost_line(progress, cost, charset));
    // The figures are of three different spans.
    lines.extend(statistics.days.last().map(|day| {
        let (last, month) = (day.date, day.date.strftime("%B %Y"));
        Line::quiet(format!(
            "Usage in the 30 days to {last}, speed in the time shown above, cost in {month}."
        ))
    }));
    lines
}

fn usage_line(progress: &Progress, charset: Charset) -> Line {
    let (runs, target) = (progress.runs_in_thirty_days, progress.targets.runs);
    let share = percent(runs, target)
        .map(|percent| format!(" ({percent})"))
        .unwrap_or_default();
    let figures = format!(
        "{}/{} consultations{share}",
        thousands(runs),
        thousands(target)
    );
    match progress.is_used_enough() {
        true => Line::item("Usage", figures + &reached(charset), Tone::Good),
        false if is_near(runs, target) => {
            Line::item("Usage", figures + " - Almost there!", Tone::Warning)
        }
        false => Line::item("Usage", figures, Tone::Plain),
    }
}

fn speed_line(progress: &Progress, reach: Reach, charset: Charset) -> Line {
    let target = limit(progress.targets.median_ms);
    let median = progress.median_ms.map_or_else(
        || "n/a".to_owned(),
        |median| format!("{} median", time(median)),
    );
    let figures = format!("{median} (target: <{target})");
    let consent_mode = match reach {
        Reach::Within | Reach::Near => reached(charset),
        Reach::Beyond => " - Too slow".to_owned(),
        Reach::Unknown => String::new(),
    };
    Line::item("Speed", figures + &consent_mode, reach.tone())
}

fn cost_line(progress: &Progress, reach: Reach, charset: Charset) -> Line {
    let (month, target) = (progress.month, progress.targets.month);
    let share = percent(month.known.0, target.0).map(|percent| {
        let bound = if month.lower_bound { "≥ " } else { "" };
        format!(" ({bound}{percent})")
    });
    let figures = format!(
        "{}/{} budget{}",
        money(month),
        amount(target),
        share.unwrap_or_default()
    );
    let consent_mode = match reach {
        Reach::Within | Reach::Near => reached(charset),
        Reach::Beyond if month.known > target || month.lower_bound => " - Over budget".to_owned(),
        Reach::Beyond => " - Budget used up".to_owned(),
        Reach::Unknown => " - Not all costs are known".to_owned(),
    };
    Line::item("Cost", figures + &consent_mode, reach.tone())
}

fn reached(charset: Charset) -> String {
    charset.behind("✅", "- reached")
}
