//! Pipes, devices and huge files in the place of the files that are read: nothing hangs, and
//! nothing fills the memory.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{CWD, FileType, mknodat};

use crate::commands::succeed;
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::saved::{complete_consultation, log_folder};

/// Makes a special file at a path.
type MakeFile = fn(&Path);

/// Each kind of special file with the reason why it is not read.
const KINDS: [(MakeFile, &str); 3] = [
    (pipe, "it is not a regular file"),
    (endless, "it is not a regular file"),
    (huge, "it is larger than "),
];

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap();
}

fn endless(path: &Path) {
    symlink("/dev/zero", path).unwrap();
}

/// A terabyte without a block on the disk.
fn huge(path: &Path) {
    File::create(path).unwrap().set_len(1 << 40).unwrap();
}

#[test]
fn special_files_are_no_settings_models_prompts_or_personas() {
    for (path, arguments) in [
        ("config.json", &["config", "show"][..]),
        ("config.json", &["config", "set", "mode", "converge"]),
        ("models.json", &["models"]),
        ("prompts/converge/verdict.md", &["personas"]),
        ("prompts/personas/lawyer.md", &["personas"]),
    ] {
        for (make, reason) in KINDS {
            let conclave = Conclave::new();
            let path = conclave.home().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            make(&path);
            let stderr = conclave.run(arguments).ends_with(2).stderr;
            assert!(stderr.contains(reason), "{stderr}");
            assert!(stderr.contains(path.to_str().unwrap()), "{stderr}");
            assert!(stderr.contains("\nhint: "), "{stderr}");
        }
    }
}

#[test]
fn special_files_are_no_certificates() {
    for (make, reason) in KINDS {
        let conclave = Conclave::new();
        let path = conclave.folder().join("certificates");
        make(&path);
        let conclave = conclave.variable("SSL_CERT_FILE", &path);
        for arguments in [&["consult", "Should we?"] as &[&str], &["doctor"]] {
            let stderr = conclave.run(arguments).ends_with(2).stderr;
            assert!(stderr.contains(reason), "{stderr}");
            assert!(stderr.contains("unset SSL_CERT_FILE"), "{stderr}");
        }
    }
}

#[test]
fn special_files_are_skipped_among_the_records_by_name() {
    let conclave = Conclave::new();
    let unique = "01kfa1aaaaaaaaaaaaaaaaaaaa";
    complete_consultation(unique, "2026-01-05T10:00:00Z", "Which?").save(&conclave);
    let logs = log_folder(&conclave);
    for (number, (make, _)) in KINDS.into_iter().enumerate() {
        make(&logs.join(format!("consult-record{number}.json")));
        make(&logs.join(format!("consult-journal{number}.jsonl")));
    }
    let rebuilt = succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    rebuilt.assert_stderr_contains("Skipped 6 files:\n");
    assert!(rebuilt.stdout.contains("[1] consultations indexed"));
    for (number, (_, reason)) in KINDS.into_iter().enumerate() {
        for kind in ["record", "journal"] {
            let name = format!("{kind}{number}");
            let stderr = conclave
                .run(&["history", "show", &name])
                .ends_with(1)
                .stderr;
            assert!(stderr.contains(reason), "{name}: {stderr}");
            conclave.run(&["resume", &name]).ends_with(2);
            succeed(&conclave, &["history", "rm", &name, "--yes"]);
        }
    }
    assert_eq!(conclave.run(&["history", "--json"]).json()["total"], 1);
}

#[test]
fn special_files_are_no_grades() {
    for (make, _) in KINDS {
        let conclave = Conclave::new();
        let unique = "01kfa1aaaaaaaaaaaaaaaaaaaa";
        complete_consultation(unique, "2026-01-05T10:00:00Z", "Which?").save(&conclave);
        let grade = log_folder(&conclave).join(format!("consult-{unique}.outcome.json"));
        make(&grade);
        conclave.run(&["history", "show", unique]).ends_with(0);
        succeed(&conclave, &["history", "outcome", unique, "right"]);
        assert!(fs::symlink_metadata(&grade).unwrap().is_file());
    }
}

#[test]
fn endless_input_is_no_question() {
    let conclave = Conclave::new();
    let mut command = conclave.command();
    command
        .args(["consult", "-"])
        .stdin(File::open("/dev/zero").unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = RunningProcess::of(command.spawn().unwrap())
        .wait()
        .ends_with(2);
    ran.assert_stderr_contains("it is larger than 4 MB");
}
