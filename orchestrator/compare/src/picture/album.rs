//! Pictures, each read when it is needed; those used last are kept decoded.

use std::rc::Rc;

use super::Picture;
use crate::input::Pictures;

pub(crate) struct Album<'a> {
    pictures: &'a mut dyn Pictures,
    /// How many are kept; a screen of a phone takes ten megabytes.
    most: usize,
    decoded: Vec<(String, Option<Rc<Picture>>)>,
}

impl<'a> Album<'a> {
    pub(crate) fn new(pictures: &'a mut dyn Pictures, most: usize) -> Self {
        Self {
            pictures,
            most,
            decoded: Vec::new(),
        }
    }

    /// The picture of a digest; `None` when it cannot be read.
    pub(crate) fn get(&mut self, digest: &str) -> Option<Rc<Picture>> {
        let known = self.decoded.iter().position(|(known, _)| known == digest);
        let found = known.map(|at| self.decoded.remove(at)).unwrap_or_else(|| {
            let bytes = self.pictures.bytes(digest);
            let picture = bytes.and_then(|bytes| Picture::decode(&bytes).ok());
            (digest.to_owned(), picture.map(Rc::new))
        });
        if self.decoded.len() >= self.most {
            self.decoded.remove(0);
        }
        let picture = found.1.clone();
        self.decoded.push(found);
        picture
    }
}
