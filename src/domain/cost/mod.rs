//! What calls use, and what that costs.

pub mod money;
pub mod tokens;
pub mod plan_use;
pub mod pricing;
pub mod prompt_caching;
