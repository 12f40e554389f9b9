//! `conclave man`: the manual page, with a section for each subcommand, generated from the
//! definition of the command line.

use std::io;

use clap_mangen::Man;

use crate::error::Error;
use crate::terminal::output::printer::Printer;

pub(crate) fn run(command: &clap::Command, printer: &Printer) -> Result<(), Error> {
    let page = page(command).map_err(Error::failed)?;
    printer
        .result(&String::from_utf8_lossy(&page))
        .map_err(Error::failed)
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for subcommand in command
        .get_subcommands()
        .filter(|subcommand| subcommand.get_name() != "help")
    {
        let name = format!("conclave-{}", subcommand.get_name());
        let man = Man::new(subcommand.clone().bin_name(name.replace('-', " ")));
        page.extend(format!(".SH {}\n", name.replace('-', " ").to_uppercase()).as_bytes());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    Ok(page)
}
