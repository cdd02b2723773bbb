//! Finding an element on a phone's screen, and finding that it is gone.

use std::time::Duration;

use packtrain_drivers::{ActionReport, Command, InputCommand, Located, Point, Rect, Snapshot};

use super::element_query::{ElementQuery, VisibleMatch};
use super::keyboard::is_under_keyboard;
use super::sight::visible_part;
use super::watch::{Unmet, Watch};
use super::words::{describe, place};
use crate::tool::{Answer, ToolError};

/// How long an element must stay where it is before it is touched.
const STILL_GRACE: Duration = Duration::from_millis(100);

/// An element in sight.
pub(crate) struct Found {
    /// The look at which it was found.
    pub(crate) snapshot: Box<Snapshot>,
    /// Which it is.
    pub(crate) visible_match: VisibleMatch,
    located: Located,
    notes: Vec<String>,
}

/// Whether what should be gone is.
pub(crate) enum Presence {
    /// Nothing of it is in sight.
    Gone,
    /// It is there still, for this reason.
    There(ToolError),
}

/// Finds an element, waiting for it to appear.
///
/// # Errors
/// A failure that explains why nothing matches.
pub(crate) async fn find(watch: &mut Watch<'_>, wanted: &ElementQuery) -> Result<Found, ToolError> {
    let (snapshot, visible_match) = watch
        .until(
            |snapshot| wanted.visible_match(snapshot),
            |snapshot| missing(wanted, snapshot),
        )
        .await?;
    Ok(Found {
        located: wanted.located(&visible_match),
        snapshot,
        visible_match,
        notes: wanted.notes(),
    })
}

/// Finds an element to touch: waits for it to appear, to stand still when something may be moving,
/// and to come out from under the keyboard.
///
/// # Errors
/// As [`find`].
pub(crate) async fn find_still(
    watch: &mut Watch<'_>,
    wanted: &ElementQuery,
) -> Result<Found, ToolError> {
    let mut put_away = false;
    loop {
        let mut found = find(watch, wanted).await?;
        let moving = watch.looks() > 1 || watch.call().session.screen().is_moving();
        if moving && !stands_still(watch, wanted, &mut found).await? {
            continue;
        }
        match found.point(None) {
            Ok(point)
                if is_under_keyboard(&found.snapshot.tree, found.visible_match.node, point) =>
            {
                if put_away {
                    return Err(ToolError::failed(format!(
                        "{} is covered by the keyboard, which could not be dismissed",
                        found.describe()
                    )));
                }
                put_away = true;
                let hide = Command::Input(InputCommand::HideKeyboard);
                watch.call().act(hide).await?;
            }
            Ok(_) | Err(_) => return Ok(found),
        }
    }
}

/// Waits until two looks in a row, [`STILL_GRACE`] apart, agree on where the element is. `false` when it
/// has gone meanwhile.
async fn stands_still(
    watch: &mut Watch<'_>,
    wanted: &ElementQuery,
    found: &mut Found,
) -> Result<bool, ToolError> {
    // The calls before may have looked already, as assertions do.
    if watch.call().session.screen().unchanged_for() >= STILL_GRACE {
        return Ok(true);
    }
    loop {
        let before = watch.looked();
        if watch.left().is_zero() {
            found
                .notes
                .push("it was still moving when the time was up".to_owned());
            return Ok(true);
        }
        // No change at all is the cheapest proof: it needs no second look.
        if !watch.changes_within(STILL_GRACE).await? {
            watch.call().session.screen().still_since(before);
            return Ok(true);
        }
        watch.rest(STILL_GRACE).await?;
        let snapshot = watch.look().await?;
        let Some(visible_match) = wanted.visible_match(&snapshot) else {
            return Ok(false);
        };
        let rests = visible_match.bounds == found.visible_match.bounds;
        found.located = wanted.located(&visible_match);
        found.snapshot = snapshot;
        found.visible_match = visible_match;
        if rests {
            return Ok(true);
        }
    }
}

