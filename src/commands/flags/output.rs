//! Where the output goes, in which format, and how much is printed on the way.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::config::env::Environment;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::terminal::output::pager::Pager;

/// Where the answer goes, and how much is printed on the way.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    #[command(flatten)]
    format: FormatFlags,

    /// Print the whole report on a terminal [default: a summary; files and pipes get all of it]
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) pager: PagerFlag,

    /// Write the answer to a file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print only the answer and errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Show the estimate of each call, retries and repaired answers; a new consultation also sends
    /// full debate artifacts
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Show the judge's text while it is written
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) stream: bool,

    /// Ring the terminal's bell at the end, with a desktop notification where the terminal has them
    #[arg(long)]
    pub(crate) notify: bool,

    /// Write every event as a line of JSON to a file; `-` writes to standard error [default: no
    /// file]
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
}

/// Whether long texts on a terminal go through a pager.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct PagerFlag {
    /// Print long texts directly [default: through $PAGER, or less, on a terminal]
    #[arg(long)]
    no_pager: bool,
}

impl PagerFlag {
    pub(crate) fn pager(self, environment: &Environment) -> Pager {
        if self.no_pager {
            Pager::Off
        } else {
            Pager::of_variables(environment.pager(), environment.text("LESS"))
        }
    }
}

/// The format of an answer or a record, named or taken from the ending of its file.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct FormatFlags {
    /// The format [default: by the ending of --output, or markdown]
    #[arg(long, value_parser = formats(&[AnswerFormat::Otlp]))]
    format: Option<AnswerFormat>,

    /// Write JSON, as `--format json` does
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnswerFormat {
    #[value(alias = "md")]
    Markdown,
    Json,
    /// A page that needs no other file
    Html,
    /// Markdown, a line `---`, then JSON
    Both,
    /// A trace for OpenTelemetry, in the bytes of its protocol
    Otlp,
}

/// Reads all formats but those that the command does not have.
pub(crate) fn formats(without: &[AnswerFormat]) -> impl TypedValueParser<Value = AnswerFormat> {
    let all = AnswerFormat::value_variants().iter();
    let some = all.filter(|format| !without.contains(format));
    let some = some.filter_map(AnswerFormat::to_possible_value);
    PossibleValuesParser::new(some).try_map(|name| AnswerFormat::from_str(&name, true))
}

impl FormatFlags {
    pub(crate) fn for_output(self, output: Option<&Path>) -> AnswerFormat {
        let ending = output.and_then(Path::extension).and_then(OsStr::to_str);
        let by_ending = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => AnswerFormat::Json,
            Some("html" | "htm") => AnswerFormat::Html,
            Some(_) | None => AnswerFormat::Markdown,
        };
        if self.json {
            AnswerFormat::Json
        } else {
            self.format.unwrap_or(by_ending)
        }
    }
}

/// `--json`, and its long form `--format json` where the other format is text for people.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct JsonFlags {
    /// Write JSON
    #[arg(long)]
    json: bool,

    #[arg(long, value_enum, hide = true, conflicts_with = "json")]
    format: Option<ListFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListFormat {
    Text,
    Json,
}

impl JsonFlags {
    pub(crate) fn is_json(self) -> bool {
        self.json || self.format == Some(ListFormat::Json)
    }
}

impl OutputFlags {
    pub(crate) fn format(&self) -> AnswerFormat {
        self.format.for_output(self.output.as_deref())
    }

    pub(crate) fn material(&self) -> PromptMaterial {
        if self.verbose {
            PromptMaterial::Whole
        } else {
            PromptMaterial::Filtered
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_follows_the_ending_of_the_file_unless_it_is_named() {
        let flags = FormatFlags {
            format: None,
            json: false,
        };
        let by_ending = |name: &str| flags.for_output(Some(Path::new(name)));
        assert_eq!(flags.for_output(None), AnswerFormat::Markdown);
        assert_eq!(by_ending("x.json"), AnswerFormat::Json);
        assert_eq!(by_ending("x.md"), AnswerFormat::Markdown);
        assert_eq!(by_ending("folder.html/x.HTML"), AnswerFormat::Html);
        assert_eq!(by_ending("folder.html/x"), AnswerFormat::Markdown);
        assert_eq!(by_ending("x.txt"), AnswerFormat::Markdown);
        let named = FormatFlags {
            format: Some(AnswerFormat::Both),
            json: false,
        };
        assert_eq!(
            named.for_output(Some(Path::new("x.json"))),
            AnswerFormat::Both
        );
    }
}
