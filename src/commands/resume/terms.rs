//! On what terms a consultation goes on: those that were in force, with what this run's flags say over them.

use std::time::Duration;

use crate::commands::consult::flags::ControlFlags;
use crate::consultation::event::{AbortReason, Envelope, Event};
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::consent::Standing;
use crate::error::Error;

/// The control in force at the end of a log, renewed.
pub(super) fn renewed(events: &[Envelope], plan: &Plan, flags: &ControlFlags, standing: Standing) -> Result<Control, Error> {
    let mut control = &plan.control;
    let mut ended = None;
    for envelope in events {
        if let Event::Resumed(resumed) = &envelope.event {
            (control, ended) = (&resumed.control, None);
        } else if let Event::Aborted { reason, .. } = &envelope.event {
            ended = Some(*reason);
        }
    }
    let mut control = control.clone();
    control.consent.standing = standing;
    control.max_cost = flags.max_cost.or(control.max_cost);
    control.max_wait = flags.max_wait.map(Duration::from_secs).or(control.max_wait);
    control.on_failure = flags.on_failure.map_or(control.on_failure, Into::into);
    // Who goes on with what strictness refused accepts it, unless they say again that they do not.
    control.strict = flags.strict || (control.strict && ended != Some(AbortReason::Strict));
    if let Some(after) = &flags.hedge_after {
        control.hedge.after = hedge_after(after)?;
    }
    Ok(control)
}

fn hedge_after(text: &str) -> Result<Option<Duration>, Error> {
    if text == "off" {
        return Ok(None);
    }
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.map(Some).ok_or_else(|| Error::usage(format!("`--hedge-after {text}` is neither a number of seconds nor `off`")))
}
