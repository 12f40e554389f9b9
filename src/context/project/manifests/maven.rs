//! Maven's `pom.xml`. Its parent and the lists of versions that it imports count as dependencies,
//! because frameworks are used in both ways.

use roxmltree::{Document, Node};

use super::{Dependency, ManifestContent, Scope};

pub(super) fn pom(text: &str) -> Option<ManifestContent> {
    let document = Document::parse(text).ok()?;
    let project = document.root_element();
    let mut content = ManifestContent {
        name: text_of(project, "name").or_else(|| text_of(project, "artifactId")),
        description: text_of(project, "description"),
        is_workspace: child(project, "modules").is_some(),
        ..ManifestContent::default()
    };
    for property in children(project, "properties") {
        if let Some(value) = property.text() {
            let name = property.tag_name().name().to_owned();
            content.properties.insert(name, value.trim().to_owned());
        }
    }
    if let Some(parent) = child(project, "parent") {
        content.dependencies.extend(dependency(parent));
    }
    if let Some(version) = text_of(project, "version") {
        content
            .properties
            .insert("project.version".to_owned(), version);
    }
    for node in children(project, "dependencies") {
        content.dependencies.extend(dependency(node));
    }
    if let Some(management) = child(project, "dependencyManagement") {
        for node in children(management, "dependencies") {
            let Some(managed) = dependency(node) else {
                continue;
            };
            if text_of(node, "scope").as_deref() == Some("import") {
                content.dependencies.push(managed);
            } else {
                content.catalog.insert(managed.name.clone(), vec![managed]);
            }
        }
    }
    if let Some(build) = child(project, "build") {
        for node in children(build, "plugins") {
            content
                .dependencies
                .extend(dependency(node).map(|plugin| Dependency {
                    scope: Scope::Development,
                    ..plugin
                }));
        }
    }
    Some(content)
}

fn dependency(node: Node<'_, '_>) -> Option<Dependency> {
    let (group, artifact) = (text_of(node, "groupId")?, text_of(node, "artifactId")?);
    let scope = match text_of(node, "scope").as_deref() {
        Some("test") => Scope::Development,
        _ => Scope::Runtime,
    };
    let version = text_of(node, "version");
    Some(Dependency::new(
        format!("{group}:{artifact}"),
        version.as_deref(),
        scope,
    ))
}

pub(super) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

/// Returns the elements in a child.
fn children<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    child(node, name)
        .into_iter()
        .flat_map(|child| child.children())
        .filter(Node::is_element)
}

pub(super) fn text_of(node: Node<'_, '_>, name: &str) -> Option<String> {
    let text = child(node, name)?.text()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
