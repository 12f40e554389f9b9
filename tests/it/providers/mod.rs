//! Tests of `providers`.
