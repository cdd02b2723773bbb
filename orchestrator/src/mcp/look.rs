//! `snapshot` and `screenshot`.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use packtrain_tools::Typed;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::json;
use similar::{ChangeTag, TextDiff};

use super::answers::{failed, not_passed, told};
use super::desk::Desk;
use super::devices::{unknown_lease, with_doubts};
use super::ours::{ScreenshotArgs, SnapshotArgs};
use crate::daemon::Held;

/// How long a look may take.
const LOOK: Duration = Duration::from_secs(20);

impl Desk {
    pub(super) async fn snapshot(&self, args: SnapshotArgs) -> CallToolResult {
        let Some(held) = self.agent.held(&args.lease) else {
            return failed(unknown_lease(&args.lease));
        };
        let arguments = json!({ "bounds": args.bounds, "offscreen": args.offscreen });
        let call = ToolCall::new("readScreen", Value::from(&arguments));
        let answer = match held.call(&call, LOOK).await {
            Some(Ok(answer)) => answer,
            Some(Err(outcome)) => return with_doubts(not_passed(&outcome), &held),
            None => return failed(unknown_lease(&args.lease)),
        };
        let reading = outlined(&answer.text.unwrap_or_default());
        let mut data = answer.data.unwrap_or_else(|| json!({}));
        let place = [data["location"].as_str(), data["title"].as_str()];
        let place: Vec<_> = place.into_iter().flatten().collect();
        let place = place.join("  ");
        let before = match args.since {
            Some(mark) => match held.reading(mark) {
                Some(before) => Some(before),
                None => {
                    return failed(format!(
                        "mark {mark} is too old; take a snapshot without `since`"
                    ));
                }
            },
            None => None,
        };
        let mark = held.keep_reading(reading.clone());
        data["mark"] = json!(mark);
        let text = match before {
            None => format!("{place}\nmark: {mark}\n{reading}"),
            Some(before) => {
                let changes = changes(&before, &reading);
                data["changed"] = json!(!changes.is_empty());
                match changes {
                    _ if changes.is_empty() => {
                        format!("{place}\nmark: {mark}\nnothing has changed")
                    }
                    // Another screen has more that went and came than there is to see.
                    _ if changes.len() > reading.len() => {
                        format!(
                            "{place}\nmark: {mark}\nmost of it has changed; the whole screen:\n{reading}"
                        )
                    }
                    changes => format!("{place}\nmark: {mark}\n{changes}"),
                }
            }
        };
        with_doubts(told(text, data), &held)
    }

    pub(super) async fn screenshot(&self, args: ScreenshotArgs) -> CallToolResult {
        let Some(held) = self.agent.held(&args.lease) else {
            return failed(unknown_lease(&args.lease));
        };
        let call = ToolCall::new("captureScreen", Value::from(&json!({})));
        let answer = match held.call(&call, LOOK).await {
            Some(Ok(answer)) => answer,
            Some(Err(outcome)) => return with_doubts(not_passed(&outcome), &held),
            None => return failed(unknown_lease(&args.lease)),
        };
        let Some(Typed::Screen(screen)) = answer.typed else {
            return failed("the device answered no picture");
        };
        let png = screen.screenshot.png.clone();
        let bytes = png.len();
        let inline = args.inline.then(|| BASE64_STANDARD.encode(&png));
        let number = held.keep_picture(png);
        let content = match inline {
            // With a link besides, clients would hand on two pictures, one of them an address.
            Some(data) => vec![
                ContentBlock::text(picture_uri(&held, number)),
                ContentBlock::image(data, "image/png"),
            ],
            None => vec![ContentBlock::ResourceLink(picture(&held, number, bytes))],
        };
        with_doubts(CallToolResult::success(content), &held)
    }
}

/// The address of a held device's picture.
pub(super) fn picture_uri(held: &Held, number: u64) -> String {
    format!("packtrain://screens/{}/{number}.png", held.handle)
}

/// A picture as a resource.
pub(super) fn picture(held: &Held, number: u64, bytes: usize) -> Resource {
    let mut resource = Resource::new(
        picture_uri(held, number),
        format!("{}-{number}.png", held.device.id),
    );
    resource.mime_type = Some("image/png".to_owned());
    resource.size = Some(bytes as u64);
    resource
}

/// A reading with one space for each level, however deep its lines are set in: every space is said
/// again on every line.
fn outlined(reading: &str) -> String {
    let mut levels: Vec<usize> = Vec::new();
    let lines = reading.lines().map(|line| {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        while levels.last().is_some_and(|level| *level >= indent) {
            levels.pop();
        }
        let depth = levels.len();
        levels.push(indent);
        format!("{:depth$}{text}", "")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines that went and came, in order.
fn changes(before: &str, now: &str) -> String {
    // Without a line break the last line would be another one than the same with it.
    let (before, now) = (format!("{before}\n"), format!("{now}\n"));
    let diff = TextDiff::from_lines(&before, &now);
    let changed = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => return None,
        };
        Some(format!("{sign} {}", change.value().trim_end()))
    });
    changed.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_keeps_what_is_below_what() {
        let reading = "  main:\n      [e1] link \"A\"\n    [e2] link \"B\"\n    list:\n        text: x\n  footer:\n\n[e3]";
        let outline =
            "main:\n [e1] link \"A\"\n [e2] link \"B\"\n list:\n  text: x\nfooter:\n\n[e3]";
        assert_eq!(outlined(reading), outline);
        assert_eq!(outlined(""), "");
    }

    #[test]
    fn changes_are_the_lines_that_went_and_came() {
        assert_eq!(changes("a\nb\n", "a\nc\n"), "- b\n+ c");
        assert_eq!(changes("a\n", "a\n"), "");
    }

    #[test]
    fn a_last_line_that_stayed_is_no_change() {
        assert_eq!(changes("a\nb", "a\nb\nc"), "+ c");
        assert_eq!(changes("a\nb\nc", "a\nb"), "- c");
    }
}
