//! Status blocks, and lines of their own.

use super::value::{FieldValue, is_form, normal_key};
use super::{SignalCandidate, field_confidence, field_state, heavier};
use crate::stopping::exit_check::evidence::StatedState;

/// A key that is longer is prose.
const LONGEST_KEY: usize = 60;
/// A line that is longer is prose.
const LONGEST_LINE: usize = 200;

pub(super) fn find(text: &str, promise: Option<&str>) -> Vec<SignalCandidate> {
    let mut candidates = Vec::new();
    let mut block: Option<StatusBlock> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let range = start..end;
        start += line.len();
        let line = line.trim();
        if let Some(mark) = block_mark(line) {
            let open = block.take();
            match mark {
                BlockMark::Begin => {
                    candidates.extend(open.and_then(|open| open.finish(range.start, false)));
                    block = Some(StatusBlock::begin(range.start));
                }
                BlockMark::End => {
                    candidates.extend(open.and_then(|open| open.finish(range.end, true)));
                }
            }
            continue;
        }
        // An empty line ends a block whose end is missing.
        if line.is_empty() {
            let is_open = block.as_ref().is_some_and(|block| block.has_fields);
            if is_open {
                candidates.extend(
                    block
                        .take()
                        .and_then(|open| open.finish(range.start, false)),
                );
            }
            continue;
        }
        if line.len() > LONGEST_LINE {
            continue;
        }
        if let Some(block) = &mut block {
            block.read(line);
            continue;
        }
        if let Some(state) = lone_line(line) {
            candidates.push(SignalCandidate {
                range,
                state: state.state,
                source: line.to_owned(),
                confidence: None,
                is_weak: state.is_weak,
            });
        } else if is_bare_promise(line, promise) {
            candidates.push(SignalCandidate {
                range,
                state: StatedState::Done,
                source: line.to_owned(),
                confidence: None,
                is_weak: false,
            });
        }
    }
    candidates.extend(block.and_then(|open| open.finish(text.len(), false)));
    candidates
}

enum BlockMark {
    Begin,
    End,
}

/// Reads `---RALPH_STATUS---` and `---END_RALPH_STATUS---`.
fn block_mark(line: &str) -> Option<BlockMark> {
    let line = line.trim_matches(['*', '`', ' ']);
    let name = line.strip_prefix("---")?.strip_suffix("---")?;
    let name = name.trim_matches(['-', ' ']).to_ascii_uppercase();
    if name.len() > 40
        || !name
            .chars()
            .all(|c| c.is_ascii_uppercase() || matches!(c, '_' | ' ' | '-'))
    {
        return None;
    }
    let ends = name.starts_with("END");
    if ends && (name == "END" || name.ends_with("STATUS")) {
        Some(BlockMark::End)
    } else if name.ends_with("STATUS") {
        Some(BlockMark::Begin)
    } else {
        None
    }
}

struct StatusBlock {
    start: usize,
    has_fields: bool,
    /// A form to fill in is an instruction, not a status.
    is_form: bool,
    has_exit_signal: bool,
    state: Option<(StatedState, String)>,
    confidence: Option<u8>,
}

impl StatusBlock {
    fn begin(start: usize) -> Self {
        Self {
            start,
            has_fields: false,
            is_form: false,
            has_exit_signal: false,
            state: None,
            confidence: None,
        }
    }

    fn read(&mut self, line: &str) {
        let Some((key, value)) = split_field(line) else {
            return;
        };
        self.has_fields = true;
        let is_known = normal_key(&key) == "status" || normal_key(&key) == "exit signal";
        self.is_form |= is_known && is_form(&value);
        if let Some(state) = field_state(&key, &FieldValue::Text(value.as_str().into())) {
            self.has_exit_signal |= normal_key(&key) == "exit signal";
            self.state = Some(heavier(
                self.state.take(),
                (state, format!("{key}: {value}")),
            ));
        }
        self.confidence = field_confidence(&key, &value).or(self.confidence);
    }

    /// Ends the block. Without its end it was cut, and is believed in what is complete.
    fn finish(self, end: usize, is_closed: bool) -> Option<SignalCandidate> {
        let (state, source) = self.state?;
        if self.is_form || state == StatedState::Done && !is_closed && !self.has_exit_signal {
            return None;
        }
        Some(SignalCandidate {
            range: self.start..end,
            state,
            source,
            confidence: self.confidence,
            is_weak: false,
        })
    }
}

/// Splits `**Key:** value`, with or without a bullet.
fn split_field(line: &str) -> Option<(String, String)> {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (key, value) = line.split_once([':', '=', '：'])?;
    if key.len() > LONGEST_KEY {
        return None;
    }
    let key = key.replace(['*', '`'], "").trim().to_owned();
    let value = value.replace(['*', '`'], "").trim().to_owned();
    (!key.is_empty()).then_some((key, value))
}

struct LoneState {
    state: StatedState,
    is_weak: bool,
}

/// Reads `EXIT_SIGNAL: true` and `**Status:** Done`.
fn lone_line(line: &str) -> Option<LoneState> {
    // A table or a quote of a block.
    if line.starts_with(['|', '>']) {
        return None;
    }
    let (key, value) = split_field(line)?;
    let normal = normal_key(&key);
    if is_form(&value) {
        return None;
    }
    let is_weak = match normal.as_str() {
        "exit signal" | "all tasks complete" | "all tasks completed" | "project complete" => false,
        "status" | "overall status" | "project status" | "final status" | "loop status"
        | "completion status" | "statut" | "estado" | "статус" | "状态" | "狀態" | "ステータス" => {
            true
        }
        _ => return None,
    };
    let state = field_state(&key, &FieldValue::Text(value.as_str().into()))?;
    Some(LoneState {
        state,
        is_weak: is_weak && normal == "status",
    })
}

/// Whether a line is nothing but the word that ends a loop of ralph-orchestrator.
fn is_bare_promise(line: &str, promise: Option<&str>) -> bool {
    let word = promise.unwrap_or("LOOP_COMPLETE").trim();
    word.contains('_') && line.trim_matches(|c: char| !c.is_alphanumeric() && c != '_') == word
}
