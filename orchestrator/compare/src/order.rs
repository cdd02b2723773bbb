//! When a value is at most another: numbers as numbers, sizes by their width.

/// Where a value stands among others of its kind; `None` for what has no order.
pub fn rank(value: &str) -> Option<f64> {
    packtrain_drivers::axes::size(value)
        .map(|(width, _)| f64::from(width))
        .or_else(|| value.parse().ok())
        .filter(|number| number.is_finite())
}

/// Whether all of these have an order.
pub fn is_ordered<'a>(values: impl IntoIterator<Item = &'a String>) -> bool {
    let mut values = values.into_iter().peekable();
    values.peek().is_some() && values.all(|value| rank(value).is_some())
}
