//! The comparison of the judge's two verdicts, as parts of a report. Markdown; pure. Model text
//! goes through `escape`.

use crate::domain::artifact::Verdict;
use crate::domain::ids::ModelRef;
use crate::domain::second_pass::{Held, SecondPass};

use super::sections::quoted;
use crate::terminal::markdown::escape::{block, inline};

/// The line of a report's head.
pub(in crate::terminal) fn line(second: &SecondPass, judge: Option<&ModelRef>) -> String {
    format!("**Judged twice:** {}", inline(&second.description(judge)))
}

/// The line of a report's head where the answers come from an earlier consultation.
pub(in crate::terminal) fn rejudged_line(from: &str, held: Option<&Held>) -> String {
    let outcome = match held.and_then(|held| held.consistent) {
        Some(true) => "; its verdict held".to_owned(),
        Some(false) => format!(
            "; its verdict did NOT hold{}",
            held.map(Held::because).unwrap_or_default()
        ),
        None => String::new(),
    };
    format!(
        "**Judged again:** the answers of {}{}",
        inline(from),
        inline(&outcome)
    )
}

/// Returns the warning above the answer if the second verdict differs.
pub(in crate::terminal) fn doubt(second: &SecondPass) -> Option<String> {
    let other = second.other_verdict()?;
    let how_far = second
        .held
        .magnitude
        .map(|magnitude| format!(" The two verdicts are {} apart.", magnitude.in_words()))
        .unwrap_or_default();
    let quote = quoted(&block(&in_short(other)));
    let lead = format!(
        "> ⚠️ **The verdict depends on the order of the experts.**{how_far} With the order \
         reversed, the judge recommends:"
    );
    Some(format!("{lead}\n>\n{quote}"))
}

/// Returns what a verdict recommends: its options, if it is a menu, and how to choose.
pub(in crate::terminal) fn in_short(verdict: &Verdict) -> String {
    let options = verdict
        .recommendations
        .iter()
        .map(|choice| format!("- {}", choice.option.trim()));
    let options = options.collect::<Vec<_>>().join("\n");
    [options.as_str(), verdict.recommendation.trim()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}
