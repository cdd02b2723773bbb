//! Mutants of the recordings for phones, and of the app on them.

use super::{Mutant, Place, recorded};

pub(super) const ANDROID: &[Mutant] = &[
    recorded(
        "android",
        "wrong-app",
        "Open the shop",
        ["com.example.shop", "com.example.shops"],
        "com.example.shops",
    ),
    recorded(
        "android",
        "wrong-text",
        "The shop asks for the email",
        ["your email", "your name"],
        "Enter your name",
    ),
    recorded(
        "android",
        "typed-behind-what-was-there",
        "Sign in with the right password",
        ["        - eraseText: {}\n", ""],
        "allow",
    )
    .told_by("Decline notifications, where the shop asks"),
    recorded(
        "android",
        "wrong-role",
        "The products are listed",
        [
            "textRegex: Products",
            "textRegex: Products\n                isClickable: true",
        ],
        "Products",
    ),
    recorded(
        "android",
        "no-such-item",
        "Add the third product",
        ["index: 2", "index: 20"],
        "Add",
    ),
    recorded(
        "android",
        "wrong-name",
        "Remove the tea and confirm",
        ["tea 3", "tea 4"],
        "Remove Green tea 4",
    ),
    recorded(
        "android",
        "wrong-relation",
        "Confirm in the dialog",
        ["below:", "leftOf:"],
        "Place order",
    ),
    recorded(
        "android",
        "wrong-case",
        "The shop says thank you by name",
        ["Thank you", "thank you"],
        "thank you",
    ),
];

pub(super) const IOS: &[Mutant] = &[
    recorded(
        "ios",
        "wrong-text",
        "The shop refuses",
        ["Wrong email", "Wrong name"],
        "Wrong name",
    ),
    recorded(
        "ios",
        "wrong-id",
        "Enter the email",
        ["Regex: email", "Regex: mail"],
        "mail",
    ),
    recorded(
        "ios",
        "missing-item",
        "The products are listed",
        ["Green tea 3", "Green tea 2"],
        "Green tea 2",
    ),
    recorded(
        "ios",
        "another-item",
        "Add the third product",
        ["index: 2", "index: 1"],
        "1 x Green tea 3",
    )
    .told_by("The cart lists all of it with the right total"),
    recorded(
        "ios",
        "part-of-a-text",
        "Its page is shown",
        ["Home made\\.", "Home"],
        "Home",
    ),
    recorded(
        "ios",
        "wrong-name",
        "Ask for express delivery",
        ["Express", "Slow"],
        "Slow delivery",
    ),
    recorded(
        "ios",
        "undefined-name",
        "The shop says thank you by name",
        ["{{who}}", "{{whom}}"],
        "`{{whom}}` is undefined",
    ),
];

/// The app altered.
const fn app(
    platform: &'static str,
    name: &'static str,
    [from, to]: [&'static str; 2],
    fails_on: &'static str,
    saying: &'static str,
) -> Mutant {
    Mutant {
        platform,
        name,
        place: Place::App,
        from,
        to,
        fails_on,
        saying,
    }
}

pub(super) const APPS: &[Mutant] = &[
    app(
        "android",
        "any-password-will-do",
        ["{ password: secret }", "{ password: guess }"],
        "The shop refuses",
        "Wrong email or password",
    ),
    app(
        "ios",
        "heading-changed",
        ["title: Products", "title: Goods"],
        "The products are listed",
        "Products",
    ),
    app(
        "ios",
        "link-leads-elsewhere",
        ["goto: detail", "goto: cart"],
        "Its page is shown",
        "Home made",
    ),
    app(
        "android",
        "button-does-nothing",
        [", tap: { add: { quantity: 1 } } }", " }"],
        "The quantity is three",
        "3",
    ),
    app(
        "ios",
        "quantity-not-multiplied",
        ["${price * quantity}", "${price}"],
        "The cart lists all of it with the right total",
        "Total \\$15",
    ),
    app(
        "android",
        "removed-and-still-there",
        ["tap: { remove: { cart: \"${index}\" } }", "tap: {}"],
        "The tea is gone",
        "Total \\$12",
    ),
    app(
        "android",
        "switch-switches-nothing",
        ["visible_if: express", "visible_if: error"],
        "It arrives tomorrow",
        "Arrives tomorrow",
    ),
    app(
        "ios",
        "element-hidden",
        [
            "on its way, ${full_name}.\",",
            "on its way, ${full_name}.\", visible_if: error,",
        ],
        "The shop says thank you by name",
        "on its way",
    ),
];
