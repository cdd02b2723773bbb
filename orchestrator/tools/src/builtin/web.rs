//! Tools for pages. The driver waits for elements; these only say what is wanted.

mod arguments;
mod assertions;
mod queries;
mod rules;

use std::time::Duration;

use packtrain_drivers::{
    Command, NavigateTo, Observation, Platform, Size, SnapshotDetail, WebCommand, WebTarget,
};

use self::arguments::{
    AnswerDialogs, ApplyCookies, Element, Evaluate, FillSecret, Navigate, Navigation, PressKey,
    Resize, Scroll, Select, Type, Upload, Wait, WaitForUrl,
};
use crate::builtin::Tools;
use crate::call::Call;
use crate::tool::{Answer, ToolError, Typed};

pub use self::rules::why_no_pattern;
use self::rules::{named, regular};

const WEB: &[Platform] = &[Platform::Web];

family!(WEB; action Action, assertion Assertion, query Query);

pub(super) fn tools() -> Tools {
    let mut tools = actions();
    tools.extend(assertions::assertions());
    tools.extend(queries::queries());
    tools
}

#[expect(clippy::too_many_lines, reason = "one entry per tool")]
fn actions() -> Tools {
    tools![
        action::<Navigate>("web_navigate", "Opens a URL, or goes back or forward. Relative URLs are \
             below the base URL, or files beside the trail.",
            body!(|arguments, call| {
                    let to = match arguments.action {
                        Navigation::Goto if arguments.url.trim().is_empty() => {
                            return Err(ToolError::failed("missing `url`"));
                        }
                        Navigation::Goto => NavigateTo::Url(arguments.url),
                        Navigation::Back => NavigateTo::Back,
                        Navigation::Forward => NavigateTo::Forward,
                    };
                    call.act(Command::Web(WebCommand::Navigate(to))).await
                }),
        )
        .ruled(Navigate::rule),
        action::<Element>("web_click", "Clicks an element once it is visible, stable and not covered.",
            |mut arguments, call| {
                let target = arguments.target();
                web(call, WebCommand::Click { target })
            },
        )
        .ruled(|mut arguments| named(&arguments.target())),
        action::<Type>("web_type", "Fills a field, or appends to it with `clearFirst: false`.",
            |mut arguments, call| {
                let command = WebCommand::Type {
                    target: arguments.target(),
                    text: arguments.text,
                    clear_first: arguments.clear_first,
                };
                web(call, command)
            },
        ),
        action::<FillSecret>("web_fillSecret", "Fills a field with a value that no log shows.",
            |arguments, call| {
                let command = WebCommand::Type {
                    target: WebTarget {
                        selector: None,
                        reference: Some(arguments.reference),
                    },
                    text: arguments.value,
                    clear_first: true,
                };
                web(call, command)
            },
        )
        .hiding("value"),
        action::<Element>("web_hover", "Moves the mouse over an element.",
            |mut arguments, call| {
                let target = arguments.target();
                web(call, WebCommand::Hover { target })
            },
        )
        .ruled(|mut arguments| named(&arguments.target())),
        action::<Select>("web_selectOption", "Chooses options of a list by value or label.",
            body!(|mut arguments, call| {
                    if arguments.values.is_empty() {
                        return Err(ToolError::failed("`values` is empty"));
                    }
                    let target = arguments.target();
                    let values = arguments.values;
                    call.act(Command::Web(WebCommand::Select { target, values }))
                        .await
                }),
        )
        .ruled(Select::rule),
        action::<Upload>("web_upload", "Gives a page files that lie beside the trail or in the project: to a file input, or to \
             whatever a click on the element opens. Packtrain's own.",
            |mut arguments, call| {
                let target = arguments.target();
                let files = arguments.files;
                web(call, WebCommand::Upload { target, files })
            },
        )
        .ruled(Upload::rule),
        action::<PressKey>("web_pressKey", "Presses a key or a chord: `Enter`, `Control+A`.",
            |arguments, call| web(call, WebCommand::PressKey(arguments.key)),
        )
        .ruled(PressKey::rule),
        action::<Scroll>("web_scroll", "Scrolls the page, or the container an element names.",
            |mut arguments, call| {
                let command = WebCommand::Scroll {
                    target: arguments.target(),
                    direction: arguments.direction.into(),
                    amount: arguments.amount,
                };
                web(call, command)
            },
        ),
        action::<Wait>("web_wait", "Waits 1 to 30 seconds. Tools wait for what they need by themselves; this is for what \
             cannot be seen.",
            body!(|arguments, call| {
                    call.pause(Duration::from_secs(arguments.seconds.clamp(1, 30)))
                        .await?;
                    Ok(Answer::default())
                }),
        ),
        action::<WaitForUrl>("web_waitForUrl", "Waits until some part of the URL matches a regular expression.",
            |arguments, call| {
                let limit = Duration::from_millis(arguments.timeout_ms);
                let pattern = arguments.pattern;
                web(call, WebCommand::AwaitUrl { pattern, limit })
            },
        )
        .ruled(|arguments| regular("pattern", &arguments.pattern)),
        action::<Resize>("web_resize", "Changes the viewport.",
            |arguments, call| {
                let size = Size::new(f64::from(arguments.width), f64::from(arguments.height));
                web(call, WebCommand::Resize(size))
            },
        ),
        action::<ApplyCookies>("web_applyCookies", "Adds cookies, from a JSON array or a whole storage state in Playwright's shape.",
            |arguments, call| web(call, WebCommand::AddCookies(arguments.cookies_json)),
        ),
        action::<AnswerDialogs>("web_answerDialogs", "Sets how the alerts, confirms and prompts that follow are answered. Packtrain's own.",
            |arguments, call| {
                let AnswerDialogs { accept, text } = arguments;
                web(call, WebCommand::AnswerDialogs { accept, text })
            },
        ),
        action::<Evaluate>("web_evaluate", "Runs JavaScript in the page and returns its result.",
            body!(|arguments, call| {
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
                }),
        )
        .internal()
        .unrecorded()
        .code("script"),
    ]
}

type Answering<'a> = packtrain_drivers::BoxFuture<'a, Result<Answer, ToolError>>;

fn web<'a>(call: &'a Call<'a>, command: WebCommand) -> Answering<'a> {
    Box::pin(async move { call.act(Command::Web(command)).await })
}

fn read<'a>(call: &'a Call<'a>, detail: SnapshotDetail) -> Answering<'a> {
    Box::pin(async move { call.act(Command::Snapshot(detail)).await })
}
