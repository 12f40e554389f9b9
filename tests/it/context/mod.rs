//! Tests of what goes into the context of a question.

mod corpus;
mod ignore_files;
mod project;
