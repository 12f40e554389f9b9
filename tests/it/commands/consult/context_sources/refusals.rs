//! Paths and sizes that are refused: all at once, before anything is sent, in bounded time and
//! memory.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, mknodat};

use super::{names, refused, setup, write};
use crate::support::binary::{Conclave, RunOutput, RunningProcess};

const VALID: &str = "\nValid paths must exist and be readable.\n";

#[test]
fn every_bad_path_is_named_with_its_reason_before_anything_is_sent() {
    let (server, conclave) = setup();
    write(
        &conclave,
        &[
            ("good.rs", b"x"),
            ("image.png", b"\x89PNG\0"),
            ("latin.txt", b"caf\xe9"),
            ("only/image.png", b"\0"),
        ],
    );
    let pipe = conclave.folder().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("loop", conclave.folder().join("loop")).unwrap();
    symlink("gone", conclave.folder().join("broken")).unwrap();
    let paths =
        "missing.ts,good.rs,good.rs/x,image.png,latin.txt,only,pipe,/dev/zero,loop,broken,*.zz";
    assert_eq!(
        refused(
            &conclave,
            &server,
            &["--context", paths, "-f", "a[", "-f", "not/here.md"]
        ),
        format!(
            "❌ Context file not found: missing.ts\n\
             ❌ Context file not found: good.rs/x\n\
             ❌ Context file is not text: image.png (it is binary: byte 4 is NUL)\n\
             ❌ Context file is not text: latin.txt (its encoding is neither UTF-8 nor UTF-16 with \
             a byte order mark: see byte 3)\n\
             ❌ Context folder has no text file: only\n\
             ❌ Context file not readable: pipe (it is not a regular file)\n\
             ❌ Context file not readable: /dev/zero (it is not a regular file)\n\
             ❌ Context file not readable: loop (Too many levels of symbolic links (os error 40))\n\
             ❌ Context file not found: broken\n\
             ❌ No context file matches: *.zz\n\
             ❌ Context pattern is not valid: a[ (unclosed character class; missing ']')\n\
             ❌ Context file not found: not/here.md\n\
             {VALID}error: 12 context paths cannot be used; nothing was sent\n"
        )
    );
}

/// The folder lists the descriptor that lists it, which is closed before the files are read.
#[test]
fn file_that_vanishes_after_its_folder_was_listed_is_named() {
    let folder = "/proc/self/fdinfo";
    if !Path::new(folder).is_dir() {
        return;
    }
    let (server, conclave) = setup();
    // Other tests open and close descriptors of this process.
    let arguments = [
        "consult",
        "-f",
        folder,
        "-f",
        "missing.ts",
        "Is this right?",
    ];
    let stderr = conclave.run_process(&arguments).ends_with(2).stderr;
    assert!(server.requests().is_empty());
    let (vanished, rest) = stderr.split_once('\n').unwrap();
    let (beginning, descriptor) = vanished.rsplit_once('/').unwrap();
    assert_eq!(beginning, format!("❌ Context file not found: {folder}"));
    assert!(descriptor.parse::<u32>().is_ok(), "{stderr}");
    assert_eq!(
        rest,
        format!(
            "❌ Context file not found: missing.ts\n\
             {VALID}error: 2 context paths cannot be used; nothing was sent\n"
        )
    );
}

#[test]
fn empty_parts_of_a_list_are_skipped_and_an_empty_path_is_named() {
    let (server, conclave) = setup();
    write(&conclave, &[("a.rs", b"x"), ("b.rs", b"y")]);
    for list in ["", ",", " , "] {
        assert_eq!(
            refused(&conclave, &server, &["--context", list]),
            "error: `--context` names no path\n\
             hint: name files, folders or globs: `--context \"src,README.md\"`\n",
            "{list:?}"
        );
    }
    assert_eq!(
        refused(&conclave, &server, &["-f", ""]),
        "error: `--file` names no path\n\
         hint: name a file, a folder or a glob: `--file README.md`\n"
    );
    for list in ["a.rs,,b.rs", ",a.rs,b.rs,", "a.rs, ,b.rs"] {
        let (sent, _) = names(&conclave, &["--context", list]);
        assert_eq!(sent, ["a.rs", "b.rs"], "{list}");
    }
}

#[test]
fn names_are_printed_without_control_characters() {
    let (server, conclave) = setup();
    let stderr = refused(&conclave, &server, &["-f", "a\nerror: b\x1b2J\u{202e}c"]);
    assert!(
        stderr.starts_with("❌ Context file not found: a\\nerror: b\\u{1b}2J\\u{202e}c\n"),
        "{stderr}"
    );
    write(&conclave, &[("x\ny\x1b.rs", b"x")]);
    assert_eq!(names(&conclave, &["-f", "*.rs"]).0, ["x\\ny\\u{1b}.rs"]);
}

#[test]
fn more_files_than_the_limit_are_refused_with_their_number() {
    let (server, conclave) = setup();
    let folder = conclave.folder().join("many");
    fs::create_dir(&folder).unwrap();
    for number in 0..=1_000 {
        File::create(folder.join(format!("{number}.txt"))).unwrap();
    }
    assert_eq!(
        refused(&conclave, &server, &["-f", "many"]),
        "error: the context has 1001 files, and the limit is 1000; nothing was sent\n\
         hint: send less context, or raise the limit with `--max-context-files 1001`\n"
    );
}

