//! Statistics: each figure equals an independent count over the records.

mod expected;
mod generated_records;
mod cases;
mod properties;
