//! L2: the driver. It owns the machine, makes its calls, runs its timers and sends events to its
//! subscribers; it decides nothing.

mod calls;
pub mod clock;
pub mod dispatcher;
pub mod driver;
pub mod interrupts;
pub mod ports;
