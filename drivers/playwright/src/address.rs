//! Where an address of a trail leads. Knows nothing of browsers.

use std::path::PathBuf;

use packtrain_drivers::{DriverError, Reach, SessionOptions};

type Result<T> = std::result::Result<T, DriverError>;

/// Where an address leads: as it is with a scheme, below the base address when there is one, else
/// a file in the trail's folder or the working directory.
///
/// # Errors
/// When it leads nowhere, or where the session may not go.
pub(crate) fn address(options: &SessionOptions, url: &str) -> Result<String> {
    Reach::confine(options.reach.as_ref(), url, || whole(options, url.trim()))
}

fn whole(options: &SessionOptions, url: &str) -> Result<String> {
    if url.is_empty() {
        return Err(DriverError::Invalid("the address is empty".to_owned()));
    }
    if has_scheme(url) {
        return Ok(url.to_owned());
    }
    if let Some(base) = &options.base_url {
        return join(base, url);
    }
    let (path, rest) = match url.find(['?', '#']) {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    if let Some(reach) = &options.reach {
        reach.admits_files()?;
    }
    let is_held =
        |file: &PathBuf| (options.reach.as_ref()).is_none_or(|reach| reach.held(file).is_some());
    let file = options
        .folders
        .iter()
        .map(|folder| folder.join(path))
        .find(|file| file.exists() && is_held(file))
        .ok_or_else(|| {
            let looked: Vec<_> = options
                .folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            DriverError::Invalid(format!(
                "`{url}` is not an absolute URL, no base URL is set, and there is no such file in {}",
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

/// `https://`, `about:`: an address that is whole. One that has such a thing behind a `/` or a `?` is
/// not.
fn has_scheme(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && (scheme.chars()).all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let known = ["about", "data", "blob", "javascript"];
    is_scheme && (url.contains("://") || known.iter().any(|one| scheme.eq_ignore_ascii_case(one)))
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
    use packtrain_drivers::{Reach, SessionOptions};

    use super::{address, join};

    fn opened(reach: Option<Reach>, base: Option<&str>, url: &str) -> Result<String, String> {
        let options = SessionOptions {
            base_url: base.map(str::to_owned),
            folders: vec![
                std::env::temp_dir().join("nowhere"),
                env!("CARGO_MANIFEST_DIR").into(),
            ],
            reach,
            ..SessionOptions::default()
        };
        address(&options, url).map_err(|error| error.to_string())
    }

    #[test]
    fn an_address_is_whole_when_it_begins_with_a_scheme() {
        let base = Some("http://a.b:8");
        for (url, whole) in [
            ("shop://x", "shop://x"),
            (" about:blank ", "about:blank"),
            ("view-source:http://x", "view-source:http://x"),
            ("JavaScript:x", "JavaScript:x"),
            ("/in?next=https://x", "http://a.b:8/in?next=https://x"),
            ("%66ile:x", "http://a.b:8/%66ile:x"),
            ("x:y", "http://a.b:8/x:y"),
        ] {
            assert_eq!(opened(None, base, url).unwrap(), whole);
        }
        let file = opened(None, None, "Cargo.toml?q").unwrap();
        assert!(file.starts_with("file:///") && file.ends_with("/Cargo.toml?q"));
        assert!(opened(None, None, "/etc/passwd").is_ok());
    }

    #[test]
    fn who_is_confined_opens_pages_and_what_is_declared_and_files_of_the_folder() {
        let reach = |schemes: &[&str], folder: &str| {
            let schemes = schemes.iter().map(|scheme| (*scheme).to_owned()).collect();
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            Some(Reach { schemes, folder })
        };
        let base = Some("http://a.b:8");
        for url in [
            "cart",
            "/in?next=javascript://x",
            "https://x",
            "data:,x",
            "about:blank",
        ] {
            assert!(opened(reach(&[], "."), base, url).is_ok(), "{url}");
        }
        for url in [
            "file:///etc/passwd",
            "JAVASCRIPT:x",
            "intent:#Intent;end",
            "ja\nvascript:x",
        ] {
            for base in [base, None] {
                let refused = opened(reach(&[], "."), base, url).unwrap_err();
                assert!(refused.contains("agents may not open"), "{refused}");
                assert!(
                    !refused.contains("`file:`") || url.starts_with("file"),
                    "{refused}"
                );
            }
        }
        assert!(opened(reach(&[], "."), Some("shop://a"), "cart").is_err());
        assert!(opened(reach(&["shop"], "."), Some("shop://a"), "cart").is_ok());
        // A file, and one that is not there, are distinguished only where files may be opened.
        let there = opened(reach(&[], "."), None, "Cargo.toml").unwrap_err();
        assert_eq!(there, opened(reach(&[], "."), None, "none").unwrap_err());
        assert!(
            there.contains("agents may not open `file:` addresses"),
            "{there}"
        );
        assert!(opened(reach(&["file"], "."), None, "Cargo.toml").is_ok());
        assert!(opened(reach(&["file"], "src"), None, "src/lib.rs").is_ok());
        for url in ["Cargo.toml", "src/../Cargo.toml", "/etc/passwd"] {
            let refused = opened(reach(&["file"], "src"), None, url).unwrap_err();
            assert!(refused.contains("no such file in"), "{refused}");
        }
        let base = format!("file://{}/src/", env!("CARGO_MANIFEST_DIR"));
        assert!(opened(reach(&["file"], "src"), Some(&base), "lib.rs").is_ok());
        for url in [
            "../Cargo.toml",
            "%2e%2e/Cargo.toml",
            "..%2FCargo.toml",
            "/etc/passwd",
        ] {
            assert!(
                opened(reach(&["file"], "src"), Some(&base), url).is_err(),
                "{url}"
            );
        }
    }

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
