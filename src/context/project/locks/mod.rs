//! Lock files: the exact versions of a project's packages.

mod npm;
mod lines;
mod structured;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::dependency::{Dependency, Ecosystem};
use super::manifests::Manifest;

/// The versions in a lock file, by package. A package may have several: at a qualifier, which is
/// the folder of the manifest or the requirement, or at none.
#[derive(Debug, Default)]
struct Lock(BTreeMap<String, Vec<LockedVersion>>);

#[derive(Debug)]
struct LockedVersion {
    qualifier: String,
    version: String,
}

impl Lock {
    fn add(&mut self, name: &str, qualifier: &str, version: &str) {
        let version = version.trim_start_matches('v');
        // pnpm adds the versions of peers in parentheses, others links to folders.
        let version = version.split(['(', '_']).next().unwrap_or(version);
        if version.starts_with(|c: char| c.is_ascii_digit()) {
            self.0
                .entry(name.to_owned())
                .or_default()
                .push(LockedVersion {
                    qualifier: qualifier.to_owned(),
                    version: version.to_owned(),
                });
        }
    }

    /// Returns the version of a dependency: the one for its manifest, the one for its requirement,
    /// the first that begins as its requirement, the last of all.
    fn version(&self, dependency: &Dependency, folder: &str) -> Option<&str> {
        let versions = self.0.get(&dependency.name)?;
        let requirement = dependency.requirement.as_deref().unwrap_or_default();
        let start = requirement.trim_start_matches(|c: char| !c.is_ascii_digit());
        let start = start.trim_end_matches(".0");
        let at = |qualifier: &str| versions.iter().find(|locked| locked.qualifier == qualifier);
        let locked = at(folder)
            .filter(|_| !folder.is_empty())
            .or_else(|| at(requirement).filter(|_| !requirement.is_empty()))
            .or_else(|| {
                let mut versions = versions.iter();
                versions.find(|locked| !start.is_empty() && locked.version.starts_with(start))
            })
            .or_else(|| {
                let mut latest = versions.iter().rev();
                latest.find(|locked| locked.qualifier.is_empty())
            })
            .or_else(|| versions.last())?;
        Some(&locked.version)
    }
}

/// The lock files of a project, read when they are wanted.
#[derive(Debug)]
pub(super) struct Locks {
    /// The highest folder with lock files of the project.
    top: PathBuf,
    read: BTreeMap<PathBuf, Lock>,
}

impl Locks {
    pub(super) fn new(root: &Path, repository: Option<&Path>) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self {
            top: repository.map_or(root, Path::to_path_buf),
            read: BTreeMap::new(),
        }
    }

    /// Returns the exact version of a manifest's dependency, from the nearest lock file above it.
    pub(super) fn version(
        &mut self,
        manifest: &Manifest,
        dependency: &Dependency,
    ) -> Option<String> {
        let top = self.top.clone();
        let folders = manifest
            .folder
            .ancestors()
            .take_while(|folder| folder.starts_with(&top));
        for folder in folders {
            let below = manifest.folder.strip_prefix(folder).unwrap_or(folder);
            let below = below.to_string_lossy().replace('\\', "/");
            for (name, parse) in formats(manifest.ecosystem) {
                let version = self
                    .lock(folder.join(name), *parse)
                    .version(dependency, &below);
                if let Some(version) = version {
                    return Some(version.to_owned());
                }
            }
        }
        None
    }

    fn lock(&mut self, path: PathBuf, parse: LockParser) -> &Lock {
        self.read.entry(path).or_insert_with_key(|path| {
            let text = files::read_text(path, SizeLimit::LOCK_FILE).unwrap_or_default();
            let mut lock = Lock::default();
            parse(&text, &mut lock);
            lock
        })
    }
}

/// Adds the versions in the text of a lock file; a broken one has those before its fault, or none.
type LockParser = fn(&str, &mut Lock);

