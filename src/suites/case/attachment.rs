//! Files that belong to a case.
//!
//! Suites come from other people, and what their cases name is sent to models: only files in the
//! folder of the suite are taken.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

use crate::domain::hash::hex;
use crate::files::{self, SizeLimit};
use crate::suites::log::FileLog;

/// A file that exists.
pub(super) struct Attachment {
    /// Its name without the folder.
    pub(super) name: String,
    /// Absolute.
    pub(super) path: String,
    pub(super) sha256: String,
}

/// Finds the files of a case, in their order.
pub(super) fn find(
    names: Vec<String>,
    folder: &Path,
    line: usize,
    log: &mut FileLog<'_>,
) -> Vec<Attachment> {
    let mut attachments = Vec::new();
    for name in names {
        match open(&name, folder) {
            Ok(attachment) => attachments.push(attachment),
            Err(problem) => log.add(line, format!("the file `{name}` {problem}")),
        }
    }
    attachments
}

fn open(name: &str, folder: &Path) -> Result<Attachment, String> {
    const OUTSIDE: &str = "is not in the folder of the suite";
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(is_plain) {
        return Err(OUTSIDE.to_owned());
    }
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "does not exist".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let folder = fs::canonicalize(folder).map_err(unreadable)?;
    let path = fs::canonicalize(folder.join(name)).map_err(unreadable)?;
    if !path.starts_with(&folder) {
        return Err(OUTSIDE.to_owned());
    }
    let file = files::open(&path, SizeLimit::CASE_FILE).map_err(unreadable)?;
    let text = path.to_str().ok_or("has a name that is not UTF-8")?;
    Ok(Attachment {
        name: path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        path: text.to_owned(),
        sha256: fingerprint(file).map_err(unreadable)?,
    })
}

fn fingerprint(mut file: fs::File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut block = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut block)?;
        match block.get(..read) {
            Some([]) | None => return Ok(hex(&hash.finalize())),
            Some(bytes) => hash.update(bytes),
        }
    }
}
