//! L0: plain data shared by all layers. Its only behaviour keeps the data valid: parsing, exact
//! arithmetic, display. No runtime, network, file, clock or randomness.

pub mod record;
pub mod answer;
pub mod model;
pub mod cost;
pub mod context;
pub mod hash;
pub mod ids;
pub mod names;
pub mod panel;
pub mod random;
pub(crate) mod steps;
pub mod time;
pub mod words;
