//! The questions about the panel, its judge and the spending.

use crate::commands::flags::dollars;
use crate::config::key_detection::holds_key;
use crate::config::settings::Settings;
use crate::domain::ids::ModelRef;
use crate::domain::money::MicroUsd;
use crate::domain::panel::Panel;
use crate::error::{Error, whole};
use crate::setup::panel;
use crate::setup::panel::context::SelectionContext;
use crate::setup::panel::spec::PanelSpec;
use crate::setup::personas::PersonaRegistry;
use crate::setup::request::PanelRequest;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};

/// Asks, and puts the answers in a draft of the settings.
#[derive(Debug)]
pub(super) struct Questions<'a> {
    pub(super) dialogue: &'a Dialogue,
    pub(super) personas: &'a PersonaRegistry,
    /// The models whose keys are set.
    pub(super) by_keys: SelectionContext<'a>,
    /// Those of vendors that answer; `None` if all do.
    pub(super) answering: Option<SelectionContext<'a>>,
}

/// A way to fill the seats.
enum PanelSource {
    Present,
    ByKeys,
    Answering(Panel),
    Typed,
}

impl Questions<'_> {
    pub(super) async fn ask(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        self.ask_panel(draft).await?;
        self.ask_judge(draft).await?;
        let amount = |text: &str| dollars(text).map_err(|why| format!("The amount {why}."));
        let dialogue = self.dialogue;
        let prompt = "Spend without asking, in dollars (0: ask about every cost)";
        let present = draft.always_allow_under.usd().to_string();
        draft.always_allow_under = dialogue.edited_line(prompt, &present, amount).await?;
        let prompt = "Spend in a month, in dollars (none: no limit)";
        let present = draft.monthly_budget.map(MicroUsd::usd);
        let present = present.map_or_else(|| "none".to_owned(), |usd| usd.to_string());
        let read = |text: &str| (text != "none").then(|| amount(text)).transpose();
        draft.monthly_budget = dialogue.edited_line(prompt, &present, read).await?;
        Ok(())
    }

    async fn ask_panel(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        let open = Settings {
            panel: None,
            default_personas: None,
            ..draft.clone()
        };
        let mut sources = Vec::new();
        if draft.panel.is_some() || draft.default_personas.is_some() {
            let panel = self.select(draft, &self.by_keys).ok();
            sources.push((PanelSource::Present, "Keep the present panel", panel));
        }
        let answering = self.answering.as_ref();
        if let Some(panel) = answering.and_then(|context| self.select(&open, context).ok()) {
            let source = PanelSource::Answering(panel.clone());
            sources.push((source, "Only the vendors that answer now", Some(panel)));
        }
        if let Ok(panel) = self.select(&open, &self.by_keys) {
            let item = "Follow the keys that are set";
            sources.push((PanelSource::ByKeys, item, Some(panel)));
        }
        sources.push((PanelSource::Typed, "Name the seats", None));
        if let Some((_, _, Some(panel))) = sources.first() {
            self.dialogue.remark("The panel would be:");
            self.dialogue.table(&rows(panel));
        }
        let items: Vec<String> = sources.iter().map(|it| it.1.to_owned()).collect();
        let choice = self.dialogue.select("Panel", &items, 0).await?;
        match sources.into_iter().nth(choice).map(|(source, ..)| source) {
            Some(PanelSource::Present) => {}
            Some(PanelSource::ByKeys) => (draft.panel, draft.default_personas) = (None, None),
            Some(PanelSource::Answering(panel)) => draft.panel = Some(seats(&panel)),
            Some(PanelSource::Typed) | None => {
                let read = |text: &str| self.typed_seats(text, &open);
                let prompt = "Seats, as persona=provider:model, separated by commas";
                draft.panel = Some(self.dialogue.line(prompt, read).await?);
            }
        }
        Ok(())
    }

    async fn ask_judge(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        let open = Settings {
            judge: None,
            ..draft.clone()
        };
        let context = self.answering.as_ref().unwrap_or(&self.by_keys);
        let suited = self.select(&open, context).ok();
        let suited = suited.and_then(|panel| panel.judges.first().cloned());
        let now = suited.map_or(String::new(), |model| format!(", now {model}"));
        let kept = draft.judge.iter().map(|judge| format!("Keep {judge}"));
        let others = [
            format!("Suited to the panel{now}"),
            "Name a model".to_owned(),
        ];
        let items: Vec<String> = kept.chain(others).collect();
        let choice = self.dialogue.select("Judge", &items, 0).await?;
        match choice + usize::from(draft.judge.is_none()) {
            0 => {}
            1 => draft.judge = None,
            _ => {
                let read = |name: &str| self.typed_model(name);
                let model = self.dialogue.line("Model, as provider:model", read).await?;
                draft.judge = Some(model.to_string());
            }
        }
        Ok(())
    }

    /// Returns the panel of these settings.
    fn select(&self, settings: &Settings, context: &SelectionContext<'_>) -> Result<Panel, Error> {
        let spec = PanelSpec::new(&PanelRequest::default(), settings, self.personas)?;
        panel::select(&spec, context).map(|selected| selected.panel)
    }

    fn typed_seats(&self, text: &str, open: &Settings) -> Result<Vec<String>, String> {
        no_key(text)?;
        let settings = Settings {
            panel: Some(text.split(',').map(|seat| seat.trim().to_owned()).collect()),
            ..open.clone()
        };
        let panel = self.select(&settings, &self.by_keys);
        panel
            .map(|panel| seats(&panel))
            .map_err(|error| in_words(&error))
    }

    fn typed_model(&self, name: &str) -> Result<ModelRef, String> {
        no_key(name)?;
        self.by_keys.model(name).map_err(|error| in_words(&error))
    }
}

fn no_key(text: &str) -> Result<(), String> {
    if holds_key(text) {
        return Err("This looks like an API key; keys stay in their variables.".to_owned());
    }
    Ok(())
}

fn in_words(error: &Error) -> String {
    format!("{}: {}", whole(error.source()), error.hints.join("; "))
}

/// Returns the seats as the setting `panel` takes them.
fn seats(panel: &Panel) -> Vec<String> {
    let seats = panel.seats.iter();
    seats
        .map(|seat| format!("{}={}", seat.persona.id, seat.model))
        .collect()
}

/// Returns each seat and the judge with their models.
fn rows(panel: &Panel) -> Vec<(String, String)> {
    let seats = panel.seats.iter();
    let seats = seats.map(|seat| (seat.persona.id.clone(), seat.model.to_string()));
    let judge = panel.judges.first();
    let judge = judge.map(|judge| ("judge".to_owned(), judge.to_string()));
    seats.chain(judge).collect()
}
