//! Limits of the system: few file handles, and small files. Each is an error or a warning, never a
//! panic or a kill.

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

#[test]
fn too_few_file_handles_are_an_error_with_a_hint() {
    for handles in [8, 10, 12, 14, 16] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let output = conclave.run_limited(&format!("-n {handles}"), "consult --yes 'Shall we?'");
        assert!(
            !output.stderr.contains("panicked"),
            "{handles}: {}",
            output.stderr
        );
        assert!(
            output.stderr.contains("\n  caused by: ") && output.stderr.contains("\nhint: "),
            "{handles}: {}",
            output.stderr
        );
        assert!(
            matches!(output.code, Some(1 | 2)),
            "{handles}: {:?}",
            output.code
        );
        assert_eq!(server.requests().len(), 0, "{handles}");
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_like_a_full_disk() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run_limited("-f 8", "consult --yes 'Shall we?'")
        .ends_with(0);
    assert!(
        output.stdout.starts_with("# Consultation\n"),
        "{}",
        output.stdout
    );
    let warnings = output
        .stderr
        .matches("Failed to write consultation log")
        .count();
    assert_eq!(warnings, 1, "{}", output.stderr);
}
