//! Carrying out the rules of an app.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app::{AppId, Ask, Expression, Record, Rule, Rules, Value};
use crate::shape::Platform;
use crate::world::World;
use crate::world::dialogs::OpenDialog;
use crate::world::running::{Row, Scope, ScreenTransition};
use crate::world::snapshot::NodeKey;

/// The most effects that may be under way at once on one device.
const MAX_PENDING: usize = 256;
/// The longest chain of screens whose entering leads to the next screen at once.
const MAX_CHAIN: u8 = 16;

/// An effect that is under way.
#[derive(Debug)]
pub(super) struct Pending {
    pub due: Duration,
    pub app: AppId,
    pub busy: bool,
    what: PendingEffects,
    row: Option<Row>,
}

#[derive(Debug)]
enum PendingEffects {
    /// The effects of this rule, whose condition held when it was begun.
    Effects(Box<Rule>),
    /// The rules of a screen that was entered.
    Entered(Rules),
}

impl World {
    /// Carries out the first rule whose condition holds.
    pub(super) fn carry_out(&mut self, app: &AppId, rules: &Rules, row: Option<&Row>) {
        self.carry_out_chained(app, rules, row, 0);
    }

    fn carry_out_chained(&mut self, app: &AppId, rules: &Rules, row: Option<&Row>, chain: u8) {
        let Some(run) = self.running.get(app) else {
            return;
        };
        let scope = self.scope_of_row(run, row);
        let holds = |rule: &&Rule| scope.holds(rule.condition.as_ref().map(|c| &c.value));
        let Some(rule) = rules.0.iter().find(holds).cloned() else {
            return;
        };
        match rule.after {
            None => self.effects(app, &rule, row, chain),
            Some(delay) => {
                let jitter = self.dice.up_to(delay.jitter);
                let due = self.now + Duration::from_millis(delay.ms.saturating_add(jitter));
                self.later(Pending {
                    due,
                    app: app.clone(),
                    busy: delay.busy,
                    what: PendingEffects::Effects(Box::new(rule)),
                    row: row.cloned(),
                });
                // A spinner that starts to turn is a change too.
                self.changed();
            }
        }
    }

    fn later(&mut self, pending: Pending) {
        if self.pending.len() < MAX_PENDING {
            self.pending.push(pending);
        }
    }

    /// The next effect that is due, the earliest first and in the order they were begun.
    pub(super) fn take_due(&mut self) -> Option<Pending> {
        let (index, _) = (self.pending.iter().enumerate())
            .filter(|(_, p)| p.due <= self.now)
            .min_by_key(|(i, p)| (p.due, *i))?;
        Some(self.pending.remove(index))
    }

    pub(super) fn carry_out_pending(&mut self, pending: Pending) {
        let row = pending.row.as_ref();
        match &pending.what {
            PendingEffects::Effects(rule) => self.effects(&pending.app, rule, row, 0),
            PendingEffects::Entered(rules) => self.carry_out(&pending.app, rules, row),
        }
    }

    /// A screen of `app` was entered: its rules are carried out once it shows.
    pub(super) fn on_enter(&mut self, app: &AppId, at: Duration) {
        self.on_enter_chained(app, at, 0);
    }

    fn on_enter_chained(&mut self, app: &AppId, at: Duration, chain: u8) {
        let Some(screen) = self.running.get(app).and_then(|run| run.screen()) else {
            return;
        };
        let rules = screen.enter.clone();
        if rules.is_empty() || chain >= MAX_CHAIN {
            return;
        }
        if at <= self.now {
            self.carry_out_chained(app, &rules, None, chain + 1);
        } else {
            self.later(Pending {
                due: at,
                app: app.clone(),
                busy: true,
                what: PendingEffects::Entered(rules),
                row: None,
            });
        }
    }

    fn effects(&mut self, app: &AppId, rule: &Rule, row: Option<&Row>, chain: u8) {
        self.assign(app, rule, row);
        let goes = [
            (&rule.goto, ScreenTransition::Push),
            (&rule.replace, ScreenTransition::Replace),
            (&rule.restart, ScreenTransition::Reset),
        ];
        for (screen, how) in goes {
            if let Some(screen) = screen {
                if let Some(run) = self.running.get_mut(app) {
                    run.enter(&screen.value, how);
                    run.scrolled.clear();
                }
                self.moved();
                self.on_enter_chained(app, self.now, chain);
            }
        }
        if rule.back {
            self.go_back(app);
        }
        if rule.hide_keyboard {
            if let Some(run) = self.running.get_mut(app) {
                run.leave_field();
            }
            self.moved();
        }
        if let Some(id) = &rule.focus {
            self.focus_id(app, &id.value);
        }
        if let Some(name) = &rule.dialog {
            self.open_dialog(app, &name.value);
        }
        if let Some(ask) = &rule.ask {
            self.ask(app, ask, row, chain);
        }
        if let Some(url) = &rule.open {
            let url = match self.running.get(app) {
                Some(run) => {
                    let scope = self.scope_of_row(run, row);
                    url.fill(&|path| scope.value(path))
                }
                None => String::new(),
            };
            self.open(&url);
        }
        if let Some(name) = &rule.launch {
            let found = self
                .installed()
                .find(|a| a.name == *name || a.id.as_str() == name);
            if let Some(found) = found {
                // It was found among the installed a line above.
                let _ = self.launch(&found.id);
            }
        }
        if rule.exit {
            self.home();
        }
        if rule.crash {
            self.crash(app);
        }
        self.changed();
    }

