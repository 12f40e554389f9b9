//! The answers, one module for each kind.

pub(super) mod expert;
pub(super) mod judge;
pub(super) mod menu;
pub(super) mod findings;
