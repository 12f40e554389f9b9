//! `conclave model` in a build without the local model.

use crate::support::binary::Conclave;

/// Most builds are without the local model.
const BUILT_WITHOUT: bool = !cfg!(feature = "local");

#[test]
fn embedded_models_are_listed_with_their_requirements() {
    let conclave = Conclave::new();
    let output = conclave.run(&["model", "list"]).ends_with(0);
    assert_eq!(output.stderr, "");
    assert!(
        output
            .stdout
            .lines()
            .any(|line| line.starts_with("local:smollm2-135m-instruct ")),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("not installed"), "{}", output.stdout);
    assert!(
        output.stdout.contains("local model, demonstration quality"),
        "{}",
        output.stdout
    );
    assert!(!conclave.home().exists(), "reading creates no folder");
}

#[test]
fn path_is_in_the_home_and_needs_no_file() {
    let conclave = Conclave::new();
    let output = conclave
        .run(&["model", "path", "smollm2-135m-instruct"])
        .ends_with(0);
    let folder = conclave.home().join("models");
    assert!(
        output.stdout.starts_with(folder.to_str().unwrap()),
        "{}",
        output.stdout
    );
    assert!(output.stdout.ends_with(".gguf\n"), "{}", output.stdout);
    let usual = conclave.run(&["model", "path"]).ends_with(0);
    assert!(
        usual.stdout.starts_with(folder.to_str().unwrap()),
        "{}",
        usual.stdout
    );
}

#[test]
fn missing_model_cannot_be_removed() {
    let output = Conclave::new()
        .run(&["model", "rm", "smollm2-135m-instruct"])
        .ends_with(1);
    assert_eq!(output.stdout, "");
    assert_eq!(
        output.stderr,
        "error: `smollm2-135m-instruct` is not downloaded\n"
    );
}

#[test]
fn unknown_model_is_rejected_with_a_hint() {
    for action in ["path", "rm"] {
        let output = Conclave::new().run(&["model", action, "gpt"]).ends_with(2);
        assert!(
            output
                .stderr
                .ends_with("hint: see the models with `conclave model list`\n"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn build_without_the_local_feature_names_the_feature() {
    if BUILT_WITHOUT {
        for arguments in [
            &["model", "pull"][..],
            &["model", "pull", "smollm2-135m-instruct"],
            &["model", "pull", "nonsense"],
        ] {
            let conclave = Conclave::new();
            let output = conclave.run(arguments).ends_with(2);
            assert_eq!(output.stdout, "");
            assert!(
                output.stderr.contains("--features local"),
                "{}",
                output.stderr
            );
            assert!(!conclave.home().exists());
        }
        let output = Conclave::new()
            .run(&["consult", "--model", "local:smollm2-135m-instruct", "q"])
            .ends_with(2);
        assert_eq!(
            output.stderr,
            "error: this build has no local model\nhint: build it in with `cargo build --release --features local`\n"
        );
    }
}
