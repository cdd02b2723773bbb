//! `snapshot` and `screenshot`.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use packtrain_daemon::HeldDevice;
use packtrain_drivers::selector::quoted_label;
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use packtrain_tools::Typed;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use tokio::time::Instant;

use super::act::READING;
use super::agent_context::AgentContext;
use super::answers::{failed, not_passed, told};
use super::devices::{unknown_lease, with_doubts};
use super::ours::{ScreenshotArgs, SnapshotArgs};

/// What takes longer to compare is reported less exactly.
const DIFF_TIMEOUT: Duration = Duration::from_millis(100);

/// How long a look may take.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(20);
/// The longest that a look waits for something, in milliseconds.
const MAX_WAIT_MS: u64 = 50_000;
/// How long it waits for a text unless it is said.
const WAIT_MS: u64 = 5_000;
/// The default number of lines of a screen.
const MAX_LINES: usize = 400;

/// Why something was not done; nothing when the device was let go of.
pub(super) type Stop = Option<String>;

impl AgentContext {
    pub(super) async fn snapshot(&self, args: SnapshotArgs) -> CallToolResult {
        let Some(held) = self.agent.held(&args.lease) else {
            return failed(unknown_lease(&args.lease));
        };
        let settle = args.wait_ms.map_or("NONE", |_| "CHANGE");
        let result = match self.look(&held, &args, settle).await {
            Ok((text, data)) => told(text, data),
            Err(Some(why)) => failed(why),
            Err(None) => return failed(unknown_lease(&args.lease)),
        };
        with_doubts(result, &held)
    }

    /// Looks once the screen has settled so, or shows what is waited for.
    pub(super) async fn look(
        &self,
        held: &HeldDevice,
        args: &SnapshotArgs,
        settle: &str,
    ) -> Result<(String, serde_json::Value), Stop> {
        let before = args.since.map(|mark| match held.reading(mark) {
            // What was not there before has come as a whole.
            Some(before) => Ok((mark, part(&before, args).unwrap_or_default())),
            None => Err(Some(format!(
                "mark {mark} is too old; take a snapshot without `since`"
            ))),
        });
        let before = before.transpose()?;
        let find = args.wait_for.as_ref().map(|text| json!({ "text": text }));
        let wait_ms = args.wait_ms.or(find.as_ref().map(|_| WAIT_MS));
        let wait_ms = wait_ms.map(|ms| ms.min(MAX_WAIT_MS));
        let wait = Duration::from_millis(wait_ms.unwrap_or_default());
        let arguments = json!({
            "bounds": args.bounds, "offscreen": args.offscreen, "find": find, "settle": settle, "timeoutMs": wait_ms,
        });
        let end = Instant::now() + SNAPSHOT_TIMEOUT + wait;
        let answer = self.tool(held, READING, arguments, end).await?;
        let reading = outlined(&answer.text.unwrap_or_default());
        let mut data = answer.data.unwrap_or_else(|| json!({}));
        let place = [data["location"].as_str(), data["title"].as_str()];
        let place: Vec<_> = place.into_iter().flatten().collect();
        let place = place.join("  ");
        let now = part(&reading, args).map_err(Some)?;
        let is_usual = !args.bounds && !args.offscreen && now == reading;
        let mark = held.keep_reading(reading);
        data["mark"] = json!(mark);
        let mut text = screen(&place, mark, before.as_ref(), &now);
        if let Some((_, before)) = before {
            data["changed"] = json!(before != now);
        }
        if data["met"] == false {
            let sought = args.wait_for.as_deref().unwrap_or_default();
            let waited = wait.as_secs_f64();
            text = format!("{sought:?} did not appear within {waited:.1} s\n{text}");
        }
        let most = args.max_lines.unwrap_or(MAX_LINES).max(1);
        if is_usual && text.lines().count() <= most {
            held.tell(mark);
        }
        Ok((bounded(&text, most), data))
    }

