//! W3C actions: sequences of pointer and key items, checked as WebDriverAgent checks them and laid
//! out in time. Knows nothing of what a touch does.
//!
//! Source: `FBW3CActionsSynthesizer.m` of <https://github.com/appium/WebDriverAgent>. Every
//! failure is an unknown error there, so here they are only words.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::geometry::Point;
use crate::world::Pointer;

/// How many items all sequences of one request may have together.
const MAX_ITEMS: usize = 10_000;
/// The longest one item may take.
const MAX_DURATION: f64 = 600_000.0;

/// What happens at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum InputAction {
    /// A finger, by the number of its sequence.
    Finger(usize, Pointer),
    /// Text from the keyboard.
    Type(String),
}

/// All deeds in order, each with its moment, and when the last item ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Timeline {
    pub(crate) actions: Vec<(Duration, InputAction)>,
    pub(crate) ends: Duration,
}

/// By the ids of the elements that actions start from: where each is touched, and its middle.
pub(crate) type Origins = HashMap<String, (Point, Point)>;

/// The ids of the elements that actions start from, in the order they come.
pub(crate) fn origins(actions: &Value) -> Vec<String> {
    let items = actions.as_array().into_iter().flatten();
    let items = items.flat_map(|action| action["actions"].as_array().into_iter().flatten());
    items
        .filter_map(|item| element_origin(&item["origin"]))
        .collect()
}

/// Lays the actions of a request out in time.
pub(crate) fn plan(actions: Option<&Value>, origins: &Origins) -> Result<Timeline, String> {
    let actions = actions.and_then(Value::as_array);
    let actions = actions.filter(|actions| !actions.is_empty());
    let actions = actions.ok_or("Actions list cannot be empty")?;
    let mut ids = HashSet::new();
    let mut plan = Timeline::default();
    let mut count = 0;
    for (number, action) in actions.iter().enumerate() {
        let action = action.as_object().ok_or("an action must be a dictionary")?;
        let id = action.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() {
            return Err("The mandatory action id field is missing or empty".to_owned());
        }
        if !ids.insert(id) {
            return Err(format!("Action id '{id}' is not unique"));
        }
        let items = action.get("actions").and_then(Value::as_array);
        let items = items.ok_or_else(|| {
            format!("It is mandatory to have at least one item defined for each action. Action with id '{id}' contains none")
        })?;
        count += items.len();
        if count > MAX_ITEMS {
            return Err(format!("more than {MAX_ITEMS} items"));
        }
        if items.is_empty() {
            continue;
        }
        let items = without_cancelled(items)?;
        let ends = match action.get("type").and_then(Value::as_str) {
            Some("pointer") => pointer(&mut plan.actions, number, id, action, &items, origins)?,
            Some("key") => keys(&mut plan.actions, id, &items)?,
            other => {
                return Err(format!(
                    "Only actions of '(pointer, key)' types are supported. '{}' is given instead for action with id '{id}'",
                    other.unwrap_or("(null)")
                ));
            }
        };
        plan.ends = plan.ends.max(ends);
    }
    // Of one moment, what was listed first comes first.
    plan.actions.sort_by_key(|(at, _)| *at);
    Ok(plan)
}

type Item = Map<String, Value>;

