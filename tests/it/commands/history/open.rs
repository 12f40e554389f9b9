//! `conclave history export --open`: where the page lies, and what opens it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::commands::succeed;
use crate::support::binary::Conclave;
use crate::support::timeout::until;

use super::{OLDEST, three};

/// Writes a program that records its arguments, one a line.
fn program(conclave: &Conclave, name: &str) -> PathBuf {
    let folder = conclave.folder().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    let log = conclave.folder().join("opened");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", log.display());
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    file
}

/// Waits for the program, which nothing else waits for, and returns its arguments.
fn opened(conclave: &Conclave) -> String {
    let log = conclave.folder().join("opened");
    let mut text = String::new();
    until("the program was started", || {
        text = std::fs::read_to_string(&log).unwrap_or_default();
        text.ends_with(".html\n")
    });
    std::fs::remove_file(log).unwrap();
    text
}

#[test]
fn browser_gets_the_page_beside_the_record_without_a_shell() {
    let conclave = three();
    let browser = program(&conclave, "browser");
    let command = format!("{} --new;touch %s", browser.display());
    let conclave = conclave.variable("BROWSER", command);
    let ran = succeed(&conclave, &["history", "export", OLDEST, "--open"]);
    let page = conclave
        .home()
        .join(format!("consult-logs/consult-{OLDEST}.html"));
    assert_eq!(
        opened(&conclave),
        format!("--new;touch\n{}\n", page.display())
    );
    assert_eq!(ran.stdout, "");
    ran.assert_stderr_contains(&page.display().to_string());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("OAuth or JWT?"));
    let mode = std::fs::metadata(&page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    succeed(&conclave, &["history", "rm", OLDEST, "--yes"]);
    assert!(!page.exists(), "the page goes with its consultation");
}

#[test]
fn systems_opener_is_used_without_a_browser_variable() {
    let conclave = three();
    let opener = program(&conclave, "xdg-open");
    let folder = opener.parent().unwrap().to_owned();
    let conclave = conclave.variable("PATH", folder);
    let file = conclave.folder().join("answer.html");
    let file = file.to_str().unwrap();
    conclave
        .run(&["history", "export", OLDEST, "--open", "-o", file])
        .ends_with(0);
    assert_eq!(opened(&conclave), format!("{file}\n"));
}

#[test]
fn without_an_opener_the_path_of_the_page_is_printed() {
    let conclave = three().variable("PATH", "/nonexistent");
    let ran = succeed(&conclave, &["history", "export", OLDEST, "--open"]);
    assert!(ran.stderr.contains(".html"), "{}", ran.stderr);
    let warning = "no browser could be started: open the page yourself, or set BROWSER";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    conclave
        .run(&["history", "export", OLDEST, "--open", "--format", "md"])
        .ends_with(2);
}

#[test]
fn browser_that_stays_open_is_not_waited_for_and_gets_an_absolute_path() {
    let conclave = three();
    let browser = program(&conclave, "browser");
    // Longer than any wait of a test, and not much, because nothing ends it.
    let script = std::fs::read_to_string(&browser).unwrap() + "exec sleep 61\n";
    std::fs::write(&browser, script).unwrap();
    let conclave = conclave.variable("BROWSER", &browser);
    conclave
        .run(&["history", "export", OLDEST, "--open", "--output=-x.html"])
        .ends_with(0);
    let page = conclave.folder().join("-x.html");
    assert_eq!(opened(&conclave), format!("{}\n", page.display()));
}
