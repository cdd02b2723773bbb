//! Addresses that are opened on a phone.

use packtrain_drivers::DriverError;

use crate::device::Result;

/// The whole address: one without a scheme lies below the session's base.
pub(super) fn absolute(url: &str, base: Option<&str>) -> Result<String> {
    if has_scheme(url) {
        return Ok(url.to_owned());
    }
    let Some(base) = base.filter(|base| has_scheme(base)) else {
        let message = format!("`{url}` has no scheme and the session has no base URL");
        return Err(DriverError::Invalid(message).into());
    };
    Ok(format!(
        "{}/{}",
        base.trim_end_matches('/'),
        url.trim_start_matches('/')
    ))
}

/// `https:`, `shop:`, `mailto:` as RFC 3986 has it.
fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_address_lies_below_the_base() {
        let base = Some("https://shop.example.com/");
        let open = |url| absolute(url, base).unwrap();
        assert_eq!(open("/cart"), "https://shop.example.com/cart");
        assert_eq!(open("cart?id=1"), "https://shop.example.com/cart?id=1");
        assert_eq!(open("shop://cart"), "shop://cart");
        assert_eq!(open("mailto:a@b.c"), "mailto:a@b.c");
        assert!(absolute("/cart", None).is_err());
        assert!(absolute("/cart", Some("cart")).is_err());
    }
}
