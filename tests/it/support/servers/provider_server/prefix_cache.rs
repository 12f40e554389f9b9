//! The vendors' prompt caches: how much of each prompt an earlier one began with, and what the
//! vendor reports of it.
//!
//! A token is a word. A beginning is in the cache as soon as its request has arrived: real vendors
//! need the first sign of an answer, so that requests at the same moment share nothing there.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Vendor;
use super::wire::Wire;

/// The shortest beginning that these vendors cache, in tokens; the longest of their limits.
const LEAST: u64 = 4_096;

/// The prompts that have arrived, by vendor and model: caches are not shared between models.
#[derive(Debug, Default)]
pub(super) struct PrefixCaches {
    is_on: bool,
    /// Whether replies report what the caches hold.
    is_reported: bool,
    prompts: BTreeMap<(Vendor, String), Vec<ArrivedPrompt>>,
    measured: Vec<MeasuredPrompt>,
}

/// How much of a prompt was known from earlier ones at the same vendor and model, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeasuredPrompt {
    pub(crate) vendor: Vendor,
    /// Whether it is the first prompt there.
    pub(crate) is_first: bool,
    pub(crate) prompt: u64,
    /// The longest beginning that an earlier prompt has, whether it was marked or not.
    pub(crate) seen: u64,
    /// Read from the vendor's cache, by its rules.
    pub(crate) read: u64,
    pub(crate) written: u64,
}

#[derive(Debug)]
struct ArrivedPrompt {
    words: Vec<String>,
    /// The number of words up to the mark.
    marked: Option<usize>,
}

impl PrefixCaches {
    pub(super) fn turn_on(&mut self, is_reported: bool) {
        self.is_on = true;
        self.is_reported = is_reported;
    }

    pub(super) fn measured(&self) -> Vec<MeasuredPrompt> {
        self.measured.clone()
    }

    /// Measures a prompt and stores it. `None` while the caches are off.
    pub(super) fn measure(
        &mut self,
        vendor: Vendor,
        wire: Wire,
        model: &str,
        body: &Value,
    ) -> Option<MeasuredPrompt> {
        if !self.is_on {
            return None;
        }
        let prompt = ArrivedPrompt::of(wire, body);
        let earlier = self.prompts.entry((vendor, model.to_owned())).or_default();
        let seen = earlier
            .iter()
            .map(|earlier| shared(&earlier.words, &prompt.words))
            .max()
            .unwrap_or_default();
        let (read, written) = match (wire, prompt.marked) {
            (Wire::Messages, None) => (0, 0),
            (_, Some(marked)) => {
                let beginning = prompt.words.get(..marked).unwrap_or_default();
                let is_known = earlier.iter().any(|earlier| {
                    earlier.marked == Some(marked) && earlier.words.starts_with(beginning)
                });
                match (count(marked), is_known) {
                    (0..LEAST, _) => (0, 0),
                    (marked, true) => (marked, 0),
                    (marked, false) => (0, marked),
                }
            }
            (Wire::Chat | Wire::Responses | Wire::Gemini | Wire::Ollama, None) => {
                (if seen < LEAST { 0 } else { seen }, 0)
            }
        };
        let reported = |tokens| if self.is_reported { tokens } else { 0 };
        let measured = MeasuredPrompt {
            vendor,
            is_first: earlier.is_empty(),
            prompt: count(prompt.words.len()),
            seen,
            read: reported(read),
            written: reported(written),
        };
        earlier.push(prompt);
        self.measured.push(measured);
        Some(measured)
    }
}

impl ArrivedPrompt {
    /// Puts a prompt together as its vendor does: the schema before everything else.
    fn of(wire: Wire, body: &Value) -> Self {
        let (schema, system, blocks) = match wire {
            Wire::Messages => ("/output_config", "/system", "/messages/0/content"),
            Wire::Chat => (
                "/response_format/json_schema",
                "/messages/0/content",
                "/messages/1/content",
            ),
            Wire::Responses => ("/text/format", "/instructions", "/input/0/content"),
            Wire::Gemini => (
                "/generationConfig/responseJsonSchema",
                "/systemInstruction/parts/0/text",
                "/contents/0/parts",
            ),
            Wire::Ollama => ("/format", "/messages/0/content", "/messages/1/content"),
        };
        let at = |place| body.pointer(place).unwrap_or(&Value::Null);
        let mut words = Vec::new();
        add(&mut words, &at(schema).to_string());
        add(&mut words, at(system).as_str().unwrap_or_default());
        let mut marked = None;
        match at(blocks) {
            Value::Array(blocks) => {
                for block in blocks {
                    add(&mut words, block["text"].as_str().unwrap_or_default());
                    let marks = ["cache_control", "prompt_cache_breakpoint"];
                    if marks.iter().any(|mark| block[mark].is_object()) {
                        marked = Some(words.len());
                    }
                }
            }
            text => add(&mut words, text.as_str().unwrap_or_default()),
        }
        Self { words, marked }
    }
}

fn add(words: &mut Vec<String>, text: &str) {
    words.extend(text.split_whitespace().map(ToOwned::to_owned));
}

fn shared(one: &[String], other: &[String]) -> u64 {
    let pairs = one.iter().zip(other);
    count(pairs.take_while(|(one, other)| one == other).count())
}

fn count(words: usize) -> u64 {
    u64::try_from(words).unwrap_or(u64::MAX)
}
