//! What arguments of tools for pages must fulfil besides their types. The tools and the driver say
//! the same when they are called; here it is said without a device.

use super::super::InvalidArgument;
use super::arguments::{
    Element, Navigate, Navigation, NetworkEvent, Select, Type, VerifyElement, VerifyKind,
    VerifyList, VerifyText, VerifyValue, WaitForUrl,
};
use packtrain_drivers::WebTarget;

impl Navigate {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        match self.action {
            Navigation::Goto if self.url.trim().is_empty() => Err(InvalidArgument::new(
                "url",
                "`url` is needed to go somewhere",
            )
            .hint("add `url`, or `action: BACK` or `action: FORWARD`")),
            Navigation::Goto | Navigation::Back | Navigation::Forward => Ok(()),
        }
    }
}

impl Element {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())
    }
}

impl VerifyElement {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())
    }
}

impl Type {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())
    }
}

impl Select {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())?;
        if self.values.is_empty() {
            Err(InvalidArgument::new("values", "`values` is empty").hint("list at least one"))
        } else {
            Ok(())
        }
    }
}

impl VerifyValue {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())?;
        match self.kind {
            VerifyKind::Attribute if self.attribute.is_empty() => Err(InvalidArgument::new(
                "attribute",
                "`attribute` names no attribute",
            )
            .hint("add `attribute`, such as `attribute: href`")),
            VerifyKind::Attribute | VerifyKind::Text | VerifyKind::Value => Ok(()),
        }
    }
}

impl VerifyText {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        not_blank("text", &self.text)
    }
}

impl VerifyList {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        if self.items.is_empty() {
            return Err(InvalidArgument::new("items", "`items` is empty").hint("list at least one"));
        }
        self.items
            .iter()
            .try_for_each(|item| not_blank("items", item))
    }
}

impl NetworkEvent {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        not_blank("eventName", &self.event_name)
    }
}

impl WaitForUrl {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        not_blank("pattern", &self.pattern)?;
        let wrong = match regex::Regex::new(&self.pattern) {
            Ok(_) => return Ok(()),
            Err(regex::Error::Syntax(words)) => words,
            Err(error) => error.to_string(),
        };
        // The last line says what is wrong; those above draw the pattern.
        let why = wrong.lines().last().unwrap_or_default();
        let why = why.trim_start_matches("error: ");
        Err(InvalidArgument::new(
            "pattern",
            format!("`pattern` is no regular expression: {why}"),
        )
        .hint("a backslash before a sign takes its meaning away: `\\(`"))
    }
}

/// What is blank is part of everything, so that expecting it would verify nothing.
fn not_blank(key: &'static str, text: &str) -> Result<(), InvalidArgument> {
    if text.trim().is_empty() {
        return Err(
            InvalidArgument::new(key, format!("`{key}` is blank")).hint("say what is expected")
        );
    }
    Ok(())
}

fn named(target: &WebTarget) -> Result<(), InvalidArgument> {
    if target.is_empty() {
        Err(InvalidArgument::new("", "no element is named")
            .hint("add `nodeSelector` or `ref`, such as `ref: 'button \"Save\"'`"))
    } else {
        Ok(())
    }
}
