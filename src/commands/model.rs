//! `conclave model`: get, list, find and remove the files of the embedded model.

use std::fmt::Write;

use clap::Subcommand;

use crate::commands::config;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::error::Error;
use crate::providers::local::home::ModelHome;
use crate::providers::local::manifest::{DEFAULT, MODELS, Model, find, size};
use crate::providers::local::{LABEL, built_in};
use crate::setup::embedded_model::{Gone, LocalModels};
use crate::terminal::output::printer::Printer;

/// Get, list, find and remove the files of the local model
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Download a model, unless it is there; prints its path
    Pull {
        /// A name from `conclave model list`, or enough of one; the default model if there is none
        name: Option<String>,
    },
    /// List the models and which of them are there
    List,
    /// Remove a model's file and what is left of its download
    Rm {
        /// A name from `conclave model list`, or enough of one
        name: String,
    },
    /// Print where a model's file is, or would be
    Path {
        /// A name from `conclave model list`, or enough of one; the default model if there is none
        name: Option<String>,
    },
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let settings = config::load(&home, environment)?;
    let models = LocalModels::new(environment, &settings, &home, printer);
    let result = act(&args.action, &models)?;
    printer.result(&result).map_err(Error::failed)
}

/// Does what was asked and says what came of it.
fn act(action: &Action, models: &LocalModels<'_>) -> Result<String, Error> {
    match action {
        Action::Pull { name } => {
            built_in().map_err(Error::usage)?;
            let path = match name {
                Some(name) => models.get(named(name)?)?,
                None => match models.get(&DEFAULT) {
                    Err(Gone::Pull(error)) => {
                        let Some(smaller) = error.instead() else {
                            return Err(Error::failed(error));
                        };
                        models
                            .printer
                            .warning(&format!("{error}; getting the smallest model instead"));
                        models.get(smaller)?
                    }
                    got => got?,
                },
            };
            Ok(format!("{}\n", path.display()))
        }
        Action::List => Ok(list(&models.home)),
        Action::Rm { name } => {
            let model = named(name)?;
            let was_there = models.home.remove(model).map_err(Error::failed)?;
            if was_there {
                Ok(format!("removed {}\n", model.name))
            } else {
                Err(Error::failed(format!("`{}` is not there", model.name)))
            }
        }
        Action::Path { name } => {
            let model = name.as_deref().map_or(Ok(&DEFAULT), named)?;
            Ok(format!("{}\n", models.home.path(model).display()))
        }
    }
}

fn named(name: &str) -> Result<&'static Model, Error> {
    find(name).map_err(|error| Error::usage(error).hint("see what there is: conclave model list"))
}

/// One line a model: whether it is there, its name, size, licence and use.
fn list(home: &ModelHome) -> String {
    let width = MODELS
        .iter()
        .map(|model| model.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for model in MODELS {
        let there = if home.installed(model).is_some() {
            "installed"
        } else {
            "-"
        };
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{:width$}  {there:9}  {:>6}  {}  {}",
            model.name,
            size(model.bytes),
            model.licence,
            model.good_for
        );
    }
    match built_in() {
        Ok(()) => text + LABEL + "\n",
        Err(not) => format!("{text}{LABEL}; this program was {not}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Settings;
    use crate::terminal::output::printer::{TerminalEnv, Verbosity};

    fn at(home: &Home, action: &Action) -> Result<String, Error> {
        let printer = Printer::for_process(&TerminalEnv::default(), Verbosity::Quiet);
        act(
            action,
            &LocalModels::new(
                &Environment::default(),
                &Settings::default(),
                home,
                &printer,
            ),
        )
    }

    #[test]
    fn models_that_are_there_are_marked_and_can_be_found_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let smallest = find("smollm2").unwrap();
        let path = at(
            &home,
            &Action::Path {
                name: Some("smollm2".to_owned()),
            },
        )
        .unwrap();
        std::fs::create_dir_all(folder.path().join("models")).unwrap();
        std::fs::File::create(path.trim_end())
            .unwrap()
            .set_len(smallest.bytes)
            .unwrap();

        let listed = at(&home, &Action::List).unwrap();
        let marked: Vec<_> = listed
            .lines()
            .filter(|line| line.contains("installed"))
            .collect();
        assert_eq!(
            (marked.len(), marked[0].starts_with(smallest.name)),
            (1, true),
            "{listed}"
        );
        at(
            &home,
            &Action::Rm {
                name: "smollm2".to_owned(),
            },
        )
        .unwrap();
        assert_eq!(
            at(
                &home,
                &Action::Rm {
                    name: "smollm2".to_owned()
                }
            )
            .unwrap_err()
            .exit
            .code(),
            1
        );
        assert_eq!(
            at(
                &home,
                &Action::Rm {
                    name: "gpt".to_owned()
                }
            )
            .unwrap_err()
            .exit
            .code(),
            2
        );
    }
}