#[test]
fn file_larger_than_the_limit_is_refused_with_its_size() {
    let (server, conclave) = setup();
    write(&conclave, &[("log.txt", &[b'x'; 10_000])]);
    let log = File::options()
        .write(true)
        .open(conclave.folder().join("log.txt"));
    log.unwrap().set_len(1 << 30).unwrap();
    assert_eq!(
        refused(&conclave, &server, &["-f", "log.txt"]),
        "error: the context has 1024 MB, and the limit is 16 MB; nothing was sent\n\
         hint: send less context, or raise the limit with `--max-context-mb 1024`\n"
    );
}

#[test]
fn limits_count_all_sources_together() {
    let (server, conclave) = setup();
    let half = vec![b'x'; 600_000];
    write(&conclave, &[("a.txt", &half), ("b.txt", &half)]);
    let stderr = refused(
        &conclave,
        &server,
        &["--max-context-mb", "1", "--context", "a.txt,b.txt"],
    );
    assert!(
        stderr.starts_with("error: the context has 1.2 MB, and the limit is 1 MB"),
        "{stderr}"
    );
    let text = String::from_utf8(half).unwrap();
    let arguments = [
        "consult",
        "--max-context-mb",
        "1",
        "-f",
        "a.txt",
        "Is this right?",
    ];
    let output = conclave.run_with(&arguments, &text).ends_with(2);
    assert!(
        output
            .stderr
            .starts_with("error: standard input has more than 0.5 MB"),
        "{}",
        output.stderr
    );
    assert!(server.requests().is_empty());
}

#[test]
fn sparse_file_of_a_terabyte_is_refused_at_once() {
    let (server, conclave) = setup();
    File::create(conclave.folder().join("huge"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let stderr = refused(&conclave, &server, &["-f", "huge"]);
    assert!(
        stderr.contains("huge (it is binary: byte 0 is NUL)"),
        "{stderr}"
    );
}

/// Runs without the right to read every file, which root has. `None` where that right cannot be
/// given up.
fn without_rights(conclave: &Conclave, arguments: &[&str]) -> Option<RunOutput> {
    let rights = "-dac_override,-dac_read_search";
    let child = Command::new("setpriv")
        .args(["--inh-caps", rights, "--bounding-set", rights])
        .arg(env!("CARGO_BIN_EXE_conclave"))
        .args(arguments)
        .env_clear()
        .envs(conclave.variables())
        .current_dir(conclave.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let output = RunningProcess::of(child.ok()?).wait();
    (!output.stderr.starts_with("setpriv")).then_some(output)
}

#[test]
fn path_without_permission_is_named_as_such() {
    let (server, conclave) = setup();
    write(
        &conclave,
        &[
            ("secret.txt", b"x"),
            ("open/locked/a.txt", b"x"),
            ("open/b.txt", b"x"),
        ],
    );
    let close = |path: &str| {
        let path: &Path = &conclave.folder().join(path);
        fs::set_permissions(path, Permissions::from_mode(0o0)).unwrap();
    };
    close("secret.txt");
    close("open/locked");
    let output = without_rights(
        &conclave,
        &["-f", "secret.txt", "-f", "open", "Is this right?"],
    );
    fs::set_permissions(
        conclave.folder().join("open/locked"),
        Permissions::from_mode(0o700),
    )
    .unwrap();
    if let Some(output) = output {
        assert_eq!(
            output.ends_with(2).stderr,
            format!(
                "❌ Context file not readable: secret.txt (permission denied)\n\
                 ❌ Context folder not readable: open/locked (permission denied)\n\
                 {VALID}error: 2 context paths cannot be used; nothing was sent\n"
            )
        );
        assert!(server.requests().is_empty());
    }
}

#[test]
fn files_among_the_words_of_the_question_are_refused() {
    let (server, conclave) = setup();
    write(&conclave, &[("a.rs", b"x"), ("b.rs", b"x")]);
    let expected = "error: `b.rs` is a file, and stands among the words of the question\n\
                    hint: quote a glob, so that the shell leaves it alone: `--file 'src/*.rs'`\n\
                    hint: or put the whole question in quotes\n";
    assert_eq!(
        refused(&conclave, &server, &["-f", "a.rs", "b.rs"]),
        expected
    );
    let arguments = ["consult", "Is this right?", "-f", "a.rs", "b.rs"];
    assert_eq!(conclave.run(&arguments).ends_with(2).stderr, expected);
}

#[test]
fn limits_outside_their_range_are_refused() {
    let (_server, conclave) = setup();
    for flags in [
        ["--max-context-files", "0"],
        ["--max-context-mb", "0"],
        ["--max-context-mb", "4097"],
        ["--file", ""],
        ["--context", "a.rs,"],
    ] {
        let arguments = ["consult", flags[0], flags[1], "Is this right?"];
        conclave.run(&arguments).ends_with(2);
    }
}