    /// The effects on variables. Every text is filled before the first is assigned, so that two
    /// assignments can exchange values.
    fn assign(&mut self, app: &AppId, rule: &Rule, row: Option<&Row>) {
        let Some(run) = self.running.get(app) else {
            return;
        };
        let scope = self.scope_of_row(run, row);
        let value_of = |path: &str| scope.value(path);
        let evaluate = |expression: &Expression| match expression.template() {
            Some(template) => scope.said(template).value(&value_of),
            None => expression.value(&value_of),
        };
        let all = |map: &BTreeMap<String, crate::document::At<Expression>>| -> Vec<_> {
            (map.iter())
                .map(|(name, e)| (name.clone(), evaluate(&e.value)))
                .collect()
        };
        let (set, add, remove) = (all(&rule.set), all(&rule.add), all(&rule.remove));
        let push: Vec<(String, Record)> = (rule.push.iter())
            .map(|(name, record)| {
                let fields = record.value.iter();
                let record = fields.map(|(field, e)| (field.clone(), evaluate(e)));
                (name.clone(), record.collect())
            })
            .collect();
        let Some(run) = self.running.get_mut(app) else {
            return;
        };
        for name in &rule.clear {
            run.changed.remove(&name.value);
        }
        for (name, value) in set {
            run.assign(&name, value);
        }
        for (name, value) in add {
            let sum = [run.variable(&name).and_then(Value::number), value.number()];
            run.assign(&name, Value::Number(sum.into_iter().flatten().sum()));
        }
        if let Some(name) = &rule.toggle {
            let now = run.variable(&name.value).is_some_and(Value::is_truthy);
            run.assign(&name.value, Value::Bool(!now));
        }
        for (name, record) in push {
            let mut list = list_of(run.variable(&name));
            list.push(Arc::new(record));
            run.assign(&name, Value::List(list));
        }
        for (name, index) in remove {
            let mut list = list_of(run.variable(&name));
            let index = index.number().unwrap_or(-1.0);
            if index >= 0.0 && (index as usize) < list.len() {
                list.remove(index as usize);
            }
            run.assign(&name, Value::List(list));
        }
    }

    fn open_dialog(&mut self, app: &AppId, name: &str) {
        let Some(run) = self.running.get_mut(app) else {
            return;
        };
        let open = OpenDialog::Named {
            app: app.clone(),
            name: name.to_owned(),
        };
        if run.app.dialogs.get(name).is_some_and(|d| d.system) {
            self.system_dialogs.push(open);
        } else {
            run.leave_field();
            run.dialogs.push(open);
        }
        self.moved();
    }

    fn ask(&mut self, app: &AppId, ask: &Ask, row: Option<&Row>, chain: u8) {
        let Some(install) = self.installed.get(app) else {
            return;
        };
        let refusals = install.refusals.get(&ask.permission).copied().unwrap_or(0);
        let patience = match self.shape.platform {
            Platform::Android => 2,
            Platform::Ios => 1,
        };
        if install.granted.contains(&ask.permission) {
            self.carry_out_chained(app, &ask.allow, row, chain + 1);
        } else if refusals >= patience {
            self.carry_out_chained(app, &ask.deny, row, chain + 1);
        } else {
            self.system_dialogs.push(OpenDialog::Asks {
                app: app.clone(),
                ask: ask.clone(),
            });
            self.moved();
        }
    }

    /// To the screen before, or out of the app.
    pub(super) fn go_back(&mut self, app: &AppId) {
        let Some(run) = self.running.get_mut(app) else {
            return;
        };
        let told = run
            .screen()
            .and_then(|s| s.back.as_ref())
            .map(|b| b.value.clone());
        match told.as_deref() {
            Some("exit") => self.home(),
            Some(screen) => {
                match run.screens.iter().rposition(|s| s == screen) {
                    Some(known) => run.screens.truncate(known + 1),
                    None => run.enter(screen, ScreenTransition::Reset),
                }
                self.after_back(app);
            }
            None if run.screens.len() > 1 => {
                run.screens.pop();
                self.after_back(app);
            }
            None => self.home(),
        }
    }

    fn after_back(&mut self, app: &AppId) {
        if let Some(run) = self.running.get_mut(app) {
            run.leave_field();
        }
        self.moved();
    }

    fn focus_id(&mut self, app: &AppId, id: &str) {
        let key: Option<NodeKey> = (self.lay_out().iter())
            .flat_map(|l| &l.window.nodes)
            .find(|n| n.id == id && n.element().is_some_and(crate::app::Role::is_input))
            .map(|n| n.key);
        if let (Some(key), Some(run)) = (key, self.running.get_mut(app)) {
            run.leave_field();
            run.focus = Some(key);
            self.moved();
        }
    }

    pub(super) fn scope_of_row<'a>(
        &'a self,
        run: &'a crate::world::running::RunningApp,
        row: Option<&Row>,
    ) -> Scope<'a> {
        Scope {
            row: row.cloned(),
            ..self.scope(run)
        }
    }
}

fn list_of(value: Option<&Value>) -> Vec<Arc<Record>> {
    match value {
        Some(Value::List(list)) => list.clone(),
        _ => Vec::new(),
    }
}
