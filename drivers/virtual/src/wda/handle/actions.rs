//! W3C actions, carried out in their time.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{Done, Handler};
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::w3c::{self, InputAction, Origins, Timeline};
use crate::world::{Finger, TwoFingers};

impl Handler<'_> {
    pub(super) async fn actions(&mut self) -> Done {
        self.active_app()?;
        let actions = self.arguments.get("actions").cloned();
        // Located before anything moves.
        let mut located = Origins::new();
        for uid in w3c::origins(actions.as_ref().unwrap_or(&Value::Null)) {
            if located.contains_key(&uid) {
                continue;
            }
            let (tree, at) = self.element_of(&uid).await?;
            let centre = tree.frame(at).centre();
            if tree.frame(at).is_empty() {
                return Err(WdaError::failed(&format!(
                    "The element '{uid}' is not visible on the screen and thus is not interactable"
                )));
            }
            let hittable = tree.get(at).is_some_and(|element| element.flags.hittable);
            let hit = hittable.then(|| self.touch_point(&tree, at)).flatten();
            located.insert(uid, (hit.unwrap_or(centre), centre));
        }
        let plan = w3c::plan(actions.as_ref(), &located).map_err(|text| WdaError::failed(&text))?;
        self.carry_out(plan).await
    }

    async fn carry_out(&self, plan: Timeline) -> Done {
        let fingers: BTreeSet<usize> = plan
            .actions
            .iter()
            .filter_map(|(_, action)| match action {
                InputAction::Finger(number, _) => Some(*number),
                InputAction::Type(_) => None,
            })
            .collect();
        let (mut one, mut two) = (Finger::default(), TwoFingers::default());
        let mut passed = Duration::ZERO;
        for (at, action) in plan.actions {
            self.spend(at.saturating_sub(passed)).await;
            passed = passed.max(at);
            match action {
                InputAction::Type(text) => self.type_text(&text, ErrorKind::UNKNOWN_ERROR).await?,
                InputAction::Finger(number, touch) => {
                    let gesture = match fingers.len() {
                        1 => one.follow(touch, at),
                        2 => two.follow(fingers.range(..number).count(), touch, at),
                        // Nothing here answers to more fingers; they only take their time.
                        _ => None,
                    };
                    if let Some(gesture) = gesture {
                        // Its time has passed already.
                        self.touch(gesture, Duration::ZERO).await;
                    }
                }
            }
        }
        self.spend(plan.ends.saturating_sub(passed)).await;
        Ok(())
    }
}
