//! Tools that name an element by its reference in the newest snapshot, for agents. Each is carried
//! out as the tool that does the same durably, and says which: only that belongs into a recording.

use packtrain_drivers::selector::{NodeSelector, find_ref, selector_for};
use packtrain_drivers::{InputCommand, NodeId, Point, Snapshot};
use packtrain_model::yaml::Value;
use serde_json::json;

use super::expect::{Expected, TextMatchMode, assert_shows};
use super::gesture::on_screen;
use super::input;
use crate::builtin::number;
use crate::call::Call;
use crate::mobile::act::{Touch, gesture_time, touch_element};
use crate::mobile::element_query::ElementQuery;
use crate::mobile::find::find_still;
use crate::mobile::watch::{Rest, Watch};
use crate::mobile::words::quoted;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::{Answer, DelegatedCall, ToolError};

/// How long nothing may change before a reference is looked up once more.
const REST_GRACE: std::time::Duration = std::time::Duration::from_millis(100);
/// How long a screen may take to come to rest before that.
const REST_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

tools! { PHONES;
    /// Taps an element by its reference in the snapshot: `y778`.
    Action tap Tap {
        /// The element's reference: `y778`.
        #[serde(rename = "ref")]
        reference: String,
        /// Hold it instead.
        #[serde(default)]
        long_press: bool,
        /// Why, for readers.
        reasoning: Option<String>,
    }
    .unrecorded()
    |arguments, call| {
        let touch = Touch::long(arguments.long_press);
        touch_reference(call, &arguments.reference, touch, arguments.reasoning).await
    };

    /// Long-presses an element by its reference in the snapshot: `y778`.
    Action longPress LongPress {
        /// The element's reference: `y778`.
        #[serde(rename = "ref")]
        reference: String,
        /// Why, for readers.
        reasoning: Option<String>,
    }
    .unrecorded()
    |arguments, call| {
        touch_reference(call, &arguments.reference, Touch::Hold, arguments.reasoning).await
    };

    /// Picks up an element by its reference and drops it on another, or at a point.
    Action dragTo DragTo(reasoning) {
        /// The reference of the element to pick up: `y778`.
        #[serde(rename = "ref")]
        reference: String,
        /// The reference of the element to drop it on.
        to_ref: Option<String>,
        /// Where to drop it, from the left edge; with `toY`, instead of `toRef`.
        to_x: Option<i32>,
        /// Where to drop it, from the top edge.
        to_y: Option<i32>,
        /// How long the movement takes, in milliseconds.
        #[serde(default = "number::<1_000, u64>")]
        duration_ms: u64,
    }
    .unrecorded()
    |arguments, call| drag_to(arguments, call).await;

    /// Expects an element to be visible by its reference in the snapshot, and to show a
    /// text when one is given.
    Assertion assertVisible AssertVisible {
        /// The element's reference: `y778`.
        #[serde(rename = "ref")]
        reference: String,
        /// What it shows, blanks around it aside.
        expected_text: Option<String>,
        /// Why, for readers.
        reasoning: Option<String>,
    }
    .unrecorded()
    |arguments, call| {
        let (snapshot, node) = resolve(call, &arguments.reference).await?;
        let selector = selector_for(&snapshot.tree, node);
        let mut recorded = selector_arguments(&selector, arguments.reasoning);
        let expected = arguments.expected_text.map(|text| {
            recorded["expectedText"] = json!(text);
            Expected::new(&text, TextMatchMode::Exact)
        });
        let wanted = ElementQuery::selector(selector, call.session.platform())?;
        let watch = Watch::new(call, ELEMENT_TIMEOUT).starting_from(snapshot);
        let answer = assert_shows(watch, &wanted, expected).await?;
        Ok(delegated(answer, "assertVisibleBySelector", &recorded))
    };
}

async fn touch_reference(
    call: &Call<'_>,
    reference: &str,
    touch: Touch,
    reason: Option<String>,
) -> Result<Answer, ToolError> {
    let (snapshot, node) = resolve(call, reference).await?;
    let selector = selector_for(&snapshot.tree, node);
    let mut arguments = selector_arguments(&selector, reason);
    if touch == Touch::Hold {
        arguments["longPress"] = json!(true);
    }
    let wanted = ElementQuery::selector(selector, call.session.platform())?;
    let watch = Watch::new(call, ELEMENT_TIMEOUT).starting_from(snapshot);
    let answer = touch_element(watch, &wanted, touch, None).await?;
    Ok(delegated(answer, "tapOnElementBySelector", &arguments))
}

