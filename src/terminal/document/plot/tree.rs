//! An evaluation as a tree: a branch for each rule, and the decision at its foot.

use maud::{Markup, html};

use super::{circle, drawing, line, text};
use crate::terminal::output::evaluation_tree::EvaluationTree;

const ROW: f64 = 22.0;
const TRUNK: f64 = 10.0;
const BRANCH: f64 = 26.0;
/// Characters of a line of the decision.
const WIDEST: usize = 34;

pub(super) fn svg(tree: &EvaluationTree) -> Markup {
    let mut rows = Vec::new();
    for branch in &tree.branches {
        let class = match branch.is_met {
            Some(true) => "met",
            Some(false) => "unmet",
            None => "unknown",
        };
        rows.push((Some(class), "name", branch.text.clone()));
        let detail = branch.detail.iter();
        rows.extend(detail.map(|detail| (None, "start", detail.clone())));
    }
    let decision = textwrap::wrap(&tree.decision, WIDEST).into_iter();
    let decision = decision.enumerate();
    rows.extend(decision.map(|(at, words)| {
        let class = (at == 0).then_some("decision");
        (class, "title", words.into_owned())
    }));
    let heights = std::iter::successors(Some(ROW + 14.0), |y| Some(y + ROW));
    let rows: Vec<_> = rows.into_iter().zip(heights).collect();
    let foot = rows.iter().rev().find(|((class, ..), _)| class.is_some());
    let foot = foot.map_or(ROW, |(_, y)| *y);
    let said: Vec<&str> = rows.iter().map(|((.., words), _)| words.as_str()).collect();
    let marks = html! {
        (text("title", (0.0, 14.0), &tree.heading))
        (line("branch", (TRUNK, 22.0), (TRUNK, foot)))
        @for ((class, style, words), y) in &rows {
            @if let Some(class) = class {
                (line("branch", (TRUNK, *y), (BRANCH, *y)))
                g class=(class) { (circle((BRANCH, *y), 5.0)) }
            }
            (text(style, (BRANCH + 12.0, *y + 4.5), words))
        }
    };
    let height = rows.last().map_or(ROW, |(_, y)| *y) + 12.0;
    drawing(&tree.heading, &said, (360.0, height), &marks)
}
