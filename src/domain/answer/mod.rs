//! What experts and judges answer, and how a debate changes it.

pub mod artifact;
pub mod confidence;
pub mod body_fields;
pub mod debate_value;
pub mod second_pass;
