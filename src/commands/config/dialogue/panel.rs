//! The questions about the panel and its judge.

use crate::config::personas::AUTO;
use crate::config::settings::Settings;
use crate::domain::ids::ModelRef;
use crate::domain::panel::Panel;
use crate::error::Error;
use crate::setup::panel;
use crate::setup::panel::context::{SelectionContext, default_seats};
use crate::setup::panel::spec::PanelSpec;
use crate::setup::personas::PersonaEntry;
use crate::setup::plan::sources::Sources;
use crate::setup::request::PanelRequest;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};

use super::left;
use super::models::ModelMenu;

/// Asks for the panel and the judge.
#[derive(Debug)]
pub(super) struct PanelQuestions<'a> {
    dialogue: &'a Dialogue,
    sources: &'a Sources,
    menu: &'a ModelMenu<'a>,
}

/// A way to fill the seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PanelSource {
    Present,
    Keys,
    Answers,
    Auto,
    Named,
}

impl PanelSource {
    fn item(self) -> &'static str {
        match self {
            Self::Present => "Keep the present panel",
            Self::Keys => "Follow the keys that are set",
            Self::Answers => "Only the vendors that answer now",
            Self::Auto => "Let a model choose personas for each question",
            Self::Named => "Choose personas and models",
        }
    }
}

impl<'a> PanelQuestions<'a> {
    pub(super) fn new(
        dialogue: &'a Dialogue,
        sources: &'a Sources,
        menu: &'a ModelMenu<'a>,
    ) -> Self {
        Self {
            dialogue,
            sources,
            menu,
        }
    }

    /// Asks, and puts the answers in the draft.
    pub(super) async fn ask(&self, draft: &mut Settings) -> Result<(), Error> {
        self.ask_panel(draft).await.map_err(left)?;
        self.ask_judge(draft).await.map_err(left)
    }

    async fn ask_panel(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        let open = Settings {
            panel: None,
            default_personas: None,
            ..draft.clone()
        };
        let by_keys = self.select(&open, &self.menu.by_keys());
        let by_answers = self.select(&open, &self.menu.by_answers());
        let has_failing_vendors = self.menu.has_failing_vendors && by_answers.is_some();
        let has_present = draft.panel.is_some() || draft.default_personas.is_some();

        let mut sources = Vec::new();
        if has_present {
            sources.push(PanelSource::Present);
        }
        if has_failing_vendors {
            sources.push(PanelSource::Answers);
        }
        if by_keys.is_some() {
            sources.extend([PanelSource::Keys, PanelSource::Auto]);
        }
        sources.push(PanelSource::Named);
        let (remark, shown) = match sources.first() {
            Some(PanelSource::Present) => {
                let present = self.select(draft, &self.menu.by_keys());
                ("The present panel:", present)
            }
            Some(PanelSource::Answers) => {
                let answers = by_answers.clone();
                ("The panel of the vendors that answer:", answers)
            }
            Some(PanelSource::Keys | PanelSource::Auto | PanelSource::Named) | None => (
                "The panel by the keys and servers there are:",
                by_keys.clone(),
            ),
        };
        if let Some(panel) = &shown {
            self.dialogue.remark(remark);
            self.dialogue.table(&rows(panel));
        }

        let items: Vec<String> = sources.iter().map(|it| it.item().to_owned()).collect();
        let choice = self.dialogue.select("Panel", &items, 0).await?;
        match sources.get(choice).copied().unwrap_or(PanelSource::Named) {
            PanelSource::Present => {}
            PanelSource::Keys => (draft.panel, draft.default_personas) = (None, None),
            PanelSource::Answers => draft.panel = by_answers.as_ref().map(seats),
            PanelSource::Auto => {
                draft.panel = None;
                draft.default_personas = Some(vec![AUTO.to_owned()]);
            }
            PanelSource::Named => {
                let usual = self.select(draft, &self.menu.by_answers()).or(by_answers);
                draft.panel = Some(self.name_seats(usual.as_ref()).await?);
            }
        }
        Ok(())
    }

