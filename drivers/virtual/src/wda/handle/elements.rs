//! Finding elements and asking them.

use serde_json::{Value, json};

use super::Handler;
use super::looking::{text_of, told};
use crate::faults::Fault;
use crate::wda::attribute::Attribute;
use crate::wda::element_type::ElementType;
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::find::find;
use crate::wda::source::{self, OPTIONAL, XmlOptions};
use crate::wda::tree::ElementTree;

impl Handler<'_> {
    pub(super) async fn find_element(&mut self) -> Result<Value, WdaError> {
        let (tree, found) = self.find().await?;
        match found.first() {
            Some(&at) => Ok(self.hand_out(&tree, at)),
            None => Err(self.none_found()),
        }
    }

    pub(super) async fn find_elements(&mut self) -> Result<Value, WdaError> {
        let (tree, found) = self.find().await?;
        Ok(found
            .into_iter()
            .map(|at| self.hand_out(&tree, at))
            .collect())
    }

    pub(super) async fn find_visible_cells(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        let cells: Vec<usize> = tree
            .descendants(at)
            .filter(|&inner| {
                tree.get(inner).is_some_and(|element| {
                    element.kind == ElementType::CELL && element.flags.visible
                })
            })
            .collect();
        Ok(cells
            .into_iter()
            .map(|at| self.hand_out(&tree, at))
            .collect())
    }

    pub(super) async fn active_element(&mut self) -> Result<Value, WdaError> {
        let tree = self.tree().await?;
        let focused = tree
            .iter()
            .find(|(_, element)| element.flags.keyboard_focus);
        match focused.map(|(at, _)| at) {
            Some(at) => Ok(self.hand_out(&tree, at)),
            None => Err(self.none_found()),
        }
    }

    async fn find(&mut self) -> Result<(ElementTree, Vec<usize>), WdaError> {
        let (tree, root) = self.target().await?;
        let using = self.arguments.text("using").unwrap_or("(null)");
        let value = self.arguments.text("value").unwrap_or_default();
        let xpath_of_all = using == "xpath" && !self.state.settings.flag("limitXPathContextScope");
        let found = if xpath_of_all {
            find(&tree, 0, using, value)?
        } else {
            find(&tree, root, using, value)?
        };
        Ok((tree, found))
    }

    fn none_found(&self) -> WdaError {
        let told = |name| self.arguments.text(name).unwrap_or("(null)");
        WdaError::new(
            ErrorKind::NoSuchElement,
            format!(
                "unable to find an element using '{}', value '{}'",
                told("using"),
                told("value")
            ),
        )
    }

    pub(super) async fn element_attribute(
        &mut self,
        attribute: Attribute,
    ) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        told(attribute.of(&tree, at))
    }

    pub(super) async fn named_attribute(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        let name = self.found.name.as_deref().unwrap_or_default();
        told(Attribute::named(name)?.of(&tree, at))
    }

    pub(super) async fn element_text(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        Ok(text_of(&tree, at).into())
    }

    pub(super) async fn source(&mut self) -> Result<Value, WdaError> {
        let format = self
            .arguments
            .query("format")
            .unwrap_or("xml")
            .to_lowercase();
        let excluded = self.arguments.query("excluded_attributes").unwrap_or("");
        let excluded: Vec<String> = excluded
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        let text = match format.as_str() {
            "json" => return Ok(source::json(&self.tree().await?, &excluded)),
            "xml" => {
                let options = self.xml_options(excluded);
                source::xml(&self.tree().await?, &options)
            }
            "description" => source::description(&self.tree().await?),
            _ => {
                return Err(WdaError::invalid_argument(format!(
                    "Unknown source format '{format}'. Only (xml, json, description) source formats are supported."
                )));
            }
        };
        Ok(self.truncated(text).into())
    }

    pub(super) async fn accessible_source(&mut self) -> Result<Value, WdaError> {
        Ok(source::accessible(&self.tree().await?))
    }

    fn xml_options(&self, mut without: Vec<String>) -> XmlOptions {
        for (attribute, setting) in OPTIONAL {
            if !self.state.settings.flag(setting) {
                without.push(attribute.to_owned());
            }
        }
        let scope = self.arguments.query("scope").filter(|scope| is_tag(scope));
        XmlOptions {
            without,
            scope: scope.map(str::to_owned),
        }
    }

    /// Cut off where a fault says so.
    fn truncated(&self, mut text: String) -> String {
        for fault in &self.tree_faults {
            if let Fault::Truncate(bytes) = fault {
                let end = (0..=text.len().min(*bytes))
                    .rev()
                    .find(|&end| text.is_char_boundary(end));
                text.truncate(end.unwrap_or(0));
            }
        }
        text
    }

    pub(super) fn window_size(&mut self) -> Result<Value, WdaError> {
        self.active_app()?;
        Ok(self.world(|world, _| {
            json!({
                "width": source::number(world.width()),
                "height": source::number(world.height()),
            })
        }))
    }

    pub(super) fn window_rect(&mut self) -> Result<Value, WdaError> {
        let mut rect = self.window_size()?;
        rect["x"] = json!(0);
        rect["y"] = json!(0);
        Ok(rect)
    }
}

/// Whether an element of XML can be called so.
fn is_tag(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
}
