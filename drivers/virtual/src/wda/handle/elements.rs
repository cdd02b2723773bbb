//! Finding elements and asking them.

use serde_json::{Value, json};

use super::Handler;
use super::looking::{text_of, told};
use crate::faults::Fault;
use crate::wda::attribute::Attribute;
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::find::find;
use crate::wda::source::{self, OPTIONAL, XmlOptions};
use crate::wda::tree::ElementTree;

impl Handler<'_> {
    pub(super) async fn find_element(&mut self) -> Result<Value, WdaError> {
        let (tree, found) = self.find().await?;
        self.first(&tree, found.first().copied())
    }

    pub(super) async fn find_elements(&mut self) -> Result<Value, WdaError> {
        let (tree, found) = self.find().await?;
        Ok(found
            .into_iter()
            .map(|at| self.hand_out(&tree, at))
            .collect())
    }

    pub(super) async fn active_element(&mut self) -> Result<Value, WdaError> {
        let tree = self.tree().await?;
        let focused = tree
            .iter()
            .find(|(_, element)| element.flags.keyboard_focus);
        self.first(&tree, focused.map(|(at, _)| at))
    }

    async fn find(&mut self) -> Result<(ElementTree, Vec<usize>), WdaError> {
        let (tree, root) = self.target().await?;
        let using = self.arguments.text("using").unwrap_or("(null)");
        let value = self.arguments.text("value").unwrap_or_default();
        let xpath_of_all = using == "xpath" && !self.state.settings.flag("limitXPathContextScope");
        let root = if xpath_of_all { 0 } else { root };
        let found = find(&tree, root, using, value)?;
        Ok((tree, found))
    }

    fn first(&mut self, tree: &ElementTree, found: Option<usize>) -> Result<Value, WdaError> {
        if let Some(at) = found {
            return Ok(self.hand_out(tree, at));
        }
        let told = |name| self.arguments.text(name).unwrap_or("(null)");
        let (using, value) = (told("using"), told("value"));
        let message = format!("unable to find an element using '{using}', value '{value}'");
        Err(WdaError::new(ErrorKind::NO_SUCH_ELEMENT, message))
    }

    pub(super) async fn attribute(&mut self, name: &str) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        told(Attribute::named(name)?.of(&tree, at))
    }

    pub(super) async fn element_text(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        Ok(text_of(&tree, at).into())
    }

    pub(super) async fn source(&mut self) -> Result<Value, WdaError> {
        let format = self.arguments.query("format").map(str::to_lowercase);
        let excluded = self.arguments.query("excluded_attributes").unwrap_or("");
        let excluded = excluded.split(',').filter(|name| !name.is_empty());
        let mut without: Vec<String> = excluded.map(str::to_owned).collect();
        let text = match format.as_deref() {
            Some("json") => return Ok(source::json(&self.tree().await?, &without)),
            Some("xml") | None => {
                let left_out = OPTIONAL
                    .iter()
                    .filter(|(_, setting)| !self.state.settings.flag(setting));
                without.extend(left_out.map(|(attribute, _)| (*attribute).to_owned()));
                let scope = self.arguments.query("scope").filter(|scope| is_tag(scope));
                let scope = scope.map(str::to_owned);
                source::xml(&self.tree().await?, &XmlOptions { without, scope })
            }
            Some("description") => source::description(&self.tree().await?),
            Some(format) => {
                return Err(WdaError::invalid_argument(format!(
                    "Unknown source format '{format}'. Only (xml, json, description) source formats are supported."
                )));
            }
        };
        Ok(self.truncated(text).into())
    }

    /// Cut off where a fault says so.
    fn truncated(&self, mut text: String) -> String {
        for fault in &self.tree_faults {
            if let Fault::Truncate(bytes) = fault {
                text.truncate(text.floor_char_boundary(*bytes));
            }
        }
        text
    }

    pub(super) fn window_size(&mut self) -> Result<Value, WdaError> {
        self.active_app()?;
        let (width, height) = self.world(|world| (world.width(), world.height()));
        Ok(json!({"width": source::number(width), "height": source::number(height)}))
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
    let first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let inside = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    name.starts_with(first) && name.chars().all(inside)
}