/// Waits until nothing of an element is in sight.
///
/// # Errors
/// What the device says, and that a pattern cannot tell whether it is gone; that it does not go is
/// an answer.
pub(crate) async fn gone(
    watch: &mut Watch<'_>,
    wanted: &ElementQuery,
) -> Result<Presence, ToolError> {
    loop {
        let snapshot = watch.look().await?;
        // An empty tree is what a screen change looks like half-way; it proves nothing.
        if !snapshot.tree.is_empty() && wanted.visible_match(&snapshot).is_none() {
            let doubts = wanted.doubts();
            if let Some(doubt) = doubts.first() {
                return Err(ToolError::Failed {
                    message: format!(
                        "it is unknown whether {} is gone: {doubt}",
                        wanted.description()
                    ),
                    log: doubts,
                    hint: Some(
                        "simplify the pattern, or quote literal text with `\\Q` and `\\E`"
                            .to_owned(),
                    ),
                });
            }
            return Ok(Presence::Gone);
        }
        if !watch.changes().await? {
            return Ok(Presence::There(watch.unmet(lingering(wanted, &snapshot))));
        }
    }
}

fn missing(wanted: &ElementQuery, snapshot: &Snapshot) -> Unmet {
    let mut log = wanted.explain(snapshot);
    if log.is_empty() {
        log = wanted.notes();
    }
    Unmet {
        what: format!("{} was not visible", wanted.description()),
        log,
    }
}

fn lingering(wanted: &ElementQuery, snapshot: &Snapshot) -> Unmet {
    let what = if snapshot.tree.is_empty() {
        "the screen showed no elements at all".to_owned()
    } else {
        format!("{} did not go away", wanted.description())
    };
    let tree = &snapshot.tree;
    let log = wanted.all(snapshot).into_iter().take(3).map(|id| {
        let bounds = tree.get(id).and_then(|node| node.bounds);
        let at = bounds.map_or_else(String::new, |bounds| format!(" at {}", place(bounds)));
        format!("there is still {}{at}", describe(tree, id))
    });
    Unmet {
        what,
        log: log.collect(),
    }
}

impl Found {
    /// The element in a few words.
    pub(crate) fn describe(&self) -> String {
        describe(&self.snapshot.tree, self.visible_match.node)
    }

    /// Where to touch it: the middle of what can be seen of it, or a place in it by its share of
    /// width and height.
    ///
    /// # Errors
    /// A failure when its place is not known, or when the place lies out of sight.
    pub(crate) fn point(&self, share: Option<(f64, f64)>) -> Result<Point, ToolError> {
        let Some(bounds) = self.visible_match.bounds else {
            return Err(ToolError::failed(format!(
                "{} has no bounds",
                self.describe()
            )));
        };
        let visible = visible_part(bounds, self.snapshot.screen).unwrap_or(bounds);
        let Some((x, y)) = share else {
            return Ok(visible.center());
        };
        let point = inside(bounds, x, y);
        if visible.contains(point) {
            Ok(point)
        } else {
            Err(ToolError::failed(format!(
                "that place in {} lies out of sight",
                self.describe()
            )))
        }
    }

    /// The answer to what was done with it: how it was found goes first.
    pub(crate) fn into_answer(self, done: Answer) -> Answer {
        let mut notes = self.notes;
        notes.extend(done.report.notes);
        Answer {
            report: ActionReport {
                located: Some(self.located),
                notes,
            },
            ..done
        }
    }
}

/// A place in a rectangle; its right and bottom edges are the last place before them.
fn inside(bounds: Rect, x: f64, y: f64) -> Point {
    let at = |start: f64, extent: f64, share: f64| {
        start + (extent * share.clamp(0.0, 1.0)).min((extent - 1.0).max(0.0))
    };
    Point::new(
        at(bounds.left, bounds.width(), x),
        at(bounds.top, bounds.height(), y),
    )
}
