//! A question on the screen: below the live rows, which stay where they are, or as plain text where
//! nothing can be redrawn. Dropping it withdraws it.

use std::sync::{Arc, Mutex, PoisonError};

use super::question::QuestionTrace;
use crate::terminal::output::live_area::Footer;
use crate::terminal::output::printer::{PlainQuestion, Printer};
use crate::terminal::output::stream_traits::StreamTraits;
use crate::terminal::output::wrap::fit;

pub(super) struct OpenQuestion {
    printer: Printer,
    /// Makes the text for a width.
    text: Arc<dyn Fn(usize) -> String + Send + Sync>,
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

impl OpenQuestion {
    pub(super) fn new(
        printer: &Printer,
        text: impl Fn(usize) -> String + Send + Sync + 'static,
    ) -> Self {
        let text: Arc<dyn Fn(usize) -> String + Send + Sync> = Arc::new(text);
        let StreamTraits { width, paint, .. } = printer.err_traits();
        let legend: Arc<Mutex<Option<String>>> = Arc::default();
        let shown = {
            let (text, legend) = (Arc::clone(&text), Arc::clone(&legend));
            printer.live_area().footer(move |size| {
                let legend = legend.lock().unwrap_or_else(PoisonError::into_inner);
                let legend = legend
                    .as_ref()
                    .map(|text| paint.dim(&fit(text, Some(size.columns))));
                legend.into_iter().chain([text(size.columns)]).collect()
            })
        };
        if !printer.live_area().is_in_foreground() {
            printer.note("A question is open: bring conclave to the foreground with `fg`");
        }
        let shown = match shown {
            Some(footer) => ShownQuestion::Live { footer, legend },
            None => ShownQuestion::Plain {
                question: printer.ask(&text(width)),
                has_legend: false,
            },
        };
        Self {
            printer: printer.clone(),
            text,
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

    pub(super) fn answered(self, word: &str, trace: QuestionTrace) {
        match self.shown {
            ShownQuestion::Plain { question, .. } => question.answered(word),
            ShownQuestion::Live { footer, .. } => {
                drop(footer);
                if trace == QuestionTrace::Whole {
                    let text = (self.text)(self.printer.err_traits().width);
                    self.printer.lines(&format!("{text}{word}"));
                }
            }
        }
    }
}
