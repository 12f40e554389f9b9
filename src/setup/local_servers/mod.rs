//! Model servers on the user's own machine: when they are looked for, which one a run takes, and
//! how its models are asked.

pub(crate) mod search;
pub(crate) mod terms;

use std::collections::{BTreeMap, BTreeSet};

use super::panel::spec::PanelSpec;
use super::provider_access::ProviderAccess;
use crate::config::settings::Settings;
use crate::consultation::plan::ModelTerms;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::vendors::{self, LocalServerKind};
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::providers::discovery::{Condition, Server};

use self::search::{ServerSearch, all_kinds, find};

/// The servers that one run uses: at most one a kind.
#[derive(Debug)]
pub(crate) struct LocalServerSet {
    search: ServerSearch,
    used: BTreeMap<LocalServerKind, Server>,
    /// The model of every seat when no model is named and no key is set.
    by_default: Option<ModelRef>,
}

impl LocalServerSet {
    /// Returns a set without servers.
    pub(crate) fn none() -> Self {
        Self {
            search: ServerSearch::Off,
            used: BTreeMap::new(),
            by_default: None,
        }
    }

    /// Finds the servers that this panel needs: those whose models are named, and any server when
    /// no model is named and no key is set.
    pub(crate) async fn for_panel(
        spec: &PanelSpec,
        access_list: &[ProviderAccess],
        search: ServerSearch,
    ) -> Self {
        let named = named_models(spec);
        let keyless = !access_list.iter().any(ProviderAccess::is_selectable);
        let by_default = keyless && !spec.names_all_models();
        let kinds = if by_default {
            all_kinds()
        } else {
            named.iter().map(|(kind, _)| *kind).collect()
        };
        if kinds.is_empty() {
            return Self::none();
        }
        let found = find(&search, &kinds).await;
        Self::select(search, &found, &named, by_default)
    }

    /// Finds the servers of these models.
    pub(crate) async fn for_models<'a>(
        models: impl Iterator<Item = &'a ModelRef>,
        search: ServerSearch,
    ) -> Self {
        let served =
            |model: &ModelRef| Some((LocalServerKind::of(&model.provider)?, model.model.clone()));
        let named: BTreeSet<(LocalServerKind, String)> = models.filter_map(served).collect();
        if named.is_empty() {
            return Self::none();
        }
        let kinds = named.iter().map(|(kind, _)| *kind).collect();
        let found = find(&search, &kinds).await;
        Self::select(search, &found, &named, false)
    }

    /// Selects one server of each kind: one that serves a named model, else one that is ready.
    fn select(
        search: ServerSearch,
        found: &[Server],
        named: &BTreeSet<(LocalServerKind, String)>,
        by_default: bool,
    ) -> Self {
        let default = found
            .iter()
            .filter(|_| by_default)
            .find_map(|server| Some((server.clone(), server.preferred()?.id.clone())));
        let mut used = BTreeMap::new();
        for kind in LocalServerKind::ALL {
            let of_kind = || found.iter().filter(|server| server.kind == kind);
            let serves = |server: &&Server| {
                named
                    .iter()
                    .any(|(of, id)| *of == kind && server.serves(id).is_some())
            };
            let ready = |server: &&Server| server.condition == Condition::Ready;
            used.extend(
                of_kind()
                    .find(serves)
                    .or_else(|| of_kind().find(ready))
                    .or_else(|| of_kind().next())
                    .map(|it| (kind, it.clone())),
            );
        }
        let default = default.map(|(server, id)| {
            let model = ModelRef {
                provider: server.kind.provider(),
                model: id,
            };
            used.insert(server.kind, server);
            model
        });
        Self {
            search,
            used,
            by_default: default,
        }
    }

    /// Returns the model of a local server that a run without keys takes.
    pub(crate) fn default_model(&self) -> Option<&ModelRef> {
        self.by_default.as_ref()
    }

    /// Returns a notice of the model that is used by default.
    pub(crate) fn notice(&self) -> Option<String> {
        let model = self.by_default.as_ref()?;
        let server = self.server(&model.provider)?;
        Some(format!(
            "Using {} on {} at {}",
            model.model,
            vendors::name(&model.provider),
            server.authority
        ))
    }

    /// Checks that a provider's server can be asked. Only local servers can fail.
    pub(crate) fn check(&self, access: &ProviderAccess) -> Result<(), Error> {
        let Some(kind) = LocalServerKind::of(&access.id) else {
            return Ok(());
        };
        let name = vendors::name(&access.id);
        match self.used.get(&kind) {
            Some(Server {
                condition: Condition::Ready,
                ..
            }) => Ok(()),
            Some(Server {
                condition: Condition::Loading,
                authority,
                ..
            }) => Err(Error::usage(format!(
                "the {name} at {authority} is still loading its model"
            ))
            .hint("try again in a moment")),
            // The search sends no key; the call will.
            Some(Server {
                condition: Condition::Locked,
                ..
            }) if access.has_key() => Ok(()),
            Some(Server {
                condition: Condition::Locked,
                authority,
                ..
            }) => {
                let entry = format!(
                    "`conclave config set endpoints.{}.api_key_env VARIABLE`",
                    access.id
                );
                Err(
                    Error::usage(format!("the {name} at {authority} needs a key"))
                        .hint(format!("name the variable that holds it: {entry}")),
                )
            }
            // A server that was not looked for may be there: the call shows it.
            None if self.search == ServerSearch::Off || access.has_configured_address() => Ok(()),
            None => {
                let looked = self.search.shown(&BTreeSet::from([kind]));
                Err(Error::usage(format!("no {name} answers at {looked}"))
                    .hint(format!(
                        "start it, or give its address with `conclave config set \
                         endpoints.{}.base_url URL`",
                        access.id
                    ))
                    .hint("see which servers answer with `conclave models`"))
            }
        }
    }

    fn server(&self, provider: &ProviderId) -> Option<&Server> {
        self.used.get(&LocalServerKind::of(provider)?)
    }

    /// Returns how a local server's model is asked; `None` for a model of any other provider.
    pub(crate) fn terms(&self, model: &ModelRef, settings: &Settings) -> Option<ModelTerms> {
        let server = self.server(&model.provider)?;
        Some(terms::terms(server, &model.model, settings))
    }

    /// Returns the catalog with the context sizes that local servers report of their models.
    pub(crate) fn extend_catalog(&self, catalog: ModelCatalog) -> ModelCatalog {
        let served = self.used.values().flat_map(|server| {
            server
                .models
                .iter()
                .map(move |model| (server.kind.provider(), model))
        });
        served.fold(catalog, |catalog, (provider, model)| match model.context {
            Some(context) => catalog.with_context(
                &ModelRef {
                    provider,
                    model: model.id.clone(),
                },
                context,
            ),
            None => catalog,
        })
    }

    /// Returns the providers with each local server at the address where it was found.
    pub(crate) fn with_addresses(&self, access_list: Vec<ProviderAccess>) -> Vec<ProviderAccess> {
        let place = |access: ProviderAccess| match self.server(&access.id) {
            Some(server) => access.at_address(&server.base_url),
            None => access,
        };
        access_list.into_iter().map(place).collect()
    }
}

