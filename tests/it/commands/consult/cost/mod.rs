//! What a consultation may cost: the preview, the gate before it, and the limits during it.

mod dry_run;
mod gate;
mod month_budget;
