//! `conclave history export`: one consultation as a file for others.

use std::path::PathBuf;

use crate::error::Error;
use crate::records::files::{Access, write_atomically};
use crate::records::page;
use crate::session::finish;
use crate::terminal::report::stored;
use crate::terminal::report::stored::ReportSelection;

use super::{Past, reading};

/// Write one consultation as Markdown, JSON, or a page that needs nothing but a browser
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The consultation: its id, a beginning of it, one of its files, or `last`
    id: String,

    /// What is written; JSON is the record as it lies
    #[arg(long, value_enum)]
    format: Form,

    /// Write to a file instead of standard output, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    #[value(alias = "markdown")]
    Md,
    Json,
    Html,
}

pub(super) fn run(args: &Args, past: &Past<'_>) -> Result<(), Error> {
    if let Some(output) = &args.output {
        finish::check_output(output)?;
    }
    let found = past.find(&args.id)?;
    let told = reading::read(&past.logs, &found)?;
    let text = match args.format {
        Form::Md => stored::markdown(&told.record, &ReportSelection::default()),
        Form::Json => told.json,
        Form::Html => page::page(&told.record),
    };
    let Some(output) = &args.output else {
        return past.printer.result(&text).map_err(Error::failed);
    };
    write_atomically(output, text.as_bytes(), Access::Normal).map_err(Error::failed)?;
    past.printer
        .note(&format!("{} written to {}", found.id, output.display()));
    Ok(())
}
