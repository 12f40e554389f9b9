//! Manifests in XML: Maven's `pom.xml`, .NET's project files, and the files of properties that
//! projects share.

use roxmltree::{Document, Node};

use super::{Dependency, ManifestContent, Scope};

/// The package that has .NET's target framework as its version.
const TARGET: &str = "sdk:target";

/// Reads a `pom.xml`. Its parent and the lists of versions that it imports count as dependencies,
/// because frameworks are used in both ways.
pub(super) fn maven(text: &str) -> Option<ManifestContent> {
    let document = Document::parse(text).ok()?;
    let project = document.root_element();
    let mut content = ManifestContent {
        name: text_of(project, "name").or_else(|| text_of(project, "artifactId")),
        description: text_of(project, "description"),
        is_workspace: child(project, "modules").is_some(),
        properties: properties(project, "properties"),
        ..ManifestContent::default()
    };
    if let Some(version) = text_of(project, "version") {
        let name = "project.version".to_owned();
        content.properties.insert(name, version);
    }
    for node in project.descendants() {
        let [above, top] = [1, 2].map(|steps| {
            let mut ancestors = node.ancestors().skip(steps);
            ancestors.next().map_or("", |node| node.tag_name().name())
        });
        let Some(mut dependency) = artifact(node) else {
            continue;
        };
        match (node.tag_name().name(), above, top) {
            ("parent", _, _) | ("dependency", "dependencies", "project") => {}
            ("dependency", _, "dependencyManagement") => {
                if text_of(node, "scope").as_deref() != Some("import") {
                    let name = dependency.name.clone();
                    content.catalog.insert(name, vec![dependency]);
                    continue;
                }
            }
            ("plugin", _, "build") => dependency.scope = Scope::Development,
            _ => continue,
        }
        content.dependencies.push(dependency);
    }
    Some(content)
}

/// Reads a group and an artifact in it.
fn artifact(node: Node<'_, '_>) -> Option<Dependency> {
    let name = format!(
        "{}:{}",
        text_of(node, "groupId")?,
        text_of(node, "artifactId")?
    );
    let scope = match text_of(node, "scope").as_deref() {
        Some("test") => Scope::Development,
        _ => Scope::Runtime,
    };
    Some(Dependency::new(
        name,
        text_of(node, "version").as_deref(),
        scope,
    ))
}

/// Reads packages, the SDK as `sdk:Name`, and what the properties switch on. The versions of a file
/// that projects share are a catalog.
pub(super) fn dotnet(text: &str, file: &str) -> Option<ManifestContent> {
    let document = Document::parse(text).ok()?;
    let project = document.root_element();
    let is_shared = file.ends_with(".props");
    let name = file.rsplit_once('.').map(|(name, _)| name.to_owned());
    let mut content = ManifestContent {
        name: name.filter(|_| !is_shared),
        properties: properties(project, "PropertyGroup"),
        ..ManifestContent::default()
    };
    let mut target = None;
    for node in project.descendants().filter(Node::is_element) {
        let tag = node.tag_name().name();
        let text = node.text().unwrap_or_default().trim();
        let attribute = |name| node.attribute(name);
        let name = attribute("Include").or(attribute("Update"));
        let child = text_of(node, "Version");
        let version = attribute("Version").or(child.as_deref());
        let (name, version) = match (tag, name) {
            ("PackageVersion", Some(name)) => {
                let package = Dependency::new(name, version, Scope::Runtime);
                content.catalog.insert(name.to_owned(), vec![package]);
                continue;
            }
            ("PackageReference", Some(name)) => (name.to_owned(), version),
            ("FrameworkReference", Some(name)) => (format!("framework:{name}"), None),
            ("Project", _) => match attribute("Sdk").and_then(|sdk| sdk.split('/').next()) {
                Some(sdk) => (format!("sdk:{sdk}"), None),
                None => continue,
            },
            ("Sdk", _) => match attribute("Name") {
                Some(sdk) => (format!("sdk:{sdk}"), version),
                None => continue,
            },
            ("UseMaui" | "UseWPF" | "UseWindowsForms", _) if text.eq_ignore_ascii_case("true") => {
                (format!("sdk:{}", tag.trim_start_matches("Use")), None)
            }
            ("TargetFramework" | "TargetFrameworks", _) => {
                target = text
                    .split(';')
                    .filter_map(framework_version)
                    .next_back()
                    .or(target);
                continue;
            }
            ("Description", _) => {
                content.description = Some(text.to_owned());
                continue;
            }
            _ => continue,
        };
        content
            .dependencies
            .push(Dependency::new(name, version, Scope::Runtime));
    }
    let target = Dependency::new(TARGET, target, Scope::Runtime);
    if !is_shared {
        content.dependencies.push(target);
    } else if target.requirement.is_some() {
        content.catalog.insert(TARGET.to_owned(), vec![target]);
    }
    Some(content)
}

/// Returns the version of a target framework: `8.0` for `net8.0-android`.
fn framework_version(target: &str) -> Option<&str> {
    let version = target.trim().strip_prefix("net")?;
    let version = version.strip_prefix("coreapp").unwrap_or(version);
    let version = version.split('-').next()?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(version)
}

/// Returns the elements of groups of properties, by their names.
fn properties(project: Node<'_, '_>, group: &str) -> std::collections::BTreeMap<String, String> {
    let groups = project
        .children()
        .filter(|node| node.tag_name().name() == group);
    let properties = groups
        .flat_map(|group| group.children())
        .filter(Node::is_element);
    properties
        .filter_map(|property| {
            let value = property.text()?.trim().to_owned();
            Some((property.tag_name().name().to_owned(), value))
        })
        .collect()
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

fn text_of(node: Node<'_, '_>, name: &str) -> Option<String> {
    let text = child(node, name)?.text()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
