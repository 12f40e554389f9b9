//! The embedded model: which one a run takes, its download, and the provider that runs it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::plan::{ModelTerms, OutputTokens};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::Size;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::billing::Billing;
use crate::domain::model::dialect::PromptCaching;
use crate::domain::model::vendors;
use crate::domain::panel::Panel;
use crate::engine::ports::{Confirmation, Face, LongWork, Provider};
use crate::error::{Error, Exit};
use crate::providers::http::Http;
use crate::providers::local::files::choice::{self, LocalModelChoice, ModelFile};
use crate::providers::local::files::home::ModelHome;
use crate::providers::local::files::manifest;
use crate::providers::local::files::manifest::GgufModel;
use crate::providers::local::files::pull::{PullError, PullProgress, Sources, pull};
use crate::providers::local::files::sources::hub::Hub;
use crate::providers::local::{LABEL, built_in};

/// How the embedded model is asked: with short prompts, and a token limit that a small model can
/// keep.
pub const TERMS: ModelTerms = ModelTerms {
    max_output_tokens: 1_280,
    output_limit: 2_560,
    expected_output: OutputTokens {
        low: 100,
        expected: 300,
        high: 600,
    },
    size: Size::Small,
    billing: Billing::Free,
    caching: PromptCaching::None,
};

/// Finds and downloads the files of the embedded model.
#[derive(Debug)]
pub struct EmbeddedModels<'a> {
    /// The user's own file.
    pub own_file: Option<PathBuf>,
    /// The model that the settings name.
    pub configured_name: Option<String>,
    pub home: ModelHome,
    pub sources: Sources,
    /// Whether a vendor's key is set, so that there are better models to ask.
    pub has_key: bool,
    pub face: &'a dyn Face,
}

impl<'a> EmbeddedModels<'a> {
    pub fn new(
        environment: &Environment,
        settings: &Settings,
        home: &Home,
        face: &'a dyn Face,
    ) -> Self {
        let hub = environment.text("CONCLAVE_HUB_URL");
        let hub = hub.map_or_else(|| Hub::at(manifest::HUB), Hub::at);
        let clouds = vendors::VENDORS.iter().filter(|vendor| vendor.is_cloud());
        let mut variables = clouds.flat_map(|vendor| vendor.key_variables);
        Self {
            own_file: environment.model_file(),
            configured_name: settings.local_model.clone(),
            home: ModelHome::in_home(home.path()),
            sources: Sources {
                hub,
                ..Sources::default()
            },
            has_key: variables.any(|variable| environment.secret(variable).is_some()),
            face,
        }
    }

    /// `None` in a build that cannot run it. Its file is not looked at: a wrong path fails only a
    /// run that uses it.
    pub fn default_model(&self) -> Option<ModelRef> {
        built_in().ok()?;
        let (own, configured) = (self.own_file.as_deref(), self.configured_name.as_deref());
        let name = choice::default_name(own, configured, &self.home);
        Some(ModelRef::new(ProviderId::LOCAL, name))
    }

    /// Without a download.
    pub fn check_panel(&self, panel: &Panel) -> Result<(), Error> {
        let mut embedded = panel.models().filter(|model| model.provider.is_local());
        embedded.try_for_each(|model| self.choose(&model.model).map(drop))
    }

    /// Downloads it if the user agrees. Fails in a build that cannot run it.
    pub async fn obtain(&self, name: &str, consent_mode: ConsentMode) -> Result<ModelFile, Error> {
        built_in().map_err(|_| not_built_in())?;
        let model = match self.choose(name)? {
            LocalModelChoice::Ready(file) => return Ok(file),
            LocalModelChoice::ToPull(model) => model,
        };
        let offer = if self.has_key {
            vec![format!(
                "{} is not downloaded yet ({LABEL}).",
                manifest::announcement(model)
            )]
        } else {
            vec![
                format!(
                    "No API key found. Download a small demonstration model ({}), or set \
                     ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY for real answers.",
                    manifest::size(model.bytes)
                ),
                format!(
                    "The model, {}, runs on this machine (licence {}).",
                    model.name, model.licence
                ),
            ]
        };
        self.agree(offer, "Download it?", model, consent_mode)
            .await?;
        let error = match self.download(model).await {
            Ok(file) => return Ok(ModelFile::of(model, file)),
            Err(error) => error,
        };
        let Some(smaller) = error.instead() else {
            return Err(error.into());
        };
        self.face.warning(&error.to_string());
        let announcement = manifest::announcement(smaller);
        let question = format!("Use the smallest model instead, {announcement}?");
        self.agree(Vec::new(), &question, smaller, consent_mode)
            .await?;
        let file = self.download(smaller).await?;
        Ok(ModelFile::of(smaller, file))
    }

