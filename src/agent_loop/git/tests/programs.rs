//! Settings of a repository that name programs: none of them is run.

use std::io::Write;

use super::*;

/// Leaves a file in the working tree of which the settings have it.
const EVIL: &str = "touch \"$(git rev-parse --show-toplevel)/evil\"; cat";

impl Repository {
    fn add_settings(&self, settings: &[u8]) {
        let mut options = fs::File::options();
        let file = options.append(true).open(self.path().join(".git/config"));
        file.unwrap().write_all(settings).unwrap();
    }

    /// Measures the tree, in which a file has another content and another time.
    fn measure_changes(&self) {
        let before = self.tree();
        self.write("a", "3\n");
        self.changed_files_since(&before);
    }

    fn assert_nothing_was_run(&self) {
        assert!(!self.path().join("evil").exists());
        // The settings do what they say.
        self.try_git(&["status"]);
        assert!(self.path().join("evil").exists());
    }
}

/// Returns the setting of a filter, of which the name may hold any bytes but ends of lines.
fn filter(name: &[u8], key: &str) -> Vec<u8> {
    let mut settings = b"[filter \"".to_vec();
    for byte in name {
        if b"\"\\".contains(byte) {
            settings.push(b'\\');
        }
        settings.push(*byte);
    }
    let evil = EVIL.replace('"', "\\\"");
    settings.extend(format!("\"]\n\t{key} = \"{evil}\"\n\trequired = true\n").as_bytes());
    settings
}

#[test]
fn programs_in_the_settings_of_the_repository_are_not_run() {
    let repository = Repository::new();
    repository.write(".gitattributes", "* filter=evil diff=evil\n");
    repository.write("a", "2\n");
    repository.write("d/b", "1\n ");
    for key in [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "core.sshCommand",
    ] {
        repository.git(&["config", key, EVIL]);
    }
    repository.measure_changes();
    repository.assert_nothing_was_run();
}

/// A filter is found wherever its settings stand.
#[test]
fn filters_of_included_settings_and_other_attributes_are_not_run() {
    for place in ["include", "includeIf \"gitdir:**\""] {
        let repository = Repository::new();
        repository.write(
            ".git/more",
            &String::from_utf8(filter(b"a=b", "clean")).unwrap(),
        );
        repository.add_settings(format!("[{place}]\n\tpath = more\n").as_bytes());
        repository.write(".git/info/attributes", "[attr]evil filter=a=b\n* evil\n");
        repository.write("a", "2\n");
        repository.measure_changes();
        repository.assert_nothing_was_run();
    }
}

#[test]
fn more_filters_than_the_environment_holds_are_an_error() {
    let repository = Repository::new();
    let names = (0..20_000).map(|number| format!("{number}={}", "x".repeat(100)));
    let settings: Vec<u8> = names
        .flat_map(|name| filter(name.as_bytes(), "clean"))
        .collect();
    repository.add_settings(&settings);
    let error = measure(repository.path(), &[], not_interrupted()).unwrap_err();
    assert!(matches!(error, GitError::Unstartable(_)), "{error}");
}

/// Filters with names that Git and the shell could take for something else.
#[test]
fn filters_of_any_name_are_not_run() {
    const NAMES: [&[u8]; 16] = [
        b"",
        b"=",
        b"a=b",
        b".",
        b"..",
        b"a.clean",
        b"'",
        b"\"",
        b"\\",
        b"#;",
        b"$`!",
        b"[]*?",
        b" ",
        b"\xff\x80",
        b"\xc3\xa9",
        b"\x01\r\t",
    ];
    let repository = Repository::new();
    let mut attributes = Vec::new();
    let mut settings = Vec::new();
    for (number, name) in NAMES.iter().enumerate() {
        repository.write(&format!("f{number}"), "1\n");
        attributes.extend(format!("f{number} filter=").as_bytes());
        attributes.extend(*name);
        attributes.push(b'\n');
        settings.extend(filter(name, ["clean", "process"][number % 2]));
    }
    repository.commit();
    fs::write(repository.path().join(".gitattributes"), attributes).unwrap();
    repository.add_settings(&settings);
    for number in 0..NAMES.len() {
        repository.write(&format!("f{number}"), "2\n");
    }
    repository.measure_changes();
    repository.assert_nothing_was_run();
}
