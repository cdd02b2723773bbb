//! What an APK says of itself: package and version.
//! Source: the binary XML of `AndroidManifest.xml` (AOSP `ResourceTypes.h`).
//!
//! An APK comes from outside: every offset in it is checked.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::sync::LazyLock;

use regex::Regex;

use crate::android::blobs::Blob;

/// The longest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 4 * 1024 * 1024;

/// What an APK says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Its package name.
    pub package: String,
    /// Its version as people read it.
    pub version: Option<String>,
    /// Its version as the system compares it.
    pub version_code: Option<u64>,
    /// Whether it belongs to another APK.
    pub split: bool,
}

impl Manifest {
    /// Reads the manifest of an APK; `None` when there is none.
    pub fn of(apk: &Blob) -> Option<Self> {
        let mut archive = zip::ZipArchive::new(BlobReader { blob: apk, at: 0 }).ok()?;
        let file = archive.by_name("AndroidManifest.xml").ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_MANIFEST).read_to_end(&mut bytes).ok()?;
        Self::parse(&bytes)
    }

    /// Reads a manifest in Android's binary form, or as plain XML as simple tools write it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let attributes = match bytes.first_chunk() {
            Some([3, 0, 8, 0]) => binary_attributes(bytes)?,
            _ => plain_attributes(std::str::from_utf8(bytes).ok()?)?,
        };
        let get = |key: &str| attributes.get(key).cloned();
        let manifest = Self {
            package: get("package")?,
            version: get("versionName"),
            version_code: get("versionCode").and_then(|code| code.parse().ok()),
            split: attributes.contains_key("split"),
        };
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let sound = !manifest.package.is_empty()
            && manifest.package.len() <= 255
            && manifest.package.chars().all(valid);
        sound.then_some(manifest)
    }
}

/// The attributes of the first element, which is the manifest itself.
type Attributes = BTreeMap<String, String>;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn binary_attributes(bytes: &[u8]) -> Option<Attributes> {
    const STRINGS: u16 = 0x0001;
    const START: u16 = 0x0102;
    let mut strings = Vec::new();
    let mut at = 8;
    loop {
        let kind = u16_at(bytes, at)?;
        let size = u32_at(bytes, at + 4)? as usize;
        let chunk = bytes.get(at..at.checked_add(size)?)?;
        if size < 8 {
            return None;
        }
        match kind {
            STRINGS => strings = string_pool(chunk)?,
            START => return start_element(chunk, &strings),
            _ => {}
        }
        at += size;
    }
}

fn string_pool(chunk: &[u8]) -> Option<Vec<String>> {
    const UTF8: u32 = 0x100;
    let count = u32_at(chunk, 8)? as usize;
    let utf8 = u32_at(chunk, 16)? & UTF8 != 0;
    let start = u32_at(chunk, 20)? as usize;
    if count > chunk.len() / 4 {
        return None;
    }
    let text = |i: usize| -> Option<String> {
        let at = start.checked_add(u32_at(chunk, 28 + 4 * i)? as usize)?;
        if utf8 {
            utf8_string(chunk, at)
        } else {
            utf16_string(chunk, at)
        }
    };
    // One string that cannot be read does not hide the others.
    Some((0..count).map(|i| text(i).unwrap_or_default()).collect())
}

fn utf8_string(chunk: &[u8], at: usize) -> Option<String> {
    // Two lengths, in characters and in bytes; each takes two bytes when it is long.
    let long = |at: usize| Some(if chunk.get(at)? & 0x80 == 0 { 1 } else { 2 });
    let second = at + long(at)?;
    let width = long(second)?;
    let first = usize::from(*chunk.get(second)?);
    let length = if width == 1 {
        first
    } else {
        (first & 0x7f) << 8 | usize::from(*chunk.get(second + 1)?)
    };
    let start = second + width;
    let part = chunk.get(start..start.checked_add(length)?)?;
    Some(String::from_utf8_lossy(part).into_owned())
}

fn utf16_string(chunk: &[u8], at: usize) -> Option<String> {
    let first = usize::from(u16_at(chunk, at)?);
    let (length, start) = if first & 0x8000 == 0 {
        (first, at + 2)
    } else {
        (
            (first & 0x7fff) << 16 | usize::from(u16_at(chunk, at + 2)?),
            at + 4,
        )
    };
    let part = chunk.get(start..start.checked_add(length.checked_mul(2)?)?)?;
    let units: Vec<u16> = part
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    Some(String::from_utf16_lossy(&units))
}

fn start_element(chunk: &[u8], strings: &[String]) -> Option<Attributes> {
    const STRING: u8 = 0x03;
    let name_of = |index: u32| strings.get(index as usize).cloned();
    let start = 16 + usize::from(u16_at(chunk, 24)?);
    let size = usize::from(u16_at(chunk, 26)?).max(20);
    let count = usize::from(u16_at(chunk, 28)?);
    let mut attributes = BTreeMap::new();
    for i in 0..count {
        let at = start + i * size;
        let key = name_of(u32_at(chunk, at + 4)?)?;
        let raw = u32_at(chunk, at + 8)?;
        let kind = *chunk.get(at + 15)?;
        let data = u32_at(chunk, at + 16)?;
        let value = match (name_of(raw), kind) {
            (Some(text), _) => text,
            (None, STRING) => name_of(data).unwrap_or_default(),
            (None, _) => data.to_string(),
        };
        attributes.insert(key, value);
    }
    Some(attributes)
}

