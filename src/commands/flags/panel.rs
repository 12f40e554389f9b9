//! Who sits on the panel.

use crate::setup::request::PanelRequest;

/// Who sits on the panel.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PanelFlags {
    /// The seats: `persona=provider:model`, separated by commas; or the name of a panel in the
    /// settings [default: three seats, if possible of three vendors whose keys are set]
    #[arg(long, value_name = "SEATS|NAME")]
    panel: Option<String>,

    /// The personas of the seats: names and `@sets`, separated by commas; or `auto` to let a model
    /// select them for the question [default: security, architecture, pragmatic]
    #[arg(long, value_name = "PERSONAS|auto")]
    personas: Option<String>,

    /// The model of a seat; give it once for each seat in order, or once for all seats [default:
    /// the best model of the seat's vendor]
    #[arg(short, long, value_name = "MODEL")]
    model: Vec<String>,

    /// The judge and its fallback models, separated by commas [default: the best model of OpenAI,
    /// then of other vendors whose keys are set]
    #[arg(long, value_name = "MODEL[,FALLBACK…]")]
    judge: Option<String>,
}

impl PanelFlags {
    /// Returns the flags as setup takes them.
    pub(crate) fn request(&self) -> PanelRequest {
        PanelRequest {
            panel: self.panel.clone(),
            personas: self.personas.clone(),
            models: self.model.clone(),
            judge: self.judge.clone(),
        }
    }
}
