//! What a page can be asked.

use std::sync::Arc;

use packtrain_drivers::{SnapshotDetail, WebCommand};

use super::super::{Nothing, tool};
use super::arguments::{Detail, RequestDetails, Snapshot};
use super::{WEB, read, web};
use crate::tool::{Kind, Tool};

pub(super) fn queries() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<Snapshot>(
            "web_snapshot",
            Kind::Query,
            "Keeps a picture and a reading of the page under a name.",
            |_, call| read(call, SnapshotDetail::default()),
        )
        .on(WEB)
        .done(),
        tool::<RequestDetails>(
            "web_requestDetails",
            Kind::Query,
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
        .on(WEB)
        .unrecorded()
        .done(),
        tool::<Nothing>(
            "web_currentUrl",
            Kind::Query,
            "Answers the page's address.",
            |Nothing {}, call| web(call, WebCommand::CurrentUrl),
        )
        .on(WEB)
        .done(),
        tool::<Nothing>(
            "web_getStorageState",
            Kind::Query,
            "Answers cookies and local storage as JSON in Playwright's shape.",
            |Nothing {}, call| web(call, WebCommand::StorageState),
        )
        .on(WEB)
        .done(),
    ]
}
