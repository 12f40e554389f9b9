//! L2: the driver, one for each consultation, and the dispatcher, one for each process.
//!
//! The driver owns the machine, makes its calls, runs its timers and sends events to its
//! subscribers; it decides nothing. The dispatcher shares limits, backoffs, circuits and budgets
//! among all consultations.

mod calls;
pub mod clock;
pub mod dispatcher;
pub mod driver;
pub mod host;
pub mod interrupts;
pub mod ports;
