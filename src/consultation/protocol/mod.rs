//! What passes between the machine and its agents: the request to make a call, the call, and the
//! kinds of answers.

pub mod request;
pub mod call;
pub mod answer;
