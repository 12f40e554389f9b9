//! The file that a loop writes, and why: decided, checked and said before anything is spent.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::agent_loop::git::check_clean;
use crate::commands::face::answer::check_output;
use crate::config::paths::Home;
use crate::error::Error;
use crate::records::refinements::claims::is_claimed;
use crate::records::refinements::{OriginalText, RefinementStore, SpecFile};
use crate::refinement::event::{LoopBegun, TextHash};
use crate::refinement::state::{IterationRecord, LoopPhase, RefinementLoop, RefinementState};
use crate::stopping::convergence::Criteria;
use crate::text::clean::clean;

use super::files::{display, refined_path};
use super::flags::TargetFlags;
use super::shell_word;

/// The files of a loop.
#[derive(Debug)]
pub(super) struct Target {
    /// The document that is read.
    pub(super) source: SpecFile,
    /// The same as `source` for a change in place.
    pub(super) output: SpecFile,
    reason: TargetReason,
    /// The command line names the output.
    is_named: bool,
}

/// What is wrong with a file that a log names, and that only the log says is a loop's.
const UNKNOWN: &str = "is there already, and no loop of this home writes it";

/// Why a loop writes its file.
#[derive(Debug)]
enum TargetReason {
    /// A flag names it.
    Asked,
    /// The loop that is resumed, or the one before, writes it.
    AsBefore,
    /// What Git has of the document decides: the document itself, unless there is a reason not to.
    Git(Result<(), String>),
}

/// What a command does with the loops that it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum LoopEntry {
    New,
    Resumed,
    /// The last loop has ended, its files are as it left them, and the criteria would end it again.
    Ended,
}

/// Decides which file is written: the one that the flags name, the document itself, or one beside
/// it. No path is taken from the log, which may have come with a foreign project.
///
/// # Errors
///
/// When the flags do not name the file of the loop that would be resumed, and it is another one.
pub(super) fn choose(
    flags: &TargetFlags,
    source: &SpecFile,
    text: &str,
    state: Option<&RefinementState>,
    criteria: &Criteria,
) -> Result<(Target, LoopEntry), Error> {
    let asked = asked(flags, source)?;
    let target = |output: SpecFile, reason| Target {
        source: source.clone(),
        output,
        reason,
        is_named: asked.is_some(),
    };
    let last = state.map(RefinementState::current);
    if let Some(last) = last.filter(|_| !flags.restart) {
        let recorded = recorded_output(&last.begun, source);
        let output = match &asked {
            Some(asked) => asked.clone(),
            None if is_beside(&last.begun.output, source) => recorded.clone(),
            None => return Err(unnamed_output(source, &recorded)),
        };
        let is_asked = same_file(&output, &recorded);
        let has_ended = last.phase == LoopPhase::Ended;
        if !has_ended && !is_asked {
            return Err(other_output(&recorded));
        }
        if is_asked && (!has_ended || is_as_it_ended(last, text, source, &output)) {
            let is_over = has_ended && last.ends_by(criteria);
            let entry = if is_over {
                LoopEntry::Ended
            } else {
                LoopEntry::Resumed
            };
            return Ok((target(output, TargetReason::AsBefore), entry));
        }
    }
    // An edit of what the last loop wrote in place loses nothing of a person.
    let is_written_in_place = last.is_some_and(|last| {
        last.begun.output == last.begun.source && last.last_written() == Some(&TextHash::of(text))
    });
    let target = match &asked {
        Some(output) => target(output.clone(), TargetReason::Asked),
        None if is_written_in_place => target(source.clone(), TargetReason::AsBefore),
        None => {
            // The program ends at an interrupt.
            let clean = check_clean(&source.path, &|| false);
            let refined = || SpecFile::at(&refined_path(&source.path));
            let in_place = clean.is_ok().then(|| source.clone());
            target(in_place.unwrap_or_else(refined), TargetReason::Git(clean))
        }
    };
    Ok((target, LoopEntry::New))
}

impl Target {
    pub(super) fn is_in_place(&self) -> bool {
        self.source == self.output
    }

    /// Relative to the folder of the source, so that the folder can be moved.
    pub(super) fn names(&self) -> (String, String) {
        let name = |file: &SpecFile| file_name(&file.path);
        let folder = |file: &SpecFile| absolute(&file.path).parent().map(Path::to_owned);
        let source = name(&self.source);
        let output = if folder(&self.output) == folder(&self.source) {
            name(&self.output)
        } else {
            absolute(&self.output.path).display().to_string()
        };
        (source, output)
    }

