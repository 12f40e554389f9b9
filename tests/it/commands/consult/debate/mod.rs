//! The rounds of a debate: their calls and prompts, an early end, and what is made of the answers.

mod calls;
mod anonymity;
mod early_termination;
mod provisional;
mod debate_value;
mod second_verdict;
