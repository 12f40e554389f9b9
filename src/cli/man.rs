//! `conclave man`: the manual page, generated from the definition of the command line, with a
//! section for each command and the sections that the caller adds.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::error::Error;
use crate::terminal::output::printer::Printer;

/// A section of terms with their explanations.
pub(super) type ManSection = (&'static str, Vec<(String, &'static str)>);

pub(super) fn run(
    command: &Command,
    sections: &[ManSection],
    printer: &Printer,
) -> Result<(), Error> {
    let page = page(command, sections).map_err(Error::failed)?;
    printer
        .result(&String::from_utf8_lossy(&page))
        .map_err(Error::failed)
}

fn page(command: &Command, sections: &[ManSection]) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    page.extend(commands(command).to_roff().as_bytes());
    add_commands(command, command.get_name(), &mut page)?;
    for (title, entries) in sections {
        let mut section = Roff::new();
        section.control("SH", [*title]);
        for (term, explanation) in entries {
            section.control("TP", []);
            section.text([bold(term.as_str())]);
            section.text([roman(*explanation)]);
        }
        page.extend(section.to_roff().as_bytes());
    }
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// Commands have no pages of their own.
fn commands(command: &Command) -> Roff {
    let mut section = Roff::new();
    section.control("SH", ["COMMANDS"]);
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        let about = one.get_about().map(ToString::to_string);
        section.control("TP", []);
        section.text([bold(format!("{} {}", command.get_name(), one.get_name()))]);
        section.text([roman(about.unwrap_or_default())]);
    }
    section
}

fn add_commands(parent: &Command, path: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let own = |command: &&Command| command.get_name() != "help" && !command.is_hide_set();
    for command in parent.get_subcommands().filter(own) {
        let path = format!("{path} {}", command.get_name());
        let man = Man::new(command.clone().bin_name(path.as_str()));
        page.extend(format!(".SH {}\n", path.to_uppercase()).as_bytes());
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        add_commands(command, &path, page)?;
    }
    Ok(())
}
