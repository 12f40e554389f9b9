//! The embedded model as commands use it: which one a run would take, how it is got, and the
//! provider that runs it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::plan::{ModelTerms, OutputTokens};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::Size;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::engine::ports::Provider;
use crate::error::{Error, Exit};
use crate::providers::http::Http;
use crate::providers::local::choice;
use crate::providers::local::choice::Choice;
use crate::providers::local::home::ModelHome;
use crate::providers::local::manifest::Model;
use crate::providers::local::pull::{PullError, PullProgress, Sources, pull};
use crate::providers::local::sources::hub::Hub;
use crate::providers::local::{LABEL, built_in, manifest};
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::progress::download_bar::DownloadBar;
use crate::terminal::prompt::{Confirmation, ask_yes_no};

/// How the embedded model is asked: short prompts, and room for an answer that a small model can
/// finish.
pub(crate) const TERMS: ModelTerms = ModelTerms {
    room: 1_280,
    most: 2_560,
    expected_output: OutputTokens {
        low: 100,
        expected: 300,
        high: 600,
    },
    size: Size::Small,
    free: true,
};

/// What finds and gets local models.
#[derive(Debug)]
pub(crate) struct LocalModels<'a> {
    pub own_file: Option<PathBuf>,
    pub wanted: Option<String>,
    pub home: ModelHome,
    pub sources: Sources,
    pub printer: &'a Printer,
}

/// A model file that is there.
#[derive(Debug)]
pub(crate) struct Found {
    pub name: String,
    #[cfg_attr(
        not(feature = "local"),
        expect(dead_code, reason = "only the engine opens the file")
    )]
    pub file: PathBuf,
}

impl<'a> LocalModels<'a> {
    pub(crate) fn new(
        environment: &Environment,
        settings: &Settings,
        home: &Home,
        printer: &'a Printer,
    ) -> Self {
        let hub = environment
            .hub_url()
            .map_or_else(|| Hub::at(manifest::HUB), Hub::at);
        Self {
            own_file: environment.model_file(),
            wanted: settings.local_model.clone(),
            home: ModelHome::in_home(home.path()),
            sources: Sources {
                hub,
                ..Sources::default()
            },
            printer,
        }
    }

    /// The model that a run without keys would ask; `None` in a build that cannot run it.
    pub(crate) fn default_model(&self) -> Result<Option<ModelRef>, Error> {
        if built_in().is_err() {
            return Ok(None);
        }
        let name = match self.choose(None)? {
            Choice::Ready { name, .. } => name,
            Choice::ToPull(model) => model.name.to_owned(),
        };
        Ok(Some(ModelRef::new(ProviderId::LOCAL, name)))
    }

    /// The model of this name, or enough of one, made sure of: downloaded if the user agrees.
    pub(crate) fn obtain(&self, name: &str, consent_mode: ConsentMode) -> Result<Found, Error> {
        let model = match self.choose(Some(name))? {
            Choice::Ready { name, file } => return Ok(Found { name, file }),
            Choice::ToPull(model) => model,
        };
        let question = format!(
            "{LABEL}: {} is not here yet.\nDownload it? [Y/n] ",
            manifest::announcement(model)
        );
        self.agree(&question, model, consent_mode)?;
        match self.get(model) {
            Ok(file) => Ok(Found {
                name: model.name.to_owned(),
                file,
            }),
            Err(Gone::Pull(error)) => {
                let Some(smaller) = error.instead() else {
                    return Err(Error::failed(error));
                };
                self.printer.warning(&error.to_string());
                let question = format!(
                    "Take the smallest model instead, {}? [Y/n] ",
                    manifest::announcement(smaller)
                );
                self.agree(&question, smaller, consent_mode)?;
                Ok(Found {
                    name: smaller.name.to_owned(),
                    file: self.get(smaller)?,
                })
            }
            Err(gone @ Gone::Other(_)) => Err(gone.into()),
        }
    }

