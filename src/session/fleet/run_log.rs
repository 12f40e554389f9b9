//! The log of a run as the server has it, so that any machine can continue the run.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::benchmark::event::{BenchmarkEvent, BenchmarkEventKind};
use crate::fleet::FleetError;
use crate::fleet::job::RunEntry;
use crate::fleet::link::Link;
use crate::session::batch::elsewhere::RunHeld;

/// The shortest time between two copies.
const PAUSE: Duration = Duration::from_secs(1);

/// The part of the time that copies take at most: a log may be long, and is copied whole.
const SHARE: u32 = 20;

/// Returns the name of the log on the server.
pub(super) fn name(run: &str) -> String {
    format!("log.{run}")
}

/// Copies the log for ever, whenever it has grown.
pub(super) async fn keep(link: Link, run: RunHeld) {
    let mut length = 0;
    loop {
        let began = Instant::now();
        // It is tried again.
        length = copy(&link, &run, length).await.unwrap_or(length);
        sleep(PAUSE.max(began.elapsed() * SHARE)).await;
    }
}

/// Copies the log as it is now, however often that fails.
pub(super) async fn copied(link: &Link, run: &RunHeld) {
    while copy(link, run, 0).await.is_err() {
        sleep(PAUSE).await;
    }
}

/// Returns the length of what is copied, which was `before`.
async fn copy(link: &Link, run: &RunHeld, before: usize) -> Result<usize, FleetError> {
    let Some(log) = &run.log else {
        return Ok(before);
    };
    let mut lines = tokio::fs::read(log).await.unwrap_or_default();
    let whole = lines.iter().rposition(|byte| *byte == b'\n');
    lines.truncate(whole.map_or(0, |end| end + 1));
    // A log only grows: one that cannot be read now replaces none.
    if lines.len() <= before {
        return Ok(before);
    }
    link.put(&name(&run.id), &lines).await?;
    let is_result = |line: &&[u8]| {
        let event = serde_json::from_slice(line).map(|event: BenchmarkEvent| event.kind);
        matches!(event, Ok(BenchmarkEventKind::CaseRunFinished { .. }))
    };
    let done = lines.split(|byte| *byte == b'\n').filter(is_result).count() as u64;
    let done = |entry: Option<RunEntry>| Some(RunEntry { done, ..entry? });
    link.stores().runs.update(&run.id, done).await?;
    Ok(lines.len())
}
