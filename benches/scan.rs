//! The description of a project of 50,000 files beside a bare walk of the same tree.
//!
//! ```text
//! cargo bench --bench scan              50,000 files; about a minute
//! cargo bench --bench scan -- 10000
//! cargo bench --bench scan -- FOLDER    a tree that is there already
//! ```

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use conclave::context::project::describe;

/// The limit of a warm description of 50,000 files.
const LIMIT: Duration = Duration::from_secs(1);
const TIMES: usize = 7;
/// Files in one folder.
const IN_A_FOLDER: usize = 25;

fn main() {
    let argument = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"));
    let number = argument.as_ref().map_or(Ok(50_000), |text| text.parse());
    let generated = tempfile::tempdir().unwrap();
    let root = match (number, argument) {
        (Ok(number), _) => {
            generate(generated.path(), number);
            generated.path().to_path_buf()
        }
        (Err(_), argument) => PathBuf::from(argument.unwrap()),
    };
    let bare = best(|| {
        walk(&root);
    });
    let described = best(|| {
        describe(&root, 4_000).unwrap();
    });
    let files = walk(&root);
    println!("files                {files}");
    println!("bare walk            {:.0} ms", bare.as_secs_f64() * 1e3);
    println!(
        "description          {:.0} ms",
        described.as_secs_f64() * 1e3
    );
    println!(
        "ratio                {:.2}",
        described.as_secs_f64() / bare.as_secs_f64()
    );
    assert!(described < LIMIT, "longer than {LIMIT:?}");
}

/// Returns the shortest of several runs; the first one warms the cache.
fn best(run: impl Fn()) -> Duration {
    let times = (0..TIMES).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap()
}

/// Lists every file of a tree, and returns how many there are.
fn walk(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files += walk(&entry.path());
        } else {
            files += 1;
        }
    }
    files
}

/// Writes a monorepo: packages with sources, manifests, documents and an ignored folder.
fn generate(root: &Path, files: usize) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "package.json",
        r#"{"name": "mono", "workspaces": ["packages/*"]}"#,
    );
    write("README.md", "# Mono\n\nMany packages.\n");
    write(".gitignore", "generated/\n*.log\n");
    for folder in 0..files / IN_A_FOLDER {
        let package = folder / 20;
        let base = format!("packages/p{package}");
        if folder % 20 == 0 {
            write(
                &format!("{base}/package.json"),
                r#"{"name": "p", "dependencies": {"react": "^18.0.0", "zustand": "^4.0.0"}}"#,
            );
            write(&format!("{base}/README.md"), "# P\n\nOne of many.\n");
        }
        let part = match folder % 10 {
            0 => "generated",
            1 | 2 => "tests",
            _ => "src",
        };
        for index in 0..IN_A_FOLDER {
            write(
                &format!("{base}/{part}/f{folder}/file{index}.ts"),
                "export {};\n",
            );
        }
    }
}
