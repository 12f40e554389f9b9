//! `conclave scrub`: prints texts as `consult` would send them, without the secrets in them.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use crate::context::sources::SourceSize;
use crate::error::Error;
use crate::files::{self, SizeLimit};
use crate::scrub::OutgoingText;
use crate::setup::context::scrubber;
use crate::setup::context::sources::wait_for_stdin;
use crate::text::clean::one_line;

use super::App;
use super::face::consent::announce;

/// The name of standard input among the files.
const STDIN: &str = "-";

/// Print files or standard input without the secrets in them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints the text on standard output, to the byte but for the secrets, and what was masked on \
standard error. `consult` masks the same in everything that it sends.

Your own rules, and values that are no secrets: scrub.toml in the home.

Examples:
  conclave scrub .env
  conclave scrub -v src/config.py > clean.py
  git diff | conclave scrub")]
pub struct Args {
    /// The files, in this order; `-`, or no file, reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Also name the rule, the file and the line of each secret
    #[arg(short, long)]
    verbose: bool,

    /// Print errors only beside the text
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// How large all texts may be together; more is an error [default: 16]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    max_context_mb: Option<u32>,
}

/// The name of a text for people, and the text.
type InputText = (String, String);

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let scrubber = scrubber::load(app.environment)?;
    let limit = args.max_context_mb.map(|mb| u64::from(mb) << 20);
    let limit = SizeLimit::of_bytes(limit.unwrap_or(SourceSize::LIMIT.bytes));
    let inputs = read(&args.files, limit, app)?;
    let outgoing = inputs
        .iter()
        .map(|(source, text)| OutgoingText { source, text });
    let masked = scrubber.scrub(&outgoing.collect::<Vec<_>>());
    let shown = app.printer.exact_result(&masked.texts.concat());
    announce(Some(&masked.report), &masked.findings, app.printer);
    Ok(shown?)
}

fn read(paths: &[PathBuf], limit: SizeLimit, app: App<'_>) -> Result<Vec<InputText>, Error> {
    if paths.is_empty() && io::stdin().is_terminal() {
        return Err(Error::usage("nothing to scrub: no file and no input")
            .hint("name files, as in `conclave scrub .env`")
            .hint("or pipe a text, as in `git diff | conclave scrub`"));
    }
    let stdin = [PathBuf::from(STDIN)];
    let paths = if paths.is_empty() { &stdin } else { paths };
    let (mut inputs, mut room) = (Vec::new(), limit.bytes());
    for path in paths {
        let input = read_one(path, SizeLimit::of_bytes(room), app).map_err(|error| {
            if error.kind() == io::ErrorKind::FileTooLarge {
                let mb = limit.bytes() >> 20;
                return Error::usage(format!("the text is larger than {mb} MB"))
                    .hint(format!("allow more with `--max-context-mb {}`", mb * 4));
            }
            let name = one_line(&path.to_string_lossy());
            Error::usage(format!("cannot read {name}: {error}; nothing was printed"))
        })?;
        room = room.saturating_sub(input.1.len() as u64);
        inputs.push(input);
    }
    Ok(inputs)
}

fn read_one(path: &Path, limit: SizeLimit, app: App<'_>) -> io::Result<InputText> {
    if path.as_os_str() != STDIN {
        let text = files::read_text(path, limit)?;
        return Ok((one_line(&path.to_string_lossy()), text));
    }
    wait_for_stdin(app.printer);
    let bytes = files::read_to_end(io::stdin().lock(), limit)?;
    Ok(("stdin".to_owned(), files::text(bytes)?))
}
