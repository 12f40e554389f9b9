//! Files, folders and globs as context, and what is refused: every path at once, before anything is
//! sent, in bounded time and memory.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, mknodat};
use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::ProviderServer;

const VALID: &str = "\nValid paths must exist and be readable.\n";

/// Writes files in the folder where the binary runs.
fn write(conclave: &Conclave, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        let path = conclave.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Returns the names of the context's files, and all that a run with these flags said.
fn names(conclave: &Conclave, flags: &[&str]) -> (Vec<String>, RunOutput) {
    let arguments: Vec<&str> = ["consult"]
        .into_iter()
        .chain(flags.iter().copied())
        .chain(["--rounds", "1", "Is this right?"])
        .collect();
    let output = conclave.run(&arguments).ends_with(0);
    let path = conclave.log("jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let first: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    let sources = first["data"]["plan"]["context"]["sources"]
        .as_array()
        .expect("the plan has a context");
    let names = sources
        .iter()
        .map(|source| source["name"].as_str().unwrap().to_owned())
        .collect();
    (names, output)
}

/// Runs with these flags and expects an error of usage before anything is sent or stored.
fn refused(conclave: &Conclave, server: &ProviderServer, flags: &[&str]) -> String {
    let arguments: Vec<&str> = ["consult"]
        .into_iter()
        .chain(flags.iter().copied())
        .chain(["Is this right?"])
        .collect();
    let output = conclave.run(&arguments).ends_with(2);
    assert_eq!(output.stdout, "");
    assert!(server.requests().is_empty());
    assert!(!conclave.home().join("consult-logs").exists());
    output.stderr
}

fn setup() -> (ProviderServer, Conclave) {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    (server, conclave)
}

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
            "`p`: left out 4 files that are no text: p/logo.png, p/loop, p/old.txt, …\n"
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
             ❌ Context file is not text: latin.txt (its encoding is neither UTF-8 nor UTF-16 with a \
             byte order mark: see byte 3)\n\
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
fn name_that_is_no_utf_8_is_read() {
    let (_server, conclave) = setup();
    let folder = conclave.folder().join("f");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"caf\xe9.rs")), "x").unwrap();
    assert_eq!(names(&conclave, &["-f", "f"]).0, ["f/caf\u{fffd}.rs"]);
}

#[test]
fn more_files_than_the_limit_are_refused_with_their_number() {
    let (server, conclave) = setup();
    let folder = conclave.folder().join("many");
    fs::create_dir(&folder).unwrap();
    for number in 0..10_000 {
        File::create(folder.join(format!("{number}.txt"))).unwrap();
    }
    assert_eq!(
        refused(&conclave, &server, &["-f", "many"]),
        "error: the context has 10000 files, and the limit is 1000; nothing was sent\n\
         hint: name less, or raise the limit with `--max-context-files 10000`\n"
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
         hint: name less, or raise the limit with `--max-context-mb 1024`\n"
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

#[test]
fn long_lines_and_deep_folders_are_read() {
    let (_server, conclave) = setup();
    let deep = ["d"; 200].join("/") + "/x.txt";
    write(
        &conclave,
        &[
            ("long.txt", &[b'x'; 200_000]),
            (&format!("deep/{deep}"), b"x"),
        ],
    );
    let flags = ["--yes", "-f", "long.txt", "-f", "deep"];
    assert_eq!(
        names(&conclave, &flags).0,
        ["long.txt".to_owned(), format!("deep/{deep}")]
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
        fs::set_permissions(path, Permissions::from_mode(0)).unwrap();
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

/// Sets up models that read few tokens, as `models.json` in the home says.
fn with_small_models(server: &ProviderServer) -> Conclave {
    let conclave = Conclave::at(server).config("{}");
    let models = r#"{"models":[
        {"provider":"openai","id":"small","context":8000,"max_output":1000},
        {"provider":"google","id":"gemini-4-argon","context":9000,"max_output":1000}
    ]}"#;
    fs::write(conclave.home().join("models.json"), models).unwrap();
    write(
        &conclave,
        &[("long.txt", "word ".repeat(10_000).as_bytes())],
    );
    conclave
}

#[test]
fn context_that_a_model_cannot_read_is_refused_before_anything_is_sent() {
    let server = ProviderServer::start();
    let conclave = with_small_models(&server);
    let panel = [
        "--panel",
        "security=openai:small,architect=google:gemini-4-argon",
    ];
    let judge = ["--judge", "openai:small", "-f", "long.txt"];
    let stderr = refused(
        &conclave,
        &server,
        &[panel, [judge[0], judge[1]], [judge[2], judge[3]]].concat(),
    );
    let (error, hint) = stderr.split_once('\n').unwrap();
    assert!(
        error.starts_with("error: the context does not fit: a prompt has about ")
            && error.ends_with(
                " tokens, and openai:small reads at most 8,000 tokens, google:gemini-4-argon reads \
                 at most 9,000 tokens"
            ),
        "{error}"
    );
    assert_eq!(
        hint,
        "hint: send less context, or choose other models with `--panel`, `--model` and `--judge`\n"
    );
}

#[test]
fn fallback_that_cannot_read_the_context_is_left_out() {
    let server = ProviderServer::start();
    let conclave = with_small_models(&server);
    let output = conclave
        .run(&[
            "consult",
            "--yes",
            "--panel",
            "security=openai:gpt-6.1-sol,architect=anthropic:claude-sonnet-5-5",
            "--judge",
            "openai:gpt-6.1-sol,google:gemini-4-argon",
            "-f",
            "long.txt",
            "Is this right?",
        ])
        .ends_with(0);
    assert!(
        output.stderr.contains(
            "Note: too small for the context, and therefore no fallback: google:gemini-4-argon\n"
        ),
        "{}",
        output.stderr
    );
}

#[test]
fn small_model_is_asked_without_context() {
    let server = ProviderServer::start();
    let conclave = with_small_models(&server);
    let arguments = [
        "consult",
        "--yes",
        "--model",
        "openai:small",
        "--judge",
        "openai:small",
        "Which?",
    ];
    conclave.run(&arguments).ends_with(0);
}
