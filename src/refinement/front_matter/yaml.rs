//! Parses the front matter into nodes with their bytes.
//!
//! Aliases are not followed, so that a few lines cannot stand for gigabytes.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::FrontMatterError;

/// The deepest value.
const DEEPEST: usize = 128;

/// A value of the front matter.
#[derive(Debug)]
pub(super) struct YamlNode {
    /// In the document, from 1.
    pub(super) line: usize,
    /// The first byte in the document; that of an anchor or a tag if there is one.
    pub(super) start: usize,
    /// The byte behind the last one, exact for plain scalars.
    pub(super) end: usize,
    /// Whether it has an anchor or a tag.
    pub(super) is_marked: bool,
    pub(super) kind: YamlKind,
}

#[derive(Debug)]
pub(super) enum YamlKind {
    Scalar {
        text: String,
        style: ScalarStyle,
    },
    Mapping {
        entries: Vec<(YamlNode, YamlNode)>,
        /// Whether it stands in braces.
        is_flow: bool,
    },
    /// A list or an alias.
    Other,
}

/// A list or a mapping that is being read.
struct OpenCollection {
    start: usize,
    line: usize,
    is_marked: bool,
    is_mapping: bool,
    nodes: Vec<YamlNode>,
}

/// Parses these bytes of the document; `None` if there is no value.
pub(super) fn parse(text: &str, yaml: &Range<usize>) -> Result<Option<YamlNode>, FrontMatterError> {
    let source = text.get(yaml.clone()).unwrap_or_default();
    // The parser counts characters.
    let offsets: Vec<usize> = source
        .char_indices()
        .map(|(at, _)| yaml.start + at)
        .collect();
    let byte = |index: usize| offsets.get(index).copied().unwrap_or(yaml.end);
    let place = |span: Span| {
        (
            byte(span.start.index()),
            byte(span.end.index()),
            span.start.line() + 1,
        )
    };
    let mut open: Vec<OpenCollection> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| FrontMatterError::NotYaml {
            line: error.marker().line() + 1,
            problem: error.info().to_owned(),
        })?;
        let (start, end, line) = place(span);
        let not_yaml = |problem: &str| FrontMatterError::NotYaml {
            line,
            problem: problem.to_owned(),
        };
        let is_mapping = matches!(event, Event::MappingStart(..));
        let node = match event {
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
                if open.len() == DEEPEST {
                    return Err(not_yaml("more than 128 levels of lists and mappings"));
                }
                open.push(OpenCollection {
                    start,
                    line,
                    is_marked: anchor != 0 || tag.is_some(),
                    is_mapping,
                    nodes: Vec::new(),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => closed.node(start, end),
                None => continue,
            },
            Event::Scalar(text, style, anchor, tag) => YamlNode {
                line,
                start,
                end,
                is_marked: anchor != 0 || tag.is_some(),
                kind: YamlKind::Scalar {
                    text: text.into_owned(),
                    style,
                },
            },
            Event::Alias(_) => YamlNode {
                line,
                start,
                end,
                is_marked: false,
                kind: YamlKind::Other,
            },
            Event::DocumentStart(_) if root.is_some() => {
                return Err(not_yaml("a second document begins here"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.nodes.push(node),
            None => root = Some(node),
        }
    }
    Ok(root.filter(|root: &YamlNode| !root.is_empty()))
}

impl YamlNode {
    /// Returns whether nothing is written: the null of `key:`.
    pub(super) fn is_empty(&self) -> bool {
        match &self.kind {
            YamlKind::Scalar { text, style } => *style == ScalarStyle::Plain && text.is_empty(),
            YamlKind::Mapping { .. } | YamlKind::Other => false,
        }
    }
}

impl OpenCollection {
    fn node(self, end_start: usize, end: usize) -> YamlNode {
        let kind = if self.is_mapping {
            let mut entries = Vec::with_capacity(self.nodes.len() / 2);
            let mut nodes = self.nodes.into_iter();
            while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
                entries.push((key, value));
            }
            YamlKind::Mapping {
                entries,
                // A mapping without braces ends without a character.
                is_flow: end > end_start,
            }
        } else {
            YamlKind::Other
        };
        YamlNode {
            line: self.line,
            start: self.start,
            end,
            is_marked: self.is_marked,
            kind,
        }
    }
}
