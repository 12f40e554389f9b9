//! The numbers of `consult-stats`: each equals what is counted another way from the records
//! themselves.

mod expected;
mod made;
mod plain;
mod properties;
