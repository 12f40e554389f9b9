//! L3: suites of cases in the formats that people have: JSON lines, CSV, YAML and JSON manifests, a
//! folder, and the test files of other tools.
