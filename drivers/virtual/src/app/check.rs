//! Reads a whole app once more and finds names that lead nowhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use packtrain_yaml::suggest::did_you_mean;

use crate::app::condition::Condition;
use crate::app::element::{Element, Items, Role};
use crate::app::rule::{Permission, Rule, Rules};
use crate::app::template::{PlatformText, Template};
use crate::app::value::Value;
use crate::app::{App, AppError, Dialog, Screen};
use crate::document::{self, At, Position, Source};

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 24;
/// The most rows of a list.
const MAX_ROWS: usize = 100_000;

type Checked = Result<(), AppError>;

/// Finds the first thing in `app` that cannot work.
pub(super) fn check(app: &App, source: &Source) -> Checked {
    let check = Check {
        app,
        source,
        written: RefCell::default(),
    };
    check.screen_name(&app.app.start)?;
    for name in app.app.keep.iter().flatten() {
        check.variable(name)?;
    }
    for rules in app.app.links.values() {
        check.rules(rules, In::Screen)?;
    }
    for screen in app.screens.values() {
        check.screen(screen)?;
    }
    for dialog in app.dialogs.values() {
        check.dialog(dialog)?;
    }
    app.texts
        .values()
        .try_for_each(|texts| check.translations(texts))
}

/// Whether a row's names can be used.
#[derive(Clone, Copy, PartialEq)]
enum In {
    Screen,
    Row,
}

struct Check<'a> {
    app: &'a App,
    source: &'a Source,
    /// The texts that were met, which can be translated.
    written: RefCell<BTreeSet<String>>,
}

