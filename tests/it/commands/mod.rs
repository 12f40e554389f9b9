//! Tests of `commands`.
