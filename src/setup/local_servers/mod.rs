//! Model servers on the user's own machine: when they are looked for, which one a run takes, and
//! how its models are asked.

pub mod search;

use std::collections::{BTreeMap, BTreeSet};

use super::provider_access::{self, ProviderAccess};
use crate::config::settings::Settings;
use crate::consultation::plan::ModelTerms;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::vendors::{self, LocalServerKind};
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::discovery::{Condition, Server};

use self::search::{ServerSearch, all_kinds, find};

/// The servers that one run uses: at most one a kind.
#[derive(Debug)]
pub struct LocalServerSet {
    search: ServerSearch,
    used: BTreeMap<LocalServerKind, Server>,
    /// The model of every seat when no model is named and no key is set.
    pub by_default: Option<ModelRef>,
}

impl LocalServerSet {
    pub fn none() -> Self {
        Self::select(ServerSearch::default(), &[], &BTreeSet::new(), false)
    }

    pub async fn for_models<'a>(
        models: impl Iterator<Item = &'a ModelRef>,
        search: ServerSearch,
    ) -> Self {
        let served =
            |model: &ModelRef| Some((LocalServerKind::of(&model.provider)?, model.model.clone()));
        let named: BTreeSet<(LocalServerKind, String)> = models.filter_map(served).collect();
        Self::find(search, &named, false).await
    }

    /// Finds the servers of the named models, or all of them to take one by default.
    pub async fn find(
        search: ServerSearch,
        named: &BTreeSet<(LocalServerKind, String)>,
        by_default: bool,
    ) -> Self {
        let kinds = if by_default {
            all_kinds()
        } else {
            named.iter().map(|(kind, _)| *kind).collect()
        };
        if kinds.is_empty() {
            return Self::none();
        }
        let found = find(&search, &kinds).await;
        Self::select(search, &found, named, by_default)
    }

    /// A server of a named model, else a server that is ready.
    fn select(
        search: ServerSearch,
        found: &[Server],
        named: &BTreeSet<(LocalServerKind, String)>,
        by_default: bool,
    ) -> Self {
        let mut preferred = found.iter().filter(|_| by_default);
        let default = preferred.find_map(|server| Some((server, server.preferred()?)));
        let mut used = BTreeMap::new();
        for kind in LocalServerKind::ALL {
            let of_kind = || found.iter().filter(|server| server.kind == kind);
            let serves = |server: &&Server| {
                let mut ids = named.iter().filter(|(of, _)| *of == kind);
                ids.any(|(_, id)| server.serves(id).is_some())
            };
            let ready = |server: &&Server| server.condition == Condition::Ready;
            let best = of_kind().find(serves).or_else(|| of_kind().find(ready));
            let best = best.or_else(|| of_kind().next());
            used.extend(best.map(|server| (kind, server.clone())));
        }
        let by_default = default.map(|(server, model)| {
            used.insert(server.kind, server.clone());
            ModelRef {
                provider: server.kind.provider(),
                model: model.id.clone(),
            }
        });
        Self {
            search,
            used,
            by_default,
        }
    }

    pub fn notice(&self) -> Option<String> {
        let model = self.by_default.as_ref()?;
        let server = self.server(&model.provider)?;
        Some(format!(
            "Using {} on {} at {}",
            model.model,
            vendors::name(&model.provider),
            server.authority
        ))
    }

    /// The caller handles an unknown provider.
    pub fn check_provider(
        &self,
        provider: &ProviderId,
        access_list: &[ProviderAccess],
    ) -> Result<(), Error> {
        let Some(access) = provider_access::find(access_list, provider) else {
            return Err(Error::usage(format!("no provider is called `{provider}`")));
        };
        match access.missing_key() {
            None => self.check(access),
            Some(variable) => {
                let name = vendors::name(provider);
                let (what, hint) = match access.sign_in() {
                    Some(_) => ("no one is signed in with", format!("run `{variable}`")),
                    None => ("there is no key for", format!("set {variable}")),
                };
                Err(Error::usage(format!("{what} {name}")).hint(hint))
            }
        }
    }

    /// Only local servers can fail.
    fn check(&self, access: &ProviderAccess) -> Result<(), Error> {
        let Some(kind) = LocalServerKind::of(&access.id) else {
            return Ok(());
        };
        let name = vendors::name(&access.id);
        let Some(server) = self.used.get(&kind) else {
            // A server that was not looked for may be there: the call shows it.
            if self.search.is_off() || access.has_configured_address {
                return Ok(());
            }
            let looked = self.search.shown(&BTreeSet::from([kind]));
            let id = &access.id;
            return Err(Error::usage(format!("no {name} answers at {looked}"))
                .hint(format!(
                    "start it, or give its address with `conclave config set \
                     endpoints.{id}.base_url URL`"
                ))
                .hint("see which servers answer with `conclave models`"));
        };
        let authority = &server.authority;
        match server.condition {
            Condition::Ready => Ok(()),
            Condition::Loading => Err(Error::usage(format!(
                "the {name} at {authority} is still loading its model"
            ))
            .hint("try again in a moment")),
            // The search sends no key; the call will.
            Condition::Locked if access.has_key() => Ok(()),
            Condition::Locked => {
                let set = format!("conclave config set endpoints.{}", access.id);
                let variables = kind.vendor().key_variables;
                let variable = variables.first().copied().unwrap_or("VARIABLE");
                Err(
                    Error::usage(format!("the {name} at {authority} needs a key"))
                        .hint(format!(
                            "a key is sent only to an address that you name: `{set}.base_url {}`",
                            server.base_url
                        ))
                        .hint(format!(
                            "name the variable that holds the key: `{set}.api_key_env {variable}`"
                        )),
                )
            }
        }
    }

    fn server(&self, provider: &ProviderId) -> Option<&Server> {
        self.used.get(&LocalServerKind::of(provider)?)
    }

    /// `None` for a model of any other provider.
    pub fn terms(&self, model: &ModelRef, settings: &Settings) -> Option<ModelTerms> {
        let server = self.server(&model.provider)?;
        Some(search::terms(server, &model.model, settings))
    }

    pub fn extend_catalog(&self, mut catalog: ModelCatalog) -> ModelCatalog {
        for server in self.used.values() {
            for served in &server.models {
                let Some(context) = served.context else {
                    continue;
                };
                let model = ModelRef {
                    provider: server.kind.provider(),
                    model: served.id.clone(),
                };
                catalog = catalog.with_context(&model, context);
            }
        }
        catalog
    }

    /// Returns the providers of these ids, each local server at the address where it was found.
    pub fn place(
        &self,
        ids: &BTreeSet<ProviderId>,
        access_list: &[ProviderAccess],
    ) -> Vec<ProviderAccess> {
        let place = |access: &ProviderAccess| match self.server(&access.id) {
            Some(server) => access.clone().at_address(&server.base_url),
            None => access.clone(),
        };
        let asked = access_list.iter().filter(|access| ids.contains(&access.id));
        asked.map(place).collect()
    }
}

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests {
    use super::samples::{loading, locked, ready, served};
    use super::*;
    use crate::providers::discovery::ServedModel;
    use crate::setup::panel::spec::PanelSpec;
    use crate::setup::samples::{access, access_list, of_models, seated};

    fn by_default(found: &[Server]) -> LocalServerSet {
        LocalServerSet::select(ServerSearch::default(), found, &BTreeSet::new(), true)
    }

    fn of_llama_cpp(server: Server) -> LocalServerSet {
        let named = BTreeSet::from([(LocalServerKind::LlamaCpp, "m".to_owned())]);
        LocalServerSet::select(ServerSearch::default(), &[server], &named, false)
    }

    #[test]
    fn a_run_without_keys_takes_a_loaded_model_of_the_first_server() {
        let models = [
            served("a", false),
            served("b", true),
            served("c-cloud", true),
        ];
        let ollama = ready(LocalServerKind::Ollama, 1, &models);
        let vllm = ready(LocalServerKind::Vllm, 2, &[served("v", true)]);
        let taken = by_default(&[ollama, vllm.clone()]);
        assert_eq!(taken.notice().unwrap(), "Using b on Ollama at 127.0.0.1:1");
        let empty = ready(LocalServerKind::Ollama, 1, &[served("c-cloud", true)]);
        let taken = by_default(&[empty.clone(), vllm]);
        assert_eq!(taken.by_default.unwrap().to_string(), "vllm:v");
        assert_eq!(
            by_default(&[empty]).by_default,
            None,
            "a model in the cloud is never taken unasked"
        );
    }

    #[test]
    fn a_ready_server_comes_before_a_loading_one_of_its_kind() {
        let loading = loading(LocalServerKind::LlamaCpp, 8080);
        let ready = ready(LocalServerKind::LlamaCpp, 9931, &[served("m", true)]);
        let taken = by_default(&[loading.clone(), ready]);
        assert_eq!(
            taken.notice().unwrap(),
            "Using m on llama.cpp server at 127.0.0.1:9931"
        );
        let named = of_llama_cpp(loading);
        let error = named.check(&access("{}", "llamacpp")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the llama.cpp server at 127.0.0.1:8080 is still loading its model"
        );
        assert!(
            named.check(&access("{}", "openai")).is_ok(),
            "other providers are never searched for"
        );
    }

    #[test]
    fn a_locked_server_is_asked_only_with_a_key() {
        let named = of_llama_cpp(locked(LocalServerKind::LlamaCpp, 8080));
        let error = named.check(&access("{}", "llamacpp")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the llama.cpp server at 127.0.0.1:8080 needs a key"
        );
        let config = r#"{"endpoints": {"llamacpp": {"api_key_cmd": "pass show l"}}}"#;
        assert!(named.check(&access(config, "llamacpp")).is_err());
        let config = r#"{"endpoints": {"llamacpp": {"base_url": "127.0.0.1:8080", "api_key_cmd": "pass show l"}}}"#;
        assert!(named.check(&access(config, "llamacpp")).is_ok());
    }

    #[tokio::test]
    async fn without_a_search_a_named_model_is_asked_at_the_usual_address() {
        let spec = of_models(&["ollama:m", "llamacpp:m"]);
        let access_list = access_list("{}", &[("OLLAMA_HOST", "box:5000")]);
        let servers = spec
            .find_servers(&access_list, &[], ServerSearch::default())
            .await;
        let at = |provider: &str| {
            let access = provider_access::find(&access_list, &ProviderId::new(provider)).unwrap();
            servers.check(access).unwrap();
            servers.place(&BTreeSet::from([access.id.clone()]), &access_list)[0]
                .base_url
                .clone()
        };
        assert_eq!(at("ollama"), "http://box:5000");
        assert_eq!(at("llamacpp"), "http://127.0.0.1:8080/v1");
        let nothing_named = PanelSpec::default()
            .find_servers(&access_list, &[], ServerSearch::default())
            .await;
        assert!(
            nothing_named.by_default.is_none(),
            "a server that was not found is not taken by default"
        );
    }

    #[test]
    fn the_users_address_comes_before_the_address_found() {
        let found = ready(LocalServerKind::LlamaCpp, 9931, &[served("m", true)]);
        let servers = by_default(&[found]);
        let placed = |config| {
            let access = access(config, "llamacpp");
            servers.place(&BTreeSet::from([access.id.clone()]), &[access])[0]
                .base_url
                .clone()
        };
        assert_eq!(placed("{}"), "http://127.0.0.1:9931");
        assert_eq!(
            placed(r#"{"endpoints": {"llamacpp": {"base_url": "http://box:7"}}}"#),
            "http://box:7/v1"
        );
    }

    #[test]
    fn the_catalog_takes_the_context_sizes_that_servers_report() {
        let model = ServedModel {
            context: Some(2_048),
            ..served("tiny:latest", true)
        };
        let servers = by_default(&[ready(LocalServerKind::Ollama, 1, &[model])]);
        let tiny = ModelRef::new("ollama", "tiny:latest");
        let catalog = servers.extend_catalog(ModelCatalog::builtin());
        assert_eq!(catalog.find(&tiny).unwrap().context, Some(2_048));
        let again = catalog.with_context(&tiny, 4_096);
        assert_eq!(again.find(&tiny).unwrap().context, Some(4_096));
    }

    #[test]
    fn only_servers_of_named_models_are_looked_for() {
        let hosted = PanelSpec {
            judge: Some("gpt-6.1-sol".to_owned()),
            ..of_models(&["openai:gpt-6.1-sol", "local:x"])
        };
        assert_eq!(hosted.local_models(), BTreeSet::new());
        let seats = "security= ollama:qwen3:8b,pragmatic=gpt-6.1-sol";
        let expected = BTreeSet::from([
            (LocalServerKind::Ollama, "qwen3:8b".to_owned()),
            (LocalServerKind::Vllm, "m".to_owned()),
        ]);
        assert_eq!(seated(seats, Some("vllm:m")).local_models(), expected);
    }
}
