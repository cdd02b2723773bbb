//! What was approved of a step, as it is kept beside its picture and its tree.

use std::sync::Arc;

use packtrain_model::screen::ScreenTree;
use serde::{Deserialize, Serialize};

use crate::picture::Picture;

/// What is said of an approved screen, sorted so that git shows what changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What drew it, with its version.
    pub engine: String,
    /// Pixels for each unit of the tree's bounds.
    pub scale: f64,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The first 16 hex digits of the SHA-256 of the picture's size and pixels.
    pub picture: String,
    /// The same of its tree's JSON, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What is left out: left, top, right, bottom, in pixels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<[i32; 4]>,
    /// The only parts that were approved, when it was not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<[i32; 4]>,
    /// Layout defects that were approved with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<String>,
    /// The version of the program that ran it.
    pub packtrain: String,
}

/// An approved screen with its files.
#[derive(Debug, Clone, Default)]
pub struct Approved {
    /// What is said of it.
    pub entry: Entry,
    /// Its picture.
    pub picture: Picture,
    /// Its tree.
    pub tree: Option<Arc<ScreenTree>>,
}

/// What there is of a baseline.
#[derive(Debug, Clone)]
pub enum Stored {
    /// Nothing.
    Missing,
    /// It is there and cannot be used: why.
    Unreadable(String),
    /// All of it.
    Approved(Box<Approved>),
}

/// Where baselines come from.
pub trait Baselines {
    /// The baseline of a step in a cell, by the trail's path, the step's id and the cell's key.
    fn get(&mut self, trail: &str, step: &str, key: &str) -> Stored;
}

impl<F: FnMut(&str, &str, &str) -> Stored> Baselines for F {
    fn get(&mut self, trail: &str, step: &str, key: &str) -> Stored {
        self(trail, step, key)
    }
}
