//! L4: runs consultations from their plans to their files and outcomes, and finds what earlier
//! runs have stored.

pub mod run;
pub mod batch;
pub mod benchmark;
pub mod refinement;
pub mod storage;
pub mod month;
pub mod index;
pub mod lookup;
pub mod load;
pub mod resume;
pub mod traces;
#[cfg(feature = "fleet")]
pub mod fleet;
