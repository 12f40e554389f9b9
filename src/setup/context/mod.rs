//! The context of a question: the texts of its sources under headings, in the order project,
//! standard input, files. [`sources`] reads them before anything is asked or spent.

pub mod sources;
pub mod earlier;
pub mod scrubber;
pub mod outgoing;

use crate::context::count::count_all;
use crate::context::sources::SourceText;
use crate::domain::context::{Context, ContextSource, ContextStorage, ContextText, SourceKind};
use crate::domain::hash::sha256;

use self::sources::ProjectTerms;

/// `None` when there are none and no attitude to what exists.
pub fn assemble(sources: &[SourceText], project: &ProjectTerms) -> Option<Context> {
    if sources.is_empty() && project.stance.is_none() {
        return None;
    }
    let mut ordered: Vec<&SourceText> = sources.iter().collect();
    ordered.sort_by_key(|source| source.kind);
    let sections: Vec<String> = ordered.iter().map(|source| section(source)).collect();
    let counts = count_all(&sections.iter().map(String::as_str).collect::<Vec<_>>());
    let text = sections.concat();
    Some(Context {
        sources: ordered
            .into_iter()
            .zip(&counts)
            .map(|(source, tokens)| described(source, tokens.expected))
            .collect(),
        bytes: text.len() as u64,
        sha256: sha256(&text),
        tokens: counts.into_iter().sum(),
        stance: project.stance,
        stack: project.stack.clone(),
        storage: ContextStorage::Stored,
        text: ContextText::from(text),
    })
}

fn section(source: &SourceText) -> String {
    let text = source.text.trim_end_matches(['\n', '\r']);
    let heading = heading(source.kind, &source.name);
    format!("{heading}\n\n{text}\n\n")
}

pub fn heading(kind: SourceKind, name: &str) -> String {
    match kind {
        SourceKind::Project => "### Project Context".to_owned(),
        SourceKind::Stdin => "### Stdin Input".to_owned(),
        SourceKind::File => format!("### File: {name}"),
    }
}

fn described(source: &SourceText, tokens: u64) -> ContextSource {
    ContextSource {
        kind: source.kind,
        name: source.name.clone(),
        bytes: source.text.len() as u64,
        tokens,
        sha256: sha256(&source.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn source(kind: SourceKind, name: &str, text: &str) -> SourceText {
        SourceText {
            kind,
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn sources_stand_in_the_order_project_stdin_files_under_their_headings() {
        let sources = vec![
            source(SourceKind::File, "b.md", "# B\n"),
            source(SourceKind::File, "a.rs", "fn a() {}"),
            source(SourceKind::Stdin, "stdin", "log\n\n"),
            source(SourceKind::Project, ".", "**Framework:** none\n"),
        ];
        let context = assemble(&sources, &ProjectTerms::default()).unwrap();
        assert_eq!(
            context.text.as_str(),
            "### Project Context\n\n**Framework:** none\n\n\
             ### Stdin Input\n\nlog\n\n\
             ### File: b.md\n\n# B\n\n\
             ### File: a.rs\n\nfn a() {}\n\n"
        );
        let names: Vec<_> = context.sources.iter().map(|source| &*source.name).collect();
        assert_eq!(names, [".", "stdin", "b.md", "a.rs"]);
        assert_eq!(context.bytes, context.text.as_str().len() as u64);
        assert_eq!(context.sha256, sha256(context.text.as_str()));
    }

    #[test]
    fn question_without_sources_has_no_context() {
        assert_eq!(assemble(&[], &ProjectTerms::default()), None);
    }
}
