//! L0: plain data shared by all layers. Its only behaviour keeps the data valid: parsing, exact
//! arithmetic, display. No runtime, network, file, clock or randomness.

pub mod address;
pub mod artifact;
pub mod body_fields;
pub mod confidence;
pub mod context;
pub mod debate_value;
pub mod dialect;
pub mod family;
pub mod hash;
pub mod ids;
pub mod stored_record;
pub mod money;
pub mod names;
pub mod outcome;
pub mod history;
pub mod log;
pub mod panel;
pub mod pricing;
pub mod prompt_caching;
pub mod random;
pub mod rejudgement;
pub mod second_pass;
pub mod statistics;
pub(crate) mod steps;
pub mod time;
pub mod tokens;
pub mod vendors;
pub mod words;
