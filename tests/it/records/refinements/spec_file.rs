//! The document that is refined: what is read, what is replaced, and what a person saved meanwhile.

use std::fs;
use std::path::{Path, PathBuf};

use conclave::records::refinements::{SpecFile, SpecFileError};
use conclave::refinement::event::TextHash;
use tempfile::TempDir;

/// A folder with the document `SPEC.md`.
struct Spec {
    folder: TempDir,
}

impl Spec {
    fn of(content: impl AsRef<[u8]>) -> Self {
        let spec = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::write(spec.path("SPEC.md"), content).unwrap();
        spec
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self) -> SpecFile {
        SpecFile::at(&self.path("SPEC.md"))
    }

    fn content(&self) -> Vec<u8> {
        fs::read(self.path("SPEC.md")).unwrap()
    }

    fn replace(&self, expected: &str, text: &str) -> Result<(), SpecFileError> {
        self.file()
            .replace_if_unchanged(&TextHash::of(expected), text)
    }

    /// Checks that the folder has this many entries: no temporary file is left.
    fn has_entries(&self, count: usize) {
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), count);
    }
}

#[test]
fn whole_text_is_read_with_its_byte_order_mark_and_line_ends() {
    let text = "\u{feff}# One\r\n\r\n- two\n";
    assert_eq!(Spec::of(text).file().read().unwrap(), text);
}

#[test]
fn unreadable_documents_are_named_with_the_reason() {
    let spec = Spec::of("");
    for empty in ["", "\u{feff}", " \r\n\t\n"] {
        fs::write(spec.path("SPEC.md"), empty).unwrap();
        let error = spec.file().read().unwrap_err();
        assert!(matches!(error, SpecFileError::Empty(_)), "{error}");
    }
    let reason = |spec: &Spec| match spec.file().read().unwrap_err() {
        SpecFileError::Read { source, .. } => source.to_string(),
        other => panic!("{other}"),
    };
    assert_eq!(reason(&Spec::of(b"a\xffb")), "it is not UTF-8 text");
    let file = fs::File::create(spec.path("SPEC.md")).unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    assert_eq!(reason(&spec), "it is larger than 16 MB");
    fs::remove_file(spec.path("SPEC.md")).unwrap();
    for error in [
        spec.file().read().unwrap_err(),
        spec.replace("one", "two").unwrap_err(),
        spec.replace("one", "one").unwrap_err(),
        spec.file().check_replaceable().unwrap_err(),
    ] {
        assert!(matches!(error, SpecFileError::Missing(_)), "{error}");
    }
    spec.has_entries(0);
    fs::create_dir(spec.path("SPEC.md")).unwrap();
    reason(&spec);
}

#[test]
fn document_of_16_mb_is_read_and_replaced_by_no_larger_one() {
    let text = "a".repeat(16 << 20);
    let spec = Spec::of(&text);
    assert_eq!(spec.file().read().unwrap().len(), 16 << 20);
    spec.replace(&text, &(text.clone() + "b")).unwrap_err();
    assert_eq!(spec.content().len(), 16 << 20);
    spec.replace(&text, "small").unwrap();
    assert_eq!(spec.content(), b"small");
}

#[test]
fn changed_document_stays_as_the_person_saved_it() {
    let spec = Spec::of("one");
    spec.replace("one", "mine").unwrap();
    let is_kept = |text: &str| {
        let error = spec.replace("one", text).unwrap_err();
        assert!(matches!(error, SpecFileError::Changed(_)), "{error}");
    };
    is_kept("two");
    is_kept("one");
    assert_eq!(spec.content(), b"mine");
    fs::write(spec.path("SPEC.md"), b"\xff").unwrap();
    is_kept("two");
    let file = fs::File::create(spec.path("SPEC.md")).unwrap();
    file.set_len(17 << 20).unwrap();
    is_kept("two");
    spec.has_entries(1);
}

#[test]
fn same_text_is_not_written_again() {
    let spec = Spec::of("one");
    let file = fs::File::options()
        .write(true)
        .open(spec.path("SPEC.md"))
        .unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    spec.replace("one", "one").unwrap();
    let modified = spec.path("SPEC.md").metadata().unwrap().modified();
    assert_eq!(modified.unwrap(), std::time::UNIX_EPOCH);
}

#[test]
fn new_document_never_replaces_another_file() {
    let spec = Spec::of("one");
    let output = SpecFile::at(&spec.path("SPEC.refined.md"));
    assert!(!output.exists());
    output.create(&spec.file(), "two").unwrap();
    assert_eq!(output.read().unwrap(), "two");
    let error = output.create(&spec.file(), "three").unwrap_err();
    assert!(matches!(error, SpecFileError::Exists(_)), "{error}");
    assert_eq!(output.read().unwrap(), "two");
    spec.has_entries(2);
}

mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn mode(path: impl AsRef<Path>) -> u32 {
        path.as_ref().metadata().unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: impl AsRef<Path>, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn mode_and_owner_stay() {
        let spec = Spec::of("one");
        set_mode(spec.path("SPEC.md"), 0o664);
        let owner = || {
            let metadata = spec.path("SPEC.md").metadata().unwrap();
            (metadata.uid(), metadata.gid())
        };
        let before = owner();
        spec.replace("one", "two").unwrap();
        assert_eq!(mode(spec.path("SPEC.md")), 0o664);
        assert_eq!(owner(), before);
    }

    #[test]
    fn new_document_has_the_readers_of_its_source() {
        let spec = Spec::of("one");
        fs::write(spec.path("plain"), "").unwrap();
        let umasked = mode(spec.path("plain"));
        // No source makes a program of it, and none lets others write it.
        for (bits, expected) in [
            (0o600, 0o600),
            (0o640, 0o640),
            (0o444, 0o644),
            (0o755, 0o644),
            (0o777, 0o644),
            (0o4755, 0o644),
            (0o700, 0o600),
        ] {
            set_mode(spec.path("SPEC.md"), bits);
            let name = format!("{bits:o}.md");
            let output = SpecFile::at(&spec.path(&name));
            output.create(&spec.file(), "two").unwrap();
            assert_eq!(mode(spec.path(&name)), expected & umasked);
        }
    }

    #[test]
    fn link_stays_and_its_target_is_replaced() {
        let spec = Spec::of("one");
        fs::create_dir(spec.path("d")).unwrap();
        fs::rename(spec.path("SPEC.md"), spec.path("d/real.md")).unwrap();
        symlink("d/real.md", spec.path("SPEC.md")).unwrap();
        spec.replace("one", "two").unwrap();
        assert!(spec.path("SPEC.md").is_symlink());
        assert_eq!(fs::read(spec.path("d/real.md")).unwrap(), b"two");
        spec.has_entries(2);
        let dangling = SpecFile::at(&spec.path("dangling.md"));
        symlink("nowhere", &dangling.path).unwrap();
        assert!(dangling.exists());
        let error = dangling.create(&spec.file(), "two").unwrap_err();
        assert!(matches!(error, SpecFileError::Exists(_)), "{error}");
    }

    #[test]
    fn read_only_document_or_folder_is_not_changed() {
        let spec = Spec::of("one");
        set_mode(spec.path("SPEC.md"), 0o444);
        for error in [
            spec.replace("one", "two").unwrap_err(),
            spec.file().check_replaceable().unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(message.starts_with("no permission to write"), "{message}");
        }
        spec.has_entries(1);
        set_mode(spec.path("SPEC.md"), 0o644);
        spec.file().check_replaceable().unwrap();
        set_mode(spec.path("."), 0o555);
        // The administrator may write everywhere.
        if fs::write(spec.path("probe"), "").is_err() {
            spec.replace("one", "two").unwrap_err();
            spec.file().check_replaceable().unwrap_err();
        }
        set_mode(spec.path("."), 0o755);
        assert_eq!(spec.content(), b"one");
    }

    #[test]
    fn pipes_folders_and_devices_are_refused_at_once() {
        let spec = Spec::of("one");
        fs::remove_file(spec.path("SPEC.md")).unwrap();
        fs::create_dir(spec.path("SPEC.md")).unwrap();
        let refused = |file: &SpecFile| {
            file.read().unwrap_err();
            file.check_replaceable().unwrap_err();
            let hash = TextHash::of("one");
            file.replace_if_unchanged(&hash, "two").unwrap_err();
        };
        refused(&spec.file());
        let pipe = spec.path("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        refused(&SpecFile::at(&pipe));
        refused(&SpecFile::at(&PathBuf::from("/dev/null")));
        spec.has_entries(2);
    }

    /// A person saves as editors do, to a new file that is renamed, at any time.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_save_is_lost_whenever_it_comes() {
        const SAVES: usize = 100;
        let spec = Spec::of("");
        let is_over = AtomicBool::new(false);
        let path = spec.path("SPEC.md");
        fs::write(&path, "begin\n").unwrap();
        let mut changed = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..SAVES {
                    fs::write(spec.path("editor"), format!("save {number}\n")).unwrap();
                    fs::rename(spec.path("editor"), &path).unwrap();
                    // A refined text can be seen in its place until it is back.
                    let first = format!("save {number}\n");
                    let is_there = (0..1_000_000).any(|_| {
                        std::thread::yield_now();
                        fs::read_to_string(&path).unwrap().starts_with(&first)
                    });
                    assert!(is_there, "save {number} is lost");
                    for _ in 0..number % 50 {
                        std::thread::yield_now();
                    }
                }
                is_over.store(true, Ordering::SeqCst);
            });
            while !is_over.load(Ordering::SeqCst) {
                let text = spec.file().read().unwrap();
                match spec.replace(&text, &format!("{text}refined\n")) {
                    Ok(()) => {}
                    Err(SpecFileError::Changed(_)) => changed += 1,
                    Err(error) => panic!("{error}"),
                }
            }
        });
        assert!(changed > 0, "no save came in between");
        let last = fs::read_to_string(&path).unwrap();
        assert!(last.starts_with(&format!("save {}\n", SAVES - 1)), "{last}");
        spec.has_entries(1);
    }
}
