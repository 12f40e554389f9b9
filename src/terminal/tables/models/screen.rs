//! The list of models on a screen.
//!
//! Columns where they fit, with notes behind them or beneath; on a narrow terminal one model after
//! the other.

use console::measure_text_width;

use super::figures::{billions, dollars, tokens};
use super::{CloudModel, EmbeddedModels, ModelList, ProviderModels, ServerModels};
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::{LOCAL_QUALITY, thousands};
use crate::terminal::output::style::Paint;

/// Returns the screen for a terminal of this width; `None` does not wrap.
pub fn screen(list: &ModelList, width: Option<usize>, paint: Paint) -> String {
    let mut screen = ModelScreen {
        text: String::new(),
        width,
        paint,
        sources: Vec::new(),
    };
    for provider in list
        .providers
        .iter()
        .filter(|provider| !provider.models.is_empty())
    {
        screen.provider(provider);
    }
    for server in &list.local_servers {
        screen.server(server);
    }
    screen.embedded(&list.embedded);
    screen.legend(list);
    screen.text
}

struct ModelScreen {
    text: String,
    width: Option<usize>,
    paint: Paint,
    /// Sources and dates of prices, in the order of their numbers.
    sources: Vec<String>,
}

/// Columns without the id: tier, in, out, context, source.
const HEADS: [&str; 5] = ["tier", "in", "out", "context", "source"];

impl ModelScreen {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Writes a line that continues beneath itself.
    fn wrapped(&mut self, line: &str, indent: usize) {
        let (first, rest) = (" ".repeat(indent), " ".repeat(indent + 2));
        match self.width {
            Some(width) => {
                let options = textwrap::Options::new(width.max(12))
                    .initial_indent(&first)
                    .subsequent_indent(&rest);
                let filled = textwrap::fill(
                    line,
                    options.word_splitter(textwrap::WordSplitter::NoHyphenation),
                );
                self.line(&filled);
            }
            None => self.line(&format!("{first}{line}")),
        }
    }

    fn heading(&mut self, name: &str, state: &str) {
        if !self.text.is_empty() {
            self.line("");
        }
        let line = if state.is_empty() {
            self.paint.bold(name)
        } else {
            format!("{}  {state}", self.paint.bold(name))
        };
        self.wrapped(&line, 0);
    }

    fn provider(&mut self, provider: &ProviderModels) {
        let variables = provider.key_variables.join(" or ");
        let state = match (provider.has_key, variables.as_str()) {
            (true, _) => self.paint.green("key set"),
            (false, "") => self.paint.dim("no key"),
            (false, variables) => self.paint.dim(&format!("no key: {variables}")),
        };
        self.heading(&provider.name, &state);
        let rows: Vec<([String; 6], String)> = provider
            .models
            .iter()
            .map(|model| (self.cells(model), notes(model)))
            .collect();
        let of_column = |column: usize| {
            let cells = rows
                .iter()
                .filter_map(|(row, _)| row.get(column))
                .map(|cell| measure_text_width(cell));
            cells
                .chain(
                    column
                        .checked_sub(1)
                        .and_then(|at| HEADS.get(at))
                        .map(|head| head.len()),
                )
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..6).map(of_column).collect();
        let all = 2 + widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
        if self.width.is_some_and(|width| all > width) {
            for ((row, notes), model) in rows.iter().zip(&provider.models) {
                self.stacked(row, notes, model.retired);
            }
            return;
        }
        let head = columns(&[&[""], HEADS.as_slice()].concat(), &widths);
        let head = self.paint.dim(&head);
        self.line(&head);
        for ((row, notes), model) in rows.iter().zip(&provider.models) {
            let line = columns(&row.each_ref().map(String::as_str), &widths);
            let fits = self
                .width
                .is_none_or(|width| all + 2 + measure_text_width(notes) <= width);
            match (notes.as_str(), fits) {
                ("", _) => self.line(&self.painted(&line, model.retired)),
                (notes, true) => self.line(&format!(
                    "{}  {}",
                    self.painted(&line, model.retired),
                    self.paint.dim(notes)
                )),
                (notes, false) => {
                    self.line(&self.painted(&line, model.retired));
                    self.wrapped(notes, 6);
                }
            }
        }
    }

    fn painted(&self, line: &str, retired: bool) -> String {
        if retired {
            self.paint.dim(line)
        } else {
            line.to_owned()
        }
    }

    fn stacked(&mut self, row: &[String; 6], notes: &str, retired: bool) {
        let [id, tier, input, output, context, source] = row;
        let id = self.painted(id, retired);
        self.wrapped(&id, 2);
        let cost = if input == "?" {
            "no price".to_owned()
        } else {
            format!("{input} in, {output} out {source}")
        };
        self.wrapped(&format!("tier {tier}, {cost}, context {context}"), 4);
        if !notes.is_empty() {
            self.wrapped(notes, 4);
        }
    }

