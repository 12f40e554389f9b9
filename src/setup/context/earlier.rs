//! The context of an earlier consultation, which rejudgements and follow-ups carry again: its
//! sources as they were sent, and its project.

use super::heading;
use super::sources::ProjectTerms;
use crate::context::sources::SourceText;
use crate::domain::context::{Context, ContextSource, ProjectContext, SourceKind};

/// The context of an earlier consultation.
#[derive(Clone, Debug, Default)]
pub struct EarlierContext {
    pub sources: Vec<SourceText>,
    pub project: ProjectTerms,
}

impl EarlierContext {
    /// `None` if its text has not the form in which this version puts sources together.
    pub fn of(context: &Context, project: Option<&ProjectContext>) -> Option<Self> {
        Some(Self {
            sources: take_apart(context.text.as_str(), &context.sources)?,
            project: ProjectTerms {
                context: project.cloned().map(Box::new),
                stance: context.stance,
                stack: context.stack.clone(),
            },
        })
    }

    /// Adds the sources of a new question. One that is there already keeps its place, so that the
    /// text begins as it did and a provider finds it in its cache; its new text replaces the old
    /// one.
    #[must_use]
    pub fn followed_by(mut self, new: Vec<SourceText>, project: ProjectTerms) -> Self {
        for source in new {
            let same = self.sources.iter_mut().find(|old| is_same(old, &source));
            match same {
                Some(old) => *old = source,
                None => self.sources.push(source),
            }
        }
        if project.context.is_some() {
            self.project = project;
        } else if let Some(stance) = project.stance {
            if let Some(context) = &mut self.project.context {
                context.set_stance(stance);
            }
            self.project.stance = Some(stance);
        }
        self
    }
}

/// The same file, the one project, or the same text on standard input.
fn is_same(old: &SourceText, new: &SourceText) -> bool {
    let is_same_kind = old.kind == new.kind;
    is_same_kind
        && match new.kind {
            SourceKind::Project => true,
            SourceKind::File => old.name == new.name,
            SourceKind::Stdin => old.text.trim_end() == new.text.trim_end(),
        }
}

/// A heading within a source's text does not end it.
fn take_apart(text: &str, sources: &[ContextSource]) -> Option<Vec<SourceText>> {
    let mut rest = text;
    let mut texts = Vec::new();
    let mut following = sources.iter().skip(1);
    for source in sources {
        let next = following.next().map(|next| opening(next.kind, &next.name));
        rest = rest.strip_prefix(opening(source.kind, &source.name).as_str())?;
        let length = length(rest, source, next.as_deref())?;
        let (text, behind) = rest.split_at_checked(length)?;
        texts.push(SourceText {
            kind: source.kind,
            name: source.name.clone(),
            text: text.to_owned(),
        });
        rest = behind.strip_prefix("\n\n")?;
    }
    rest.is_empty().then_some(texts)
}

/// The size less the line breaks at the end.
fn length(rest: &str, source: &ContextSource, next: Option<&str>) -> Option<usize> {
    let longest = usize::try_from(source.bytes).ok()?.min(rest.len());
    let is_end = |length: &usize| {
        let behind = rest
            .get(*length..)
            .and_then(|behind| behind.strip_prefix("\n\n"));
        behind.is_some_and(|behind| match next {
            Some(next) => behind.starts_with(next),
            None => behind.is_empty(),
        })
    };
    (0..=longest).rev().find(is_end)
}

fn opening(kind: SourceKind, name: &str) -> String {
    heading(kind, name) + "\n\n"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::assemble;
    use super::super::tests::source;
    use super::*;
    use crate::domain::context::ProjectStance;

    fn file(name: &str, text: &str) -> SourceText {
        source(SourceKind::File, name, text)
    }

    fn context(sources: &[SourceText]) -> Context {
        assemble(sources, &ProjectTerms::default()).unwrap()
    }

    fn again(sources: &[SourceText]) -> Vec<SourceText> {
        let earlier = EarlierContext::of(&context(sources), None).unwrap();
        earlier.sources
    }

    #[test]
    fn sources_are_taken_apart_as_they_were_put_together() {
        let sources = [
            source(SourceKind::Project, ".", "**Framework:** none\n"),
            source(SourceKind::Stdin, "stdin", ""),
            file("b.md", "# B\n\n### File: a.rs\n\nnot its heading\n\n\n"),
            file("a.rs", "fn a() {}\r\n"),
        ];
        let taken = again(&sources);
        assert_eq!(taken[0].text, "**Framework:** none");
        assert_eq!(taken[1], sources[1]);
        assert_eq!(taken[2].text, "# B\n\n### File: a.rs\n\nnot its heading");
        assert_eq!(taken[3], file("a.rs", "fn a() {}"));
        assert_eq!(context(&taken).text, context(&sources).text);
    }

    #[test]
    fn text_of_another_form_is_not_taken_apart() {
        let mut context = context(&[file("a.rs", "fn a() {}")]);
        context.text = "### File: b.rs\n\nfn a() {}\n\n".to_owned().into();
        assert!(EarlierContext::of(&context, None).is_none());
    }

    proptest! {
        #[test]
        fn any_sources_give_the_same_context_again(
            texts in prop::collection::vec("(a|\n|\r|### File: 1\n\n|é){0,12}", 1..5)
        ) {
            let sources: Vec<SourceText> = texts
                .iter()
                .enumerate()
                .map(|(at, text)| file(&at.to_string(), text))
                .collect();
            prop_assert_eq!(context(&again(&sources)).text, context(&sources).text);
        }
    }

    #[test]
    fn source_given_again_keeps_its_place() {
        let earlier = EarlierContext {
            sources: vec![
                source(SourceKind::Project, ".", "old"),
                source(SourceKind::Stdin, "stdin", "log"),
                file("a.rs", "old"),
                file("b.rs", "b"),
            ],
            ..EarlierContext::default()
        };
        let new = vec![
            source(SourceKind::Project, "../other", "new"),
            source(SourceKind::Stdin, "stdin", "log\n"),
            source(SourceKind::Stdin, "stdin", "another log"),
            file("c.rs", "c"),
            file("a.rs", "new"),
        ];
        let both = earlier.followed_by(new, ProjectTerms::default());
        let names: Vec<(&str, &str)> = both
            .sources
            .iter()
            .map(|source| (source.name.as_str(), source.text.as_str()))
            .collect();
        assert_eq!(
            names,
            [
                ("../other", "new"),
                ("stdin", "log\n"),
                ("a.rs", "new"),
                ("b.rs", "b"),
                ("stdin", "another log"),
                ("c.rs", "c"),
            ]
        );
    }

    #[test]
    fn stance_of_the_earlier_project_holds_until_another_is_given() {
        let mut context = context(&[file("a.rs", "fn a() {}")]);
        context.stance = Some(ProjectStance::Brownfield);
        let mut project = ProjectContext::default();
        project.set_stance(ProjectStance::Brownfield);
        let earlier = EarlierContext::of(&context, Some(&project)).unwrap();
        let same = earlier
            .clone()
            .followed_by(Vec::new(), ProjectTerms::default());
        assert_eq!(same.project.stance, Some(ProjectStance::Brownfield));
        let greenfield = ProjectTerms {
            stance: Some(ProjectStance::Greenfield),
            ..ProjectTerms::default()
        };
        let other = earlier.followed_by(Vec::new(), greenfield);
        assert_eq!(other.project.stance, Some(ProjectStance::Greenfield));
        let described = other.project.context.unwrap();
        assert_eq!(described.project_type, "greenfield");
        assert!(!described.bias_applied);
    }
}
