//! Tests of `consultation`.
