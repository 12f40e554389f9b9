//! The fold of logs, and what a loop does next.

mod player;
mod steps;
mod logs;
mod kills;
