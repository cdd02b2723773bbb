//! Property lists of a usbmuxd, a lockdownd or `simctl`, read as if they were hostile.
//!
//! The crate that parses them knows no limits: a short list can nest deep enough to overflow the
//! stack when it is dropped, and a binary one can name one object many times. So events are
//! counted while they are read. Knows no wire.

use std::io::Cursor;

use plist::stream::{AsciiReader, BinaryReader, Event, XmlReader};
use plist::{Dictionary, Value};

/// Deepest nesting; app lists, the deepest there are, need eight levels.
const MAX_DEPTH: usize = 40;
/// Most values, keys included: some thousand apps with a handful of facts each.
const MAX_VALUES: usize = 200_000;
/// Most bytes of text and data, each counted as often as it is referred to.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Why bytes are not an acceptable property list.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlistError {
    /// They are none.
    #[error("not a property list: {0}")]
    Malformed(#[from] plist::Error),
    /// It exceeds a limit.
    #[error("the property list has more than {0}")]
    Excessive(&'static str),
    /// It is something else than a dictionary.
    #[error("the property list is not a dictionary")]
    NoDictionary,
}

/// Reads a dictionary in XML or binary form.
///
/// # Errors
/// When it is none, or one that is too deep or too large.
pub(crate) fn dictionary(bytes: &[u8]) -> Result<Dictionary, PlistError> {
    let cursor = Cursor::new(bytes);
    let value = if bytes.starts_with(b"bplist0") {
        counted(BinaryReader::new(cursor))
    } else {
        counted(XmlReader::new(cursor))
    };
    value?.into_dictionary().ok_or(PlistError::NoDictionary)
}

/// Reads a dictionary in the form of NeXTSTEP, in which some tools print: `{ a = "b"; }`.
///
/// # Errors
/// As [`dictionary`].
pub(crate) fn ascii_dictionary(bytes: &[u8]) -> Result<Dictionary, PlistError> {
    let value = counted(AsciiReader::new(Cursor::new(bytes)))?;
    value.into_dictionary().ok_or(PlistError::NoDictionary)
}

/// Writes a dictionary as XML.
pub(crate) fn to_xml(dictionary: Dictionary) -> Vec<u8> {
    let mut bytes = Vec::new();
    Value::Dictionary(dictionary)
        .to_writer_xml(&mut bytes)
        .expect("memory takes everything, and XML has a form for texts, numbers, flags and data");
    bytes
}

/// The text under a key.
pub(crate) fn text<'a>(dictionary: &'a Dictionary, key: &str) -> Option<&'a str> {
    dictionary.get(key).and_then(Value::as_string)
}

fn counted(
    events: impl Iterator<Item = Result<Event<'static>, plist::Error>>,
) -> Result<Value, PlistError> {
    let mut count = Count::default();
    let mut excess = None;
    let within = events.take_while(|event| {
        excess = event.as_ref().ok().and_then(|event| count.exceeds(event));
        excess.is_none()
    });
    let value = Value::from_events(within);
    match excess {
        Some(what) => Err(PlistError::Excessive(what)),
        None => Ok(value?),
    }
}

#[derive(Default)]
struct Count {
    depth: usize,
    values: usize,
    bytes: usize,
}

impl Count {
    /// What there is too much of, this event included.
    fn exceeds(&mut self, event: &Event<'_>) -> Option<&'static str> {
        self.values += 1;
        match event {
            Event::StartArray(_) | Event::StartDictionary(_) => self.depth += 1,
            Event::EndCollection => self.depth = self.depth.saturating_sub(1),
            Event::String(text) => self.bytes = self.bytes.saturating_add(text.len()),
            Event::Data(data) => self.bytes = self.bytes.saturating_add(data.len()),
            // Whatever else there is takes no memory to speak of.
            _ => {}
        }
        if self.depth > MAX_DEPTH {
            return Some("40 levels");
        }
        if self.values > MAX_VALUES {
            return Some("200000 values");
        }
        (self.bytes > MAX_BYTES).then_some("16 MiB")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(levels: usize) -> Vec<u8> {
        let list = format!("{}{}", "<array>".repeat(levels), "</array>".repeat(levels));
        format!("<plist version=\"1.0\"><dict><key>a</key>{list}</dict></plist>").into_bytes()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut list = Dictionary::new();
        list.insert("Text".to_owned(), "<ü & so on>".into());
        list.insert("Number".to_owned(), 7_u64.into());
        list.insert("Data".to_owned(), Value::Data(vec![0, 255]));
        assert_eq!(dictionary(&to_xml(list.clone())).unwrap(), list);
        let mut binary = Vec::new();
        Value::Dictionary(list.clone())
            .to_writer_binary(&mut binary)
            .unwrap();
        assert_eq!(dictionary(&binary).unwrap(), list);
    }

    #[test]
    fn a_list_that_nests_too_deep_is_refused_before_it_is_built() {
        assert!(dictionary(&nested(MAX_DEPTH - 1)).is_ok());
        for levels in [MAX_DEPTH, 100_000] {
            let error = dictionary(&nested(levels)).unwrap_err();
            assert!(
                matches!(error, PlistError::Excessive("40 levels")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_binary_list_whose_objects_name_each_other_many_times_is_refused() {
        // Twenty lists of ten references each to the next one: 10^20 values once read out.
        let mut bytes = b"bplist00".to_vec();
        let mut offsets = Vec::new();
        let object = |bytes: &mut Vec<u8>, offsets: &mut Vec<u8>, object: &[u8]| {
            offsets.push(u8::try_from(bytes.len()).unwrap());
            bytes.extend_from_slice(object);
        };
        object(&mut bytes, &mut offsets, &[0xd1, 1, 2]);
        object(&mut bytes, &mut offsets, &[0x51, b'a']);
        for next in 3..18_u8 {
            object(
                &mut bytes,
                &mut offsets,
                &[0xa8, next, next, next, next, next, next, next, next],
            );
        }
        object(&mut bytes, &mut offsets, &[0x09]);
        let table = bytes.len();
        bytes.extend_from_slice(&offsets);
        bytes.extend_from_slice(&[0; 6]);
        bytes.extend_from_slice(&[1, 1]);
        for number in [offsets.len(), 0, table] {
            bytes.extend_from_slice(&(number as u64).to_be_bytes());
        }
        let error = dictionary(&bytes).unwrap_err();
        assert!(
            matches!(error, PlistError::Excessive("200000 values")),
            "{error}"
        );
    }

    #[test]
    fn lists_as_simctl_prints_them_are_read() {
        let printed = br#"{
            "com.example.shop" = { ApplicationType = User; CFBundleDisplayName = "Shop \"one\""; };
        }"#;
        let list = ascii_dictionary(printed).unwrap();
        let shop = list["com.example.shop"].as_dictionary().unwrap();
        assert_eq!(text(shop, "ApplicationType"), Some("User"));
        assert_eq!(text(shop, "CFBundleDisplayName"), Some("Shop \"one\""));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = dictionary(&bytes);
            let _ = ascii_dictionary(&bytes);
            let _ = dictionary(&[b"bplist00", bytes.as_slice()].concat());
        }

        #[test]
        fn any_text_is_answered(text in "(<(dict|array|key|string|integer|/dict|/array)>|[ -~]{0,8}){0,40}") {
            let _ = dictionary(format!("<plist version=\"1.0\">{text}").as_bytes());
            let _ = ascii_dictionary(text.as_bytes());
        }
    }
}
