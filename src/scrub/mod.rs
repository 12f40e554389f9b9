//! L0: secrets. [`Scrubber`] takes the texts of a run in one batch and returns them with a
//! placeholder in the place of each secret.
//!
//! ```text
//!  text ─► prefilter (keywords) ─► candidate ─► regex or assignment ─► entropy, allowlist ─► span
//!  spans ─► overlap ─► repeats of a strong secret ─► placeholder ─► text, report
//! ```
//!
//! [`rules`] are data. A rule with a regex starts at its keyword; a rule for assignments says which
//! names hold a secret, and `assignment` reads the value after the name in any language. A text
//! without secrets comes back borrowed. Nothing of a secret is stored, not even a hash.
//!
//! Invariant: a masked text has no finding, so scrubbing twice equals scrubbing once.

pub mod rules;
mod detector;
mod keywords;
mod compiled_rule;
mod place;
mod assignment;
mod block;
mod value;
mod own_keys;
mod overlap;
mod batch;
mod placeholder;
#[cfg(test)]
mod properties;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use secrecy::SecretString;

use crate::domain::context::ScrubbingReport;

use batch::Batch;
use detector::Detector;
use own_keys::OwnKeys;
use rules::{RuleError, UserRules};

/// Finds and masks secrets. It serves any number of batches and threads.
#[derive(Debug)]
pub struct Scrubber {
    detector: Arc<Detector>,
    own_keys: OwnKeys,
}

/// The built-in rules, compiled once a process.
static BUILT_IN: LazyLock<Option<Arc<Detector>>> =
    LazyLock::new(|| Some(Arc::new(Detector::new(&UserRules::default()).ok()?)));

/// One text that goes out.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingText<'a> {
    /// `question`, `stdin`, a path: the name in the report.
    pub source: &'a str,
    pub text: &'a str,
}

/// A batch without its secrets, those in the names of its sources included.
#[derive(Clone, Debug)]
pub struct Scrubbed<'a> {
    /// In the order of the batch; borrowed where there was nothing to mask.
    pub texts: Vec<Cow<'a, str>>,
    pub report: ScrubbingReport,
    /// In the order of the texts, and by position in each.
    pub findings: Vec<Finding>,
}

/// A masked secret. It holds nothing of the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule; `own-key` for a key that this program holds.
    pub rule: String,
    /// `github_token`, `password`.
    pub kind: String,
    pub source: String,
    /// The line in the text before it was masked, from 1.
    pub line: usize,
}

impl Scrubber {
    /// Own keys shorter than eight bytes are not looked for.
    pub fn new(user: &UserRules, own_keys: &[SecretString]) -> Result<Self, RuleError> {
        let detector = match &*BUILT_IN {
            Some(detector) if user.is_empty() => Arc::clone(detector),
            _ => Arc::new(Detector::new(user)?),
        };
        Ok(Self {
            detector,
            own_keys: OwnKeys::new(own_keys),
        })
    }

    /// Placeholders are numbered over the whole batch where it has several secrets of a kind.
    pub fn scrub<'a>(&self, texts: &[OutgoingText<'a>]) -> Scrubbed<'a> {
        Batch::new(&self.detector, &self.own_keys, texts).mask()
    }

    /// Masks the secrets of texts without numbers, so that a mask does not depend on the other
    /// secrets.
    pub fn mask(&self, texts: Vec<&mut String>) {
        let source = "";
        let outgoing: Vec<_> = texts
            .iter()
            .map(|text| OutgoingText { source, text })
            .collect();
        let masked = Batch::new(&self.detector, &self.own_keys, &outgoing).mask_alike();
        for (text, masked) in texts.into_iter().zip(masked) {
            *text = masked;
        }
    }
}
