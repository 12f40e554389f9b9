//! Who is asked: the seats and their personas, the judge, and the vendors behind them.

mod seats;
mod persona_selection;
mod defaults;
