//! Tests of `records`.
