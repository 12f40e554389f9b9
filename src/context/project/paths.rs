//! Paths relative to a project, with `/` between their parts.

/// Folders whose manifests are not the project's own.
const SECONDARY: [&str; 22] = [
    "test",
    "tests",
    "testdata",
    "__tests__",
    "spec",
    "e2e",
    "fixtures",
    "fixture",
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "template",
    "templates",
    "docs",
    "website",
    "benchmarks",
    "benches",
    "bench",
    "fuzz",
];

/// Returns the file name of a relative path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the folder of a file, `""` at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns whether a file belongs to tests, examples or the like.
pub(super) fn is_secondary(path: &str) -> bool {
    path.rsplit('/')
        .skip(1)
        .any(|folder| SECONDARY.contains(&folder) || folder.starts_with("template-"))
}