    pub(super) async fn screenshot(&self, args: ScreenshotArgs) -> CallToolResult {
        let Some(held) = self.agent.held(&args.lease) else {
            return failed(unknown_lease(&args.lease));
        };
        let call = ToolCall::new("captureScreen", Value::from(&json!({})));
        let answer = match held.call(&call, SNAPSHOT_TIMEOUT).await {
            Some(Ok(answer)) => answer,
            Some(Err(outcome)) => return with_doubts(not_passed(&outcome), &held),
            None => return failed(unknown_lease(&args.lease)),
        };
        let Some(Typed::Screen(screen)) = answer.typed else {
            return failed("the device returned no screenshot");
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
pub(super) fn picture_uri(held: &HeldDevice, number: u64) -> String {
    format!("packtrain://screens/{}/{number}.png", held.handle)
}

/// A picture as a resource.
pub(super) fn picture(held: &HeldDevice, number: u64, bytes: usize) -> Resource {
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

/// The part of a reading that is asked for: the lines of an element and of what is in it.
fn part(reading: &str, args: &SnapshotArgs) -> Result<String, String> {
    let wanted = [&args.reference, &args.role, &args.name];
    if wanted.into_iter().all(Option::is_none) {
        return Ok(reading.to_owned());
    }
    let depth = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<_> = reading.lines().collect();
    let heads = (0..lines.len()).filter(|at| is_element(lines[*at], wanted));
    let parts = heads.map(|at| {
        let below = lines[at + 1..].iter();
        let below = below.take_while(|line| depth(line) > depth(lines[at]));
        &lines[at..=at + below.count()]
    });
    let parts: Vec<_> = parts.collect();
    // A landmark and the element that it is may be two lines.
    let part = parts.iter().find(|part| part.len() > 1).or(parts.first());
    let part = part.ok_or("the screen has no such part; `snapshot` without one shows all of it")?;
    Ok(outlined(&part.join("\n")))
}

/// Whether a line is of an element of this reference, role and name.
fn is_element(line: &str, [reference, role, name]: [&Option<String>; 3]) -> bool {
    let line = line.trim_start();
    let listed = line
        .strip_prefix('[')
        .and_then(|line| line.split_once("] "));
    let (own, line) = listed.unwrap_or(("", line));
    let own_role = line.split([' ', ':']).next().unwrap_or_default();
    let is = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| {
        wanted.as_ref().is_none_or(|wanted| test(wanted.trim()))
    };
    is(reference, &|it| it.trim_matches(['[', ']']) == own)
        && is(role, &|it| it.eq_ignore_ascii_case(own_role))
        && is(name, &|it| line.contains(&quoted_label(it)))
}

/// What a screen shows; or what of it has changed, unless that is more.
fn screen(place: &str, mark: u64, before: Option<&(u64, String)>, now: &str) -> String {
    let whole = format!("{place}\nmark: {mark}\n{now}");
    let Some((since, before)) = before else {
        return whole;
    };
    let changes = changes(before, now);
    let told = match changes.is_empty() {
        true => format!("{place}\nmark: {mark}\nnothing has changed"),
        false => format!("{place}\nmark: {mark}, changes since {since}:\n{changes}"),
    };
    match told.len() < whole.len() {
        true => told,
        false => whole,
    }
}

/// A text of so many lines, and how to see the rest.
fn bounded(text: &str, most: usize) -> String {
    let count = text.lines().count();
    if count <= most {
        return text.to_owned();
    }
    let shown: Vec<_> = text.lines().take(most).collect();
    format!(
        "{}\n({} more lines: `max_lines` shows more, `ref` or `role` and `name` a part)",
        shown.join("\n"),
        count - most
    )
}

/// The lines that went and came, in order.
fn changes(before: &str, now: &str) -> String {
    // Without a line break the last line would be another one than the same with it.
    let (before, now) = (format!("{before}\n"), format!("{now}\n"));
    let mut diff = TextDiff::configure();
    let diff = diff.timeout(DIFF_TIMEOUT).diff_lines(&before, &now);
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
    fn what_has_changed_is_never_more_than_the_screen() {
        let before = (1, "a\nb\nc".to_owned());
        let told = |now| screen("app", 2, Some(&before), now);
        assert_eq!(told("a\nb\nx"), "app\nmark: 2\na\nb\nx");
        assert_eq!(told("x"), screen("app", 2, None, "x"));
        let long = ["line"; 50].join("\n");
        let seen = screen("app", 2, Some(&(1, long.clone())), &format!("{long}\nnew"));
        assert_eq!(seen, "app\nmark: 2, changes since 1:\n+ new");
    }

    #[test]
    fn a_part_is_an_element_and_what_is_in_it() {
        let reading =
            "main:\n [e1] list \"Cart\":\n  [e2] button \"Add\"\n [e3] link \"Add\"\nfooter";
        let part = |reference: &str, role: &str, name: &str| {
            let word = |word: &str| Some(word.to_owned()).filter(|word| !word.is_empty());
            let args = SnapshotArgs {
                reference: word(reference),
                role: word(role),
                name: word(name),
                ..SnapshotArgs::default()
            };
            part(reading, &args)
        };
        let cart = Ok("[e1] list \"Cart\":\n [e2] button \"Add\"".to_owned());
        assert_eq!(part("e1", "", ""), cart);
        assert_eq!(part("", "List", "Cart"), cart);
        assert_eq!(part("", "link", "Add").unwrap(), "[e3] link \"Add\"");
        assert_eq!(part("", "main", "").unwrap().lines().count(), 4);
        part("e9", "", "").unwrap_err();
    }

    #[test]
    fn what_is_left_out_of_a_long_screen_is_said() {
        assert_eq!(bounded("a\nb", 2), "a\nb");
        assert!(bounded("a\nb\nc", 2).starts_with("a\nb\n(1 more lines: `max_lines`"));
    }

    #[test]
    fn a_last_line_that_stayed_is_no_change() {
        assert_eq!(changes("a\nb", "a\nb\nc"), "+ c");
        assert_eq!(changes("a\nb\nc", "a\nb"), "- c");
    }
}
