//! The repository itself: its layers, its words, its pages and their pictures.

mod docs;
mod examples;
mod layers;
mod pictures;
mod vocabulary;
