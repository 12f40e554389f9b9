//! Consultations as traces for OpenTelemetry: their spans, their bytes, and sending them.

mod spans;
mod bytes;
mod sending;
