//! Doors for the fuzz targets in `fuzz/`, behind a feature of their own: what reads the answers of
//! a usbmuxd, a lockdownd and a WebDriverAgent.

use crate::http::HttpAnswer;
use crate::source::MAX_ELEMENTS;
use crate::{answer, mux, plist, source};

/// Reads a property list in each of its forms, and once more what was written of it.
pub fn property_list(bytes: &[u8]) {
    let _ = plist::ascii_dictionary(bytes);
    if let Ok(list) = plist::dictionary(bytes) {
        let _ = plist::dictionary(&plist::to_xml(list));
    }
}

/// What is handed on of the bytes a usbmuxd sends; those behind the first message are a tunnel's,
/// if so.
pub async fn usbmux(bytes: &[u8], tunnel: bool) -> Vec<u8> {
    mux::handed_on(bytes.to_vec(), tunnel).await
}

/// Reads the answer to a command, and the elements of a screen from it.
///
/// # Panics
/// When a tree has more elements than it may.
pub fn answer(status: u16, body: &[u8]) {
    let answer = HttpAnswer {
        status,
        body: body.to_vec().into(),
    };
    let _ = answer::open(&answer);
    if let Ok(tree) = std::str::from_utf8(body)
        .map_err(drop)
        .and_then(|text| source::read(text).map_err(drop))
    {
        assert!(tree.len() <= MAX_ELEMENTS, "the limit holds");
        let _ = source::root(&tree);
    }
}
