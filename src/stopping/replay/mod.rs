//! Rules that stop asking a panel before all have answered, applied to answers that were recorded:
//! what a rule would have answered, and after how many voters.
//!
//! ```
//! use conclave::stopping::replay::vote::AnswerId;
//! use conclave::stopping::replay::rule::StopRule;
//!
//! let [b, c] = [AnswerId(0), AnswerId(1)];
//! let answers = [Some(b), Some(b), Some(c), Some(b), None];
//! // The fifth voter cannot change the vote: it is not asked.
//! let decision = StopRule::VoteLocked.decide(&answers);
//! assert_eq!(decision.answer, Some(b));
//! assert_eq!(decision.asked, 4);
//! ```
//!
//! How often a rule is right is measured by [`crate::benchmark::replay`].

pub mod vote;
pub mod rule;
pub mod probability;
