//! Tests of `local`.
