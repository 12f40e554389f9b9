//! L2: the driver.
pub mod ports;
