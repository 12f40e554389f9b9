//! Masks the secrets of a document in the texts that are kept beside it or shown: the log, the
//! changes. The document itself keeps its secrets.

use std::fmt;
use std::sync::Arc;

type MaskTexts = dyn Fn(Vec<&mut String>) + Send + Sync;

/// A mask for texts; by default, it changes nothing.
#[derive(Clone, Default)]
pub struct TextMask(Option<Arc<MaskTexts>>);

impl TextMask {
    /// Takes a function that masks texts together, and the same text always in the same way: items
    /// are found again by their masked words.
    pub fn new(mask: impl Fn(Vec<&mut String>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(mask)))
    }

    /// What one text shows to be a secret is a secret in all of them.
    pub fn apply<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        if let Some(mask) = &self.0 {
            mask(texts.into_iter().collect());
        }
    }
}

impl fmt::Debug for TextMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextMask")
    }
}
