//! .NET's project files and the files of properties that they share.

use roxmltree::{Document, Node};

use super::maven::text_of;
use super::{Dependency, ManifestContent, Scope};

/// The package that has the target framework as its version.
const TARGET: &str = "sdk:target";

/// Reads packages, the SDK as `sdk:Name`, and what the properties switch on.
pub(super) fn project(text: &str, path: &str) -> Option<ManifestContent> {
    let document = Document::parse(text).ok()?;
    let project = document.root_element();
    let mut content = ManifestContent {
        name: path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .map(|(name, _)| name.to_owned()),
        ..ManifestContent::default()
    };
    if let Some(sdk) = project.attribute("Sdk") {
        let name = format!("sdk:{}", sdk.split('/').next().unwrap_or(sdk));
        content
            .dependencies
            .push(Dependency::new(name, None, Scope::Runtime));
    }
    for node in project.descendants() {
        match node.tag_name().name() {
            "PackageReference" => content.dependencies.extend(package(node)),
            "FrameworkReference" => {
                if let Some(name) = node.attribute("Include") {
                    let name = format!("framework:{name}");
                    content
                        .dependencies
                        .push(Dependency::new(name, None, Scope::Runtime));
                }
            }
            "Sdk" => {
                if let Some(name) = node.attribute("Name") {
                    let (name, version) = (format!("sdk:{name}"), node.attribute("Version"));
                    content
                        .dependencies
                        .push(Dependency::new(name, version, Scope::Runtime));
                }
            }
            "UseMaui" | "UseWPF" | "UseWindowsForms"
                if node
                    .text()
                    .is_some_and(|text| text.trim().eq_ignore_ascii_case("true")) =>
            {
                let name = match node.tag_name().name() {
                    "UseMaui" => "sdk:maui",
                    "UseWPF" => "sdk:wpf",
                    _ => "sdk:winforms",
                };
                content
                    .dependencies
                    .push(Dependency::new(name, None, Scope::Runtime));
            }
            "Description" => content.description = node.text().map(str::to_owned),
            _ => {}
        }
    }
    let target = target(project);
    content
        .dependencies
        .push(Dependency::new(TARGET, target.as_deref(), Scope::Runtime));
    Some(content)
}

/// Reads the versions that projects share.
pub(super) fn props(text: &str) -> Option<ManifestContent> {
    let document = Document::parse(text).ok()?;
    let project = document.root_element();
    let mut content = ManifestContent::default();
    for node in project.descendants() {
        match node.tag_name().name() {
            "PackageVersion" => {
                if let Some(package) = package(node) {
                    content.catalog.insert(package.name.clone(), vec![package]);
                }
            }
            "PackageReference" => content.dependencies.extend(package(node)),
            _ => {}
        }
    }
    for group in project
        .children()
        .filter(|node| node.has_tag_name("PropertyGroup"))
    {
        for property in group.children().filter(Node::is_element) {
            if let Some(value) = property.text() {
                let name = property.tag_name().name().to_owned();
                content.properties.insert(name, value.trim().to_owned());
            }
        }
    }
    if let Some(target) = target(project) {
        let dependency = Dependency::new(TARGET, Some(&target), Scope::Runtime);
        content.catalog.insert(TARGET.to_owned(), vec![dependency]);
    }
    Some(content)
}

fn package(node: Node<'_, '_>) -> Option<Dependency> {
    let name = node.attribute("Include").or(node.attribute("Update"))?;
    let child = text_of(node, "Version");
    let version = node.attribute("Version").or(child.as_deref());
    // A property is written `$(Name)`.
    let version = version.map(|version| version.replace("$(", "${").replace(')', "}"));
    Some(Dependency::new(name, version.as_deref(), Scope::Runtime))
}

/// Returns the version of the target framework: `8.0` for `net8.0-android`; of several the last.
fn target(project: Node<'_, '_>) -> Option<String> {
    let properties = project.descendants();
    let targets = properties.filter(|node| {
        node.has_tag_name("TargetFramework") || node.has_tag_name("TargetFrameworks")
    });
    let targets: Vec<&str> = targets
        .filter_map(|node| node.text())
        .flat_map(|text| text.split(';'))
        .filter_map(|target| {
            let version = target.trim().strip_prefix("net")?;
            let version = version.strip_prefix("coreapp").unwrap_or(version);
            version.split('-').next()
        })
        .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    targets.last().map(|&target| target.to_owned())
}
