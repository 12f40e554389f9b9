//! A question on the screen: below the live rows, which stay where they are, or as plain text where
//! nothing can be redrawn. Dropping it withdraws it.

use std::sync::{Arc, Mutex, PoisonError};

use super::question::{KeyQuestion, QuestionTrace};
use crate::terminal::output::live_area::Footer;
use crate::terminal::output::printer::{PlainQuestion, Printer};
use crate::terminal::output::stream_traits::StreamTraits;
use crate::terminal::output::wrap::fit;

pub(super) struct OpenQuestion<A> {
    printer: Printer,
    question: Arc<KeyQuestion<A>>,
    shown: ShownQuestion,
}

enum ShownQuestion {
    Live {
        footer: Footer,
        legend: Arc<Mutex<Option<String>>>,
    },
    Plain {
        question: PlainQuestion,
        has_legend: bool,
    },
}

impl<A: Clone + Send + Sync + 'static> OpenQuestion<A> {
    pub(super) fn new(printer: &Printer, question: &KeyQuestion<A>) -> Self {
        let question = Arc::new(question.clone());
        let StreamTraits { width, paint, .. } = printer.err_traits();
        let legend: Arc<Mutex<Option<String>>> = Arc::default();
        let shown = {
            let (words, legend) = (Arc::clone(&question), Arc::clone(&legend));
            printer.live_area().footer(move |size| {
                let legend = legend.lock().unwrap_or_else(PoisonError::into_inner);
                let legend = legend
                    .as_ref()
                    .map(|text| paint.dim(&fit(text, Some(size.columns))));
                legend
                    .into_iter()
                    .chain([words.text(size.columns, paint)])
                    .collect()
            })
        };
        if !printer.live_area().is_in_foreground() {
            printer.note("A question is open: bring conclave to the foreground with `fg`");
        }
        let shown = match shown {
            Some(footer) => ShownQuestion::Live { footer, legend },
            None => ShownQuestion::Plain {
                question: printer.ask(&question.text(width, paint)),
                has_legend: false,
            },
        };
        Self {
            printer: printer.clone(),
            question,
            shown,
        }
    }

    /// Shows what the keys mean, once.
    pub(super) fn explain(&mut self, text: String) {
        match &mut self.shown {
            ShownQuestion::Live { footer, legend } => {
                *legend.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                footer.redraw();
            }
            ShownQuestion::Plain { has_legend, .. } => {
                if !std::mem::replace(has_legend, true) {
                    self.printer
                        .lines(&fit(&text, Some(self.printer.err_traits().width)));
                }
            }
        }
    }

    /// Shows the answer behind the question.
    pub(super) fn answered(self, word: &str, trace: QuestionTrace) {
        let StreamTraits { width, paint, .. } = self.printer.err_traits();
        match self.shown {
            ShownQuestion::Plain { question, .. } => question.answered(word),
            ShownQuestion::Live { footer, .. } => {
                drop(footer);
                if trace == QuestionTrace::Whole {
                    let text = self.question.text(width, paint);
                    self.printer.lines(&format!("{text}{word}"));
                }
            }
        }
    }
}
