//! The loops of the README with programs that play the agents.
