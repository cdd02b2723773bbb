//! What can be verified of a page. Nothing falls back here.

use std::time::Duration;

use packtrain_drivers::{Command, ValueKind, WantedDownload, WebCommand};

use super::arguments::{
    AssertDownload, NetworkEvent, VerifyElement, VerifyKind, VerifyList, VerifyText, VerifyValue,
    matching,
};
use super::rules::{named, not_blank};
use super::{assertion, web};
use crate::builtin::Tools;
use crate::tool::ToolError;

pub(super) fn assertions() -> Tools {
    tools![
        assertion::<VerifyText>("web_verifyTextVisible", "Expects a text to be visible: any case, anywhere, across nested elements; with \
             `exact: true`, the whole text of an element, in this case.",
            |arguments, call| {
                let command = WebCommand::ExpectText {
                    matching: matching(arguments.exact),
                    limit: arguments.timeout_ms.map(Duration::from_millis),
                    text: arguments.text,
                };
                web(call, command)
            },
        )
        .ruled(|arguments| not_blank("text", &arguments.text)),
        assertion::<VerifyElement>("web_verifyElementVisible", "Expects an element to be visible.",
            |mut arguments, call| {
                let command = WebCommand::ExpectVisible {
                    target: arguments.target(),
                    limit: arguments.timeout_ms.map(Duration::from_millis),
                };
                web(call, command)
            },
        )
        .ruled(|mut arguments| named(&arguments.target())),
        assertion::<VerifyValue>("web_verifyValue", "Expects the text, the value or an attribute of an element. A text contains what is \
             expected; with `exact: true` it is the same as a whole.",
            body!(|mut arguments, call| {
                    let target = arguments.target();
                    let kind = match arguments.kind {
                        VerifyKind::Text => ValueKind::Text,
                        VerifyKind::Value => ValueKind::Value,
                        VerifyKind::Attribute if arguments.attribute.is_empty() => {
                            return Err(ToolError::failed("`attribute` is empty"));
                        }
                        VerifyKind::Attribute => ValueKind::Attribute(arguments.attribute),
                    };
                    let command = WebCommand::ExpectValue {
                        target,
                        kind,
                        expected: arguments.expected,
                        matching: matching(arguments.exact),
                    };
                    call.act(Command::Web(command)).await
                }),
        )
        .ruled(VerifyValue::rule),
        assertion::<VerifyList>("web_verifyListVisible", "Expects texts to be visible inside an element, or on the page: in any case, as a \
             part of it; with `exact: true`, the whole text of an element, in this case.",
            |mut arguments, call| {
                let command = WebCommand::ExpectList {
                    target: arguments.target(),
                    items: arguments.items,
                    matching: matching(arguments.exact),
                };
                web(call, command)
            },
        )
        .ruled(VerifyList::rule),
        assertion::<AssertDownload>("web_assertDownload", "Expects a download of this session, past or coming, to be complete: by its name, a text \
             in it, its size. Packtrain's own.",
            |arguments, call| {
                let limit = Duration::from_millis(arguments.timeout_ms);
                let wanted = WantedDownload {
                    name: arguments.name,
                    name_regex: arguments.name_regex,
                    contains: arguments.contains,
                    min_bytes: arguments.min_bytes,
                };
                web(call, WebCommand::ExpectDownload { wanted, limit })
            },
        )
        .ruled(AssertDownload::rule),
        assertion::<NetworkEvent>("web_assertNetworkEvent", "Expects a request of this session whose URL or body mentions a name.",
            |arguments, call| {
                let limit = Duration::from_millis(arguments.timeout_ms);
                let name = arguments.event_name;
                web(call, WebCommand::ExpectRequest { name, limit })
            },
        )
        .ruled(|arguments| not_blank("eventName", &arguments.event_name)),
    ]
}
