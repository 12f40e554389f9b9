//! Programs as providers, from the call to what they see of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::consultation::protocol::call::FailureClass;
use crate::files::try_lock;
use crate::providers::programs::folder::remove_leftovers;
use crate::providers::programs::status::{Login, ProgramStatus};

use super::*;

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[tokio::test]
async fn a_program_works_in_an_empty_private_folder_that_is_removed() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().display();
    let script = format!("pwd > {path}/folder; ls -A > {path}/files; ls -ld .. > {path}/parent");
    let _ = asked(&seat(shell(&script), out.path(), &[]), "?").await;
    assert_eq!(text(out.path(), "files"), "");
    assert!(text(out.path(), "parent").starts_with("drwx------"));
    let folder = text(out.path(), "folder");
    let root = Path::new(folder.trim()).parent().unwrap();
    assert!(!root.exists());
}

#[tokio::test]
async fn a_program_gets_the_prompt_and_only_its_own_variables() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().display();
    let script = format!("cat > {path}/input; /usr/bin/env | cut -d = -f 1 | sort > {path}/names");
    let variables = [
        ("NODE_OPTIONS", "x"),
        ("OPENAI_API_KEY", "x"),
        ("HOME", "/"),
        ("LC_ALL", "C"),
    ];
    let _ = asked(&seat(shell(&script), out.path(), &variables), "What now?").await;
    assert!(text(out.path(), "input").contains("What now?"));
    let names = text(out.path(), "names");
    // Some shells set these themselves.
    let names = names
        .lines()
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    let expected = ["CONCLAVE_DEPTH", "HOME", "LC_ALL", "PATH", "TERM"];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn calls_that_cannot_be_made_start_nothing() {
    let out = tempfile::tempdir().unwrap();
    let script = format!("touch {}/started", out.path().display());
    for (question, variables) in [("a\0b", &[][..]), ("?", &[("CONCLAVE_DEPTH", "2")])] {
        let seat = seat(shell(&script), out.path(), variables);
        let failure = asked(&seat, question).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::BadRequest);
    }
    assert!(!out.path().join("started").exists());
    let missing = seat(program(AnswerReader::Text, &["/no/such"]), out.path(), &[]);
    let failure = asked(&missing, "?").await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transport);
    assert!(
        failure.message.starts_with("`Test` cannot be started: "),
        "{}",
        failure.message
    );
    assert!(failure.usage.is_some());
}

#[tokio::test]
async fn the_second_call_waits_for_the_end_of_a_first_that_shows_nothing() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().display();
    let script = format!("mkdir {path}/one || echo overlap >> {path}/log; rmdir {path}/one");
    let seat = seat(shell(&script), out.path(), &[]);
    let _ = tokio::join!(asked(&seat, "?"), asked(&seat, "?"));
    assert!(!out.path().join("log").exists());
}

#[tokio::test]
async fn a_login_that_must_not_be_used_ends_the_call() {
    let out = tempfile::tempdir().unwrap();
    let json = r#"echo '{"loggedIn":true,"authMethod":"api_key"}'"#;
    for (reader, check, message) in [
        (
            AnswerReader::Text,
            "exit 1",
            "Test is not logged in; log in with `test login`",
        ),
        (
            AnswerReader::ClaudeCode,
            json,
            "Test is logged in with `api_key`, which is billed by use, not with a plan; log in with \
             `test login`",
        ),
    ] {
        let mut life = LifeLine::new();
        let script = life.opened(FOR_EVER);
        let mut program = program(reader, &["sh", "-c", &script]);
        program.check = ["sh", "-c", check].map(ToOwned::to_owned).to_vec();
        let failure = asked(&seat(program, out.path(), &[]), "?")
            .await
            .unwrap_err();
        assert_eq!(
            (failure.class, failure.message.as_str()),
            (FailureClass::Auth, message)
        );
        life.ends().await;
    }
}