    /// The output, once this loop has written it.
    pub(super) fn working_file(&self, resumed: Option<&RefinementLoop>) -> &SpecFile {
        match resumed.and_then(RefinementLoop::last_written) {
            Some(_) => &self.output,
            None => &self.source,
        }
    }

    /// Checks that the file can be written, and that no other text is lost by it.
    ///
    /// # Errors
    ///
    /// When it can not, when a file of that name is not from a loop of this document and this home,
    /// or leads elsewhere without being named, or when the source of a resumed loop is another one
    /// than it has merged into.
    pub(super) fn check(
        &self,
        source_text: &str,
        resumed: Option<&RefinementLoop>,
        state: Option<&RefinementState>,
        store: &RefinementStore,
        home: &Home,
    ) -> Result<(), Error> {
        if !self.is_named && self.output.path.is_symlink() {
            return Err(self.unproven("is a symbolic link"));
        }
        let is_ours = is_claimed(home.path(), &self.output.path);
        if self.is_in_place() {
            let is_before = matches!(self.reason, TargetReason::AsBefore);
            let is_clean = || check_clean(&self.source.path, &|| false).is_ok();
            if is_before && !self.is_named && !is_ours && !is_clean() {
                return Err(self.unproven(UNKNOWN));
            }
            return Ok(self.source.check_replaceable()?);
        }
        check_output(Some(&self.output.path))?;
        let written = resumed.filter(|resumed| resumed.last_written().is_some());
        if let Some(resumed) = written
            && TextHash::of(source_text) != *resumed.original()
        {
            return Err(self.source_changed(store.original(resumed.original())));
        }
        if !self.output.exists() && written.is_none() {
            return Ok(());
        }
        // A person may have edited what a loop of this home wrote.
        let may_be_edited = is_ours && written.is_some();
        if !may_be_edited && !self.has_text_of_loop(resumed, state)? {
            return Err(self.foreign(resumed.is_some()));
        }
        if !is_ours && !self.is_named {
            return Err(self.unproven(UNKNOWN));
        }
        Ok(self.output.check_replaceable()?)
    }

    fn has_text_of_loop(
        &self,
        resumed: Option<&RefinementLoop>,
        state: Option<&RefinementState>,
    ) -> Result<bool, Error> {
        let present = TextHash::of(&self.output.read()?);
        // A process that was killed may have written its merge, and not recorded it.
        let merged = resumed.and_then(RefinementLoop::open_iteration);
        let merged = merged
            .and_then(IterationRecord::decided)
            .map(|merge| &merge.after);
        let written = state.and_then(RefinementState::last_written);
        Ok([written, merged].contains(&Some(&present)))
    }

    fn name(&self) -> String {
        if self.is_in_place() {
            "--in-place".to_owned()
        } else {
            format!("-o {}", shell_word(&display(&self.output)))
        }
    }

    pub(super) fn command(&self) -> String {
        let source = format!("conclave refine {}", shell_word(&display(&self.source)));
        if is_beside(&self.names().1, &self.source) {
            source
        } else {
            format!("{source} {}", self.name())
        }
    }

    /// The error for a file that only a person can vouch for.
    fn unproven(&self, what: &str) -> Error {
        let error = format!("`{}` {what}", display(&self.output));
        let hint = format!("if you want it written, name it: `{}`", self.name());
        Error::usage(error).hint(hint)
    }

    fn foreign(&self, is_resumed: bool) -> Error {
        let (source, output) = (display(&self.source), display(&self.output));
        let error = Error::usage(format!(
            "`{output}` is there already, and is not as a loop of `{source}` wrote it"
        ));
        if is_resumed {
            // The loop that is resumed writes no other file.
            let error = error.hint(format!("move `{output}` away to resume the loop"));
            return error.hint("or begin a new loop with `--restart -o FILE`");
        }
        let refine = format!("conclave refine {output} --in-place");
        let error = error.hint(format!("refine that document with `{refine}`"));
        error.hint("or write another file with `-o FILE`")
    }

    fn source_changed(&self, original: Option<OriginalText>) -> Error {
        let (source, output) = (display(&self.source), display(&self.output));
        let has_text = original.map(|original| {
            let path = clean(&original.path.display().to_string());
            format!(": `{path}` has that text")
        });
        let has_text = has_text.unwrap_or_default();
        Error::usage(format!(
            "`{source}` has changed since the loop wrote `{output}` from it"
        ))
        .hint(format!("put `{source}` back as it was{has_text}"))
        .hint("or begin a new loop with `--restart`")
    }
}

