//! Progress towards the user's targets: one line for each target that is reached; if one is not,
//! all three with their figures.

use super::numbers::{in_brackets, limit, of_all, percent, time};
use crate::domain::record::statistics::{CostProgress, SpeedProgress, Statistics, UsageProgress};
use crate::terminal::document::{Line, Part};
use crate::terminal::output::style::Tone;

/// Behind a target that is reached.
const REACHED: &str = " ✅";

/// A figure compared with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetStatus {
    Within,
    /// Within, at nine tenths of the limit or more.
    Near,
    Beyond,
    /// Within as far as known, or unknown.
    Unknown,
}

impl TargetStatus {
    pub(super) fn tone(self) -> Tone {
        match self {
            Self::Within => Tone::Good,
            Self::Near => Tone::Warning,
            Self::Beyond => Tone::Bad,
            Self::Unknown => Tone::Plain,
        }
    }

    fn is_met(self) -> bool {
        match self {
            Self::Within | Self::Near => true,
            Self::Beyond | Self::Unknown => false,
        }
    }
}

fn is_near(value: u64, limit: u64) -> bool {
    u128::from(value) * 10 >= u128::from(limit) * 9
}

pub(super) fn speed_status(speed: &SpeedProgress) -> TargetStatus {
    match speed.median_ms.zip(speed.met) {
        None => TargetStatus::Unknown,
        Some((_, false)) => TargetStatus::Beyond,
        Some((median, true)) if is_near(median, speed.target_ms) => TargetStatus::Near,
        Some((_, true)) => TargetStatus::Within,
    }
}

pub(super) fn cost_status(cost: &CostProgress) -> TargetStatus {
    match cost.met {
        None => TargetStatus::Unknown,
        Some(false) => TargetStatus::Beyond,
        Some(true) if is_near(cost.month.known.0, cost.target_micro_usd.0) => TargetStatus::Near,
        Some(true) => TargetStatus::Within,
    }
}

/// `Label: value`.
pub(super) fn figure(label: &'static str, value: impl Into<String>, tone: Tone) -> Vec<Line> {
    let label = Line::from(label).and(": ", []);
    vec![label.then(Line::toned(tone, value))]
}

pub(super) fn targets(statistics: &Statistics) -> Vec<Part> {
    let progress = &statistics.success_criteria;
    let (speed, cost) = (speed_status(&progress.speed), cost_status(&progress.cost));
    let reached = [
        (progress.usage.met, "✅ SUCCESS: Consistent usage!"),
        (speed.is_met(), "⚡ SPEED: Excellent response times!"),
        (cost.is_met(), "💰 COST: Within budget target!"),
    ];
    let met = reached.into_iter().filter(|(is_met, _)| *is_met);
    let met = met.map(|(_, text)| Part::Paragraph(Line::toned(Tone::Good, text)));
    let mut parts: Vec<Part> = met.collect();
    if parts.len() == reached.len() {
        return parts;
    }
    let title = "📊 Progress toward Success Criteria:";
    parts.push(Part::Heading(1, title.into()));
    parts.push(Part::List(vec![
        usage_line(&progress.usage),
        speed_line(&progress.speed, speed),
        cost_line(&progress.cost, cost),
    ]));
    // The three figures cover different spans.
    parts.extend(statistics.per_day.last().map(|day| {
        let (last, month) = (day.date, day.date.strftime("%B %Y"));
        let line = format!(
            "Usage in the 30 days to {last}, speed in the time shown above, cost in {month}."
        );
        Part::Paragraph(Line::toned(Tone::Quiet, line))
    }));
    parts
}

fn usage_line(usage: &UsageProgress) -> Vec<Line> {
    let (runs, target) = (usage.runs_in_thirty_days, usage.target);
    let share = in_brackets(runs, target);
    let figures = format!("{} consultations{share}", of_all(runs, target));
    let (note, tone) = match usage.met {
        true => (REACHED.to_owned(), Tone::Good),
        false if is_near(runs, target) => (" - Almost there!".to_owned(), Tone::Warning),
        false => (String::new(), Tone::Plain),
    };
    figure("Usage", figures + &note, tone)
}

fn speed_line(speed: &SpeedProgress, reach: TargetStatus) -> Vec<Line> {
    let target = limit(speed.target_ms);
    let median = speed.median_ms.map_or_else(
        || "n/a".to_owned(),
        |median| format!("{} median", time(median)),
    );
    let figures = format!("{median} (target: <{target})");
    let note = match reach {
        TargetStatus::Within | TargetStatus::Near => REACHED.to_owned(),
        TargetStatus::Beyond => " - Too slow".to_owned(),
        TargetStatus::Unknown => String::new(),
    };
    figure("Speed", figures + &note, reach.tone())
}

fn cost_line(cost: &CostProgress, reach: TargetStatus) -> Vec<Line> {
    let (month, target) = (cost.month, cost.target_micro_usd);
    let share = percent(month.known.0, target.0).filter(|_| !month.is_unknown());
    let share = share.map(|percent| {
        let bound = if month.lower_bound { "≥ " } else { "" };
        format!(" ({bound}{percent})")
    });
    let (billed, share) = (month.billed(), share.unwrap_or_default());
    let figures = format!("{billed:.2}/{target:.2} budget{share}");
    let note = match reach {
        TargetStatus::Within | TargetStatus::Near => REACHED.to_owned(),
        TargetStatus::Beyond if month.known > target || month.lower_bound => {
            " - Over budget".to_owned()
        }
        TargetStatus::Beyond => " - Budget used up".to_owned(),
        TargetStatus::Unknown => " - Not all costs are known".to_owned(),
    };
    figure("Cost", figures + &note, reach.tone())
}
