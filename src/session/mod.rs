//! L4: runs one consultation from its plan to its files and its outcome, and finds what earlier
//! runs have stored.

pub(crate) mod run;
pub(crate) mod storage;
pub(crate) mod month;
pub(crate) mod index;
pub(crate) mod lookup;
pub(crate) mod load;
