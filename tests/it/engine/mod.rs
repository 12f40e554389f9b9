//! Tests of `engine`: the driver with scripted providers on paused time, so that every time is
//! exact to the millisecond.

mod driver;
mod health;
mod interleavings;
mod many;
mod other_processes;
mod plans;
mod questions;
mod rate_limits;
mod resume;
mod retries;
mod scripted_providers;
