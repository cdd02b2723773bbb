//! Stories about the broker's state, told to a server that does what it is asked.

mod fair;
mod loss;
mod rivals;
mod server;
mod words;