/// Returns the models of local servers that the user names, with the kind of server.
fn named_models(spec: &PanelSpec) -> BTreeSet<(LocalServerKind, String)> {
    let seats = spec
        .panel
        .iter()
        .flat_map(|panel| panel.split(','))
        .map(|seat| seat.split_once('=').map_or(seat, |(_, model)| model));
    let judges = spec.judge.iter().flat_map(|judges| judges.split(','));
    let names = seats
        .chain(spec.models.iter().map(String::as_str))
        .chain(judges)
        .chain(spec.models_of_personas());
    let server_and_model = |name: &str| {
        let model: ModelRef = name.trim().parse().ok()?;
        Some((LocalServerKind::of(&model.provider)?, model.model))
    };
    names.filter_map(server_and_model).collect()
}

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests {
    use super::samples::{access_list, served, server};
    use super::*;
    use crate::providers::discovery::ServedModel;

    fn access(config: &str, provider: &str) -> ProviderAccess {
        access_list(config)
            .into_iter()
            .find(|access| access.id.as_str() == provider)
            .unwrap()
    }

    fn by_default(found: &[Server]) -> LocalServerSet {
        LocalServerSet::select(ServerSearch::Off, found, &BTreeSet::new(), true)
    }

    #[test]
    fn a_run_without_keys_takes_a_loaded_model_of_the_first_server() {
        let ollama = server(
            LocalServerKind::Ollama,
            1,
            Condition::Ready,
            &[
                served("a", false),
                served("b", true),
                served("c-cloud", true),
            ],
        );
        let vllm = server(
            LocalServerKind::Vllm,
            2,
            Condition::Ready,
            &[served("v", true)],
        );
        let taken = by_default(&[ollama, vllm.clone()]);
        assert_eq!(taken.notice().unwrap(), "Using b on Ollama at 127.0.0.1:1");
        let empty = server(
            LocalServerKind::Ollama,
            1,
            Condition::Ready,
            &[served("c-cloud", true)],
        );
        assert_eq!(
            by_default(&[empty.clone(), vllm])
                .default_model()
                .unwrap()
                .to_string(),
            "vllm:v"
        );
        assert_eq!(
            by_default(&[empty]).default_model(),
            None,
            "a model in the cloud is never taken unasked"
        );
    }

    #[test]
    fn a_ready_server_comes_before_a_loading_one_of_its_kind() {
        let loading = server(LocalServerKind::LlamaCpp, 8080, Condition::Loading, &[]);
        let ready = server(
            LocalServerKind::LlamaCpp,
            9931,
            Condition::Ready,
            &[served("m", true)],
        );
        let taken = by_default(&[loading.clone(), ready]);
        assert_eq!(
            taken.notice().unwrap(),
            "Using m on llama.cpp server at 127.0.0.1:9931"
        );
        let named = LocalServerSet::select(
            ServerSearch::Off,
            &[loading],
            &BTreeSet::from([(LocalServerKind::LlamaCpp, "m".to_owned())]),
            false,
        );
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
        let locked = server(LocalServerKind::LlamaCpp, 8080, Condition::Locked, &[]);
        let named = LocalServerSet::select(
            ServerSearch::Off,
            &[locked],
            &BTreeSet::from([(LocalServerKind::LlamaCpp, "m".to_owned())]),
            false,
        );
        let error = named.check(&access("{}", "llamacpp")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the llama.cpp server at 127.0.0.1:8080 needs a key"
        );
        assert!(
            named
                .check(&access(
                    r#"{"endpoints": {"llamacpp": {"api_key_cmd": "pass show l"}}}"#,
                    "llamacpp"
                ))
                .is_ok()
        );
    }

    #[tokio::test]
    async fn without_a_search_a_named_model_is_asked_at_the_usual_address() {
        let spec = PanelSpec {
            models: vec!["ollama:m".into(), "llamacpp:m".into()],
            ..PanelSpec::default()
        };
        let access_list = access_list("{}");
        let servers = LocalServerSet::for_panel(&spec, &access_list, ServerSearch::Off).await;
        let at = |provider: &str| {
            let access = access_list
                .iter()
                .find(|access| access.id.as_str() == provider)
                .unwrap();
            servers.check(access).unwrap();
            servers.with_addresses(vec![access.clone()])[0]
                .base_url()
                .to_owned()
        };
        assert_eq!(
            (at("ollama"), at("llamacpp")),
            ("http://box:5000".into(), "http://127.0.0.1:8080/v1".into())
        );
        let nothing_named =
            LocalServerSet::for_panel(&PanelSpec::default(), &access_list, ServerSearch::Off).await;
        assert!(
            nothing_named.default_model().is_none(),
            "a server that was not found is not taken by default"
        );
    }

    #[test]
    fn the_users_address_comes_before_the_address_found() {
        let found = server(
            LocalServerKind::LlamaCpp,
            9931,
            Condition::Ready,
            &[served("m", true)],
        );
        let servers = by_default(&[found]);
        let placed = |config| {
            servers.with_addresses(vec![access(config, "llamacpp")])[0]
                .base_url()
                .to_owned()
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
        let catalog = by_default(&[server(
            LocalServerKind::Ollama,
            1,
            Condition::Ready,
            &[model],
        )])
        .extend_catalog(ModelCatalog::builtin());
        assert_eq!(
            catalog
                .find(&ModelRef::new("ollama", "tiny:latest"))
                .unwrap()
                .context,
            Some(2_048)
        );
        let again = catalog.with_context(&ModelRef::new("ollama", "tiny:latest"), 4_096);
        assert_eq!(
            again
                .find(&ModelRef::new("ollama", "tiny:latest"))
                .unwrap()
                .context,
            Some(4_096)
        );
    }

    #[test]
    fn only_servers_of_named_models_are_looked_for() {
        let spec = |panel: Option<&str>, models: &[&str], judge: Option<&str>| {
            let models = models.iter().map(|name| (*name).to_owned()).collect();
            named_models(&PanelSpec {
                panel: panel.map(ToOwned::to_owned),
                models,
                judge: judge.map(ToOwned::to_owned),
                ..PanelSpec::default()
            })
        };
        assert_eq!(
            spec(
                None,
                &["openai:gpt-6.1-sol", "local:x"],
                Some("gpt-6.1-sol")
            ),
            BTreeSet::new()
        );
        let expected = BTreeSet::from([
            (LocalServerKind::Ollama, "qwen3:8b".to_owned()),
            (LocalServerKind::Vllm, "m".to_owned()),
        ]);
        assert_eq!(
            spec(
                Some("security= ollama:qwen3:8b,pragmatic=gpt-6.1-sol"),
                &[],
                Some("vllm:m")
            ),
            expected
        );
    }
}
