//! The cases of a run with what asking and grading them needs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use indexmap::IndexMap;

use crate::benchmark::case::{Case, CaseId, Matcher};
use crate::benchmark::matching::{AnswerKey, asked_question};
use crate::benchmark::run::RunTerms;
use crate::context::sources::files::{NamedBy, read_files};
use crate::context::sources::{SourceSize, SourceText};
use crate::domain::context::SourceKind;
use crate::error::Error;
use crate::setup::request::QuestionRequest;
use crate::suites::suite::Suite;

/// The name of a case's context in prompts.
const CONTEXT: &str = "context";

/// The cases of a run.
#[derive(Debug)]
pub struct CaseBook {
    cases: BTreeMap<CaseId, CaseEntry>,
}

/// One case.
#[derive(Debug)]
pub struct CaseEntry {
    pub case: Case,
    pub key: AnswerKey,
}

impl CaseBook {
    /// Takes the cases of a run from its suite.
    ///
    /// # Errors
    ///
    /// When the suite lacks one of them, or an expected answer does not fit its matcher.
    pub fn new(suite: &Suite, terms: &RunTerms) -> Result<Self, Error> {
        let by_id: BTreeMap<&CaseId, &Case> = suite
            .cases
            .iter()
            .map(|entry| (&entry.case.id, &entry.case))
            .collect();
        let mut cases = BTreeMap::new();
        for wanted in &terms.cases {
            let case = by_id.get(&wanted.id).ok_or_else(|| {
                Error::usage(format!("the suite has no case `{}` any more", wanted.id))
            })?;
            let key = AnswerKey::for_case(case)
                .map_err(|error| Error::usage(format!("case `{}`: {error}", case.id)))?;
            let case = (*case).clone();
            cases.insert(case.id.clone(), CaseEntry { case, key });
        }
        Ok(Self { cases })
    }

    pub fn get(&self, id: &CaseId) -> Option<&CaseEntry> {
        self.cases.get(id)
    }

    pub fn entries(&self) -> impl Iterator<Item = &CaseEntry> {
        self.cases.values()
    }

    /// Returns a case that a model grades.
    pub fn judged(&self) -> Option<&CaseId> {
        let mut judged = self.entries().filter(|entry| entry.key.needs_grader());
        judged.next().map(|entry| &entry.case.id)
    }

    /// Returns how many cases are compared in each way.
    pub fn compared(&self) -> IndexMap<&'static str, u64> {
        let mut compared = IndexMap::new();
        for kind in Matcher::KINDS.split(' ') {
            let cases = self
                .entries()
                .filter(|entry| entry.case.matcher.kind() == kind);
            let number = cases.count() as u64;
            compared.extend((number > 0).then_some((kind, number)));
        }
        compared
    }
}

impl CaseEntry {
    /// Returns the question with its context, as read now.
    ///
    /// # Errors
    ///
    /// When a file of the case cannot be read.
    pub fn question(&self) -> Result<QuestionRequest, Error> {
        let mut sources = Vec::new();
        if let Some(text) = &self.case.context {
            sources.push(SourceText {
                kind: SourceKind::File,
                name: CONTEXT.to_owned(),
                text: text.clone(),
            });
        }
        if !self.case.files.is_empty() {
            let paths: Vec<PathBuf> = self.case.files.iter().map(PathBuf::from).collect();
            let read = read_files(&paths, SourceSize::LIMIT, NamedBy::Suite)
                .map_err(|error| Error::usage(format!("case `{}`: {error}", self.case.id)))?;
            sources.extend(read.texts);
        }
        Ok(QuestionRequest {
            question: asked_question(&self.case),
            sources,
            ..QuestionRequest::default()
        })
    }
}
