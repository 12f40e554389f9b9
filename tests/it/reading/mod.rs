//! Tests of `reading`.