    /// Returns id, tier, price in and out, context, and the number of the price's source.
    fn cells(&mut self, model: &CloudModel) -> [String; 6] {
        let context = model.context.map_or_else(|| "?".to_owned(), tokens);
        let (input, output, source) = match &model.price {
            None => ("?".to_owned(), "?".to_owned(), String::new()),
            Some(price) => {
                let about = if price.approximate { "~" } else { "" };
                let as_of = price
                    .as_of
                    .as_ref()
                    .map(|day| format!(", {day}"))
                    .unwrap_or_default();
                let number = self.source(format!("{}{as_of}", one_line(&price.source)));
                (
                    format!("{about}{}", dollars(price.input)),
                    format!("{about}{}", dollars(price.output)),
                    format!("[{number}]"),
                )
            }
        };
        [
            one_line(&model.id),
            model.tier.to_string(),
            input,
            output,
            context,
            source,
        ]
    }

    fn source(&mut self, source: String) -> usize {
        let known = self.sources.iter().position(|known| *known == source);
        known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        }) + 1
    }

    fn server(&mut self, server: &ServerModels) {
        let version = server
            .version
            .as_ref()
            .map(|version| format!(", version {}", one_line(version)))
            .unwrap_or_default();
        let condition = match server.condition {
            "loading" => ", still loading",
            "locked" => ", needs a key",
            _ => "",
        };
        let state = format!("at {}{version}{condition}", server.address);
        let state = self.paint.green(&state);
        self.heading(&server.name, &state);
        if server.models.is_empty() {
            self.wrapped("no chat model", 2);
        }
        for model in &server.models {
            let mut facts = Vec::new();
            facts.extend(
                model
                    .parameters
                    .map(|count| format!("{} parameters", billions(count))),
            );
            facts.extend(
                model
                    .context
                    .map(|context| format!("context {}", tokens(context))),
            );
            facts.extend(model.loaded.then(|| "loaded".to_owned()));
            facts.extend(model.small_prompts.then(|| "short prompts".to_owned()));
            facts.push(if model.free {
                "free".to_owned()
            } else {
                "runs in a cloud, price unknown".to_owned()
            });
            self.wrapped(
                &format!("{}  {}", one_line(&model.model), facts.join(", ")),
                2,
            );
        }
    }

    fn embedded(&mut self, embedded: &EmbeddedModels) {
        self.heading("Embedded", LOCAL_QUALITY);
        for model in &embedded.models {
            let there = if model.installed {
                "installed"
            } else {
                "not installed"
            };
            let size = thousands(model.bytes.saturating_add(500_000) / 1_000_000);
            let line = format!(
                "{}  {there}, {size} MB, context {}, {}; {}",
                model.model,
                tokens(model.context),
                model.licence,
                model.good_for
            );
            self.wrapped(&line, 2);
        }
        if !embedded.built_in {
            self.wrapped(
                "this program was built without them; build them in with `cargo build --release \
                 --features local`",
                2,
            );
        }
    }

    fn legend(&mut self, list: &ModelList) {
        self.line("");
        self.wrapped(
            &format!(
                "Prices on {} in dollars for a million tokens; ~ where sources disagree.",
                list.date
            ),
            0,
        );
        for (at, source) in std::mem::take(&mut self.sources).iter().enumerate() {
            self.wrapped(&format!("[{}] {source}", at + 1), 0);
        }
        if list.retired_left_out > 0 {
            self.wrapped(
                &format!(
                    "{} retired models are not shown; list them with `--all`",
                    list.retired_left_out
                ),
                0,
            );
        }
    }
}

/// The first column to the left, figures to the right.
fn columns(cells: &[&str], widths: &[usize]) -> String {
    let cell = |(at, (cell, width)): (usize, (&&str, &usize))| {
        let gap = " ".repeat(width.saturating_sub(measure_text_width(cell)));
        if at == 0 || at + 1 == widths.len() {
            format!("{cell}{gap}")
        } else {
            format!("{gap}{cell}")
        }
    };
    format!(
        "  {}",
        cells
            .iter()
            .zip(widths)
            .enumerate()
            .map(cell)
            .collect::<Vec<_>>()
            .join("  ")
    )
}

/// Returns the notes beside a model's figures.
fn notes(model: &CloudModel) -> String {
    let mut notes = Vec::new();
    notes.extend(model.default_rank.map(|rank| format!("default {rank}")));
    notes.extend(model.retires.as_ref().map(|day| {
        let verb = if model.retired { "retired" } else { "retires" };
        let instead = model
            .successor
            .as_ref()
            .map(|id| format!(", use {id}"))
            .unwrap_or_default();
        format!("{verb} {day}{instead}")
    }));
    notes.extend(model.later_prices.iter().map(|price| {
        let from = price.from.as_deref().unwrap_or_default();
        format!(
            "from {from} {} in, {} out",
            dollars(price.input),
            dollars(price.output)
        )
    }));
    notes.extend(
        model
            .price
            .iter()
            .filter_map(|price| price.long_context.as_ref())
            .map(|long| {
                format!(
                    "above {} tokens {} in, {} out",
                    thousands(long.above_tokens),
                    dollars(long.input),
                    dollars(long.output)
                )
            }),
    );
    notes.extend(model.note.as_ref().map(|note| one_line(note)));
    notes.join("; ")
}
