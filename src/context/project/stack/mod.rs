//! The framework and the stack of a project.
//!
//! Manifests of tests and examples count only if there are no others.

mod frameworks;
mod versions;
mod databases;
mod architecture;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::files::{self, SizeLimit};

use self::architecture::architecture;
use self::databases::database_words;
use self::frameworks::{frameworks, main_first};
use self::versions::version_of;
use super::dependency::Dependency;
use super::locks::Locks;
use super::manifests::{Manifest, Manifests};
use super::paths::{folder_of, is_secondary, name_of};
use super::technologies::{Technologies, Tier};
use super::tree::Tree;

/// So many parts of one kind are named.
const PARTS: usize = 6;

/// Something that a project uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Technology {
    pub(super) id: String,
    pub(super) name: String,
    /// `14` from the requirement `^14.0.0`; `14.2.3` from a lock file if there is none.
    pub(super) version: Option<String>,
}

/// The framework and the stack of a project.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub(super) framework: Option<Technology>,
    /// Other frameworks, each with the folder of its manifest.
    pub(super) others: Vec<(Technology, String)>,
    /// `app_router`, `workspace`, …
    pub(super) architecture: Option<&'static str>,
    /// Parts by kind.
    pub(super) parts: BTreeMap<String, Vec<Technology>>,
}

/// Everything that says something of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackSources<'a> {
    pub(super) root: &'a Path,
    pub(super) tree: &'a Tree,
    pub(super) manifests: &'a Manifests,
    pub(super) technologies: &'a Technologies,
}

impl Stack {
    pub(super) fn of(sources: StackSources<'_>, locks: &mut Locks) -> Self {
        let manifests = primary(&sources.manifests.own);
        let mut stack = Self::default();
        let mut uses = Vec::new();
        for manifest in &manifests {
            let dependencies = sources.manifests.dependencies(manifest);
            uses.extend(frameworks(sources, manifest, &dependencies, locks));
            stack.add_parts(sources, manifest, &dependencies, locks);
        }
        main_first(&mut uses, sources.tree);
        stack.add_files(sources);
        let main = uses.first();
        stack.architecture = architecture(sources, main, &manifests);
        let mut seen = BTreeSet::new();
        for framework_use in &uses {
            let technology = Technology {
                id: framework_use.framework.id.clone(),
                name: framework_use.framework.name.clone(),
                version: framework_use.version.clone(),
            };
            if !seen.insert(&framework_use.framework.id) {
                continue;
            }
            if stack.framework.is_none() {
                stack.framework = Some(technology);
            } else if framework_use.framework.tier != Tier::Tool && stack.others.len() < PARTS {
                let folder = folder_of(&framework_use.manifest.path);
                stack.others.push((technology, folder.to_owned()));
            }
        }
        stack
    }

    fn add_parts(
        &mut self,
        sources: StackSources<'_>,
        manifest: &Manifest,
        dependencies: &[Dependency],
        locks: &mut Locks,
    ) {
        let parts = sources.technologies.stack.get(&manifest.ecosystem);
        for part in parts.into_iter().flatten() {
            let Some(dependency) = dependencies.iter().find(|used| part.is_shown_by(used)) else {
                continue;
            };
            let version = if part.unversioned {
                None
            } else {
                version_of(manifest, dependency, locks)
            };
            self.add(&part.kind, &part.id, &part.name, version);
        }
    }

    fn add_files(&mut self, sources: StackSources<'_>) {
        for rule in sources.technologies.file_rules() {
            let mut signs = sources.tree.signs.iter();
            if signs.any(|path| {
                !is_secondary(path) && rule.is_shown_by(path, &name_of(path).to_ascii_lowercase())
            }) {
                self.add(&rule.kind, &rule.id, &rule.name, None);
            }
        }
        for path in sources
            .tree
            .databases
            .iter()
            .filter(|path| !is_secondary(path))
        {
            let Ok(text) = files::read_text(&sources.root.join(path), SizeLimit::SMALL) else {
                continue;
            };
            for word in database_words(name_of(path), &text) {
                if let Some((id, name)) = sources.technologies.database(word) {
                    self.add("database", id, name, None);
                }
            }
        }
    }

    fn add(&mut self, kind: &str, id: &str, name: &str, version: Option<String>) {
        let parts = self.parts.entry(kind.to_owned()).or_default();
        let number = parts.len();
        match parts.iter_mut().find(|part| part.id == id) {
            Some(part) => part.version = part.version.take().or(version),
            None if number < PARTS => parts.push(Technology {
                id: id.to_owned(),
                name: name.to_owned(),
                version,
            }),
            None => {}
        }
    }

    /// Returns the record's `tech_stack`: one id by kind, or a list of them; always a list for
    /// tests and CI.
    pub(super) fn ids(&self) -> BTreeMap<String, Value> {
        let mut ids = BTreeMap::new();
        for (kind, parts) in &self.parts {
            let list: Vec<Value> = parts.iter().map(|part| part.id.clone().into()).collect();
            let value = match list.as_slice() {
                [single] if !["testing", "ci"].contains(&kind.as_str()) => single.clone(),
                _ => Value::Array(list),
            };
            ids.insert(kind.clone(), value);
        }
        ids
    }

    /// Returns the framework as people write it: `Next.js 14 App Router`.
    pub(super) fn framework_line(&self) -> Option<String> {
        let mut line = self.framework.as_ref()?.to_string();
        let router = match self.architecture {
            Some("app_router") => " App Router",
            Some("pages_router") => " Pages Router",
            Some("app_and_pages_router") => " App Router and Pages Router",
            _ => "",
        };
        line.push_str(router);
        Some(line)
    }

    /// Returns the stack in words, one line for each kind: `Testing: Vitest + Playwright`.
    pub(super) fn lines(&self, technologies: &Technologies) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let others = self.others.iter().map(|(technology, folder)| {
            if folder.is_empty() {
                technology.to_string()
            } else {
                format!("{technology} in {folder}/")
            }
        });
        let others: Vec<String> = others.collect();
        if !others.is_empty() {
            lines.push(("Also".to_owned(), others.join(", ")));
        }
        let orm = self.parts.get("orm");
        for (kind, label) in technologies.kinds() {
            let Some(parts) = self.parts.get(kind) else {
                continue;
            };
            let words = joined(parts);
            match (kind, orm) {
                ("database", Some(orm)) => {
                    lines.push((
                        label.to_owned(),
                        format!("{words} with {} ORM", joined(orm)),
                    ));
                }
                ("orm", _) if self.parts.contains_key("database") => {}
                _ => lines.push((label.to_owned(), words)),
            }
        }
        lines
    }
}

impl std::fmt::Display for Technology {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        match &self.version {
            Some(version) => write!(f, " {version}"),
            None => Ok(()),
        }
    }
}

fn joined(parts: &[Technology]) -> String {
    let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
    names.join(" + ")
}

/// Returns the manifests that are the project's own; all of them if there are no others.
fn primary(manifests: &[Manifest]) -> Vec<&Manifest> {
    let own: Vec<&Manifest> = manifests
        .iter()
        .filter(|manifest| !is_secondary(&manifest.path))
        .collect();
    if own.is_empty() {
        manifests.iter().collect()
    } else {
        own
    }
}
