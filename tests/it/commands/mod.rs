//! Tests of `commands`: the compiled binary from end to end, with a local server in the place of every vendor.

mod adversity;
mod anonymity;
mod attempts;
mod completions;
mod config;
mod consult;
mod cost_gate;
mod doctor;
mod endpoints;
mod failures;
mod interrupts;
mod judging;
mod model;
mod models;
mod network;
mod output;
mod panels;
mod records;
mod requests;
mod resume;
mod secrets;
mod servers;
mod settings;
mod stand_ins;
mod usage;
mod writing;
