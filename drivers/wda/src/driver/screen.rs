//! Reading the screen: as a tree, and as a picture.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use packtrain_drivers::selector::list_refs;
use packtrain_drivers::wait::ChangePoll;
use packtrain_drivers::{
    CommandContext, DriverError, Observation, ScreenMark, Screenshot, Size, Snapshot,
    SnapshotDetail, Tree,
};

use super::{Result, WdaDriver};
use crate::agent::{Failure, Reply, WdaRequest};
use crate::alert::OpenAlert;
use crate::source;

/// The elements, without what tells the same twice or nothing.
const SOURCE: &str = "/source?format=json&excluded_attributes=frame,nativeFrame,\
    nativeAccessibilityElement,minValue,maxValue";
/// The largest tree: one of some thousand elements has 3 MB.
const MAX_SOURCE: usize = 32 * 1024 * 1024;
/// The largest picture in base64: that of an iPad full of photos has 15 MB.
const MAX_PICTURE: usize = 64 * 1024 * 1024;
/// What is larger is processed off the async workers.
const LARGE: usize = 256 * 1024;
/// How often a screen that cannot be read is read again: between two apps there may be none.
const MAX_READS: u32 = 4;
/// How long is waited before that.
const READ_INTERVAL: Duration = Duration::from_millis(150);
/// How many apps may come to the front, and alerts be answered, while one snapshot is taken.
const ROUNDS: u32 = 6;

/// What a PNG begins with, up to its width and height.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl WdaDriver {
    pub(super) async fn snapshot(
        &mut self,
        detail: SnapshotDetail,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let tree = self.tree(ctx).await?;
        self.show(tree, detail, ctx).await
    }

    /// Waits until the screen shows something else than `since`.
    pub(super) async fn await_change(
        &mut self,
        since: ScreenMark,
        limit: Duration,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let poll = ChangePoll::within(ctx.remaining_up_to(limit));
        loop {
            let tree = self.tree(ctx).await?;
            if ScreenMark::of(&tree) != since {
                return self.show(tree, SnapshotDetail::default(), ctx).await;
            }
            if !poll.again().await {
                return Ok(Observation::Unchanged);
            }
        }
    }

    /// What a tree shows, or the one that follows once an alert is answered and the session has
    /// followed the app in front.
    async fn show(
        &mut self,
        mut tree: Tree,
        detail: SnapshotDetail,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let mut rounds = 1;
        let location = loop {
            if rounds == ROUNDS {
                break self.front(&tree, ctx).await?;
            }
            if !self.handle_alert_in(&tree, ctx).await? {
                let location = self.front(&tree, ctx).await?;
                if !self.follow(location.as_deref(), ctx).await? {
                    break location;
                }
            }
            tree = self.tree(ctx).await?;
            rounds += 1;
        };
        let screen = self.screen_size();
        let list = list_refs(&tree, screen, detail);
        Ok(Observation::Snapshot(Box::new(Snapshot {
            mark: ScreenMark::of(&tree),
            tree,
            text: list.text,
            refs: list.refs,
            location,
            title: None,
            screen,
        })))
    }

    /// Answers the alert of a tree if that may be; `true` when the screen is another now.
    async fn handle_alert_in(&mut self, tree: &Tree, ctx: &CommandContext) -> Result<bool> {
        match OpenAlert::find(tree) {
            Some(alert) => self.handle_alert(&alert, ctx).await,
            None => {
                self.state.alert = None;
                Ok(false)
            }
        }
    }

    /// The elements on the screen.
    pub(super) async fn tree(&mut self, ctx: &CommandContext) -> Result<Tree> {
        let request = WdaRequest::get("read the screen", SOURCE).up_to(MAX_SOURCE);
        let mut log = Vec::new();
        let reply = loop {
            match self.ask(&request, ctx).await {
                Ok(reply) => break reply,
                Err(Failure::Driver(error)) => return Err(error),
                Err(Failure::Refused(refusal)) => log.push(refusal.message),
            }
            if log.len() >= MAX_READS as usize {
                let what = log.last().cloned().unwrap_or_default();
                let what = format!("{}: {what}", request.doing());
                return Err(DriverError::Unmet { what, log });
            }
            tokio::time::sleep(ctx.remaining_up_to(READ_INTERVAL)).await;
        };
        let tree = parse(reply).await?;
        self.state.seen = Some(ScreenMark::of(&tree));
        if let (_, Some(size)) = source::root(&tree) {
            self.state.screen = Some(size);
        }
        Ok(tree)
    }

    pub(super) async fn screenshot(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let request = WdaRequest::get("take a screenshot", "/screenshot").up_to(MAX_PICTURE);
        let reply = self.have(&request, ctx).await?;
        let png = decode(reply).await?;
        let (width, height) = pixels(&png).ok_or_else(|| {
            DriverError::unmet("take a screenshot: WebDriverAgent did not send a PNG")
        })?;
        let screen = Size::new(width / self.scale, height / self.scale);
        Ok(Observation::Screenshot(Screenshot {
            png,
            screen: self.nearest(screen),
        }))
    }

    /// The size of the screen, which the picture's size gives to within a rounding.
    fn nearest(&self, size: Size) -> Size {
        let known = self.info.screen;
        let turned = Size::new(known.height, known.width);
        let near = |a: f64, b: f64| (a - b).abs() <= 1.0;
        [known, turned]
            .into_iter()
            .find(|known| near(known.width, size.width) && near(known.height, size.height))
            .unwrap_or(size)
    }
}

async fn parse(reply: Reply) -> Result<Tree> {
    let large = reply.len() > LARGE;
    let tree = work(large, move || source::read(reply.json())).await?;
    tree.map_err(|error| DriverError::unmet(error.to_string()))
}

async fn decode(reply: Reply) -> Result<Vec<u8>> {
    let text: String = reply.parse("take a screenshot")?;
    let png = work(text.len() > LARGE, move || BASE64_STANDARD.decode(text)).await?;
    png.map_err(|error| DriverError::unmet(format!("take a screenshot: {error}")))
}

/// Does large work on a thread of its own.
async fn work<T: Send + 'static>(
    large: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if !large {
        return Ok(work());
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| DriverError::unmet(format!("the work was cancelled: {error}")))
}

/// Width and height of a PNG.
fn pixels(png: &[u8]) -> Option<(f64, f64)> {
    let header = png.strip_prefix(PNG)?.get(8..16)?;
    let number = |at: usize| {
        let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes)).filter(|number| *number > 0)
    };
    Some((f64::from(number(0)?), f64::from(number(4)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_picture_is_in_its_head() {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\x9b\0\0\x09\xfc";
        assert_eq!(pixels(head), Some((1179.0, 2556.0)));
        for end in 0..head.len() {
            assert_eq!(pixels(&head[..end]), None, "{end}");
        }
        assert_eq!(
            pixels(b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01"),
            None
        );
    }
}
