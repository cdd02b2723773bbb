//! A tree made from a tree, scalar by scalar.

use super::value::{Entry, Mapping, Node, Scalar, Sequence, Value};

impl Value {
    /// Every scalar in it, with the key of the mapping it stands in, also as an item of a list.
    pub fn scalars(&self) -> Vec<(Option<&str>, &Self)> {
        let mut found = Vec::new();
        self.scalars_below(None, &mut found);
        found
    }

    fn scalars_below<'v>(
        &'v self,
        key: Option<&'v str>,
        found: &mut Vec<(Option<&'v str>, &'v Self)>,
    ) {
        match &self.node {
            Node::Scalar(_) => found.push((key, self)),
            Node::Sequence(sequence) => {
                for item in &sequence.items {
                    item.scalars_below(key, found);
                }
            }
            Node::Mapping(mapping) => {
                for entry in &mapping.entries {
                    entry.value.scalars_below(Some(&entry.key.text), found);
                }
            }
        }
    }

    /// The value with texts replaced; `replace` gets the closest key and the text.
    #[must_use]
    pub fn replace_texts(&self, replace: &dyn Fn(Option<&str>, &str) -> Option<String>) -> Self {
        let mapped = self.try_map(&mut |key, scalar, _| {
            Ok::<_, std::convert::Infallible>(replace(key, &scalar.text).map(Self::text))
        });
        match mapped {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The same tree with some scalars replaced. `change` gets each scalar with the key it stands
    /// below, list items with that of their list, and answers `None` to keep it. What it answers
    /// takes the place of the scalar, and its span.
    pub fn try_map<E>(
        &self,
        change: &mut impl FnMut(Option<&str>, &Scalar, &Self) -> Result<Option<Self>, E>,
    ) -> Result<Self, E> {
        self.map_below(None, change)
    }

    fn map_below<E>(
        &self,
        key: Option<&str>,
        change: &mut impl FnMut(Option<&str>, &Scalar, &Self) -> Result<Option<Self>, E>,
    ) -> Result<Self, E> {
        let node = match &self.node {
            Node::Scalar(scalar) => match change(key, scalar, self)? {
                Some(changed) => changed.node,
                None => self.node.clone(),
            },
            Node::Sequence(sequence) => {
                let items: Result<Vec<Self>, E> = sequence
                    .items
                    .iter()
                    .map(|item| item.map_below(key, change))
                    .collect();
                Node::Sequence(Sequence {
                    items: items?,
                    notation: sequence.notation,
                })
            }
            Node::Mapping(mapping) => {
                let entries: Result<Vec<Entry>, E> = mapping
                    .entries
                    .iter()
                    .map(|entry| {
                        Ok(Entry {
                            key: entry.key.clone(),
                            value: entry.value.map_below(Some(&entry.key.text), change)?,
                        })
                    })
                    .collect();
                Node::Mapping(Mapping {
                    entries: entries?,
                    notation: mapping.notation,
                })
            }
        };
        Ok(Self {
            node,
            span: self.span,
        })
    }
}