/// A `pointerCancel` takes back the item before it.
fn without_cancelled(items: &[Value]) -> Result<Vec<&Item>, String> {
    let mut kept = Vec::with_capacity(items.len());
    for item in items {
        let item = item
            .as_object()
            .ok_or("an action item must be a dictionary")?;
        if kind(item) == Some("pointerCancel") {
            kept.pop();
        } else {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn kind(item: &Item) -> Option<&str> {
    item.get("type").and_then(Value::as_str)
}

fn pointer(
    actions: &mut Vec<(Duration, InputAction)>,
    number: usize,
    id: &str,
    action: &Item,
    items: &[&Item],
    origins: &Origins,
) -> Result<Duration, String> {
    let parameters = action.get("parameters").unwrap_or(&Value::Null);
    let kind_of_pointer = parameters["pointerType"].as_str().unwrap_or("mouse");
    if kind_of_pointer != "touch" {
        return Err(format!(
            "Only pointer type 'touch' is supported. '{kind_of_pointer}' is given instead for action with id '{id}'"
        ));
    }
    let mut time = Duration::ZERO;
    let (mut at, mut down) = (None, false);
    for item in items {
        let lasting = duration(item)?.unwrap_or_default();
        let name = kind(item).unwrap_or("(null)");
        let here = || {
            at.ok_or_else(|| {
                format!("The '{name}' action item must be preceded by pointerMove item")
            })
        };
        let touch = match name {
            "pointerMove" => {
                let to = target(item, at, origins)?;
                at = Some(to);
                down.then_some(Pointer::Move(to))
            }
            "pointerDown" => {
                let here = here()?;
                if item.get("pressure").is_some_and(|told| !told.is_null()) {
                    return Err("This device does not support force press interactions".to_owned());
                }
                down = true;
                Some(Pointer::Down(here))
            }
            "pointerUp" => {
                here()?;
                std::mem::take(&mut down).then_some(Pointer::Up)
            }
            "pause" => {
                here()?;
                None
            }
            _ => {
                return Err(format!(
                    "'{id}' action item type '{name}' is not supported. Only the following action item types are supported: (pause, pointerUp, pointerDown, pointerMove)"
                ));
            }
        };
        time += lasting;
        if let Some(touch) = touch {
            actions.push((time, InputAction::Finger(number, touch)));
        }
    }
    // What still lies on the glass is lifted at the end.
    if down {
        actions.push((time, InputAction::Finger(number, Pointer::Up)));
    }
    Ok(time)
}

fn target(item: &Item, at: Option<Point>, origins: &Origins) -> Result<Point, String> {
    let coordinate = |name| match item.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value @ (Value::Number(_) | Value::String(_))) => {
            Ok(Some(super::settings::double(value)))
        }
        Some(_) => Err(format!("'{name}' must be a number")),
    };
    let both = "Both 'x' and 'y' options should be set for pointerMove action item";
    let offset = match (coordinate("x")?, coordinate("y")?) {
        (Some(x), Some(y)) => Some((x, y)),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(both.to_owned()),
    };
    let from = |start: Point| offset.map_or(start, |(x, y)| Point::new(start.x + x, start.y + y));
    match item.get("origin").unwrap_or(&Value::Null) {
        origin if origin.is_null() || origin == "viewport" => {
            let (x, y) = offset.ok_or(both)?;
            Ok(Point::new(x, y))
        }
        origin if origin == "pointer" => {
            let at = at.ok_or("There is no previous item for pointerMove action item, however origin is set to 'pointer'")?;
            Ok(from(at))
        }
        origin => {
            let uid = element_origin(origin).ok_or_else(|| {
                format!("Unsupported origin type '{origin}' is set for pointerMove action item")
            })?;
            let (hit, middle) = *(origins.get(&uid))
                .ok_or_else(|| format!("the element '{uid}' cannot be located"))?;
            Ok(if offset.is_some() { from(middle) } else { hit })
        }
    }
}

/// The id of an element that is an origin: as a text, or in an object as clients hold elements.
fn element_origin(origin: &Value) -> Option<String> {
    match origin {
        Value::String(text) if text != "viewport" && text != "pointer" => Some(text.clone()),
        Value::Object(element) => {
            let key = |name: &str| {
                let name = name.to_lowercase();
                name == "element" || name == "element-6066-11e4-a52e-4f735466cecf"
            };
            let uid = element.iter().find(|(name, _)| key(name))?.1;
            uid.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

fn keys(
    actions: &mut Vec<(Duration, InputAction)>,
    id: &str,
    items: &[&Item],
) -> Result<Duration, String> {
    let mut time = Duration::ZERO;
    let mut text = String::new();
    let mut held: Vec<char> = Vec::new();
    for item in items {
        match kind(item) {
            Some("keyDown") => held.push(key(item)?),
            Some("keyUp") => {
                let key = key(item)?;
                let Some(down) = held.iter().rposition(|known| *known == key) else {
                    return Err(format!(
                        "Key Up action '{key}' is not balanced with a preceding Key Down one"
                    ));
                };
                held.remove(down);
                text.extend(letter(key));
            }
            Some("pause") => {
                let lasting =
                    duration(item)?.ok_or("Duration must be present for pause action item")?;
                unbalanced(&held)?;
                if !text.is_empty() {
                    actions.push((time, InputAction::Type(std::mem::take(&mut text))));
                }
                time += lasting;
            }
            other => {
                return Err(format!(
                    "'{id}' action item type '{}' is not supported. Only the following action item types are supported: (pause, keyUp, keyDown)",
                    other.unwrap_or("(null)")
                ));
            }
        }
    }
    unbalanced(&held)?;
    if !text.is_empty() {
        actions.push((time, InputAction::Type(text)));
    }
    Ok(time)
}

fn unbalanced(held: &[char]) -> Result<(), String> {
    match held.first() {
        Some(key) => Err(format!(
            "Key Down action '{key}' must have a closing Key Up successor"
        )),
        None => Ok(()),
    }
}

fn key(item: &Item) -> Result<char, String> {
    let value = item.get("value").and_then(Value::as_str);
    value.and_then(|value| value.chars().next()).ok_or_else(|| {
        "Key value must be present and should be a valid non-empty string".to_owned()
    })
}

fn duration(item: &Item) -> Result<Option<Duration>, String> {
    let Some(value) = item.get("duration").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let ms = super::settings::double(value);
    if !(0.0..=MAX_DURATION).contains(&ms) {
        return Err("Duration must be a valid positive number".to_owned());
    }
    Ok(Some(Duration::from_secs_f64(ms / 1_000.0)))
}

/// The letter a key types; WebDriver numbers keys that have none.
fn letter(key: char) -> Option<char> {
    Some(match key {
        '\u{e003}' => '\u{8}',
        '\u{e004}' => '\t',
        '\u{e006}' => '\r',
        '\u{e007}' => '\n',
        '\u{e00c}' => '\u{1b}',
        '\u{e00d}' | '\u{e05d}' => ' ',
        '\u{e017}' => '\u{7f}',
        '\u{e018}'..='\u{e029}' => {
            let place = u32::from(key) - 0xe018;
            ";=0123456789*+,-./".chars().nth(place as usize)?
        }
        '\u{e000}'..='\u{e05d}' => return None,
        _ => key,
    })
}

#[cfg(test)]
mod tests;
