//! The numbers of `consult-stats`: each equals what is counted another way from the records
//! themselves.

mod expected;
mod generated_records;
mod cases;
mod properties;