async fn drag_to(arguments: DragTo, call: &Call<'_>) -> Result<Answer, ToolError> {
    let duration = gesture_time(call, "durationMs", arguments.duration_ms)?;
    let (snapshot, node) = resolve(call, &arguments.reference).await?;
    let wanted =
        ElementQuery::selector(selector_for(&snapshot.tree, node), call.session.platform())?;
    let mut watch = Watch::new(call, ELEMENT_TIMEOUT).starting_from(snapshot);
    let found = find_still(&mut watch, &wanted).await?;
    let from = whole(found.point(None)?);
    let to = match (arguments.to_ref, arguments.to_x, arguments.to_y) {
        (Some(target), None, None) => {
            let node = lookup(&found.snapshot, &target)
                .ok_or_else(|| unknown(call, &found.snapshot, &target))?;
            let bounds = found.snapshot.tree.get(node).and_then(|node| node.bounds);
            let bounds = bounds
                .ok_or_else(|| ToolError::failed(format!("{} has no bounds", quoted(&target))))?;
            whole(bounds.center())
        }
        (None, Some(x), Some(y)) => (x, y),
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            return Err(ToolError::failed(
                "expected either `toRef`, or `toX` and `toY`",
            ));
        }
    };
    let command = InputCommand::Drag {
        from: on_screen(call, from.0.into(), from.1.into()).await?,
        to: on_screen(call, to.0.into(), to.1.into()).await?,
        duration,
    };
    let done = input(call, command).await?;
    let recorded = json!({
        "startX": from.0, "startY": from.1,
        "endX": to.0, "endY": to.1,
        "durationMs": arguments.duration_ms,
    });
    Ok(delegated(
        found.into_answer(done),
        "dragByPoints",
        &recorded,
    ))
}

/// A point as recordings have it.
fn whole(point: Point) -> (i32, i32) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "screens are smaller, and `as` saturates"
    )]
    let whole = |value: f64| value.round() as i32;
    (whole(point.x), whole(point.y))
}

fn selector_arguments(selector: &NodeSelector, reason: Option<String>) -> serde_json::Value {
    let mut arguments = json!({ "nodeSelector": selector });
    if let Some(reason) = reason {
        arguments["reason"] = json!(reason);
    }
    arguments
}

fn delegated(answer: Answer, tool: &str, arguments: &serde_json::Value) -> Answer {
    Answer {
        delegate: Some(DelegatedCall {
            tool: tool.to_owned(),
            arguments: Value::from(arguments),
        }),
        ..answer
    }
}

/// The element a reference stands for on the screen as it is now.
async fn resolve(call: &Call<'_>, name: &str) -> Result<(Box<Snapshot>, NodeId), ToolError> {
    let mut watch = Watch::new(call, REST_TIMEOUT);
    let snapshot = watch.look().await?;
    if let Some(node) = lookup(&snapshot, name) {
        return Ok((snapshot, node));
    }
    // References say where an element is: one that moves has another until it has arrived.
    if call.session.screen().is_moving() {
        let mut watch = watch.starting_from(snapshot);
        let (Rest::Still(snapshot) | Rest::Moving(snapshot)) =
            watch.until_still(REST_GRACE).await?;
        return match lookup(&snapshot, name) {
            Some(node) => Ok((snapshot, node)),
            None => Err(unknown(call, &snapshot, name)),
        };
    }
    Err(unknown(call, &snapshot, name))
}

/// `y778`, with or without the brackets of the list.
fn lookup(snapshot: &Snapshot, name: &str) -> Option<NodeId> {
    let name = name.trim().trim_start_matches('[').trim_end_matches(']');
    find_ref(&snapshot.tree, snapshot.screen, name)
}

fn unknown(call: &Call<'_>, snapshot: &Snapshot, name: &str) -> ToolError {
    let screen = call.session.screen();
    let before = screen.handed_out_as(name.trim_matches(['[', ']', ' ']));
    let mut log: Vec<_> = before
        .map(|before| format!("it was {} {}", before.role, quoted(&before.label)))
        .into_iter()
        .collect();
    log.push(format!(
        "{} elements are on the screen now",
        snapshot.refs.len()
    ));
    ToolError::Failed {
        message: match before {
            Some(_) => format!("{} is no longer on the screen", quoted(name)),
            None => format!("unknown element {}: not on the screen", quoted(name)),
        },
        log,
        hint: Some("take a snapshot and use a reference from it".to_owned()),
    }
}
