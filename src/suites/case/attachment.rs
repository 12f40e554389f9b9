//! Files that belong to a case.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::domain::hash::hex;
use crate::files::{SizeLimit, resolved};
use crate::suites::log::FileLog;
use crate::suites::raw_case::{path_inside, unusable};

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
    let path = path_inside(Path::new(name), folder).map_err(|error| unusable(&error))?;
    let file = resolved::open(&path, SizeLimit::CASE_FILE).map_err(|error| unusable(&error))?;
    let shown = path.to_str().ok_or("has a name that is not UTF-8")?;
    let name = path.file_name().map(|name| name.to_string_lossy());
    Ok(Attachment {
        name: name.unwrap_or_default().into_owned(),
        path: shown.to_owned(),
        sha256: fingerprint(file).map_err(|error| unusable(&error))?,
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
