//! `conclave history export`: writes one consultation as a file.

use std::path::PathBuf;

use crate::commands::completions::ids;
use crate::commands::face::answer::{AnswerSource, check_output};
use crate::commands::flags::FormatFlags;
use crate::error::Error;
use crate::records::files::{Access, write_atomically};
use crate::records::page;
use crate::terminal::report::report;

use super::{Archive, load};

/// Write one consultation as Markdown, JSON or a self-contained HTML page
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The consultation: its id, a unique prefix, one of its files, or `last`
    #[arg(add = ids::all(), default_value = "last")]
    id: String,

    #[command(flatten)]
    format: FormatFlags,

    /// Write to a file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, archive: &Archive<'_>) -> Result<(), Error> {
    check_output(args.output.as_deref())?;
    let found = archive.find(&args.id)?;
    let loaded = load::load(&archive.logs, &found)?;
    let source = AnswerSource {
        markdown: &report(&loaded.record),
        summary: None,
        json: &|| Ok(loaded.json.clone()),
        html: &|| page::page(&loaded.record),
    };
    let text = source.text(args.format.for_output(args.output.as_deref()))?;
    let Some(output) = &args.output else {
        return archive.printer.result(&text).map_err(Error::failed);
    };
    write_atomically(output, text.as_bytes(), Access::Normal).map_err(Error::failed)?;
    archive
        .printer
        .note(&format!("{} written to {}", found.id, output.display()));
    Ok(())
}
