//! The judge's text while it is written, for `--stream`. Several calls may be open at once; one is
//! shown. Returns text to print and prints nothing itself.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::event::CallFinished;
use crate::domain::ids::{CallId, ModelRef};

use super::judge_prose::JudgeProse;
use crate::terminal::output::style::Paint;

/// The least time between two readings: each reads the text from its beginning.
const BETWEEN_READINGS: Duration = Duration::from_millis(250);

/// All open calls of the judge.
#[derive(Debug)]
pub(in crate::terminal) struct JudgeStream {
    /// Text is printed in whole lines narrower than this, as the live area is drawn below them;
    /// `None` prints it as it arrives.
    wrap_at: Option<usize>,
    paint: Paint,
    shown: Option<CallId>,
    calls: BTreeMap<CallId, JudgeProse>,
    read_at: Option<Instant>,
}

impl JudgeStream {
    pub(in crate::terminal) fn new(wrap_at: Option<usize>, paint: Paint) -> Self {
        Self {
            wrap_at,
            paint,
            shown: None,
            calls: BTreeMap::new(),
            read_at: None,
        }
    }

    /// Follows the width of the terminal, from the next call on.
    pub(in crate::terminal) fn resize(&mut self, columns: usize) {
        if let Some(wrap_at) = &mut self.wrap_at {
            *wrap_at = columns;
        }
    }

    /// The labels of the experts are shown as their names.
    pub(in crate::terminal) fn begin(
        &mut self,
        call: CallId,
        model: &ModelRef,
        labels: Option<Labels>,
    ) {
        let prose = JudgeProse::new(self.wrap_at, self.paint, model, labels);
        self.calls.insert(call, prose);
    }

    pub(in crate::terminal) fn write(&mut self, call: CallId, piece: &str, now: Instant) -> String {
        let Some(prose) = self.calls.get_mut(&call) else {
            return String::new();
        };
        prose.write(piece);
        let is_shown = *self.shown.get_or_insert(call) == call;
        let is_due = self
            .read_at
            .is_none_or(|read_at| now >= read_at + BETWEEN_READINGS);
        if !is_shown || !is_due {
            return String::new();
        }
        self.read_at = Some(now);
        prose.take()
    }

    /// If it brought no answer, the text of another open call is shown instead.
    pub(in crate::terminal) fn end(&mut self, call: CallId, result: CallResult) -> String {
        let Some(mut prose) = self.calls.remove(&call) else {
            return String::new();
        };
        if self.shown != Some(call) {
            return String::new();
        }
        prose.end();
        let mut text = prose.take();
        self.shown = None;
        if result == CallResult::Nothing
            && let Some((other, prose)) = self.calls.iter_mut().find(|(_, prose)| prose.has_text())
        {
            self.shown = Some(*other);
            text.push_str(&prose.take());
        }
        text
    }
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum CallResult {
    Answer,
    Nothing,
}

impl CallResult {
    pub(in crate::terminal) fn of(call: &CallFinished) -> Self {
        match call.error {
            None => Self::Answer,
            Some(_) => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use console::measure_text_width;

    use super::*;
    use crate::domain::panel::Seat;

    const VERDICT: &str = "```json\n{\"summary\": \"They agree.\\n\\nMostly.\", \"dissent\": \
        [{\"concern\": \"Sessions would do for a single application\"}],\n\"confidence\": 0.9}\n\
        ```";

    fn model(name: &str) -> ModelRef {
        ModelRef::new("mistral", name)
    }

    /// Writes pieces, each of which is read.
    fn write_all(judge: &mut JudgeStream, pieces: &[&str]) -> Vec<String> {
        let mut now = Instant::now();
        let mut write = |piece: &&str| {
            now += BETWEEN_READINGS;
            judge.write(CallId(1), piece, now)
        };
        pieces.iter().map(&mut write).collect()
    }

    fn written(wrap_at: Option<usize>, pieces: &[&str]) -> String {
        let mut judge = JudgeStream::new(wrap_at, Paint::PLAIN);
        judge.begin(CallId(1), &model("mistral-large"), None);
        let text = write_all(&mut judge, pieces).concat();
        text + &judge.end(CallId(1), CallResult::Answer)
    }

    fn characters(text: &str) -> Vec<&str> {
        text.split_inclusive(|_| true).collect()
    }

    #[test]
    fn headings_replace_field_names_and_numbers_are_left_out() {
        insta::assert_snapshot!(written(None, &[VERDICT]), @r"
        ⚖️ Judge (mistral-large):
           Summary
           They agree.
           Mostly.
           Dissent
           • Sessions would do for a single application
        ");
        for wrap_at in [None, Some(30)] {
            let whole = written(wrap_at, &[VERDICT]);
            assert_eq!(written(wrap_at, &characters(VERDICT)), whole);
        }
    }

    #[test]
    fn menu_is_shown_option_by_option() {
        let menu = r#"{"recommendations": [{"option": "Wait", "pros": ["Cheap."], "cons": ["Slow.", "Dull."], "confidence": 0.7},
            {"option": "Move", "best_when": "writes double"}], "recommendation": "Look at the growth."}"#;
        insta::assert_snapshot!(written(None, &[menu]), @r"
        ⚖️ Judge (mistral-large):
           Options
           • Wait
             + Cheap.
             − Slow.
             − Dull.
           • Move
             Best when: writes double
           How to choose
           Look at the growth.
        ");
    }

    #[test]
    fn labels_are_shown_as_the_names_of_the_seats() {
        let seats = ["Architect", "Critic"].map(|name| Seat::named(name, name, model("m")));
        let order = seats.each_ref().map(|seat| seat.id.clone());
        let mut judge = JudgeStream::new(None, Paint::PLAIN);
        judge.begin(CallId(1), &model("m"), Labels::in_order(&order, &seats));
        let text = r#"{"consensus_points": [{"point": "As Expert B says.",
            "supporting_agents": ["Expert A", "B"], "confidence": 0.9}],
            "tensions": [{"topic": "Pace", "severity": "high",
            "viewpoints": [{"agent": "Expert A", "viewpoint": "Now."}]}],
            "challenges": [{"challenger": "Expert A", "target_agent": "Expert B",
            "challenge": "Too \"slow\".", "evidence": ["Last year."]}],
            "evidence": [{"claim": "It holds.", "agent": "Expert B", "quote": "it holds"}],
            "dissent": [{"concern": "Too early.", "agent": "Expert A"}]}"#;
        let mut shown = write_all(&mut judge, &characters(text)).concat();
        shown.push_str(&judge.end(CallId(1), CallResult::Answer));
        insta::assert_snapshot!(shown, @r#"
        ⚖️ Judge (m):
           Agreement
           • As Critic says.
             (Architect, Critic)
           Tensions
           • Pace
             Architect: Now.
           Challenges
           • Architect to Critic: Too "slow".
             – Last year.
           Evidence
           • It holds.
             Critic: “it holds”
           Dissent
           • Too early.
             (Architect)
        "#);
    }

