//! Stories about the broker's state.