    fn choose(&self, name: Option<&str>) -> Result<Choice, Error> {
        // A run that names the user's own file means that file; any other name is one of the
        // catalogue.
        let own = self.own_file.as_deref().filter(|file| {
            name.is_none_or(|name| {
                file.file_stem()
                    .is_some_and(|stem| stem.to_string_lossy() == name)
            })
        });
        choice::choose(own, name.or(self.wanted.as_deref()), &self.home)
            .map_err(|error| Error::usage(error).hint("see what there is: conclave model list"))
    }

    fn agree(&self, question: &str, model: &Model, consent_mode: ConsentMode) -> Result<(), Error> {
        let agreed = match consent_mode {
            ConsentMode::PreApproved => Confirmation::Yes,
            ConsentMode::NonInteractive => Confirmation::NoTerminal,
            ConsentMode::Interactive => block_on(ask_yes_no(self.printer, question))?,
        };
        let get_it = format!("get it first: conclave model pull {}", model.name);
        match agreed {
            Confirmation::Yes => Ok(()),
            Confirmation::No => {
                Err(Error::new(Exit::Declined, "the local model was not downloaded").hint(get_it))
            }
            Confirmation::NoTerminal => {
                let error = Error::new(
                    Exit::Declined,
                    format!(
                        "{} would have to be downloaded, and there is no terminal to ask on",
                        manifest::announcement(model)
                    ),
                );
                Err(error.hint("agree to the download: --yes").hint(get_it))
            }
        }
    }

    /// Downloads a model and shows how far it is.
    pub(crate) fn get(&self, model: &'static Model) -> Result<PathBuf, Gone> {
        let http = Http::default();
        let client = http
            .client_for(&self.sources.hub.base)
            .map_err(|error| Gone::Other(Error::usage(error)))?;
        let mut bar = (self.printer.verbosity() > Verbosity::Quiet).then(DownloadBar::on_stderr);
        let mut tell = |progress: PullProgress| {
            let Some(bar) = &mut bar else { return };
            let said = match &progress {
                PullProgress::Waiting => bar.say("another process is getting it; waiting"),
                PullProgress::Asking(source) => {
                    bar.say(&format!("{}: asking the {source}", model.name))
                }
                PullProgress::PassedOver(source, why) => bar.say(&format!("the {source}: {why}")),
                PullProgress::Bytes(done, total) => {
                    bar.at(*done, *total);
                    bar.say(&format!("getting {}", model.name))
                }
                PullProgress::Checking(done, total) => {
                    bar.at(*done, *total);
                    bar.say("checking its hash")
                }
            };
            if let Some(line) = said {
                self.printer.note(&line);
            }
        };
        let pulled = block_on(pull(model, &self.home, &self.sources, client, &mut tell))
            .map_err(Gone::Other)?;
        pulled.map_err(Gone::Pull)
    }
}

/// Why a model could not be got.
#[derive(Debug)]
pub(crate) enum Gone {
    Pull(PullError),
    Other(Error),
}

impl From<Gone> for Error {
    fn from(gone: Gone) -> Self {
        match gone {
            Gone::Pull(error) => Self::failed(error),
            Gone::Other(error) => error,
        }
    }
}

/// Runs a future to its end, on a runtime of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::failed)?;
    let result = runtime.block_on(future);
    runtime.shutdown_background();
    Ok(result)
}

/// The provider that runs a model file.
#[cfg(feature = "local")]
pub(crate) fn provider(found: Found, settings: &Settings) -> Result<Arc<dyn Provider>, Error> {
    use crate::providers::local::provider::{LocalProvider, LocalSettings};

    let threads = settings
        .local_threads
        .and_then(|threads| usize::try_from(threads).ok())
        .and_then(std::num::NonZeroUsize::new);
    let context = u32::try_from(settings.local_context).unwrap_or(u32::MAX);
    let settings = LocalSettings {
        context,
        threads,
        ..LocalSettings::new(found.name, found.file)
    };
    Ok(Arc::new(
        LocalProvider::new(settings).map_err(Error::failed)?,
    ))
}

/// This build cannot run a model file.
#[cfg(not(feature = "local"))]
pub(crate) fn provider(_: Found, _: &Settings) -> Result<Arc<dyn Provider>, Error> {
    Err(Error::usage(crate::providers::local::NotBuiltIn))
}