    /// Asks for personas, and for the model of each.
    async fn name_seats(&self, usual: Option<&Panel>) -> Result<Vec<String>, DialogueError> {
        let personas = self.ask_personas(usual).await?;
        self.dialogue
            .remark("Prices of models are in dollars per million tokens.");
        let mut seats = Vec::new();
        for entry in personas {
            let id = &entry.persona.id;
            let own =
                usual.and_then(|panel| panel.seats.iter().find(|seat| seat.persona.id == *id));
            let preferred = own.or(usual.and_then(|panel| panel.seats.get(seats.len())));
            let model = self
                .menu
                .ask(
                    self.dialogue,
                    &format!("Model of {id}"),
                    preferred.map(|seat| &seat.model),
                )
                .await?;
            seats.push(format!("{id}={model}"));
        }
        Ok(seats)
    }

    async fn ask_personas(
        &self,
        usual: Option<&Panel>,
    ) -> Result<Vec<&'a PersonaEntry>, DialogueError> {
        let entries = &self.sources.personas.entries;
        let items: Vec<String> = entries
            .iter()
            .map(|entry| format!("{}  {}", entry.persona.id, concern(entry)))
            .collect();
        let mut ticked: Vec<bool> = entries
            .iter()
            .map(|entry| is_seated(usual, &entry.persona.id))
            .collect();
        loop {
            let chosen = self
                .dialogue
                .select_several("Personas", &items, &ticked)
                .await?;
            let personas: Vec<&PersonaEntry> = chosen
                .into_iter()
                .filter_map(|at| entries.get(at))
                .collect();
            if personas.is_empty() {
                self.dialogue
                    .problem("A panel needs at least one persona: tick it with Space.");
                ticked.fill(false);
                continue;
            }
            let ids: Vec<&str> = personas
                .iter()
                .map(|entry| entry.persona.id.as_str())
                .collect();
            self.dialogue.answered("Personas", &ids.join(", "));
            return Ok(personas);
        }
    }

    async fn ask_judge(&self, draft: &mut Settings) -> Result<(), DialogueError> {
        let open = Settings {
            judge: None,
            ..draft.clone()
        };
        let suited = self
            .select(&open, &self.menu.by_answers())
            .and_then(|panel| panel.judges.first().cloned());
        let now = suited
            .as_ref()
            .map_or(String::new(), |model| format!(", now {model}"));
        let mut items = vec![
            format!("Suited to the panel{now}"),
            "Choose a model".to_owned(),
        ];
        if let Some(present) = &draft.judge {
            items.insert(0, format!("Keep {present}"));
        }
        let choice = self.dialogue.select("Judge", &items, 0).await?;
        match (choice + usize::from(draft.judge.is_none()), &draft.judge) {
            (0, _) => {}
            (1, _) => draft.judge = None,
            _ => {
                let model: ModelRef = self
                    .menu
                    .ask(self.dialogue, "Model of the judge", suited.as_ref())
                    .await?;
                draft.judge = Some(model.to_string());
            }
        }
        Ok(())
    }

    /// Returns the panel of these settings; `None` when it cannot be filled.
    fn select(&self, settings: &Settings, context: &SelectionContext<'_>) -> Option<Panel> {
        let request = PanelRequest::default();
        let spec = PanelSpec::new(&request, settings, &self.sources.personas).ok()?;
        let selected = panel::select(&spec, context).ok()?;
        Some(selected.panel)
    }
}

/// Returns what a persona thinks of, without the beginning that all briefs share:
/// `You are a …: you`.
fn concern(entry: &PersonaEntry) -> &str {
    let persona = &entry.persona;
    match persona.brief.split_once(": you ") {
        Some((_, concern)) => concern,
        None if persona.brief.is_empty() => &persona.name,
        None => &persona.brief,
    }
}

/// Returns whether a persona has a seat; without a panel, whether it is one of the usual three.
fn is_seated(panel: Option<&Panel>, persona: &str) -> bool {
    match panel {
        Some(panel) => panel.seats.iter().any(|seat| seat.persona.id == persona),
        None => default_seats().any(|(id, _)| id == persona),
    }
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
    let mut rows: Vec<(String, String)> = seats
        .map(|seat| (seat.persona.id.clone(), seat.model.to_string()))
        .collect();
    let judge = panel.judges.first();
    rows.extend(judge.map(|judge| ("judge".to_owned(), judge.to_string())));
    rows
}
