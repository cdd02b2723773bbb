//! Comparing sessions of one trail over many configurations: which cells to run, how screens differ,
//! and what the cells that went another way have in common. Pure functions; no files.

pub mod align;
pub mod answer;
pub mod attribute;
pub mod compare;
pub mod cover;
pub mod defects;
pub mod headline;
pub mod input;
pub mod normal;
pub mod order;
pub mod picture;
pub mod runs;
pub mod signature;
pub mod words;

pub use compare::{compare, letter};
