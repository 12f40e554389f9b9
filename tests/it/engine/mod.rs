//! Tests of `engine`: the driver with providers of our own, on paused time, so that every moment
//! can be stated to the millisecond.

mod attempts;
mod beginnings;
mod health;
mod limits;
mod questions;
mod runs;
mod scripted;
