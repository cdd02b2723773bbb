//! What a page can be asked.

use packtrain_drivers::{SnapshotDetail, WebCommand};

use super::arguments::{Detail, RequestDetails, Snapshot};
use super::{query, read, web};
use crate::builtin::{Nothing, Tools};

pub(super) fn queries() -> Tools {
    tools![
        query::<Snapshot>(
            "web_snapshot",
            "Saves a screenshot and a snapshot of the page under a name.",
            |_, call| read(call, SnapshotDetail::default()),
        ),
        query::<RequestDetails>(
            "web_requestDetails",
            "Reads the page with more detail: bounds, CSS selectors, what is out of sight.",
            |arguments, call| {
                let include = arguments.include;
                let detail = SnapshotDetail {
                    bounds: include.contains(&Detail::Bounds),
                    css_selectors: include.contains(&Detail::CssSelectors),
                    offscreen: include.contains(&Detail::OffscreenElements),
                    lasting: true,
                };
                read(call, detail)
            },
        )
        .unrecorded(),
        query::<Nothing>(
            "web_currentUrl",
            "Returns the page's URL.",
            |Nothing {}, call| web(call, WebCommand::CurrentUrl),
        ),
        query::<Nothing>(
            "web_getStorageState",
            "Returns cookies and local storage as JSON in Playwright's shape.",
            |Nothing {}, call| web(call, WebCommand::StorageState),
        ),
    ]
}
