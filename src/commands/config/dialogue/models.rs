//! The models that the dialogue offers: those of vendors that answer, of local servers, and the
//! embedded one.

use std::collections::BTreeSet;

use crate::commands::inventory::doctor::FreeChecks;
use crate::config::key_detection::holds_key;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::error::whole;
use crate::providers::catalog::Model;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::panel::context::SelectionContext;
use crate::setup::plan::sources::Sources;
use crate::setup::provider_access::ProviderAccess;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};

/// The models to choose from.
#[derive(Debug)]
pub(super) struct ModelMenu<'a> {
    sources: &'a Sources,
    servers: &'a LocalServerSet,
    embedded: Option<ModelRef>,
    /// The providers without the vendors that do not answer. All of them when no vendor answers:
    /// the network may be down.
    usable: Vec<ProviderAccess>,
    pub(super) has_failing_vendors: bool,
    offered: Vec<ModelRef>,
}

impl<'a> ModelMenu<'a> {
    pub(super) fn new(
        sources: &'a Sources,
        servers: &'a LocalServerSet,
        found: &FreeChecks,
        embedded: Option<ModelRef>,
    ) -> Self {
        let is_usable = |access: &ProviderAccess| {
            found.answering.is_empty()
                || !access.is_selectable()
                || found.answering.contains(&access.id)
        };
        let usable: Vec<ProviderAccess> = sources
            .access_list
            .iter()
            .filter(|access| is_usable(access))
            .cloned()
            .collect();
        let has_failing_vendors = usable.len() < sources.access_list.len();
        let mut offered: Vec<ModelRef> = usable
            .iter()
            .filter(|access| access.is_selectable())
            .flat_map(|access| vendor_models(sources, &access.id))
            .collect();
        for server in &found.servers {
            let provider = server.kind.provider();
            offered.extend(server.models.iter().map(|model| ModelRef {
                provider: provider.clone(),
                model: model.id.clone(),
            }));
        }
        offered.extend(embedded.clone());
        let mut met = BTreeSet::new();
        offered.retain(|model| met.insert(model.clone()));
        Self {
            sources,
            servers,
            embedded,
            usable,
            has_failing_vendors,
            offered,
        }
    }

    /// Returns whether no model can be asked: none is offered, and no endpoint is configured whose
    /// models have to be named.
    pub(super) fn is_empty(&self) -> bool {
        self.offered.is_empty() && !self.usable.iter().any(ProviderAccess::is_selectable)
    }

    /// Returns the context of a panel that follows the keys that are set.
    pub(super) fn by_keys(&self) -> SelectionContext<'_> {
        self.sources
            .selection_context(self.embedded.clone(), self.servers)
    }

    /// Returns the context of a panel of the vendors that answer.
    pub(super) fn by_answers(&self) -> SelectionContext<'_> {
        SelectionContext {
            access_list: &self.usable,
            ..self.by_keys()
        }
    }

    /// Asks for one model; `preferred` is the default.
    pub(super) async fn ask(
        &self,
        dialogue: &Dialogue,
        prompt: &str,
        preferred: Option<&ModelRef>,
    ) -> Result<ModelRef, DialogueError> {
        let mut models = self.offered.clone();
        if let Some(preferred) = preferred.filter(|model| !models.contains(model)) {
            models.insert(0, preferred.clone());
        }
        let mut items: Vec<String> = models.iter().map(|model| self.item(model)).collect();
        items.push("Another model".to_owned());
        let default = preferred.and_then(|preferred| models.iter().position(|it| it == preferred));
        let choice = dialogue
            .select(prompt, &items, default.unwrap_or_default())
            .await?;
        if let Some(model) = models.get(choice) {
            return Ok(model.clone());
        }
        let read = |name: &str| {
            if holds_key(name) {
                return Err("This looks like an API key; keys stay in their variables.".to_owned());
            }
            self.by_keys().model(name).map_err(|error| {
                let hints = error.hints.join("; ");
                format!("{}: {hints}", whole(error.source()))
            })
        };
        dialogue.line("Model, as provider:model", read).await
    }

    /// Returns a model with its price.
    fn item(&self, model: &ModelRef) -> String {
        let price = self
            .sources
            .catalog
            .find(model)
            .and_then(|known| known.price_on(self.sources.now.day()));
        match price {
            Some(price) => format!(
                "{model}  {:.2} in, {:.2} out",
                price.input.0, price.output.0
            ),
            None => model.to_string(),
        }
    }
}

/// Returns the models of a vendor that have not retired: first those of the default panel, then the
/// best.
fn vendor_models(sources: &Sources, provider: &ProviderId) -> Vec<ModelRef> {
    let today = sources.now.day();
    let models = sources.catalog.models.iter();
    let mut models: Vec<&Model> = models
        .filter(|model| model.provider == *provider && !model.has_retired_by(today))
        .collect();
    models.sort_by_key(|model| (model.rank.unwrap_or(u32::MAX), model.tier));
    models.into_iter().map(Model::to_ref).collect()
}
