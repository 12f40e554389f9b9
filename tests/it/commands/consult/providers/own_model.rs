//! `CONCLAVE_MODEL`: a file of the user's own as the local model.

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

/// Sets up a home with this content as the user's own model file.
fn with_own_file(content: &str) -> Conclave {
    let conclave = Conclave::new();
    let file = conclave.folder().join("mine.gguf");
    std::fs::write(&file, content).unwrap();
    conclave.variable("CONCLAVE_MODEL", file)
}

#[cfg(not(feature = "local"))]
#[test]
fn build_without_a_local_model_ignores_the_file() {
    let conclave = with_own_file("GGUF");
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(2);
    output.assert_stderr_contains(", and this build has no local model\n");
    let output = conclave
        .run(&["consult", "--model", "local:mine", "Shall we?"])
        .ends_with(2);
    assert!(
        output
            .stderr
            .starts_with("error: this build has no local model\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn wrong_path_fails_no_run_with_keys() {
    let server = ProviderServer::start();
    Conclave::at(&server)
        .variable("CONCLAVE_MODEL", "/nonexistent.gguf")
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    assert_eq!(server.requests().len(), 9);
}

#[cfg(feature = "local")]
mod built_in {
    use super::*;

    /// A preview reads no more of a model file than this.
    const GGUF: &str = "GGUF and so on";

    /// Returns the preview of a consultation.
    fn preview(conclave: &Conclave, arguments: &[&str]) -> String {
        conclave
            .run(&[&["consult", "--dry-run", "Shall we?"], arguments].concat())
            .ends_with(0)
            .stdout
    }

    #[test]
    fn own_file_has_every_seat_of_a_run_without_keys() {
        let preview = preview(&with_own_file(GGUF), &[]);
        assert!(preview.contains("local:mine"), "{preview}");
        assert!(!preview.contains("local:qwen"), "{preview}");
    }

    #[test]
    fn own_file_takes_precedence_over_the_setting_and_not_over_a_flag() {
        let conclave =
            with_own_file(GGUF).config(r#"{"local_model": "qwen2.5-coder-1.5b-instruct"}"#);
        let by_default = preview(&conclave, &[]);
        assert!(by_default.contains("local:mine"), "{by_default}");
        assert!(!by_default.contains("1.5b"), "{by_default}");
        let smallest = "local:smollm2-135m-instruct";
        let by_flag = preview(&conclave, &["--model", smallest, "--judge", smallest]);
        assert!(by_flag.contains(smallest), "{by_flag}");
        assert!(!by_flag.contains("local:mine"), "{by_flag}");
    }

    #[test]
    fn vendors_with_a_key_take_precedence_over_the_own_file() {
        let server = ProviderServer::start();
        let variables = server.variables().into_iter();
        let conclave = variables.fold(with_own_file(GGUF), |conclave, (name, value)| {
            conclave.variable(name, value)
        });
        conclave.run(&["consult", "Shall we?"]).ends_with(0);
        assert_eq!(server.requests().len(), 9);
    }

    #[test]
    fn file_that_is_no_model_is_rejected_by_its_path() {
        let conclave = with_own_file("text");
        let output = conclave.run(&["consult", "Shall we?"]).ends_with(2);
        let path = conclave.folder().join("mine.gguf");
        let error = format!(
            "error: `{}` is not a model file in GGUF format\n",
            path.display()
        );
        assert!(output.stderr.starts_with(&error), "{}", output.stderr);
        let missing = conclave.variable("CONCLAVE_MODEL", "/nonexistent.gguf");
        let output = missing.run(&["consult", "Shall we?"]).ends_with(2);
        assert!(
            output
                .stderr
                .starts_with("error: cannot read the model file `/nonexistent.gguf`\n"),
            "{}",
            output.stderr
        );
    }

    #[test]
    fn missing_model_without_a_terminal_needs_consent_by_a_flag() {
        let conclave = Conclave::new();
        let output = conclave.run(&["consult", "Shall we?"]).ends_with(3);
        output.assert_stderr_contains("must be downloaded, and there is no terminal to ask on\n");
        output.assert_stderr_contains("hint: agree to the download with `--yes`\n");
        assert!(!conclave.home().exists());
    }
}
