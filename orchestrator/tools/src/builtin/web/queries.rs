//! What a page can be asked.

use packtrain_drivers::{SnapshotDetail, WebCommand};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{WEB, read, web};
use crate::builtin::Nothing;

tools! { WEB;
    /// Saves a screenshot and a snapshot of the page under a name.
    Query web_snapshot Snapshot(reasoning) {
        /// Name of the screen: `login`.
        #[expect(dead_code, reason = "it labels the artifacts, which the run keeps")]
        screen_name: String,
    }
    |_, call| read(call, SnapshotDetail::default()).await;

    /// Reads the page with more detail: bounds, CSS selectors, what is out of sight.
    Query web_requestDetails RequestDetails(reasoning) {
        /// BOUNDS, CSS_SELECTORS, OFFSCREEN_ELEMENTS, OCCLUDED_ELEMENTS.
        include: Vec<Detail>,
    }
    .unrecorded()
    |RequestDetails { include, .. }, call| {
        let detail = SnapshotDetail {
            bounds: include.contains(&Detail::Bounds),
            css_selectors: include.contains(&Detail::CssSelectors),
            offscreen: include.contains(&Detail::OffscreenElements),
            lasting: true,
        };
        read(call, detail).await
    };

    /// Returns the page's URL.
    Query web_currentUrl Nothing |Nothing {}, call| web(call, WebCommand::CurrentUrl).await;

    /// Returns cookies and local storage as JSON in Playwright's shape.
    Query web_getStorageState Nothing |Nothing {}, call| web(call, WebCommand::StorageState).await;
}

#[derive(PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Detail {
    Bounds,
    CssSelectors,
    OffscreenElements,
    OccludedElements,
}
