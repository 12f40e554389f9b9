//! Paths relative to a project, with `/` between their parts.

/// Returns the file name of a relative path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the folder of a file, `""` at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the number of folders above a file.
pub(super) fn depth_of(path: &str) -> usize {
    path.matches('/').count()
}
