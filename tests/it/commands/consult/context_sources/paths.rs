//! The files that paths, folders and globs name, and their order.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, mknodat};

use super::{names, setup, write};

#[test]
fn files_are_read_in_their_order_on_the_command_line() {
    let (_server, conclave) = setup();
    write(
        &conclave,
        &[
            ("b.md", b"# B\n"),
            ("a.rs", b"fn a() {}\n"),
            ("c,d.txt", b"c"),
        ],
    );
    let flags = ["-f", "c,d.txt", "--context", "b.md, a.rs"];
    assert_eq!(names(&conclave, &flags).0, ["b.md", "a.rs", "c,d.txt"]);
}

#[test]
fn file_named_twice_is_sent_once() {
    let (_server, conclave) = setup();
    write(&conclave, &[("src/a.rs", b"a")]);
    symlink("src/a.rs", conclave.folder().join("link.rs")).unwrap();
    let flags = [
        "-f",
        "src/a.rs",
        "-f",
        "./src/../src/a.rs",
        "-f",
        "src",
        "-f",
        "link.rs",
    ];
    assert_eq!(names(&conclave, &flags).0, ["src/a.rs"]);
}

#[test]
fn symbolic_link_is_followed_when_it_is_named() {
    let (_server, conclave) = setup();
    write(&conclave, &[("real/a.rs", b"a")]);
    symlink("real", conclave.folder().join("link")).unwrap();
    assert_eq!(names(&conclave, &["-f", "link"]).0, ["link/a.rs"]);
    assert_eq!(names(&conclave, &["-f", "link/a.rs"]).0, ["link/a.rs"]);
}

#[test]
fn folder_gives_its_text_files_by_name_without_hidden_and_ignored_ones() {
    let (_server, conclave) = setup();
    write(
        &conclave,
        &[
            ("p/.gitignore", b"target/\n*.log\n"),
            ("p/.env", b"KEY=1"),
            ("p/.git/config", b"x"),
            ("p/target/out.rs", b"x"),
            ("p/debug.log", b"x"),
            ("p/src/main.rs", b"fn main() {}"),
            ("p/src/lib/deep/er/x.rs", b"x"),
            ("p/Cargo.toml", b"[package]"),
            ("p/logo.png", b"\x89PNG\0\0"),
            ("p/old.txt", b"caf\xe9"),
        ],
    );
    symlink("../p", conclave.folder().join("p/loop")).unwrap();
    mknodat(
        CWD,
        conclave.folder().join("p/pipe"),
        FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let (names, output) = names(&conclave, &["-f", "p"]);
    assert_eq!(
        names,
        ["p/Cargo.toml", "p/src/lib/deep/er/x.rs", "p/src/main.rs"]
    );
    assert!(
        output.stderr.starts_with(
            "`p`: skipped 4 files that are not text: p/logo.png, p/loop, p/old.txt, …\n"
        ),
        "{}",
        output.stderr
    );
}

#[test]
fn ignored_or_hidden_file_is_read_when_it_is_named() {
    let (_server, conclave) = setup();
    write(
        &conclave,
        &[(".gitignore", b"*.log\n"), ("x.log", b"x"), (".rc", b"x")],
    );
    assert_eq!(
        names(&conclave, &["--context", "x.log,.rc"]).0,
        ["x.log", ".rc"]
    );
}

#[test]
fn current_folder_gives_names_without_a_point() {
    let (_server, conclave) = setup();
    write(&conclave, &[("a/x.rs", b"x"), ("b.rs", b"x")]);
    assert_eq!(names(&conclave, &["-f", "."]).0, ["a/x.rs", "b.rs"]);
}

#[test]
fn globs_match_as_in_a_shell() {
    let (_server, conclave) = setup();
    write(
        &conclave,
        &[
            (".gitignore", b"gen*\n"),
            ("s/a.rs", b"x"),
            ("s/b.md", b"x"),
            ("s/gen.rs", b"x"),
            ("s/t/c.rs", b"x"),
            ("s/t/.hid.rs", b"x"),
            ("s/t/u/d.rs", b"x"),
        ],
    );
    let matched = |glob: &str| names(&conclave, &["-f", glob]).0;
    assert_eq!(matched("s/*.rs"), ["s/a.rs"]);
    assert_eq!(matched("s/*.{rs,md}"), ["s/a.rs", "s/b.md"]);
    assert_eq!(matched("s/**/*.rs"), ["s/a.rs", "s/t/c.rs", "s/t/u/d.rs"]);
    assert_eq!(matched("**/?.rs"), ["s/a.rs", "s/t/c.rs", "s/t/u/d.rs"]);
    assert_eq!(matched("s/[ab].*"), ["s/a.rs", "s/b.md"]);
    assert_eq!(matched("s/*/c.rs"), ["s/t/c.rs"]);
    assert_eq!(matched("s/t/.h*"), ["s/t/.hid.rs"]);
    assert_eq!(matched("./s/t/*"), ["s/t/c.rs"]);
    let absolute = conclave.folder().join("s/t/*.rs");
    let path = conclave.folder().join("s/t/c.rs");
    assert_eq!(
        matched(absolute.to_str().unwrap()),
        [path.to_str().unwrap()]
    );
}

#[test]
fn the_users_ignore_file_for_all_repositories_holds_in_folders_and_globs() {
    let (_server, conclave) = setup();
    write(
        &conclave,
        &[
            ("user/.gitconfig", b"[core]\n\texcludesFile = ~/ignores\n"),
            ("user/ignores", b"*.bak\n"),
            ("p/a.rs", b"x"),
            ("p/a.rs.bak", b"x"),
        ],
    );
    for path in ["p", "p/*"] {
        assert_eq!(names(&conclave, &["-f", path]).0, ["p/a.rs"], "{path}");
    }
}

#[test]
fn file_whose_name_is_a_glob_is_that_file() {
    let (_server, conclave) = setup();
    write(&conclave, &[("[id].tsx", b"x"), ("i.tsx", b"y")]);
    assert_eq!(names(&conclave, &["-f", "[id].tsx"]).0, ["[id].tsx"]);
}

#[test]
fn utf_16_with_a_mark_is_read() {
    let (_server, conclave) = setup();
    write(&conclave, &[("notes.txt", b"\xff\xfeh\0i\0")]);
    assert_eq!(names(&conclave, &["-f", "notes.txt"]).0, ["notes.txt"]);
}

#[test]
fn name_that_is_no_utf_8_is_read() {
    let (_server, conclave) = setup();
    let folder = conclave.folder().join("f");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"caf\xe9.rs")), "x").unwrap();
    assert_eq!(names(&conclave, &["-f", "f"]).0, ["f/caf\u{fffd}.rs"]);
}

#[test]
fn long_lines_and_deep_folders_are_read() {
    let (_server, conclave) = setup();
    let deep = ["d"; 200].join("/") + "/x.txt";
    let deep = format!("deep/{deep}");
    write(
        &conclave,
        &[("long.txt", "x".repeat(200_000).as_bytes()), (&deep, b"x")],
    );
    let flags = ["--yes", "-f", "long.txt", "-f", "deep"];
    assert_eq!(names(&conclave, &flags).0, ["long.txt", &deep]);
}
