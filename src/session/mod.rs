//! L4: runs consultations from their plans to their files and outcomes, and finds what earlier
//! runs have stored.

pub(crate) mod run;
pub(crate) mod batch;
pub(crate) mod benchmark;
pub(crate) mod refinement;
pub(crate) mod storage;
pub(crate) mod month;
pub(crate) mod index;
pub(crate) mod lookup;
pub(crate) mod load;
pub(crate) mod resume;
