//! `conclave models pull`, `list`, `rm` and `path`: the files of the embedded model.

use clap::Subcommand;

use crate::commands::completions::values::{Names::LocalModels, completer};
use crate::commands::{App, block_on};
use crate::error::Error;
use crate::providers::local::built_in;
use crate::providers::local::files::manifest::{DEFAULT, GgufModel, find};
use crate::setup::embedded_model::EmbeddedModels;
use crate::setup::settings;
use crate::terminal::document;
use crate::terminal::output::printer::Printer;

use super::screen::{EmbeddedList, embedded};

#[derive(Clone, Debug, Subcommand)]
pub(super) enum ModelAction {
    /// Download an embedded model if it is missing, and print its path
    Pull {
        #[arg(help = name_help(), add = completer(LocalModels))]
        name: Option<String>,
    },
    /// List the embedded models and show which are downloaded
    List,
    /// Remove an embedded model's file and any partial download
    Rm {
        /// A name from `conclave models list`, or a unique part of one
        #[arg(add = completer(LocalModels))]
        name: String,
    },
    /// Print the path of an embedded model's file
    Path {
        #[arg(help = name_help(), add = completer(LocalModels))]
        name: Option<String>,
    },
}

fn name_help() -> String {
    let default = DEFAULT.name;
    format!("A name from `conclave models list`, or a unique part of one [default: {default}]")
}

pub(super) fn run(action: &ModelAction, app: App<'_>) -> Result<(), Error> {
    settings::check_certificates(app.environment)?;
    let home = app.home()?;
    let settings = settings::load_own(&home, app.environment)?;
    let models = EmbeddedModels::new(app.environment, &settings, &home, app.printer);
    Ok(app.printer.result(&act(action, &models, app.printer)?)?)
}

fn act(
    action: &ModelAction,
    models: &EmbeddedModels<'_>,
    printer: &Printer,
) -> Result<String, Error> {
    match action {
        ModelAction::Pull { name } => {
            built_in().map_err(Error::usage)?;
            let model = name.as_deref().map_or(Ok(&DEFAULT), named)?;
            let path = block_on(models.download(model))?.or_else(|error| {
                let Some(smaller) = error.instead().filter(|_| name.is_none()) else {
                    return Err(error.into());
                };
                let warning = format!("{error}; downloading the smallest model instead");
                printer.warning(&warning);
                Ok::<_, Error>(block_on(models.download(smaller))??)
            })?;
            Ok(format!("{}\n", path.display()))
        }
        ModelAction::List => {
            let parts = embedded(&EmbeddedList::of(&models.home));
            let traits = printer.out_traits();
            let width = traits.is_terminal.then_some(traits.width);
            Ok(document::screen(&parts, width, traits.paint))
        }
        ModelAction::Rm { name } => {
            let model = named(name)?;
            let was_there = models.home.remove(model).map_err(Error::failed)?;
            if was_there {
                Ok(format!("removed {}\n", model.name))
            } else {
                Err(Error::failed(format!("`{}` is not downloaded", model.name)))
            }
        }
        ModelAction::Path { name } => {
            let model = name.as_deref().map_or(Ok(&DEFAULT), named)?;
            Ok(format!("{}\n", models.home.path(model).display()))
        }
    }
}

/// Also as the list has it: with its provider.
fn named(name: &str) -> Result<&'static GgufModel, Error> {
    find(name.strip_prefix("local:").unwrap_or(name))
        .map_err(|error| Error::usage(error).hint("see the models with `conclave models list`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::env::Environment;
    use crate::config::paths::Home;
    use crate::config::settings::Settings;
    use crate::error::Exit;
    use crate::providers::local::files::manifest::MODELS;
    use crate::terminal::output::printer::Verbosity;
    use crate::terminal::output::stream_traits::StreamTraits;

    /// Prints as into a pipe, wherever the tests run.
    fn run(home: &Home, action: &ModelAction) -> Result<String, Error> {
        let traits = StreamTraits::new(false, None, &|_| None);
        let unmasked = Box::new(str::to_owned);
        let stream = || (Box::new(std::io::sink()) as _, traits);
        let printer = Printer::new(stream(), stream(), Verbosity::Quiet, unmasked);
        let (environment, settings) = (Environment::default(), Settings::default());
        let models = EmbeddedModels::new(&environment, &settings, home, &printer);
        act(action, &models, &printer)
    }

    #[test]
    fn downloaded_models_are_marked_and_can_be_found_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let smallest = find("smollm2").unwrap();
        let name = Some("smollm2".to_owned());
        let path = run(&home, &ModelAction::Path { name }).unwrap();
        std::fs::create_dir_all(folder.path().join("models")).unwrap();
        let file = std::fs::File::create(path.trim_end()).unwrap();
        file.set_len(smallest.bytes).unwrap();

        let listed = run(&home, &ModelAction::List).unwrap();
        let mut marked = listed.lines().filter(|line| line.contains("  installed"));
        assert!(marked.next().unwrap().contains(smallest.name), "{listed}");
        assert_eq!(marked.next(), None);

        for line in listed.lines().filter(|line| line.starts_with("local:")) {
            let name = line.split(' ').next().map(str::to_owned);
            run(&home, &ModelAction::Path { name }).unwrap();
        }
        assert_eq!(listed.matches("local:").count(), MODELS.len(), "{listed}");

        let remove = |name: &str| {
            let name = name.to_owned();
            run(&home, &ModelAction::Rm { name }).map_err(|error| error.exit)
        };
        remove(&format!("local:{}", smallest.name)).unwrap();
        assert_eq!(remove("smollm2").unwrap_err(), Exit::Failed);
        assert_eq!(remove("gpt").unwrap_err(), Exit::Usage);
    }
}