/// Another process writes it: a program whose file this one has open cannot be started.
fn executable(folder: &Path, script: &str) -> String {
    let path = folder.join("program").display().to_string();
    let mut write = Command::new("sh");
    write.args([
        "-c",
        "printf '%s' \"$2\" > \"$1\" && chmod 700 \"$1\"",
        "sh",
        &path,
        script,
    ]);
    assert!(write.stdin(Stdio::null()).status().unwrap().success());
    path
}

fn codex(out: &Path) -> Program {
    let script = format!(
        "#!/bin/sh\ncase $1 in\n--version) echo codex-cli 0.169.0;;\nfeatures) echo 'apps  stable \
         true'; echo 'hooks beta false';;\nlogin) echo Logged in using ChatGPT >&2;;\n*) echo \
         \"$@\" > {out}/arguments; echo \"$CODEX_HOME\" > {out}/home; ls \"$CODEX_HOME\" > \
         {out}/files; cat \"$CODEX_HOME\"/auth.json > {out}/auth;;\nesac\n",
        out = out.display()
    );
    let path = executable(out, &script);
    let argv = [
        &path,
        "exec",
        "--disable",
        "apps",
        "--disable",
        "gone",
        "--disable",
        "hooks",
        "-",
    ];
    let mut program = program(AnswerReader::Codex, &argv);
    program.check = vec![path, "login".to_owned(), "status".to_owned()];
    program
}

#[tokio::test]
async fn codex_has_a_home_with_nothing_but_its_login() {
    let out = tempfile::tempdir().unwrap();
    let home = out.path().join("home of codex");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("AGENTS.md"), "canary").unwrap();
    fs::write(home.join("stored"), "login").unwrap();
    symlink("stored", home.join("auth.json")).unwrap();
    let variables = [("CODEX_HOME", home.to_str().unwrap())];
    let seat = seat(codex(out.path()), out.path(), &variables);
    let _ = asked(&seat, "?").await;
    assert_eq!(
        text(out.path(), "arguments"),
        "exec --disable apps --disable hooks -\n"
    );
    assert_eq!(text(out.path(), "files"), "auth.json\n");
    assert_eq!(text(out.path(), "auth"), "login");
    assert!(home.join("stored").exists());
    let status = seat.status().await;
    let version = Some("0.169.0".to_owned());
    let login = Login::Plan(Some("ChatGPT".to_owned()));
    let expected = ProgramStatus {
        version,
        login,
        keeps_home: false,
    };
    assert_eq!(status, expected);
}

#[tokio::test]
async fn codex_with_its_login_in_a_keyring_keeps_its_home() {
    let out = tempfile::tempdir().unwrap();
    let home = out.path().to_str().unwrap();
    let seat = seat(codex(out.path()), out.path(), &[("CODEX_HOME", home)]);
    let _ = asked(&seat, "?").await;
    assert_eq!(text(out.path(), "home").trim(), home);
    assert!(seat.status().await.keeps_home);
}

#[test]
fn folders_of_processes_that_were_killed_are_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = temporary.path().join(name);
        fs::create_dir_all(folder.join("work")).unwrap();
        folder
    };
    let [dead, alive, begun] = ["dead", "alive", "begun"].map(|name| {
        let folder = folder(&format!("conclave-program-{name}"));
        (folder.clone(), folder.join("lock"))
    });
    let other = folder("conclave-other");
    for lock in [&dead.1, &other.join("lock")] {
        fs::write(lock, "").unwrap();
    }
    let held = try_lock(&alive.1).unwrap().unwrap();
    remove_leftovers(temporary.path());
    assert!(!dead.0.exists());
    assert!(alive.0.exists() && begun.0.exists() && other.exists());
    drop(held);
    remove_leftovers(temporary.path());
    assert!(!alive.0.exists() && begun.0.exists());
}

#[tokio::test]
async fn status_of_a_program_that_says_nothing_is_unknown() {
    let out = tempfile::tempdir().unwrap();
    let mut program = shell("");
    program.check = vec!["no-such-program".to_owned()];
    let status = seat(program, out.path(), &[]).status().await;
    assert_eq!(status.login, Login::Unknown);
}
