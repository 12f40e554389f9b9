//! What a test reads of a run: screens, pages, requests, records and journals.

pub(crate) mod comparable;
pub(crate) mod html;
pub(crate) mod in_flight;
pub(crate) mod journals;
pub(crate) mod model_requests;
pub(crate) mod otlp;
pub(crate) mod schema;
pub(crate) mod screen;
pub(crate) mod steady_text;