fn plain_attributes(text: &str) -> Option<Attributes> {
    static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')"#).expect("the tests have compiled it")
    });
    let tag = text.split_once("<manifest")?.1.split('>').next()?;
    let pairs = ATTRIBUTE.captures_iter(tag).map(|found| {
        let value = found.get(2).or(found.get(3));
        let value = value.map_or("", |value| value.as_str());
        (found[1].to_owned(), value.to_owned())
    });
    Some(pairs.collect())
}

/// Reads a blob as a file, a part at a time.
struct BlobReader<'a> {
    blob: &'a Blob,
    at: u64,
}

impl Read for BlobReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let taken = (self.blob.read_at(self.at, buffer)).map_err(std::io::Error::other)?;
        self.at += taken as u64;
        Ok(taken)
    }
}

impl Seek for BlobReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.blob.length().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A small APK of an app that was on the phone from the beginning, with a plain manifest.
pub fn placeholder(package: &str, version: &str) -> Vec<u8> {
    use std::io::Write as _;
    use zip::write::SimpleFileOptions;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default());
    let manifest = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<manifest xmlns:android=\"http://schemas.android.com/apk/res/android\" package=\"{package}\" android:versionName=\"{version}\" android:versionCode=\"1\"/>\n"
    );
    // Writing into memory does not fail.
    let _ = archive.start_file("AndroidManifest.xml", options);
    let _ = archive.write_all(manifest.as_bytes());
    archive
        .finish()
        .map(std::io::Cursor::into_inner)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::android::blobs::Blobs;

    #[test]
    fn a_placeholder_says_what_it_is() {
        let blob = Blobs::new(1 << 20)
            .put(&placeholder("com.example.shop", "2.4.1"))
            .expect("stored");
        let manifest = Manifest::of(&blob).expect("a manifest");
        assert_eq!(manifest.package, "com.example.shop");
        assert_eq!(manifest.version.as_deref(), Some("2.4.1"));
    }

    /// A binary manifest of one element, put together by the rules of `ResourceTypes.h`.
    fn binary() -> Vec<u8> {
        let strings = ["manifest", "package", "org.other.app", "versionName", "7.1"];
        let mut data = Vec::new();
        let mut offsets = Vec::new();
        for text in strings {
            offsets.push(data.len() as u32);
            data.extend_from_slice(&(text.len() as u16).to_le_bytes());
            data.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            data.extend_from_slice(&[0, 0]);
        }
        while data.len() % 4 != 0 {
            data.push(0);
        }
        let start = 28 + 4 * offsets.len();
        let mut pool = Vec::new();
        pool.extend_from_slice(&1_u16.to_le_bytes());
        pool.extend_from_slice(&28_u16.to_le_bytes());
        for word in [
            (start + data.len()) as u32,
            offsets.len() as u32,
            0,
            0,
            start as u32,
            0,
        ] {
            pool.extend_from_slice(&word.to_le_bytes());
        }
        pool.extend(offsets.iter().flat_map(|o| o.to_le_bytes()));
        pool.extend_from_slice(&data);
        let element = |name: u32, attributes: &[(u32, u32)]| {
            let mut out = Vec::new();
            out.extend_from_slice(&0x0102_u16.to_le_bytes());
            out.extend_from_slice(&16_u16.to_le_bytes());
            out.extend_from_slice(&((36 + 20 * attributes.len()) as u32).to_le_bytes());
            for word in [1, u32::MAX, u32::MAX, name] {
                out.extend_from_slice(&word.to_le_bytes());
            }
            for half in [20_u16, 20, attributes.len() as u16, 0, 0, 0] {
                out.extend_from_slice(&half.to_le_bytes());
            }
            for (key, value) in attributes {
                for word in [u32::MAX, *key, *value, 0x0300_0008, *value] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
            }
            out
        };
        let body = [pool, element(0, &[(1, 2), (3, 4)])].concat();
        let mut all = vec![3, 0, 8, 0];
        all.extend_from_slice(&((body.len() + 8) as u32).to_le_bytes());
        all.extend_from_slice(&body);
        all
    }

    #[test]
    fn a_binary_manifest_is_read() {
        let manifest = Manifest::parse(&binary()).expect("a manifest");
        assert_eq!(manifest.package, "org.other.app");
        assert_eq!(manifest.version.as_deref(), Some("7.1"));
    }

    proptest! {
        #[test]
        fn no_manifest_makes_it_panic(
            flips in proptest::collection::vec((0..400_usize, any::<u8>()), 0..12),
            cut in 0..500_usize,
        ) {
            let mut bytes = binary();
            for (at, value) in flips {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            bytes.truncate(cut);
            let _ = Manifest::parse(&bytes);
        }
    }
}
