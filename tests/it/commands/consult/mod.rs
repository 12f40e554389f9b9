//! `conclave consult`, from the command line to the files and the requests at the vendors.

mod anonymity;
mod asking;
mod calls;
mod cost_gate;
mod debate_value;
mod defaults;
mod dry_run;
mod early_termination;
pub(crate) mod failures;
mod fallbacks;
mod follow_up;
mod faults;
mod interrupts;
mod month_budget;
mod output;
mod output_files;
mod own_model;
mod panels;
mod persona_selection;
mod providers;
mod records;
mod system_limits;
mod requests;
mod second_verdict;
mod settings;
mod unread_input;
mod usage_errors;