impl Check<'_> {
    fn screen(&self, screen: &Screen) -> Checked {
        self.words(screen.title.as_ref(), In::Screen)?;
        if let Some(back) = screen.back.as_ref().filter(|b| b.value != "exit") {
            self.screen_name(back)?;
        }
        self.rules(&screen.enter, In::Screen)?;
        for element in screen.bar.iter().chain(&screen.elements) {
            self.element(element, In::Screen, 0)?;
        }
        Ok(())
    }

    fn dialog(&self, dialog: &Dialog) -> Checked {
        self.words(dialog.title.as_ref(), In::Screen)?;
        self.words(dialog.text.as_ref(), In::Screen)?;
        for button in &dialog.buttons {
            self.words(Some(&button.text), In::Screen)?;
            self.rules(&button.tap, In::Screen)?;
        }
        Ok(())
    }

    fn element(&self, element: &Element, scope: In, depth: usize) -> Checked {
        if depth > MAX_DEPTH {
            return Err(self.error(Position::default(), "elements are nested too deep", None));
        }
        for words in [&element.text, &element.desc, &element.hint] {
            self.words(words.as_ref(), scope)?;
        }
        for condition in [
            &element.visible_if,
            &element.enabled_if,
            &element.selected_if,
        ] {
            self.condition(condition.as_ref(), scope)?;
        }
        for variable in [&element.bind, &element.zoom].into_iter().flatten() {
            self.variable(variable)?;
        }
        for rules in [
            &element.tap,
            &element.long_press,
            &element.change,
            &element.submit,
        ] {
            self.rules(rules, scope)?;
        }
        for child in &element.elements {
            self.element(child, scope, depth + 1)?;
        }
        self.list(element, depth)
    }

    fn list(&self, element: &Element, depth: usize) -> Checked {
        self.condition(element.filter.as_ref(), In::Row)?;
        if let Some(Items::Of(name)) = &element.items {
            self.variable(name)?;
            if !matches!(self.app.state.get(&name.value), Some(Value::List(_))) {
                let message = format!("`{}` is not a list", name.value);
                return Err(self.error(name.place, message, None));
            }
        }
        if let Some(Items::These(records)) = &element.items {
            let values = records.iter().flat_map(|record| record.values());
            let texts = values.filter_map(|value| match value {
                Value::Text(text) => Some(text.clone()),
                _ => None,
            });
            self.written.borrow_mut().extend(texts);
        }
        if element.repeat.is_some_and(|rows| rows > MAX_ROWS) {
            return Err(self.error(
                Position::default(),
                "a list has more than 100000 rows",
                None,
            ));
        }
        match (&element.item, element.role) {
            (Some(item), Role::List) => self.element(item, In::Row, depth + 1),
            (None, Role::List) if element.elements.is_empty() => {
                let message = format!(
                    "list `{}` has neither `item` nor `elements`",
                    element.id.as_deref().unwrap_or("without id")
                );
                Err(self.error(Position::default(), message, None))
            }
            _ => Ok(()),
        }
    }

    fn rules(&self, rules: &Rules, scope: In) -> Checked {
        for rule in rules.0.iter() {
            self.rule(rule, scope)?;
        }
        Ok(())
    }

    fn rule(&self, rule: &Rule, scope: In) -> Checked {
        self.condition(rule.condition.as_ref(), scope)?;
        for name in rule.clear.iter().chain(&rule.toggle) {
            self.variable(name)?;
        }
        let assigned = (rule.set.iter()).chain(&rule.add).chain(&rule.remove);
        for (name, value) in assigned {
            self.variable(&At {
                value: name.clone(),
                place: value.place,
            })?;
            if let Some(template) = value.value.template() {
                self.template(template, scope)?;
            }
        }
        for (name, record) in &rule.push {
            self.variable(&At {
                value: name.clone(),
                place: record.place,
            })?;
            for template in record.value.values().filter_map(|e| e.template()) {
                self.template(template, scope)?;
            }
        }
        for screen in [&rule.goto, &rule.replace, &rule.restart]
            .into_iter()
            .flatten()
        {
            self.screen_name(screen)?;
        }
        if let Some(dialog) = &rule.dialog {
            self.known("dialog", dialog, self.app.dialogs.keys())?;
        }
        if let Some(ask) = &rule.ask {
            self.words(ask.text.as_ref(), scope)?;
            self.rules(&ask.allow, scope)?;
            self.rules(&ask.deny, scope)?;
        }
        match &rule.open {
            Some(url) => self.template(url, scope),
            None => Ok(()),
        }
    }

    fn translations(&self, texts: &BTreeMap<String, Template>) -> Checked {
        for (text, translation) in texts {
            let written = self.written.borrow();
            if !written.contains(text) {
                let hint = did_you_mean(text, written.iter().map(String::as_str));
                let message = format!("no text of this app is `{text}`");
                return Err(self.error(translation.place, message, hint));
            }
            drop(written);
            self.placeholders(translation, In::Row)?;
        }
        Ok(())
    }

    fn words(&self, words: Option<&PlatformText>, scope: In) -> Checked {
        let mut texts = words
            .into_iter()
            .flat_map(|text| [&text.android, &text.ios]);
        texts.try_for_each(|text| self.template(text, scope))
    }

    fn template(&self, template: &Template, scope: In) -> Checked {
        (self.written.borrow_mut()).insert(template.source().to_owned());
        self.placeholders(template, scope)
    }

    fn placeholders(&self, template: &Template, scope: In) -> Checked {
        for path in template.paths() {
            match path {
                Ok(path) => self.path(path, scope, template.place)?,
                Err(why) => return Err(self.error(template.place, why, None)),
            }
        }
        Ok(())
    }

    fn condition(&self, condition: Option<&At<Condition>>, scope: In) -> Checked {
        let Some(At { value, place }) = condition else {
            return Ok(());
        };
        let (paths, templates) = value.names();
        for path in paths {
            self.path(path, scope, *place)?;
        }
        (templates.into_iter()).try_for_each(|template| self.template(template, scope))
    }

    fn path(&self, path: &str, scope: In, place: Position) -> Checked {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        match first {
            "item" | "index" | "n" if scope == In::Row => Ok(()),
            "url" => Ok(()),
            "permission" if Permission::ALL.iter().any(|p| p.name() == rest) => Ok(()),
            "permission" => {
                let hint = did_you_mean(rest, Permission::ALL.iter().map(|p| p.name()));
                Err(self.error(place, format!("no permission is named `{rest}`"), hint))
            }
            name => self.variable(&At {
                value: name.to_owned(),
                place,
            }),
        }
    }

    fn variable(&self, name: &At<String>) -> Checked {
        self.known("variable", name, self.app.state.keys())
    }

    fn screen_name(&self, name: &At<String>) -> Checked {
        self.known("screen", name, self.app.screens.keys())
    }

    fn known<'k>(
        &self,
        kind: &str,
        name: &At<String>,
        mut all: impl Iterator<Item = &'k String> + Clone,
    ) -> Checked {
        if all.clone().any(|known| *known == name.value) {
            return Ok(());
        }
        let hint = did_you_mean(&name.value, all.by_ref().map(String::as_str));
        let message = format!("no {kind} is named `{}`", name.value);
        Err(self.error(name.place, message, hint))
    }

    fn error(&self, place: Position, message: impl Into<String>, hint: Option<String>) -> AppError {
        document::error(self.source, place, message, hint)
    }
}
