//! The texts that loops changed first: `original.md`, `original-2.md` and so on, none of them
//! twice.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::create::create_private;
use crate::files::write::WriteError;
use crate::files::{self, SizeLimit};
use crate::refinement::event::TextHash;

/// A text that a loop began with, or that a person made of it before the first merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalText {
    pub path: PathBuf,
    pub text: String,
}

/// Keeps a text under the first free name, unless it is there already.
pub(super) fn keep(folder: &Path, text: &str) -> Result<(), WriteError> {
    if find(folder, &TextHash::of(text)).is_some() {
        return Ok(());
    }
    for number in 1.. {
        let path = path(folder, number);
        match create_private(&path, text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map_err(|error| WriteError::new(&path, error)),
        }
    }
    Ok(())
}

/// A name that nothing has ends the search.
pub(super) fn find(folder: &Path, document: &TextHash) -> Option<OriginalText> {
    (1..)
        .map(|number| path(folder, number))
        .take_while(|path| path.symlink_metadata().is_ok())
        .find_map(|path| {
            // A link to the document would be changed with it.
            let text = files::read_own(&path, SizeLimit::DOCUMENT).and_then(files::text);
            let text = text.ok()?;
            (TextHash::of(&text) == *document).then_some(OriginalText { path, text })
        })
}

fn path(folder: &Path, number: u32) -> PathBuf {
    folder.join(match number {
        1 => "original.md".to_owned(),
        number => format!("original-{number}.md"),
    })
}