/// Returns the lock files of an ecosystem.
fn formats(ecosystem: Ecosystem) -> &'static [(&'static str, LockParser)] {
    match ecosystem {
        Ecosystem::Npm => &[
            ("package-lock.json", npm::package_lock),
            ("npm-shrinkwrap.json", npm::package_lock),
            ("pnpm-lock.yaml", npm::pnpm),
            ("yarn.lock", npm::yarn),
            ("bun.lock", npm::bun),
            ("deno.lock", npm::deno),
        ],
        Ecosystem::Pypi => &[
            ("uv.lock", structured::toml_python),
            ("poetry.lock", structured::toml_python),
            ("pdm.lock", structured::toml_python),
            ("Pipfile.lock", structured::pipfile),
        ],
        Ecosystem::Rubygems => &[("Gemfile.lock", lines::gemfile)],
        Ecosystem::Cargo => &[("Cargo.lock", structured::toml_packages)],
        Ecosystem::Maven => &[("gradle.lockfile", lines::gradle)],
        Ecosystem::Composer => &[("composer.lock", structured::composer)],
        Ecosystem::Nuget => &[("packages.lock.json", structured::nuget)],
        Ecosystem::Hex => &[("mix.lock", lines::mix)],
        Ecosystem::Swift => &[("Package.resolved", structured::swift)],
        Ecosystem::Pub => &[("pubspec.lock", lines::pubspec)],
        Ecosystem::Go => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::project::dependency::Scope;

    /// Returns the version that a lock file has for a dependency.
    fn locked(parse: LockParser, text: &str, name: &str, requirement: &str) -> Option<String> {
        locked_in("", parse, text, name, requirement)
    }

    fn locked_in(
        folder: &str,
        parse: LockParser,
        text: &str,
        name: &str,
        requirement: &str,
    ) -> Option<String> {
        let mut lock = Lock::default();
        parse(text, &mut lock);
        let dependency = Dependency {
            name: name.to_owned(),
            requirement: Some(requirement.to_owned()),
            scope: Scope::Runtime,
        };
        lock.version(&dependency, folder).map(str::to_owned)
    }

    #[test]
    fn npm_lock_has_a_version_for_each_workspace() {
        let text = r#"{"lockfileVersion": 3, "packages": {
            "": {"name": "x", "version": "9.9.9"},
            "node_modules/next": {"version": "14.2.3"},
            "apps/web/node_modules/next": {"version": "15.0.1"},
            "node_modules/other/node_modules/next": {"version": "1.0.0"}}}"#;
        let next = |folder| locked_in(folder, npm::package_lock, text, "next", "^14.0.0");
        assert_eq!(next("").as_deref(), Some("14.2.3"));
        assert_eq!(next("apps/web").as_deref(), Some("15.0.1"));
        assert_eq!(next("apps/api").as_deref(), Some("14.2.3"));
    }

    #[test]
    fn first_format_of_npm_locks_is_read() {
        let text = r#"{"dependencies": {"express": {"version": "4.17.1"}}}"#;
        let version = locked(npm::package_lock, text, "express", "^4.0.0");
        assert_eq!(version.as_deref(), Some("4.17.1"));
    }

    #[test]
    fn yarn_locks_of_both_formats_are_read() {
        let classic = "# yarn lockfile v1\n\nreact@^17.0.0, react@^17.0.2:\n  version \"17.0.2\"\n\n\
                       react@^18.0.0:\n  version \"18.3.1\"\n  dependencies:\n    x \"1\"\n";
        let berry = "\"@nestjs/core@npm:^10.0.0\":\n  version: 10.4.1\n  resolution: \"x\"\n";
        let react = |requirement| locked(npm::yarn, classic, "react", requirement);
        assert_eq!(react("^17.0.2").as_deref(), Some("17.0.2"));
        assert_eq!(react("^18.0.0").as_deref(), Some("18.3.1"));
        let nest = locked(npm::yarn, berry, "@nestjs/core", "^10.0.0");
        assert_eq!(nest.as_deref(), Some("10.4.1"));
    }

    #[test]
    fn pnpm_locks_are_read_by_importer() {
        let text = "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    devDependencies:\n      \
                    turbo:\n        specifier: ^2.0.0\n        version: 2.1.0\n\n  apps/web:\n    \
                    dependencies:\n      next:\n        specifier: 14.2.3\n        version: \
                    14.2.3(react@18.3.1)\n      '@a/ui':\n        specifier: workspace:*\n        \
                    version: link:../ui\n\npackages:\n\n  next@14.2.3:\n    resolution: {}\n";
        let next = locked_in("apps/web", npm::pnpm, text, "next", "");
        assert_eq!(next.as_deref(), Some("14.2.3"));
        assert_eq!(
            locked(npm::pnpm, text, "turbo", "^2.0.0").as_deref(),
            Some("2.1.0")
        );
        assert_eq!(locked_in("apps/web", npm::pnpm, text, "@a/ui", ""), None);
        let old =
            "dependencies:\n  express: 4.18.2\n  koa:\n    specifier: ^2\n    version: 2.15.0\n";
        assert_eq!(
            locked(npm::pnpm, old, "express", "^4").as_deref(),
            Some("4.18.2")
        );
        assert_eq!(
            locked(npm::pnpm, old, "koa", "^2").as_deref(),
            Some("2.15.0")
        );
    }

    #[test]
    fn bun_and_deno_locks_are_read() {
        let bun = "{\n  \"lockfileVersion\": 1,\n  \"packages\": {\n    \"hono\": [\"hono@4.6.3\", \
                   \"\", {}, \"sha\"],\n  },\n}\n";
        assert_eq!(
            locked(npm::bun, bun, "hono", "^4").as_deref(),
            Some("4.6.3")
        );
        let deno = r#"{"version": "4", "specifiers": {"npm:hono@^4.0.0": "4.6.3"}}"#;
        assert_eq!(
            locked(npm::deno, deno, "hono", "^4.0.0").as_deref(),
            Some("4.6.3")
        );
    }

    #[test]
    fn cargo_lock_gives_the_version_that_fits_the_requirement() {
        let text = "version = 4\n\n[[package]]\nname = \"axum\"\nversion = \"0.6.20\"\n\n\
                    [[package]]\nname = \"axum\"\nversion = \"0.7.5\"\n";
        let axum = |requirement| locked(structured::toml_packages, text, "axum", requirement);
        assert_eq!(axum("0.6").as_deref(), Some("0.6.20"));
        assert_eq!(axum("0.7").as_deref(), Some("0.7.5"));
        assert_eq!(axum("").as_deref(), Some("0.7.5"));
    }

    #[test]
    fn python_locks_compare_names_as_the_registry() {
        let text = "[[package]]\nname = \"Django_Ninja\"\nversion = \"1.1.0\"\n";
        let version = locked(structured::toml_python, text, "django-ninja", "");
        assert_eq!(version.as_deref(), Some("1.1.0"));
        let pipfile = r#"{"default": {"flask": {"version": "==3.0.3"}}, "develop": {}}"#;
        let version = locked(structured::pipfile, pipfile, "flask", "*");
        assert_eq!(version.as_deref(), Some("3.0.3"));
    }

    #[test]
    fn locks_in_lines_are_read() {
        let gemfile = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (7.1.2)\n      \
                       actionpack (= 7.1.2)\n\nDEPENDENCIES\n  rails (~> 7.0)\n";
        assert_eq!(
            locked(lines::gemfile, gemfile, "rails", "~> 7.0").as_deref(),
            Some("7.1.2")
        );
        assert_eq!(locked(lines::gemfile, gemfile, "actionpack", ""), None);
        let mix = "%{\n  \"phoenix\": {:hex, :phoenix, \"1.7.10\", \"abc\", [:mix], []},\n}\n";
        assert_eq!(
            locked(lines::mix, mix, "phoenix", "~> 1.7").as_deref(),
            Some("1.7.10")
        );
        let gradle = "# comment\nio.ktor:ktor-server-core:2.3.7=runtimeClasspath\nempty=x\n";
        assert_eq!(
            locked(lines::gradle, gradle, "io.ktor:ktor-server-core", "").as_deref(),
            Some("2.3.7")
        );
        let pubspec =
            "packages:\n  riverpod:\n    dependency: \"direct main\"\n    version: \"2.5.1\"\n";
        assert_eq!(
            locked(lines::pubspec, pubspec, "riverpod", "^2.0.0").as_deref(),
            Some("2.5.1")
        );
    }

    #[test]
    fn structured_locks_are_read() {
        let composer = r#"{"packages": [{"name": "laravel/framework", "version": "v11.2.0"}],
            "packages-dev": [{"name": "phpunit/phpunit", "version": "11.0.1"}]}"#;
        assert_eq!(
            locked(structured::composer, composer, "laravel/framework", "^11.0").as_deref(),
            Some("11.2.0")
        );
        let nuget = r#"{"version": 1, "dependencies": {"net8.0": {"Dapper": {"type": "Direct",
            "resolved": "2.1.35"}}}}"#;
        assert_eq!(
            locked(structured::nuget, nuget, "Dapper", "2.*").as_deref(),
            Some("2.1.35")
        );
        let swift = r#"{"pins": [{"identity": "vapor", "location": "https://github.com/vapor/vapor.git",
            "state": {"version": "4.92.4"}}], "version": 2}"#;
        assert_eq!(
            locked(structured::swift, swift, "vapor/vapor", "4.0.0").as_deref(),
            Some("4.92.4")
        );
    }

    #[test]
    fn broken_locks_have_no_versions() {
        for ecosystem in [Ecosystem::Npm, Ecosystem::Pypi, Ecosystem::Cargo] {
            for (_, parse) in formats(ecosystem) {
                for text in ["", "{", "[[package]\n", "\u{0}", "a:\n b:\n  c"] {
                    assert_eq!(locked(*parse, text, "a", "1"), None, "{text}");
                }
            }
        }
    }
}
