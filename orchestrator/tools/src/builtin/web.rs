//! Tools for pages. The driver waits for elements; these only say what is wanted.

mod arguments;
mod assertions;
mod queries;
mod rules;

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    Command, NavigateTo, Observation, Platform, Size, SnapshotDetail, WebCommand, WebTarget,
};

use self::arguments::{
    AnswerDialogs, ApplyCookies, Element, Evaluate, FillSecret, Navigate, Navigation, PressKey,
    Resize, Scroll, Select, Type, Upload, Wait, WaitForUrl,
};
pub use self::rules::why_no_pattern;
use super::tool;
use crate::call::Call;
use crate::tool::{Answer, Kind, Tool, ToolError, Typed};

const WEB: &[Platform] = &[Platform::Web];

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let mut tools = actions();
    tools.extend(assertions::assertions());
    tools.extend(queries::queries());
    tools
}

#[expect(clippy::too_many_lines, reason = "one entry per tool")]
fn actions() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<Navigate>(
            "web_navigate",
            Kind::Action,
            "Opens an address, or goes back or forward. Relative addresses lead below the base \
             URL, or to files beside the trail.",
            |arguments, call| {
                Box::pin(async move {
                    let to = match arguments.action {
                        Navigation::Goto if arguments.url.trim().is_empty() => {
                            return Err(ToolError::failed("`url` is needed to go somewhere"));
                        }
                        Navigation::Goto => NavigateTo::Url(arguments.url),
                        Navigation::Back => NavigateTo::Back,
                        Navigation::Forward => NavigateTo::Forward,
                    };
                    call.act(Command::Web(WebCommand::Navigate(to))).await
                })
            },
        )
        .ruled(Navigate::rule)
        .on(WEB)
        .done(),
        tool::<Element>(
            "web_click",
            Kind::Action,
            "Clicks an element once it is visible, still and not covered.",
            |mut arguments, call| {
                web(
                    call,
                    WebCommand::Click {
                        target: arguments.target(),
                    },
                )
            },
        )
        .ruled(Element::rule)
        .on(WEB)
        .done(),
        tool::<Type>(
            "web_type",
            Kind::Action,
            "Fills a field, or types behind what it holds with `clearFirst: false`.",
            |mut arguments, call| {
                let target = arguments.target();
                let Type {
                    text, clear_first, ..
                } = arguments;
                web(
                    call,
                    WebCommand::Type {
                        target,
                        text,
                        clear_first,
                    },
                )
            },
        )
        .on(WEB)
        .done(),
        tool::<FillSecret>(
            "web_fillSecret",
            Kind::Action,
            "Fills a field with a value that no log shows.",
            |arguments, call| {
                let target = WebTarget {
                    selector: None,
                    reference: Some(arguments.reference),
                };
                let text = arguments.value;
                web(
                    call,
                    WebCommand::Type {
                        target,
                        text,
                        clear_first: true,
                    },
                )
            },
        )
        .on(WEB)
        .hiding("value")
        .done(),
        tool::<Element>(
            "web_hover",
            Kind::Action,
            "Moves the mouse over an element.",
            |mut arguments, call| {
                web(
                    call,
                    WebCommand::Hover {
                        target: arguments.target(),
                    },
                )
            },
        )
        .ruled(Element::rule)
        .on(WEB)
        .done(),
        tool::<Select>(
            "web_selectOption",
            Kind::Action,
            "Chooses options of a list by value or label.",
            |mut arguments, call| {
                Box::pin(async move {
                    if arguments.values.is_empty() {
                        return Err(ToolError::failed("`values` is empty"));
                    }
                    let target = arguments.target();
                    let values = arguments.values;
                    call.act(Command::Web(WebCommand::Select { target, values }))
                        .await
                })
            },
        )
        .ruled(Select::rule)
        .on(WEB)
        .done(),
        tool::<Upload>(
            "web_upload",
            Kind::Action,
            "Gives a page files that lie beside the trail or in the project: to a file input, or to \
             whatever a click on the element opens. Packtrain's own.",
            |mut arguments, call| {
                let target = arguments.target();
                let files = arguments.files;
                web(call, WebCommand::Upload { target, files })
            },
        )
        .ruled(Upload::rule)
        .on(WEB)
        .done(),
        tool::<PressKey>(
            "web_pressKey",
            Kind::Action,
            "Presses a key or a chord: `Enter`, `Control+A`.",
            |arguments, call| web(call, WebCommand::PressKey(arguments.key)),
        )
        .ruled(PressKey::rule)
        .on(WEB)
        .done(),
        tool::<Scroll>(
            "web_scroll",
            Kind::Action,
            "Scrolls the page, or the container an element names.",
            |mut arguments, call| {
                let command = WebCommand::Scroll {
                    target: arguments.target(),
                    direction: arguments.direction.into(),
                    amount: arguments.amount,
                };
                web(call, command)
            },
        )
        .on(WEB)
        .done(),
        tool::<Wait>(
            "web_wait",
            Kind::Action,
            "Waits 1 to 30 seconds. Tools wait for what they need by themselves; this is for what \
             cannot be seen.",
            |arguments, call| {
                Box::pin(async move {
                    call.pause(Duration::from_secs(arguments.seconds.clamp(1, 30)))
                        .await?;
                    Ok(Answer::default())
                })
            },
        )
        .on(WEB)
        .done(),
        tool::<WaitForUrl>(
            "web_waitForUrl",
            Kind::Action,
            "Waits for the address to match a regular expression somewhere.",
            |arguments, call| {
                let limit = Duration::from_millis(arguments.timeout_ms);
                web(
                    call,
                    WebCommand::AwaitUrl {
                        pattern: arguments.pattern,
                        limit,
                    },
                )
            },
        )
        .ruled(WaitForUrl::rule)
        .on(WEB)
        .done(),
        tool::<Resize>(
            "web_resize",
            Kind::Action,
            "Changes the viewport.",
            |arguments, call| {
                let size = Size::new(f64::from(arguments.width), f64::from(arguments.height));
                web(call, WebCommand::Resize(size))
            },
        )
        .on(WEB)
        .done(),
        tool::<ApplyCookies>(
            "web_applyCookies",
            Kind::Action,
            "Adds cookies, from a JSON array or a whole storage state in Playwright's shape.",
            |arguments, call| web(call, WebCommand::AddCookies(arguments.cookies_json)),
        )
        .on(WEB)
        .done(),
        tool::<AnswerDialogs>(
            "web_answerDialogs",
            Kind::Action,
            "Says how the alerts, confirms and prompts that follow are answered. Packtrain's own.",
            |arguments, call| {
                let AnswerDialogs { accept, text } = arguments;
                web(call, WebCommand::AnswerDialogs { accept, text })
            },
        )
        .on(WEB)
        .done(),
        tool::<Evaluate>(
            "web_evaluate",
            Kind::Action,
            "Runs JavaScript in the page and answers its result.",
            |arguments, call| {
                Box::pin(async move {
                    let command = Command::Web(WebCommand::Evaluate(arguments.script));
                    let Observation::Json(value) = call.device(command).await? else {
                        return Ok(Answer::default());
                    };
                    let text = match &value {
                        serde_json::Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    Ok(Answer {
                        typed: Some(Typed::Value(value)),
                        ..Answer::text(text)
                    })
                })
            },
        )
        .on(WEB)
        .internal()
        .unrecorded()
        .code("script")
        .done(),
    ]
}

type Answering<'a> = packtrain_drivers::BoxFuture<'a, Result<Answer, ToolError>>;

fn web<'a>(call: &'a Call<'a>, command: WebCommand) -> Answering<'a> {
    Box::pin(async move { call.act(Command::Web(command)).await })
}

fn read<'a>(call: &'a Call<'a>, detail: SnapshotDetail) -> Answering<'a> {
    Box::pin(async move { call.act(Command::Snapshot(detail)).await })
}
