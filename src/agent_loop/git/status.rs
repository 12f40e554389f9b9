//! Reads what `git status` says in its format for programs.

use super::GitError;
use super::program::Git;

/// The commit, and the paths that differ from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitStatus {
    /// `None` before the first commit.
    pub(super) head: Option<String>,
    /// From the top of the working tree; that of a repository inside it ends with `/`.
    pub(super) paths: Vec<Vec<u8>>,
}

/// The fields before the path, by the first letter of an entry.
const FIELDS_BEFORE_PATH: [(u8, usize); 4] = [(b'1', 8), (b'2', 9), (b'u', 10), (b'?', 1)];

const COMMIT: &[u8] = b"# branch.oid ";

impl GitStatus {
    pub(super) fn read(git: &Git<'_>) -> Result<Self, GitError> {
        let arguments = [
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--no-renames",
            // Git in a submodule would follow the submodule's own settings.
            "--ignore-submodules=dirty",
        ];
        let (_, output) = git.run("status", &arguments)?;
        Ok(Self::parse(&output))
    }

    fn parse(output: &[u8]) -> Self {
        let mut status = Self::default();
        for entry in output.split(|byte| *byte == 0) {
            if let Some(commit) = entry.strip_prefix(COMMIT) {
                let commit = String::from_utf8_lossy(commit).into_owned();
                status.head = Some(commit).filter(|commit| commit != "(initial)");
                continue;
            }
            let kind = entry.first();
            let fields = FIELDS_BEFORE_PATH
                .iter()
                .find(|(letter, _)| Some(letter) == kind);
            let Some((_, fields)) = fields else { continue };
            let path = entry.splitn(fields + 1, |byte| *byte == b' ').nth(*fields);
            status.paths.extend(path.map(<[u8]>::to_vec));
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(output: &str) -> Vec<String> {
        let paths = GitStatus::parse(output.as_bytes()).paths.into_iter();
        paths.map(|path| String::from_utf8(path).unwrap()).collect()
    }

    #[test]
    fn paths_of_all_kinds_of_entries_are_read() {
        let output = "# branch.oid 1234\0# branch.head main\0\
            1 .M N... 100644 100644 100644 58 58 d/b c\0\
            u UU N... 100644 100644 100644 100644 1 2 3 in conflict\0\
            ? new\nfile\0? inner/\0";
        assert_eq!(
            paths(output),
            ["d/b c", "in conflict", "new\nfile", "inner/"]
        );
    }

    #[test]
    fn head_is_the_commit_or_none_before_the_first() {
        let head = |output: &str| GitStatus::parse(output.as_bytes()).head;
        assert_eq!(head("# branch.oid 12ab\0"), Some("12ab".to_owned()));
        assert_eq!(head("# branch.oid (initial)\0# branch.head main\0"), None);
    }

    #[test]
    fn unknown_and_broken_entries_are_skipped() {
        assert_eq!(
            paths("! ignored\0x y z\0\x001 .M N...\0?\0"),
            Vec::<String>::new()
        );
    }
}
