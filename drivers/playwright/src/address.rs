//! Where an address of a trail leads. Knows nothing of browsers.

use packtrain_drivers::{DriverError, SessionOptions};

type Result<T> = std::result::Result<T, DriverError>;

/// Where an address leads: as it is with a scheme, below the base address when there is one, else
/// a file in the trail's folder or the working directory.
pub(crate) fn address(options: &SessionOptions, url: &str) -> Result<String> {
    let url = url.trim();
    if url.is_empty() {
        return Err(DriverError::Invalid("the address is empty".to_owned()));
    }
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = url.contains("://")
        || scheme.is_some_and(|scheme| ["about", "data", "blob", "javascript"].contains(&scheme));
    if has_scheme {
        return Ok(url.to_owned());
    }
    if let Some(base) = &options.base_url {
        return join(base, url);
    }
    let (path, rest) = match url.find(['?', '#']) {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    let file = options
        .folders
        .iter()
        .map(|folder| folder.join(path))
        .find(|file| file.exists())
        .ok_or_else(|| {
            let looked: Vec<_> = options
                .folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            DriverError::Invalid(format!(
                "`{url}` is no address with a scheme, there is no base URL, and no such file in {}",
                looked.join(" or ")
            ))
        })?;
    let file = std::fs::canonicalize(&file).unwrap_or(file);
    let mut encoded = String::from("file://");
    for byte in file.to_string_lossy().bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(encoded + rest)
}

/// Joins an address to its base as browsers do.
fn join(base: &str, url: &str) -> Result<String> {
    let invalid = || DriverError::Invalid(format!("`{url}` cannot be joined to `{base}`"));
    let start = base.find("://").ok_or_else(invalid)? + 3;
    let origin_end = base[start..].find('/').map_or(base.len(), |at| start + at);
    if url.starts_with("//") {
        return Ok(format!("{}{url}", &base[..start - 2]));
    }
    if url.starts_with('/') {
        return Ok(format!("{}{url}", &base[..origin_end]));
    }
    if url.starts_with(['?', '#']) {
        return Ok(format!("{base}{url}"));
    }
    let folder = match base[origin_end..].rfind('/') {
        Some(at) => &base[..=origin_end + at],
        None => return Ok(format!("{base}/{url}")),
    };
    Ok(format!("{folder}{url}"))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn addresses_join_as_in_a_browser() {
        for (base, url, whole) in [
            ("http://a.b:8", "cart", "http://a.b:8/cart"),
            ("http://a.b:8/", "cart", "http://a.b:8/cart"),
            ("http://a.b:8/x/y", "z", "http://a.b:8/x/z"),
            ("http://a.b:8/x/", "/z?q#h", "http://a.b:8/z?q#h"),
            ("http://a.b:8/x", "?q", "http://a.b:8/x?q"),
        ] {
            assert_eq!(join(base, url).unwrap(), whole);
        }
        assert!(join("nowhere", "x").is_err());
    }
}