    #[test]
    fn only_whole_lines_that_fit_appear_above_the_live_display() {
        let mut judge = JudgeStream::new(Some(24), Paint::PLAIN);
        judge.begin(CallId(1), &model("m"), None);
        let mut text = String::new();
        for lines in write_all(&mut judge, &characters(VERDICT)) {
            assert!(lines.is_empty() || lines.ends_with('\n'), "{lines:?}");
            text.push_str(&lines);
        }
        text.push_str(&judge.end(CallId(1), CallResult::Answer));
        insta::assert_snapshot!(text, @r"
        ⚖️ Judge (m):
           Summary
           They agree.
           Mostly.
           Dissent
           • Sessions would do
             for a single
             application
        ");
        for width in 14..60 {
            let text = written(Some(width), &[VERDICT]);
            assert!(
                text.lines()
                    .skip(1)
                    .all(|line| measure_text_width(line) < width),
                "{width}: {text}"
            );
        }
    }

    #[test]
    fn terminal_control_sequences_are_dropped() {
        let text = written(
            None,
            &["{\"a\": \"x\\u001b[2J\\u0007\\r\\ny\", \"b\u{1b}\": \"\u{202e}z\"}"],
        );
        assert_eq!(text, "⚖️ Judge (mistral-large):\n   x[2J\n   y\n   z\n");
        assert_eq!(
            written(None, &["\u{1b}]0;title\u{7}wait"]),
            "⚖️ Judge (mistral-large):\n   ]0;titlewait\n"
        );
    }

    #[test]
    fn other_call_is_shown_if_the_first_has_no_answer() {
        let mut judge = JudgeStream::new(None, Paint::PLAIN);
        judge.begin(CallId(1), &model("slow"), None);
        judge.begin(CallId(2), &model("backup"), None);
        let now = Instant::now();
        let first = judge.write(CallId(1), "one", now);
        assert_eq!(first, "⚖️ Judge (slow):\n   one");
        assert_eq!(judge.write(CallId(2), "two", now), "");
        assert_eq!(
            judge.end(CallId(1), CallResult::Nothing),
            "\n⚖️ Judge (backup):\n   two"
        );
        let later = now + BETWEEN_READINGS;
        assert_eq!(judge.write(CallId(2), " three", later), " three");
        assert_eq!(judge.end(CallId(2), CallResult::Answer), "\n");
        assert_eq!(judge.write(CallId(2), "late", later), String::new());
        assert_eq!(judge.end(CallId(2), CallResult::Answer), String::new());
    }

    #[test]
    fn pieces_that_arrive_together_are_read_once() {
        let mut judge = JudgeStream::new(None, Paint::PLAIN);
        judge.begin(CallId(1), &model("m"), None);
        let now = Instant::now();
        assert_eq!(judge.write(CallId(1), "one", now), "⚖️ Judge (m):\n   one");
        assert_eq!(judge.write(CallId(1), " two", now), "");
        assert_eq!(judge.end(CallId(1), CallResult::Answer), " two\n");
    }

    #[test]
    fn what_broken_json_means_in_the_end_is_shown() {
        let pieces = [
            "{\"summary\": \"He said \",",
            " but\", then \"no\" to it.\"}",
        ];
        assert_eq!(
            written(None, &pieces),
            "⚖️ Judge (mistral-large):\n   Summary\n   He said\n   He said \", but\", then \"no\" to it.\n"
        );
    }
}
