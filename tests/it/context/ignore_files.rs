//! Ignore files of folders that are read as context: the same files as Git sees, and refusals of
//! ignore files that are not what they should be.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use conclave::context::project::describe;
use conclave::context::sources::SourceSize;
use conclave::context::sources::error::SourcesError;
use conclave::context::sources::files::{NamedBy, read_files};
use fastrand::Rng;
use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, open, openat};
use tempfile::TempDir;

use crate::support::git::git_output;

/// A folder `p` in a folder of its own.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the files that are read of `p`, or what is wrong with it. The user's ignore file is
    /// `excludes`.
    fn read(&self) -> Result<Vec<String>, String> {
        let root = self.path("p");
        let excludes = self.path("excludes");
        let named_by = NamedBy::Person(Some(&excludes));
        match read_files(std::slice::from_ref(&root), SourceSize::LIMIT, named_by) {
            Ok(read) => {
                let root = format!("{}/", root.display());
                let names = read.texts.into_iter().map(|source| source.name);
                Ok(names.map(|name| name.replacen(&root, "", 1)).collect())
            }
            Err(SourcesError::Paths(errors)) => Err(errors[0].to_string()),
            Err(error @ SourcesError::Limits { .. }) => panic!("{error}"),
        }
    }
}

#[track_caller]
fn assert_read(files: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(Folder::new(files).read().unwrap(), expected);
}

#[test]
fn nearer_files_come_first_and_a_negation_brings_back() {
    assert_read(
        &[
            (".gitignore", "*.log\n*.tmp\n"),
            ("p/.gitignore", "!keep.log\nb/\n!c.tmp\n"),
            ("p/a.log", "x"),
            ("p/keep.log", "x"),
            ("p/b/keep.log", "x"),
            ("p/d/.gitignore", "*\n!a.log\n"),
            ("p/d/a.log", "x"),
            ("p/d/c.tmp", "x"),
            ("p/e/c.tmp", "x"),
        ],
        &["d/a.log", "e/c.tmp", "keep.log"],
    );
}

#[test]
fn kinds_of_ignore_files_come_in_their_order() {
    assert_read(
        &[
            ("excludes", "*.a\n*.b\n*.c\n*.d\n!*.md\n"),
            ("p/.git/info/exclude", "!*.b\n*.md\n"),
            ("p/sub/.gitignore", "*.b\n!*.c\n!*.md\n"),
            (".ignore", "!*.d\n*.c\n"),
            ("p/sub/x.a", "x"),
            ("p/sub/x.b", "x"),
            ("p/sub/x.c", "x"),
            ("p/sub/x.d", "x"),
            ("p/sub/x.md", "x"),
            ("p/x.b", "x"),
            ("p/x.md", "x"),
        ],
        &["sub/x.d", "sub/x.md", "x.b"],
    );
}

#[test]
fn hidden_files_are_left_out_unless_a_rule_asks_for_them() {
    assert_read(
        &[
            ("p/.gitignore", "!.env\n!.*/\n"),
            ("p/.env", "x"),
            ("p/.other", "x"),
            ("p/.config/a", "x"),
            ("p/.git/config", "x"),
        ],
        &[".config/a", ".env"],
    );
}

#[test]
fn rules_of_other_working_trees_and_of_submodules_hold() {
    let files = [
        ("main/.git/info/exclude", "*.log\n"),
        ("main/.git/worktrees/p/commondir", "../..\n"),
        ("main/.git/modules/p/info/exclude", "*.log\n"),
        ("p/a.log", "x"),
        ("p/b", "x"),
    ];
    for git_folder in ["worktrees/p", "modules/p"] {
        let folder = Folder::new(&files);
        folder.write("p/.git", format!("gitdir: ../main/.git/{git_folder}\n"));
        assert_eq!(folder.read().unwrap(), ["b"], "{git_folder}");
    }
}

