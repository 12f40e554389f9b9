//! The list of models as `conclave models` shows it: plain data, which is also its JSON, and its
//! screen.

use jiff::civil::Date;
use serde::Serialize;

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::vendors::CHATGPT;
use crate::providers::catalog::{DatedPrice, Model, UsdPerMtok};
use crate::providers::chatgpt::sign_in::COMMAND;
use crate::providers::discovery::{Condition, ServedModel};
use crate::providers::local::built_in;
use crate::providers::local::files::home::ModelHome;
use crate::providers::local::files::manifest::MODELS;
use crate::terminal::document::{self, Fact, Line, Part, Table, Tail, fact, paragraph, titled};
use crate::terminal::output::format::{LOCAL_QUALITY, count, thousands};
use crate::terminal::output::style::{Paint, Tone};
use crate::text::clean::one_line;

/// All models that can be asked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ModelList {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub(super) schema_version: &'static str,
    /// The date of prices and retirements, in UTC.
    pub(super) date: Date,
    pub(super) providers: Vec<ProviderModels>,
    /// Programs that answer in a seat.
    pub(super) programs: Vec<ProgramModels>,
    pub(super) local_servers: Vec<ServerModels>,
    pub(super) embedded: EmbeddedList,
    /// The number of retired models not listed; `--all` lists them.
    pub(super) retired_left_out: usize,
    pub(super) warnings: Vec<String>,
}

impl ModelList {
    /// An empty text removes nothing.
    pub(super) fn keep_only(&mut self, text: &str) {
        let wanted = text.trim().to_lowercase();
        if wanted.is_empty() {
            return;
        }
        let matches = |parts: &str| parts.to_lowercase().contains(&wanted);
        for ProviderModels { name, models, .. } in &mut self.providers {
            models.retain(|model| {
                matches(&format!("{name} {} tier {}", model.model, model.entry.tier))
            });
        }
        for ProgramModels { name, models, .. } in &mut self.programs {
            models.retain(|model| matches(&format!("{name} program {model}")));
        }
        for ServerModels { name, models, .. } in &mut self.local_servers {
            models.retain(|model| matches(&format!("{name} {}", model.model)));
        }
        let embedded = &mut self.embedded.models;
        embedded.retain(|model| matches(&format!("embedded {}", model.model)));
        self.providers
            .retain(|provider| !provider.models.is_empty());
        self.programs.retain(|program| !program.models.is_empty());
        self.local_servers
            .retain(|server| !server.models.is_empty());
    }

    /// Removes the models that have retired, and counts them.
    pub(super) fn leave_out_retired(&mut self) {
        for ProviderModels { models, .. } in &mut self.providers {
            let before = models.len();
            models.retain(|model| !model.retired);
            self.retired_left_out += before - models.len();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.retired_left_out == 0
            && self
                .providers
                .iter()
                .all(|provider| provider.models.is_empty())
            && self.programs.is_empty()
            && self
                .local_servers
                .iter()
                .all(|server| server.models.is_empty())
            && self.embedded.models.is_empty()
    }
}

/// The models of one provider in the cloud.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProviderModels {
    pub(super) id: String,
    pub(super) name: String,
    /// True if its key is set.
    pub(super) has_key: bool,
    /// The variables of its key; empty for an endpoint of the user.
    pub(super) key_variables: &'static [&'static str],
    pub(super) models: Vec<CloudModel>,
}

/// A model as the catalog has it, with its price.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CloudModel {
    /// As a command takes it: `anthropic:claude-sonnet-5-5`.
    pub(super) model: String,
    /// The price in force; `None` is unknown, never free.
    pub(super) price: Option<DatedPrice>,
    pub(super) retired: bool,
    #[serde(flatten)]
    pub(super) entry: Model,
}

/// The models that a program is usually asked for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProgramModels {
    pub(super) id: String,
    pub(super) name: String,
    /// Its file; `None` if it is not installed.
    pub(super) executable: Option<String>,
    /// The user has agreed to its use.
    pub(super) allowed: bool,
    /// As a command takes them: `claude-code:sonnet`.
    pub(super) models: Vec<ModelRef>,
}

/// The models of a server on the user's own machine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ServerModels {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) address: String,
    pub(super) version: Option<String>,
    pub(super) condition: Condition,
    pub(super) models: Vec<LocalModel>,
}

/// A model of a local server.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LocalModel {
    pub(super) model: String,
    #[serde(flatten)]
    pub(super) served: ServedModel,
    /// True if it gets short prompts.
    pub(super) small_prompts: bool,
}

/// The models that run inside this program.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct EmbeddedList {
    /// True if this build can run them.
    pub(super) built_in: bool,
    pub(super) models: Vec<EmbeddedModel>,
}

/// One embedded model.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct EmbeddedModel {
    pub(super) model: String,
    pub(super) id: &'static str,
    pub(super) bytes: u64,
    pub(super) context: u64,
    pub(super) licence: &'static str,
    pub(super) installed: bool,
    pub(super) good_for: &'static str,
}

