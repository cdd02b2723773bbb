//! Odd spellings, and ways out of the folder.

use std::os::unix::fs::symlink;

use super::*;

fn reach(schemes: &[&str]) -> Reach {
    Reach {
        schemes: schemes.iter().map(|scheme| (*scheme).to_owned()).collect(),
        folder: "/nowhere".into(),
    }
}

fn opened(reach: &Reach, given: &str, whole: &str) -> Result<String, DriverError> {
    Reach::confine(Some(reach), given, || Ok(whole.to_owned()))
}

/// Why an address that is opened as it is given is refused.
fn refusal(reach: &Reach, address: &str) -> Option<String> {
    let refused = opened(reach, address, address).err()?;
    assert!(matches!(refused, DriverError::Invalid(_)), "{refused:?}");
    Some(refused.to_string())
}

#[test]
fn pages_and_blank_pages_are_open_to_all_and_nothing_else_is() {
    let plain = reach(&[]);
    for address in [
        "http://a.b/c?d#e",
        "https://a.b",
        "HTTPS://a.b",
        "data:text/html,<p>x",
        "about:blank",
        "ABOUT:blank",
        "about:blank#x",
        " http://a.b ",
    ] {
        assert_eq!(refusal(&plain, address), None, "{address}");
    }
    for (address, scheme) in [
        ("file:///etc/passwd", "file"),
        ("FILE:///etc/passwd", "file"),
        ("file:/etc/passwd", "file"),
        ("file:etc/passwd", "file"),
        ("  fIlE:\\\\\\etc\\passwd", "file"),
        ("javascript:alert(1)", "javascript"),
        ("JavaScript:alert(1)", "javascript"),
        ("javascript://a.b/%0aalert(1)", "javascript"),
        ("intent://a#Intent;scheme=http;end", "intent"),
        ("intent:#Intent;component=a/.B;end", "intent"),
        ("chrome://settings", "chrome"),
        ("view-source:http://a.b", "view-source"),
        ("VIEW-SOURCE:file:///etc/passwd", "view-source"),
        ("blob:http://a.b/c", "blob"),
        ("filesystem:http://a.b/c", "filesystem"),
        ("content://media/external", "content"),
        ("ftp://a.b", "ftp"),
        ("tel:123", "tel"),
        ("shop://cart", "shop"),
        ("about:config", "about"),
        ("about:srcdoc", "about"),
        ("httpx://a.b", "httpx"),
    ] {
        let refused = refusal(&plain, address).unwrap_or_else(|| panic!("{address}"));
        assert_eq!(
            refused,
            format!(
                "agents may not open `{scheme}:` addresses, only about:blank and data, http, https; \
                 `agents.schemes` in the configuration allows more"
            ),
            "{address}"
        );
    }
}

#[test]
fn spelling_hides_no_scheme() {
    let plain = reach(&[]);
    for address in [
        "java\nscript:alert(1)",
        "java\tscript:alert(1)",
        "\rjavascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "file\r\n:///etc/passwd",
        "http://a.b/\u{0}",
        "http://a.b/\u{7f}",
        "http://a.b/\u{85}",
    ] {
        let refused = refusal(&plain, address).unwrap_or_else(|| panic!("{address:?}"));
        assert_eq!(refused, "agents may not open a URL with control characters");
    }
    // Whole, these are nothing: without a scheme nothing can be opened.
    for address in [
        "%6Aavascript:alert(1)",
        "%66ile:///etc/passwd",
        "java%73cript%3Aalert(1)",
        "\u{a0}javascript:alert(1)",
        "\u{feff}file:///etc/passwd",
        "ｆile:///etc/passwd",
        "/etc/passwd",
        "",
        "http://",
        "http://a.b:99999",
    ] {
        let refused = refusal(&plain, address).unwrap_or_else(|| panic!("{address:?}"));
        assert!(
            refused.starts_with("agents may not open an invalid URL: "),
            "{refused}"
        );
    }
}

#[test]
fn what_is_given_and_what_is_opened_both_count() {
    let plain = reach(&[]);
    let whole = "http://a.b/cart";
    assert_eq!(opened(&plain, "cart", whole).unwrap(), whole);
    assert_eq!(opened(&plain, "%6Aavascript:x", whole).unwrap(), whole);
    assert!(opened(&plain, "cart", "shop://cart").is_err());
    assert!(opened(&plain, "shop://cart", whole).is_err());
    assert!(opened(&plain, "http://", whole).is_err());
    let lost = || Err(DriverError::lost("x"));
    let failed = Reach::confine(Some(&plain), "cart", lost).unwrap_err();
    assert!(matches!(failed, DriverError::Lost { .. }), "{failed}");
    let anywhere = || Ok::<_, DriverError>("shop://\u{0}".to_owned());
    assert!(Reach::confine(None, "\0", anywhere).is_ok());
}

#[test]
fn a_declared_scheme_is_open_and_its_likes_are_not() {
    let shop = reach(&["shop"]);
    assert_eq!(refusal(&shop, "shop://cart"), None);
    assert_eq!(refusal(&shop, "SHOP:cart"), None);
    for address in ["shops://cart", "sho://cart", "x-shop://cart", "file:///etc"] {
        assert!(refusal(&shop, address).is_some(), "{address}");
    }
    let refused = refusal(&shop, "tel:1").unwrap();
    assert!(refused.contains("data, http, https, shop;"), "{refused}");
}

#[test]
fn a_file_is_one_below_the_folder_with_links_followed() {
    let around = tempfile::tempdir().unwrap();
    let (folder, beside) = (
        around.path().join("project"),
        around.path().join("project2"),
    );
    for each in [&folder, &beside] {
        std::fs::create_dir(each).unwrap();
        std::fs::write(each.join("page.html"), "x").unwrap();
    }
    symlink(&beside, folder.join("out")).unwrap();
    symlink(folder.join("page.html"), folder.join("in.html")).unwrap();
    symlink(&folder, around.path().join("link")).unwrap();
    for folder in [folder.clone(), around.path().join("link")] {
        let reach = Reach {
            folder,
            ..reach(&["file"])
        };
        let address = |path: &str| format!("file://{}/project/{path}", around.path().display());
        for path in [
            "page.html",
            "in.html",
            "out/../page.html",
            "./page.html?q#h",
        ] {
            assert_eq!(refusal(&reach, &address(path)), None, "{path}");
        }
        for path in [
            "out/page.html",
            "../project2/page.html",
            "..%2fproject2/page.html",
            "%2e%2e/project2/page.html",
            "..\\project2\\page.html",
            "none.html",
            "../../../../../../../../etc/passwd",
        ] {
            assert_eq!(
                refusal(&reach, &address(path)).as_deref(),
                Some("agents may not open files outside the project"),
                "{path}"
            );
        }
        let elsewhere = address("page.html").replace("file://", "file://host");
        assert!(refusal(&reach, &elsewhere).is_some());
        assert!(
            reach
                .held(&around.path().join("project/page.html"))
                .is_some()
        );
        assert!(
            reach
                .held(&around.path().join("project2/page.html"))
                .is_none()
        );
        assert!(reach.admits_files().is_ok());
    }
    // Nothing lies below a folder that is not there.
    assert!(reach(&["file"]).held(&folder.join("page.html")).is_none());
    assert!(reach(&[]).admits_files().is_err());
}
