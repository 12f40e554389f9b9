//! The consent to a consultation of a batch: it was given to the batch as a whole.

use std::time::Duration;

use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::ConsentMode;
use crate::setup::plan::template::PreparedPlan;

/// The longest round, unless flag or settings say otherwise: nothing endless may hold up a batch.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// Returns the plan as approved: the person agreed to the whole batch, and is not asked again.
pub(crate) fn approved(prepared: PreparedPlan) -> Plan {
    let mut plan = prepared.plan;
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    plan.control.max_wait.get_or_insert(MAX_WAIT);
    plan
}
