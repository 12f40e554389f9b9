//! Counts the commits in packs.
//!
//! A pack's index has the place of each object. There, the first byte has the object's kind; one
//! that is stored as a difference names the object that it differs from, which is of the same kind.
//! None of this is compressed. A pack begins with its commits, so that its first objects do.

use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::files::{self, SizeLimit};

use super::number;

/// So many objects are looked at, from the start of a pack.
const LOOKED_AT: usize = 256;
/// So many differences are followed to a whole object.
const DIFFERENCES: usize = 64;

const COMMIT: u8 = 1;
const DIFFERS_AT_OFFSET: u8 = 6;

/// Counts the commits in the packs of a folder, up to `enough`.
pub(super) fn commits(folder: &Path, enough: usize) -> usize {
    let mut commits = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let index = entry.path();
        if index.extension().is_none_or(|extension| extension != "idx") {
            continue;
        }
        commits += commits_of_pack(&index).unwrap_or(0);
        if commits >= enough {
            return enough;
        }
    }
    commits
}

fn commits_of_pack(index: &Path) -> Option<usize> {
    let offsets = first_offsets(files::open(index, SizeLimit::NONE).ok()?)?;
    let mut pack = files::open(&index.with_extension("pack"), SizeLimit::NONE).ok()?;
    let kinds = offsets.iter().map(|offset| kind(&mut pack, *offset));
    Some(kinds.filter(|kind| *kind == Some(COMMIT)).count())
}

/// Returns the first places of objects in a pack, from its index in version 2: magic, version, 256
/// counts, then for each object its id, its checksum and its place.
fn first_offsets(mut index: File) -> Option<Vec<u64>> {
    const NAMES: usize = 8 + 256 * 4;
    let size = index.metadata().ok()?.len();
    let mut header = [0; NAMES];
    index.read_exact(&mut header).ok()?;
    if header.get(..8)? != b"\xfftOc\0\0\0\x02" {
        return None;
    }
    let objects = u64::from(number(header.get(NAMES - 4..)?)?);
    let names = NAMES as u64;
    // Ids have 20 bytes, or 32 where the file is too large for that.
    let id = if size >= names + objects * (32 + 8) + 64 {
        32
    } else {
        20
    };
    index
        .seek(SeekFrom::Start(names + objects * (id + 4)))
        .ok()?;
    let mut table = BufReader::with_capacity(64 * 1024, index).take(objects * 4);
    let mut first = BinaryHeap::new();
    let mut entry = [0; 4];
    while table.read_exact(&mut entry).is_ok() {
        let offset = u32::from_be_bytes(entry);
        // Places beyond 2 GB stand in a table of their own; the first ones do not.
        if offset >> 31 == 0 {
            first.push(offset);
            if first.len() > LOOKED_AT {
                first.pop();
            }
        }
    }
    Some(first.into_sorted_vec().into_iter().map(u64::from).collect())
}

/// Returns the kind of the object at a place, or of the one that it differs from.
fn kind(pack: &mut File, mut offset: u64) -> Option<u8> {
    for _ in 0..DIFFERENCES {
        pack.seek(SeekFrom::Start(offset)).ok()?;
        // The size has at most ten bytes, the distance of the other object as well.
        let mut start = Vec::with_capacity(20);
        pack.take(20).read_to_end(&mut start).ok()?;
        let kind = start.first()? >> 4 & 0b111;
        if kind != DIFFERS_AT_OFFSET {
            return Some(kind);
        }
        let size_ends = start.iter().position(|byte| byte & 0x80 == 0)?;
        offset = offset.checked_sub(distance(start.get(size_ends + 1..)?)?)?;
    }
    None
}

/// Reads the distance to the other object: seven bits a byte, each further byte one more.
fn distance(bytes: &[u8]) -> Option<u64> {
    let mut bytes = bytes.iter();
    let first = bytes.next()?;
    let mut distance = u64::from(first & 0x7f);
    let mut more = first & 0x80 != 0;
    while more {
        let byte = bytes.next()?;
        distance = (distance.checked_add(1)?.checked_shl(7)?) | u64::from(byte & 0x7f);
        more = byte & 0x80 != 0;
    }
    Some(distance)
}