impl EmbeddedList {
    pub(super) fn of(files: &ModelHome) -> Self {
        let models = MODELS.iter().map(|model| EmbeddedModel {
            model: format!("{}:{}", ProviderId::LOCAL, model.name),
            id: model.name,
            bytes: model.bytes,
            context: model.context.into(),
            licence: model.licence,
            installed: files.installed(model).is_some(),
            good_for: model.good_for,
        });
        Self {
            built_in: built_in().is_ok(),
            models: models.collect(),
        }
    }
}

/// The id has no heading.
const HEADS: [&str; 7] = ["", "tier", "in", "out", "context", "source", ""];

/// `None` does not wrap.
pub(super) fn screen(list: &ModelList, width: Option<usize>, paint: Paint) -> String {
    // Sources and dates of prices, in the order of their numbers.
    let mut sources = Vec::new();
    let mut parts = Vec::new();
    for provider in &list.providers {
        let rows: Vec<_> = provider
            .models
            .iter()
            .map(|model| cells(model, list.date, &mut sources))
            .collect();
        let table = Table::with_tail(Tail::Wrapped, 1, &HEADS, rows);
        let (given, missing, source) = match provider.id.as_str() {
            CHATGPT => ("signed in", "not signed in", COMMAND.to_owned()),
            _ => ("key set", "no key", provider.key_variables.join(" or ")),
        };
        let state = match (provider.has_key, source.as_str()) {
            (true, _) => Line::toned(Tone::Good, given),
            (false, "") => Line::toned(Tone::Quiet, missing),
            (false, source) => Line::toned(Tone::Quiet, format!("{missing}: {source}")),
        };
        parts.extend(titled(3, heading(&provider.name, state), table));
    }
    parts.extend(list.programs.iter().flat_map(program));
    parts.extend(list.local_servers.iter().flat_map(server));
    parts.extend(embedded(&list.embedded));
    let prices = "Prices on {} in dollars for a million tokens; ~ where sources disagree.";
    let mut legend = vec![Line::of(prices, [&list.date.to_string()])];
    let sources = (1..).zip(&sources);
    legend.extend(sources.map(|(at, source): (u32, _)| format!("[{at}] {source}").into()));
    let retired = "{} not shown; list with `--all`";
    let left_out = count(list.retired_left_out, "retired model");
    legend.extend((list.retired_left_out > 0).then(|| Line::of(retired, [&left_out])));
    parts.push(Part::Facts(legend.into_iter().map(Fact::from).collect()));
    document::screen(&parts, width, paint)
}

fn heading(name: &str, state: Line) -> Line {
    Line::from(name.to_owned()).and("  ", []).then(state)
}

/// Returns id, tier, price in and out, context, the number of the price's source, and notes.
fn cells(model: &CloudModel, today: Date, sources: &mut Vec<String>) -> Vec<Line> {
    let context = model.entry.context.map_or_else(|| "?".to_owned(), tokens);
    let [input, output, source] = match &model.price {
        None => ["?", "?", ""].map(ToOwned::to_owned),
        Some(price) => {
            let about = if price.approximate { "~" } else { "" };
            let day = price.as_of.map(|day| format!(", {day}"));
            let source = one_line(&price.source) + &day.unwrap_or_default();
            let known = sources.iter().position(|known| *known == source);
            let number = known.unwrap_or(sources.len());
            if known.is_none() {
                sources.push(source);
            }
            [
                format!("{about}{}", dollars(price.input)),
                format!("{about}{}", dollars(price.output)),
                format!("[{}]", number + 1),
            ]
        }
    };
    let tone = if model.retired {
        Tone::Quiet
    } else {
        Tone::Plain
    };
    let cells = [
        model.entry.id.clone(),
        model.entry.tier.to_string(),
        input,
        output,
        context,
        source,
    ];
    let cells = cells.into_iter().map(|cell| Line::toned(tone, cell));
    cells
        .chain([Line::toned(Tone::Quiet, notes(model, today))])
        .collect()
}

fn program(program: &ProgramModels) -> [Part; 2] {
    let state = match &program.executable {
        Some(file) => Line::toned(Tone::Good, format!("program {}", one_line(file))),
        None => Line::toned(Tone::Quiet, "program, not installed"),
    };
    let models: Vec<String> = program.models.iter().map(ToString::to_string).collect();
    let title = heading(&program.name, state);
    let models = fact("", models.join(", "));
    [Part::Heading(3, title), Part::Facts(vec![models])]
}