/// `Writes SPEC.refined.md, and leaves SPEC.md as it is: Git does not track it`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = display(&self.source);
        if self.is_in_place() {
            write!(f, "Writes {source} itself")?;
        } else {
            let output = display(&self.output);
            write!(f, "Writes {output}, and leaves {source} as it is")?;
        }
        match &self.reason {
            TargetReason::Asked => Ok(()),
            TargetReason::AsBefore => f.write_str(", as before"),
            TargetReason::Git(Ok(())) => f.write_str(": the last Git commit has it as it is"),
            TargetReason::Git(Err(reason)) => write!(f, ": {reason}"),
        }
    }
}

fn asked(flags: &TargetFlags, source: &SpecFile) -> Result<Option<SpecFile>, Error> {
    if flags.in_place {
        return Ok(Some(source.clone()));
    }
    let Some(path) = &flags.output else {
        return Ok(None);
    };
    let output = SpecFile::at(path);
    if same_file(&output, source) {
        let error = format!("`{}` is the document itself", display(&output));
        return Err(Error::usage(error).hint("write the document itself with `--in-place`"));
    }
    Ok(Some(output))
}

fn recorded_output(begun: &LoopBegun, source: &SpecFile) -> SpecFile {
    if begun.output == begun.source {
        return source.clone();
    }
    let folder = source.path.parent().unwrap_or(Path::new(""));
    SpecFile::at(&folder.join(&begun.output))
}

/// Never a hidden file, or one that another program runs.
fn is_beside(name: &str, source: &SpecFile) -> bool {
    let (path, usual) = (Path::new(name), refined_path(&source.path));
    let is_plain = path.file_name() == Some(name.as_ref()) && !name.starts_with('.');
    (is_plain && path.extension() == usual.extension())
        || source.path.file_name() == Some(name.as_ref())
}

fn unnamed_output(source: &SpecFile, output: &SpecFile) -> Error {
    let (source, output) = (display(source), display(output));
    let error = format!("the log of `{source}` names `{output}`, and a log can come from anyone");
    Error::usage(error)
        .hint("if you began the loop, give the same `-o FILE` as then")
        .hint("or begin a new loop with `--restart`")
}

fn other_output(output: &SpecFile) -> Error {
    let output = display(output);
    Error::usage(format!(
        "the loop that this command would resume writes `{output}`"
    ))
    .hint("leave out `--in-place` and `-o` to resume it")
    .hint("or begin a new loop with `--restart`")
}

fn is_as_it_ended(last: &RefinementLoop, text: &str, source: &SpecFile, output: &SpecFile) -> bool {
    let is_written = |text: &str| last.last_written() == Some(&TextHash::of(text));
    if source == output {
        return is_written(text);
    }
    let is_source = *last.original() == TextHash::of(text);
    is_source && output.read().is_ok_and(|text| is_written(&text))
}

fn same_file(one: &SpecFile, other: &SpecFile) -> bool {
    let resolved = |file: &SpecFile| {
        let path = &file.path;
        path.canonicalize().unwrap_or_else(|_| absolute(path))
    };
    resolved(one) == resolved(other)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refined_document_has_the_ending_of_its_source() {
        let refined = |path: &str| refined_path(Path::new(path)).display().to_string();
        assert_eq!(refined("docs/SPEC.md"), "docs/SPEC.refined.md");
        assert_eq!(refined("notes.markdown"), "notes.refined.markdown");
        assert_eq!(refined("SPEC"), "SPEC.refined.md");
    }

    #[test]
    fn names_in_the_log_are_relative_to_the_source() {
        let names = |source: &str, output: &str| {
            let target = Target {
                source: SpecFile::at(Path::new(source)),
                output: SpecFile::at(Path::new(output)),
                reason: TargetReason::Asked,
                is_named: true,
            };
            target.names()
        };
        let pair = |source: &str, output: &str| (source.to_owned(), output.to_owned());
        assert_eq!(names("d/a.md", "d/a.md"), pair("a.md", "a.md"));
        assert_eq!(names("d/a.md", "d/b.md"), pair("a.md", "b.md"));
        assert_eq!(names("d/a.md", "/e/b.md"), pair("a.md", "/e/b.md"));
    }
}