    /// Obtains the embedded model that the panel names, if any, and puts the name of its file in
    /// its seats.
    pub async fn obtain_for_panel(
        &self,
        panel: &mut Panel,
        consent_mode: ConsentMode,
    ) -> Result<Option<ModelFile>, Error> {
        let seated = panel.seats.iter_mut().map(|seat| &mut seat.model);
        let models = seated.chain(&mut panel.judges);
        let mut embedded: Vec<&mut ModelRef> =
            models.filter(|model| model.provider.is_local()).collect();
        let names: BTreeSet<String> = embedded.iter().map(|model| model.model.clone()).collect();
        let Some(name) = names.first() else {
            return Ok(None);
        };
        if names.len() > 1 {
            let error =
                Error::usage("a panel can have one local model, for all of its local seats");
            return Err(error.hint("see the models with `conclave models list`"));
        }
        let file = self.obtain(name, consent_mode).await?;
        for model in &mut embedded {
            model.model.clone_from(&file.name);
        }
        Ok(Some(file))
    }

    fn choose(&self, name: &str) -> Result<LocalModelChoice, Error> {
        // A run that names the user's own file means that file; any other name is one of the
        // catalog.
        let own = self.own_file.as_deref();
        let own = own.filter(|file| choice::own_name(file) == name);
        choice::choose(own, Some(name), &self.home)
            .map_err(|error| Error::usage(error).hint("see the models with `conclave models list`"))
    }

    async fn agree(
        &self,
        lines: Vec<String>,
        question: &str,
        model: &GgufModel,
        consent_mode: ConsentMode,
    ) -> Result<(), Error> {
        let agreed = match consent_mode {
            ConsentMode::PreApproved => Confirmation::Yes,
            ConsentMode::NonInteractive => Confirmation::NoPerson,
            ConsentMode::Interactive => self.face.confirm(lines, question).await,
        };
        let error = match agreed {
            Confirmation::Yes => return Ok(()),
            Confirmation::No => Error::declined("the local model was not downloaded"),
            Confirmation::NoPerson => {
                let model = manifest::announcement(model);
                let error =
                    format!("{model} must be downloaded, and there is no terminal to ask on");
                Error::new(Exit::Declined, error).hint("agree to the download with `--yes`")
            }
        };
        let name = model.name;
        Err(error.hint(format!(
            "download it first with `conclave models pull {name}`"
        )))
    }

    pub async fn download(&self, model: &'static GgufModel) -> Result<PathBuf, PullError> {
        let http = Http::default();
        let client = http.client_for(&self.sources.hub.base)?;
        let mut progress = self.face.begin(LongWork::Download);
        let mut show = |news: PullProgress| match &news {
            PullProgress::Waiting => progress.step("another process is downloading it; waiting"),
            PullProgress::Asking(source) => {
                progress.step(&format!("{}: asking the {source}", model.name));
            }
            PullProgress::PassedOver(source, why) => {
                progress.step(&format!("the {source}: {why}"));
            }
            PullProgress::Bytes(done, total) => {
                progress.at(*done, *total);
                progress.step(&format!("downloading {}", model.name));
            }
            PullProgress::Checking(done, total) => {
                progress.at(*done, *total);
                progress.step("checking its hash");
            }
        };
        pull(model, &self.home, &self.sources, client, &mut show).await
    }
}

pub fn not_built_in() -> Error {
    Error::usage("this build has no local model")
        .hint("build it in with `cargo build --release --features local`")
}

impl From<PullError> for Error {
    fn from(error: PullError) -> Self {
        match &error {
            PullError::Client(_) => Self::usage(error),
            PullError::NoSource { model, .. } => {
                let repeat = format!("check the network, then run `conclave models pull {model}`");
                Self::failed(error)
                    .hint(repeat)
                    .hint("or set a vendor's key, such as `ANTHROPIC_API_KEY`, for real answers")
            }
            PullError::Home(_)
            | PullError::Part(_)
            | PullError::Lock { .. }
            | PullError::NoRoom { .. }
            | PullError::WrongHash { .. } => Self::failed(error),
        }
    }
}

#[cfg(feature = "local")]
pub fn provider(file: ModelFile, settings: &Settings) -> Result<Arc<dyn Provider>, Error> {
    use crate::providers::local::job::LocalSettings;
    use crate::providers::local::provider::LocalProvider;

    let threads = settings
        .local_threads
        .and_then(|threads| usize::try_from(threads).ok())
        .and_then(std::num::NonZeroUsize::new);
    let context = u32::try_from(settings.local_context).unwrap_or(u32::MAX);
    let settings = LocalSettings {
        context,
        threads,
        ..LocalSettings::new(file.name, file.file)
    };
    Ok(Arc::new(
        LocalProvider::new(settings).map_err(Error::failed)?,
    ))
}

/// Fails: this build cannot run a model file.
#[cfg(not(feature = "local"))]
pub fn provider(_: ModelFile, _: &Settings) -> Result<Arc<dyn Provider>, Error> {
    Err(Error::usage(crate::providers::local::NotBuiltInError))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_download_says_what_to_do() {
        let error = Error::from(PullError::NoSource {
            model: "tiny",
            tried: vec![("model hub", "it answered 404 Not Found".to_owned())],
        });
        assert_eq!(
            error.to_string(),
            "cannot download `tiny`: the model hub: it answered 404 Not Found"
        );
        assert_eq!(
            error.hints,
            [
                "check the network, then run `conclave models pull tiny`",
                "or set a vendor's key, such as `ANTHROPIC_API_KEY`, for real answers",
            ]
        );
    }
}
