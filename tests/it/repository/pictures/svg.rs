//! A terminal's screen as a picture that is readable in light and dark mode.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

/// The size of a cell, in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 19.0;

/// The space around the text.
const MARGIN: f64 = 16.0;

const HEAD: &str = "\
<style>
  svg { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
  text { fill: #1f2328; white-space: pre; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .red { fill: #cf222e; } .green { fill: #1a7f37; } .yellow { fill: #9a6700; }
  .blue { fill: #0969da; } .magenta { fill: #8250df; } .cyan { fill: #1b7c83; }
  .bold { font-weight: 600; } .dim { opacity: 0.62; } .italic { font-style: italic; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .red { fill: #ff7b72; } .green { fill: #3fb950; } .yellow { fill: #d29922; }
    .blue { fill: #58a6ff; } .magenta { fill: #bc8cff; } .cyan { fill: #39c5cf; }
  }
</style>
";

/// Draws the command that was typed, and the screen down to its last line of text.
/// `settle` removes from a text what differs from run to run.
pub(super) fn picture(screen: &Screen, command: &str, settle: impl Fn(&str) -> String) -> String {
    let (rows, columns) = screen.size();
    let texts: Vec<String> = screen.rows(0, columns.get()).collect();
    let used = texts.iter().rposition(|row| !row.trim().is_empty());
    let rows = used.map_or(0, |last| last + 1).min(usize::from(rows.get()));
    let is_cut = screen.scrollback_len() > 0;
    let head = if is_cut { 2 } else { 1 };
    let width = f64::from(columns.get()) * WIDTH + 2.0 * MARGIN;
    let height = line(rows + head) + MARGIN - HEIGHT / 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" \
         aria-label=\"The end of a consultation on a terminal\">\n{HEAD}\
         <rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\"/>\n",
        width - 1.0,
        height - 1.0
    );
    svg.push_str(&text(0, 0, "dim", "$"));
    svg.push_str(&text(0, 2, "bold", command));
    if is_cut {
        svg.push_str(&text(1, 0, "dim", "⋮"));
    }
    for row in 0..rows {
        for (column, classes, words) in runs(screen, row) {
            svg.push_str(&text(row + head, column, &classes, &settle(&words)));
        }
    }
    svg + "</svg>\n"
}

/// Returns the pieces of one row that have the same style, with their columns; blanks are left out.
fn runs(screen: &Screen, row: usize) -> Vec<(usize, String, String)> {
    let mut runs: Vec<(usize, String, String)> = Vec::new();
    let mut is_open = false;
    for column in 0..usize::from(screen.size().1.get()) {
        let cell = screen.cell(row.try_into().unwrap(), column.try_into().unwrap());
        let Some(cell) = cell.filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let (contents, classes) = (cell.contents(), classes(cell));
        let is_blank = contents.trim().is_empty();
        match runs.last_mut() {
            Some((_, open, words)) if is_open && (is_blank || *open == classes) => {
                words.push_str(if is_blank { " " } else { contents });
            }
            _ if is_blank => is_open = false,
            _ => {
                runs.push((column, classes, contents.to_owned()));
                is_open = true;
            }
        }
    }
    for (_, _, words) in &mut runs {
        words.truncate(words.trim_end().len());
    }
    runs
}

fn classes(cell: &Cell) -> String {
    let colour = match cell.fgcolor() {
        Color::Idx(index) => ["", "red", "green", "yellow", "blue", "magenta", "cyan", ""]
            .get(usize::from(index % 8))
            .copied(),
        Color::Default | Color::Rgb(..) => None,
    };
    let mut classes: Vec<&str> = colour.into_iter().filter(|name| !name.is_empty()).collect();
    classes.extend(cell.bold().then_some("bold"));
    classes.extend(cell.dim().then_some("dim"));
    classes.extend(cell.italic().then_some("italic"));
    classes.join(" ")
}

/// Returns a piece of text. Its length is given, so that it fits its cells in any font.
fn text(row: usize, column: usize, classes: &str, words: &str) -> String {
    let escaped = words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let cells = console::measure_text_width(words);
    let mut element = String::new();
    let _ = writeln!(
        element,
        "<text class=\"{classes}\" x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\">{escaped}</text>",
        MARGIN + pixels(column) * WIDTH,
        line(row),
        pixels(cells) * WIDTH,
    );
    element
}

/// Returns the base line of a row.
fn line(row: usize) -> f64 {
    MARGIN + HEIGHT * 0.75 + pixels(row) * HEIGHT
}

fn pixels(count: usize) -> f64 {
    u32::try_from(count).map_or(0.0, f64::from)
}
