//! The list of models on a screen.
//!
//! Columns where they fit, with notes behind them or beneath; on a narrow terminal one model after
//! the other.

use console::{Alignment, measure_text_width, pad_str};

use super::figures::{billions, dollars, tokens};
use super::{CloudModel, EmbeddedModels, ModelList, ProviderModels, ServerModels};
use crate::terminal::output::format::{LOCAL_QUALITY, thousands};
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::widest;
use crate::terminal::tables::columns::{columns, hanging};
use crate::text::clean::one_line;

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

/// The id has no heading.
const HEADS: [&str; 6] = ["", "tier", "in", "out", "context", "source"];

impl ModelScreen {
    fn line(&mut self, line: &str) {
        self.text.extend([line.trim_end(), "\n"]);
    }

    /// Writes a text that continues beneath itself; without a text, nothing.
    fn wrapped(&mut self, text: &str, indent: usize) {
        if !text.is_empty() {
            let (head, beneath) = (" ".repeat(indent), indent + 2);
            self.text
                .push_str(&hanging(&head, text, beneath, self.width));
        }
    }

    fn heading(&mut self, name: &str, state: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let name = self.paint.bold(name);
        self.wrapped(&format!("{name}  {state}"), 0);
    }

    fn provider(&mut self, provider: &ProviderModels) {
        let variables = provider.key_variables.join(" or ");
        let state = match (provider.has_key, variables.as_str()) {
            (true, _) => self.paint.green("key set"),
            (false, "") => self.paint.dim("no key"),
            (false, variables) => self.paint.dim(&format!("no key: {variables}")),
        };
        self.heading(&provider.name, &state);
        let mut rows = vec![HEADS.map(ToOwned::to_owned)];
        rows.extend(provider.models.iter().map(|model| self.cells(model)));
        let lines = columns(&rows, 1..5);
        let widest = widest(&lines);
        let width = self.width.unwrap_or(usize::MAX);
        if 2 + widest > width {
            for (row, model) in rows.iter().skip(1).zip(&provider.models) {
                self.stacked(row, model);
            }
            return;
        }
        let mut lines = lines.iter();
        if let Some(heads) = lines.next() {
            self.line(&format!("  {}", self.paint.dim(heads)));
        }
        for (line, model) in lines.zip(&provider.models) {
            let notes = notes(model);
            if 2 + widest + 2 + measure_text_width(&notes) <= width {
                let line = pad_str(line, widest, Alignment::Left, None);
                let (line, notes) = (self.retired(&line, model), self.paint.dim(&notes));
                self.line(&format!("  {line}  {notes}"));
            } else {
                self.line(&format!("  {}", self.retired(line, model)));
                self.wrapped(&notes, 6);
            }
        }
    }

    /// Dims what belongs to a retired model.
    fn retired(&self, text: &str, model: &CloudModel) -> String {
        if model.retired {
            self.paint.dim(text)
        } else {
            text.to_owned()
        }
    }

    fn stacked(&mut self, row: &[String; 6], model: &CloudModel) {
        let [id, tier, input, output, context, source] = row;
        self.wrapped(&self.retired(id, model), 2);
        let cost = if input == "?" {
            "no price".to_owned()
        } else {
            format!("{input} in, {output} out {source}")
        };
        self.wrapped(&format!("tier {tier}, {cost}, context {context}"), 4);
        self.wrapped(&notes(model), 4);
    }

    /// Returns id, tier, price in and out, context, and the number of the price's source.
    fn cells(&mut self, model: &CloudModel) -> [String; 6] {
        let context = model.context.map_or_else(|| "?".to_owned(), tokens);
        let [input, output, source] = match &model.price {
            None => ["?", "?", ""].map(ToOwned::to_owned),
            Some(price) => {
                let about = if price.approximate { "~" } else { "" };
                let mut source = one_line(&price.source);
                if let Some(day) = &price.as_of {
                    source = format!("{source}, {day}");
                }
                [
                    format!("{about}{}", dollars(price.input)),
                    format!("{about}{}", dollars(price.output)),
                    format!("[{}]", self.source(source)),
                ]
            }
        };
        let (id, tier) = (one_line(&model.id), model.tier.to_string());
        [id, tier, input, output, context, source]
    }

    fn source(&mut self, source: String) -> usize {
        let known = self.sources.iter().position(|known| *known == source);
        known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        }) + 1
    }

    fn server(&mut self, server: &ServerModels) {
        let mut state = format!("at {}", server.address);
        if let Some(version) = &server.version {
            state = format!("{state}, version {}", one_line(version));
        }
        state.push_str(match server.condition {
            "loading" => ", still loading",
            "locked" => ", needs a key",
            _ => "",
        });
        self.heading(&server.name, &self.paint.green(&state));
        if server.models.is_empty() {
            self.wrapped("no chat model", 2);
        }
        for model in &server.models {
            let price = if model.free {
                "free"
            } else {
                "runs in a cloud, price unknown"
            };
            let facts = [
                model
                    .parameters
                    .map(|count| format!("{} parameters", billions(count))),
                model
                    .context
                    .map(|context| format!("context {}", tokens(context))),
                model.loaded.then(|| "loaded".to_owned()),
                model.small_prompts.then(|| "short prompts".to_owned()),
                Some(price.to_owned()),
            ];
            let facts: Vec<String> = facts.into_iter().flatten().collect();
            let line = format!("{}  {}", one_line(&model.model), facts.join(", "));
            self.wrapped(&line, 2);
        }
    }

    fn embedded(&mut self, embedded: &EmbeddedModels) {
        if embedded.models.is_empty() {
            return;
        }
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
        self.text.push('\n');
        let date = &list.date;
        self.wrapped(
            &format!("Prices on {date} in dollars for a million tokens; ~ where sources disagree."),
            0,
        );
        for (at, source) in std::mem::take(&mut self.sources).iter().enumerate() {
            self.wrapped(&format!("[{}] {source}", at + 1), 0);
        }
        let left_out = list.retired_left_out;
        if left_out > 0 {
            self.wrapped(
                &match left_out {
                    1 => "1 retired model is not shown; list it with `--all`".to_owned(),
                    many => format!("{many} retired models are not shown; list them with `--all`"),
                },
                0,
            );
        }
    }
}

/// Returns the notes beside a model's figures.
fn notes(model: &CloudModel) -> String {
    let rates = |input: f64, output: f64| format!("{} in, {} out", dollars(input), dollars(output));
    let mut notes = Vec::new();
    if let Some(rank) = model.default_rank {
        notes.push(format!("default {rank}"));
    }
    if let Some(day) = &model.retires {
        let verb = if model.retired { "retired" } else { "retires" };
        let successor = model.successor.as_ref().map(|id| format!(", use {id}"));
        notes.push(format!("{verb} {day}{}", successor.unwrap_or_default()));
    }
    for price in &model.later_prices {
        let from = price.from.map_or_else(String::new, |day| day.to_string());
        notes.push(format!("from {from} {}", rates(price.input, price.output)));
    }
    if let Some(long) = model
        .price
        .as_ref()
        .and_then(|price| price.long_context.as_ref())
    {
        let above = thousands(long.above_tokens);
        notes.push(format!(
            "above {above} tokens {}",
            rates(long.input, long.output)
        ));
    }
    notes.extend(model.note.as_deref().map(one_line));
    notes.join("; ")
}
