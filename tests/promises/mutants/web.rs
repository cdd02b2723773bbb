//! Mutants of the recordings for pages, and of the pages.

use super::{Mutant, Place, recorded};

/// A file of the pages altered.
const fn page(
    name: &'static str,
    file: &'static str,
    [from, to]: [&'static str; 2],
    fails_on: &'static str,
    saying: &'static str,
) -> Mutant {
    Mutant {
        platform: "web",
        name,
        place: Place::Page(file),
        from,
        to,
        fails_on,
        saying,
    }
}

pub(super) const MUTANTS: &[Mutant] = &[
    recorded(
        "web",
        "wrong-page",
        "Open the shop",
        ["index.html", "indx.html"],
        "indx.html",
    ),
    recorded(
        "web",
        "stale-number-beside-a-selector",
        "The sign in form is shown",
        [
            "ariaNameRegex: Shop",
            "ariaNameRegex: Shoppe\n            ref: e1",
        ],
        "Shoppe",
    ),
    recorded(
        "web",
        "wrong-text",
        "The shop asks for the email",
        ["your email", "your name"],
        "Enter your name",
    ),
    recorded(
        "web",
        "number-beyond-the-list",
        "Enter a wrong password and sign in",
        ["ref: button \"Sign in\"", "ref: e99"],
        "e99",
    ),
    recorded(
        "web",
        "wrong-role",
        "The products are listed",
        ["ariaRole: heading", "ariaRole: button"],
        "button",
    ),
    recorded(
        "web",
        "wrong-count",
        "The cart holds two things",
        ["(2)", "(3)"],
        "Cart (3)",
    ),
    recorded(
        "web",
        "wrong-address",
        "Its page is shown",
        [
            "n=40$\n            timeoutMs: 10000",
            "n=4$\n            timeoutMs: 500",
        ],
        "n=4$",
    ),
    recorded(
        "web",
        "wrong-value",
        "The quantity is three",
        ["\"3\"", "\"4\""],
        "4",
    ),
    recorded(
        "web",
        "missing-item",
        "The cart lists all of it with the right total",
        ["3 x Lemonade", "2 x Lemonade"],
        "lacks \"2 x Lemonade 40\"",
    ),
    recorded(
        "web",
        "wrong-arithmetic",
        "The cart lists all of it with the right total",
        ["3 * 3.3", "2 * 3.3"],
        "is 12, expected 15.3",
    ),
    recorded(
        "web",
        "dialog-dismissed",
        "Remove the tea and confirm",
        ["accept: true", "accept: false"],
        "Total $12.40",
    )
    .told_by("The tea is gone"),
    recorded(
        "web",
        "part-of-a-text-as-the-whole",
        "The tea is gone",
        ["Total $12.40", "Total $12.4\n            exact: true"],
        "Total $12.4",
    ),
    recorded(
        "web",
        "wrong-name",
        "Go to the checkout",
        ["ariaNameRegex: Checkout", "ariaNameRegex: Check out"],
        "Check out",
    ),
    recorded(
        "web",
        "wrong-memory",
        "It arrives tomorrow",
        [
            "text: Arrives tomorrow",
            "text: Arrives tomorrow\n        - assertEquals: { actual: \"{{who}}\", expected: Charles Babbage }",
        ],
        "Charles Babbage",
    ),
    page(
        "any-password-will-do",
        "shop.js",
        ["password !== \"secret\"", "!password"],
        "The shop refuses",
        "Wrong email or password",
    ),
    page(
        "heading-changed",
        "products.html",
        ["<h1>Products", "<h1>Goods"],
        "The products are listed",
        "Products",
    ),
    page(
        "button-does-nothing",
        "shop.js",
        ["quantity += 1; show();", ""],
        "The quantity is three",
        "3",
    ),
    page(
        "role-lost",
        "checkout.html",
        [" role=\"switch\"", ""],
        "Ask for express delivery",
        "switch",
    ),
    page(
        "wrong-amount-in-the-dialog",
        "shop.js",
        [
            "t(\"You pay {}.\", money(total()))",
            "t(\"You pay {}.\", money(total() + 1))",
        ],
        "Confirm in the dialog",
        "You pay $12.40.",
    ),
    page(
        "invisible",
        "thanks.html",
        [
            "<p id=\"message\">",
            "<p id=\"message\" style=\"visibility: hidden\">",
        ],
        "The shop says thank you by name",
        "Your order is on its way",
    ),
];