#[test]
fn rules_in_any_bytes_are_read_to_their_end() {
    let folder = Folder::new(&[("p/a.log", "x"), ("p/b.txt", "x"), ("p/keep", "x")]);
    folder.write(
        "p/.gitignore",
        b"\xef\xbb\xbf*.log\r\ncaf\xe9\n[\n\0\n*.txt",
    );
    fs::write(folder.path("p").join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    assert_eq!(folder.read().unwrap(), ["keep"]);
}

#[test]
fn ignore_file_may_be_a_link_within_its_folder() {
    let folder = Folder::new(&[("p/rules/all", "*.log\n"), ("p/a.log", "x")]);
    symlink("rules/all", folder.path("p/.gitignore")).unwrap();
    assert_eq!(folder.read().unwrap(), ["rules/all"]);
}

#[test]
fn folder_with_the_name_of_an_ignore_file_has_no_rules() {
    assert_read(
        &[("p/.gitignore/x", "x"), ("p/.ignore/x", "x"), ("p/a", "x")],
        &["a"],
    );
}

/// Puts something in the place of an ignore file.
type Put = fn(&Folder, &Path);

/// Each with the reason why it is refused.
const KINDS: [(Put, &str); 5] = [
    (
        |_, place| mknodat(CWD, place, FileType::Fifo, 0o600.into(), 0).unwrap(),
        "it is not a regular file",
    ),
    (
        |_, place| File::create(place).unwrap().set_len(1 << 40).unwrap(),
        "it is larger than 1 MB",
    ),
    (
        |_, place| symlink("/dev/zero", place).unwrap(),
        "it is a link out of its folder",
    ),
    (
        |folder, place| {
            folder.write("out/rules", "*\n");
            symlink(folder.path("out/rules"), place).unwrap();
        },
        "it is a link out of its folder",
    ),
    (
        |_, place| symlink(place.file_name().unwrap(), place).unwrap(),
        "Too many levels of symbolic links",
    ),
];

#[test]
fn ignore_files_that_are_no_files_of_their_folder_are_refused() {
    let (pipe, others) = KINDS.split_first().unwrap();
    let places = [
        "p/.ignore",
        "p/sub/.gitignore",
        "p/.git/info/exclude",
        "top/.gitignore",
    ];
    let everywhere = places.map(|place| (place, pipe));
    let each = others.iter().map(|kind| ("p/.gitignore", kind));
    for (place, (put, reason)) in everywhere.into_iter().chain(each) {
        let folder = Folder::new(&[("p/a", "x"), ("p/sub/b", "x"), ("p/README.md", "# A\n")]);
        let place = folder.path(place);
        if place.ends_with("top/.gitignore") {
            fs::rename(folder.path("p"), folder.path("q")).unwrap();
            fs::create_dir(folder.path("top")).unwrap();
            fs::rename(folder.path("q"), folder.path("top/p")).unwrap();
            symlink("top/p", folder.path("p")).unwrap();
        }
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        put(&folder, &place);
        let error = folder.read().unwrap_err();
        let named = format!("{}` cannot be used: {reason}", place.display());
        assert!(error.contains(&named), "{error}");
        let described = describe(&folder.path("p"), 1_000);
        if place.ends_with("sub/.gitignore") {
            let text = described.unwrap().text;
            let line = "(1 folders or files could not be read)";
            assert!(text.contains(line), "{text}");
        } else {
            described.unwrap_err();
        }
    }
}

#[test]
fn the_users_ignore_file_may_be_a_link_but_only_to_a_file() {
    let folder = Folder::new(&[("p/a.log", "x"), ("p/b", "x"), ("dotfiles", "*.log\n")]);
    symlink("dotfiles", folder.path("excludes")).unwrap();
    assert_eq!(folder.read().unwrap(), ["b"]);
    for target in ["/dev/zero", "excludes"] {
        fs::remove_file(folder.path("excludes")).unwrap();
        symlink(target, folder.path("excludes")).unwrap();
        let error = folder.read().unwrap_err();
        assert!(error.contains("excludes` cannot be used: "), "{error}");
    }
}

#[test]
fn ignore_files_together_are_bounded() {
    let folder = Folder::new(&[("p/a", "x")]);
    let comments = "# A comment.\n".repeat((1 << 20) / 13);
    for number in 0..5 {
        folder.write(&format!("p/{number}/.gitignore"), &comments);
        folder.write(&format!("p/{number}/a"), "x");
        match folder.read() {
            Ok(files) => assert_eq!(files.len(), number + 2),
            Err(error) => {
                assert_eq!(number, 4);
                let reason = "with the others it has more than 4 MB";
                assert!(error.contains(reason), "{error}");
            }
        }
    }
}

#[test]
fn trees_too_deep_for_a_path_end() {
    let folder = Folder::new(&[("p/a", "x")]);
    // The system takes no longer path at once.
    let mut at = open(folder.path("p"), OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..30 {
        let name = "d".repeat(200);
        mkdirat(&at, &name, 0o700.into()).unwrap();
        at = openat(&at, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let error = folder.read().unwrap_err();
    assert!(error.contains("File name too long"), "{error}");
}

/// Names of files and folders, and patterns that meet them, divided by bars.
const NAMES: [&str; 12] = [
    "a", "b", "c.txt", "d.log", "build", "src", "x y", "é", "foo.rs", "#h", "!n", "[z]",
];
const PATTERNS: &str = "*.log|build/|/a|b|!c.txt|*.txt|src/*|!src/foo.rs|**/b|b/**|a/**/b|/src/|x\\ y|\\#h|\
    \\!n|foo.*|d.lo?|[ab]|[!ab]|*|!*/|!*.rs|é|# comment||   |!a/|**/build/**|/*|!/src|\
    c.txt  |\\[z\\]|src/**|!src/**/a|**|a/b/c.txt";

fn some<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[rng.usize(..all.len())]
}

fn add_rules(rng: &mut Rng, folder: &Folder, path: &str) {
    let end = some(rng, &["\n", "\n", "\r\n"]);
    let patterns: Vec<&str> = PATTERNS.split('|').collect();
    let lines: Vec<&str> = (0..rng.usize(1..6)).map(|_| some(rng, &patterns)).collect();
    folder.write(path, lines.join(end) + some(rng, &["", end]));
}

fn add_tree(rng: &mut Rng, folder: &Folder, path: &str, depth: usize) {
    for name in rng.choose_multiple(NAMES, 5) {
        let path = format!("{path}/{name}");
        if depth < 3 && rng.u8(..) < 110 {
            add_tree(rng, folder, &path, depth + 1);
        } else {
            folder.write(&path, "x");
        }
    }
    if rng.u8(..) < 100 {
        add_rules(rng, folder, &format!("{path}/.gitignore"));
    }
}

#[test]
fn trees_are_read_as_git_sees_them() {
    for seed in 0..24 {
        let mut rng = Rng::with_seed(seed);
        let folder = Folder::new(&[("p/.git/HEAD", "ref: refs/heads/main\n")]);
        fs::create_dir_all(folder.path("p/.git/objects")).unwrap();
        fs::create_dir_all(folder.path("p/.git/refs")).unwrap();
        add_tree(&mut rng, &folder, "p", 0);
        add_rules(&mut rng, &folder, "p/.git/info/exclude");
        add_rules(&mut rng, &folder, "excludes");
        let excludes = format!("core.excludesFile={}", folder.path("excludes").display());
        let arguments = ["-c", &excludes, "ls-files", "-zo", "--exclude-standard"];
        let listed = String::from_utf8(git_output(&folder.path("p"), &arguments)).unwrap();
        let is_hidden = |name: &str| name.split('/').any(|part| part.starts_with('.'));
        let listed = listed
            .split_terminator('\0')
            .filter(|name| !is_hidden(name));
        let listed: BTreeSet<String> = listed.map(ToOwned::to_owned).collect();
        // A folder without a file is an error.
        let read = BTreeSet::from_iter(folder.read().unwrap_or_default());
        assert_eq!(read, listed, "seed {seed}");
    }
}
