//! Describes the project in a folder: its framework and stack, from parsed manifests, and excerpts
//! of its documentation.