fn server(server: &ServerModels) -> [Part; 2] {
    let version = server
        .version
        .as_ref()
        .map(|version| format!(", version {version}"));
    let condition = match server.condition {
        Condition::Loading => ", still loading",
        Condition::Locked => ", needs a key",
        Condition::Ready => "",
    };
    let state = format!(
        "at {}{}{condition}",
        server.address,
        version.unwrap_or_default()
    );
    let mut facts: Vec<Fact> = server.models.iter().map(local_model).collect();
    if facts.is_empty() {
        facts.push(fact("", "no chat model"));
    }
    let title = heading(&server.name, Line::toned(Tone::Good, state));
    [Part::Heading(3, title), Part::Facts(facts)]
}

fn local_model(model: &LocalModel) -> Fact {
    let served = &model.served;
    let price = if served.runs_here {
        "free"
    } else {
        "runs in a cloud, price unknown"
    };
    let parameters = served.parameters.map(billions);
    let context = served.context.map(tokens);
    let facts = [
        parameters.map(|count| format!("{count} parameters")),
        context.map(|context| format!("context {context}")),
        served.loaded.then(|| "loaded".to_owned()),
        model.small_prompts.then(|| "short prompts".to_owned()),
        Some(price.to_owned()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    fact(model.model.clone(), facts.join(", "))
}

pub(super) fn embedded(embedded: &EmbeddedList) -> Vec<Part> {
    let facts = embedded.models.iter().map(|model| {
        let there = if model.installed {
            "installed"
        } else {
            "not installed"
        };
        let size = thousands(model.bytes.saturating_add(500_000) / 1_000_000);
        let (context, licence) = (tokens(model.context), model.licence);
        let words = format!(
            "{there}, {size} MB, context {context}, {licence}; {}",
            model.good_for
        );
        fact(model.model.clone(), words)
    });
    let facts: Vec<Fact> = facts.collect();
    let note = "This program was built without them; build them in with `cargo build --release \
                --features local`.";
    let note = (!embedded.built_in).then(|| paragraph(note, []));
    if facts.is_empty() {
        return Vec::new();
    }
    let title = heading("Embedded", Line::from(LOCAL_QUALITY));
    titled(3, title, std::iter::once(Part::Facts(facts)).chain(note))
}

fn notes(model: &CloudModel, today: Date) -> String {
    let rates = |input, output| format!("{} in, {} out", dollars(input), dollars(output));
    let mut notes = Vec::new();
    let entry = &model.entry;
    notes.extend(entry.rank.map(|rank| format!("default {rank}")));
    if let Some(day) = &entry.retires {
        let verb = if model.retired { "retired" } else { "retires" };
        let successor = entry.successor.as_ref().map(|id| format!(", use {id}"));
        notes.push(format!("{verb} {day}{}", successor.unwrap_or_default()));
    }
    notes.extend(
        entry
            .prices_after(today)
            .map(|(from, price)| format!("from {from} {}", rates(price.input, price.output))),
    );
    let long = model
        .price
        .as_ref()
        .and_then(|price| price.long_context.as_ref());
    notes.extend(long.map(|long| {
        let above = thousands(long.above_tokens);
        format!("above {above} tokens {}", rates(long.input, long.output))
    }));
    notes.extend(entry.note.as_deref().map(one_line));
    notes.join("; ")
}

/// `$2.00`, `$0.075`: two decimals, and more where they are significant.
fn dollars(price: UsdPerMtok) -> String {
    let amount = f64::from(price);
    let exact = format!("{amount:.6}");
    let shown = exact.trim_end_matches('0');
    let decimals = shown
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    format!("${amount:.*}", decimals.clamp(2, 6))
}

/// `200k`, `1.05M`: tokens of a context, rounded.
fn tokens(count: u64) -> String {
    let hundredths = count.saturating_add(5_000) / 10_000;
    match (count, hundredths / 100, hundredths % 100) {
        (0..1_000, ..) => count.to_string(),
        (1_000..1_000_000, ..) => format!("{}k", count.saturating_add(500) / 1_000),
        (_, millions, 0) => format!("{millions}M"),
        (_, millions, rest) => format!("{millions}.{rest:02}M"),
    }
}

/// `8.2B`, `135M`.
fn billions(count: u64) -> String {
    if count < 1_000_000_000 {
        return format!("{}M", count.saturating_add(500_000) / 1_000_000);
    }
    let tenths = count.saturating_add(50_000_000) / 100_000_000;
    format!("{}.{}B", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<ModelList>("models", "What `conclave models --json` prints");
    }

    #[test]
    fn figures_are_short_and_keep_their_significant_digits() {
        assert_eq!(
            [2.0, 0.075, 0.0, 12.5, 1.36].map(|usd| dollars(UsdPerMtok::try_from(usd).unwrap())),
            ["$2.00", "$0.075", "$0.00", "$12.50", "$1.36"]
        );
        assert_eq!(
            [512, 8_192, 922_000, 1_000_000, 1_048_576].map(tokens),
            ["512", "8k", "922k", "1M", "1.05M"]
        );
        assert_eq!(
            [135_000_000, 1_700_000_000, 8_200_000_000].map(billions),
            ["135M", "1.7B", "8.2B"]
        );
    }
}
