//! The screens as trees: whole where two of them are compared, and the words of all of them for
//! the search.

use std::collections::{BTreeMap, HashMap, HashSet};

use packtrain_model::screen::{ObservedTree, ScreenTree};
use serde::Serialize;

use super::compared::Compared;
use crate::view::RunView;

/// How many bytes of trees are put into the file.
const TREES_LIMIT: usize = 4 * 1024 * 1024;
/// How many bytes of words are.
const WORDS_LIMIT: usize = 2 * 1024 * 1024;
/// Longest text of a screen that can be searched for, in characters.
const LONGEST_WORDS: usize = 200;

/// The trees of a run.
#[derive(Default)]
pub(super) struct Trees {
    /// Trees by their digest.
    pub(super) whole: BTreeMap<String, ScreenTree>,
    pub(super) words: Words,
}

/// What stands on the screens: each text once, and for each tree the places of its texts.
#[derive(Default, Serialize)]
pub(super) struct Words {
    texts: Vec<String>,
    trees: BTreeMap<String, Vec<usize>>,
    #[serde(skip)]
    places: HashMap<String, usize>,
    #[serde(skip)]
    bytes: usize,
}

/// For each tree the first that shows the same, by their digests: for the reader they are one.
pub(super) fn firsts(view: &RunView) -> HashMap<&str, &str> {
    let mut firsts: HashMap<&str, &str> = HashMap::new();
    let mut of = HashMap::new();
    for seen in observed(view) {
        let first = firsts.entry(seen.shown()).or_insert(&seen.digest);
        of.insert(&*seen.digest, *first);
    }
    of
}

fn observed(view: &RunView) -> impl Iterator<Item = &ObservedTree> {
    let steps = view.steps();
    steps.filter_map(|(_, step)| step.observed.as_ref()?.tree.as_ref())
}

impl Trees {
    pub(super) fn collect(
        view: &RunView,
        compared: &Compared,
        artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Self {
        let mut trees = Self::default();
        let mut left = TREES_LIMIT;
        let firsts = firsts(view);
        let seen = compared.steps(view);
        let seen = seen.filter_map(|step| step.observed.as_ref()?.tree.as_ref());
        let digests = seen.filter_map(|seen| firsts.get(&*seen.digest).copied());
        let digests: HashSet<&str> = digests.collect();
        for seen in observed(view) {
            if firsts.get(&*seen.digest) != Some(&&*seen.digest)
                || trees.words.trees.contains_key(&seen.digest)
                || trees.words.bytes > WORDS_LIMIT
            {
                continue;
            }
            let bytes = artifact(&seen.artifact).unwrap_or_default();
            let Ok(mut tree) = serde_json::from_slice::<ScreenTree>(&bytes) else {
                continue;
            };
            // Nothing here tells of it.
            tree.hidden.clear();
            trees.words.add(&seen.digest, &tree);
            if digests.contains(seen.digest.as_str()) && bytes.len() <= left {
                left -= bytes.len();
                trees.whole.insert(seen.digest.clone(), tree);
            }
        }
        trees
    }
}

impl Words {
    fn add(&mut self, digest: &str, tree: &ScreenTree) {
        let nodes = tree.nodes.iter();
        let nodes = nodes.flat_map(|node| [Some(&node.name), node.value.as_ref()]);
        let texts = nodes.chain([tree.title.as_ref()]).flatten();
        let mut places = Vec::new();
        for text in texts.filter(|text| !text.is_empty()) {
            let text = crate::wording::cut(text, LONGEST_WORDS).to_lowercase();
            let next = self.texts.len();
            let place = *self.places.entry(text.clone()).or_insert(next);
            if place == next {
                self.bytes += text.len() + 3;
                self.texts.push(text);
            }
            places.push(place);
        }
        places.sort_unstable();
        places.dedup();
        self.bytes += places.len() * 5 + 20;
        self.trees.insert(digest.to_owned(), places);
    }
}
