//! `conclave model`: get, list, find and remove the files of the embedded model.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use reqwest::Client;

use crate::providers::local::home::{HomeError, ModelHome};
use crate::providers::local::manifest::{DEFAULT, MODELS, Model, UnknownModel, announcement, find, size};
use crate::providers::local::pull::{PullError, PullProgress, Sources, pull};
use crate::providers::local::{LABEL, built_in};

/// Get, list, find and remove the files of the local model.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Action {
    /// Download a model, unless it is there; prints its path.
    Pull {
        /// A name from `conclave model list`, or enough of one; the default model if there is none.
        name: Option<String>,
    },
    /// List the models and which of them are there.
    List,
    /// Remove a model's file and what is left of its download.
    Rm {
        /// A name from `conclave model list`, or enough of one.
        name: String,
    },
    /// Print where a model's file is, or would be.
    Path {
        /// A name from `conclave model list`, or enough of one; the default model if there is none.
        name: Option<String>,
    },
}

/// What the command cannot do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(transparent)]
    Unknown(#[from] UnknownModel),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Pull(#[from] PullError),
    #[error("`{0}` is not there")]
    NotThere(&'static str),
    #[error("cannot write the result")]
    Output(#[from] io::Error),
}

/// What people are told beside the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A download begins, or is made sure of.
    Getting(&'static Model),
    Progress(PullProgress),
    /// The default model cannot be had; this one is got instead, for the given reason.
    Instead(&'static Model, String),
}

/// Does what was asked. The result goes to `out`, everything else to `on`.
pub async fn run(
    args: &ModelArgs,
    home: &ModelHome,
    sources: &Sources,
    http: &Client,
    out: &mut dyn Write,
    on: &mut dyn FnMut(Notice),
) -> Result<(), ModelError> {
    match &args.action {
        Action::Pull { name: Some(name) } => {
            let model = find(name)?;
            on(Notice::Getting(model));
            let path = pull(model, home, sources, http, &mut |progress| on(Notice::Progress(progress))).await?;
            writeln!(out, "{}", path.display())?;
        }
        Action::Pull { name: None } => {
            let (_, path) = pull_default(home, sources, http, on).await?;
            writeln!(out, "{}", path.display())?;
        }
        Action::List => list(home, out)?,
        Action::Rm { name } => {
            let model = find(name)?;
            if !home.remove(model)? {
                return Err(ModelError::NotThere(model.name));
            }
            writeln!(out, "removed {}", model.name)?;
        }
        Action::Path { name } => {
            let model = name.as_deref().map_or(Ok(&DEFAULT), find)?;
            writeln!(out, "{}", home.path(model).display())?;
        }
    }
    Ok(())
}

/// Gets the default model, or the smallest when no source has it. Says which one, and where it is.
pub async fn pull_default(
    home: &ModelHome,
    sources: &Sources,
    http: &Client,
    on: &mut dyn FnMut(Notice),
) -> Result<(&'static Model, std::path::PathBuf), PullError> {
    on(Notice::Getting(&DEFAULT));
    match pull(&DEFAULT, home, sources, http, &mut |progress| on(Notice::Progress(progress))).await {
        Ok(path) => Ok((&DEFAULT, path)),
        Err(error) => {
            let Some(smaller) = error.instead() else { return Err(error) };
            on(Notice::Instead(smaller, error.to_string()));
            let path = pull(smaller, home, sources, http, &mut |progress| on(Notice::Progress(progress))).await?;
            Ok((smaller, path))
        }
    }
}

/// One line a model: whether it is there, its name, size, licence and use.
fn list(home: &ModelHome, out: &mut dyn Write) -> io::Result<()> {
    let width = MODELS.iter().map(|model| model.name.len()).max().unwrap_or(0);
    for model in MODELS {
        let there = if home.installed(model).is_some() { "installed" } else { "-" };
        writeln!(out, "{:width$}  {there:9}  {:>6}  {}  {}", model.name, size(model.bytes), model.licence, model.good_for)?;
    }
    match built_in() {
        Ok(()) => writeln!(out, "{LABEL}"),
        Err(not) => writeln!(out, "{LABEL}; this program was {not}"),
    }
}

/// What a person is asked before the first download, as a question to be answered with yes or no.
pub fn question(model: &Model) -> String {
    format!("There is no API key, so a model on this machine would answer. Download {}?", announcement(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(home: &ModelHome, action: Action) -> Result<String, ModelError> {
        let mut out = Vec::new();
        // Nothing here goes out: no action below downloads.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (http, sources) = (Client::new(), Sources::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(&ModelArgs { action }, home, &sources, &http, &mut out, &mut |_| ()))?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn models_that_are_there_are_marked_and_can_be_found_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = ModelHome::at(folder.path());
        let smallest = find("smollm2").unwrap();
        std::fs::File::create(home.path(smallest)).unwrap().set_len(smallest.bytes).unwrap();

        let listed = at(&home, Action::List).unwrap();
        let marked: Vec<_> = listed.lines().filter(|line| line.contains("installed")).collect();
        assert_eq!((marked.len(), marked[0].starts_with(smallest.name)), (1, true), "{listed}");
        let pulled = at(&home, Action::Pull { name: Some("smollm2".to_owned()) }).unwrap();
        assert_eq!(pulled, at(&home, Action::Path { name: Some("smollm2".to_owned()) }).unwrap());
        at(&home, Action::Rm { name: "smollm2".to_owned() }).unwrap();
        assert!(matches!(at(&home, Action::Rm { name: "smollm2".to_owned() }), Err(ModelError::NotThere(_))));
        assert!(matches!(at(&home, Action::Rm { name: "gpt".to_owned() }), Err(ModelError::Unknown(_))));
    }
}
