//! The example shop, and the steps of its trail as a web device is told them. Also read by the benchmark.

use std::time::Duration;

use packtrain_drivers::selector::{NodeSelector, WebMatch};
use packtrain_drivers::{
    Command, Direction, NavigateTo, TextMatch, ValueKind, WebCommand, WebTarget,
};

/// The address of one of the shop's pages.
pub(crate) fn page(name: &str) -> String {
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop/web");
    format!("file://{shop}/{name}")
}

fn target(web: WebMatch) -> WebTarget {
    WebTarget {
        selector: Some(NodeSelector {
            web: Some(web),
            ..NodeSelector::default()
        }),
        reference: None,
    }
}

fn role(role: &str, name: &str) -> WebTarget {
    target(WebMatch {
        aria_role: Some(role.to_owned()),
        aria_name_regex: Some(name.to_owned()),
        ..WebMatch::default()
    })
}

fn nth(wanted: &str, name: &str, nth: u32) -> WebTarget {
    let mut found = role(wanted, name);
    if let Some(web) = found.selector.as_mut().and_then(|it| it.web.as_mut()) {
        web.nth_index = Some(nth);
    }
    found
}

fn css(selector: &str) -> WebTarget {
    target(WebMatch {
        css_selector: Some(selector.to_owned()),
        ..WebMatch::default()
    })
}

const fn click(target: WebTarget) -> WebCommand {
    WebCommand::Click { target }
}

fn enter(target: WebTarget, text: &str) -> WebCommand {
    WebCommand::Type {
        target,
        text: text.to_owned(),
        clear_first: true,
    }
}

fn text(text: &str) -> WebCommand {
    WebCommand::ExpectText {
        text: text.to_owned(),
        matching: TextMatch::Contains,
        limit: None,
    }
}

const fn visible(target: WebTarget) -> WebCommand {
    WebCommand::ExpectVisible {
        target,
        limit: None,
    }
}

fn list(target: WebTarget, items: &[&str]) -> WebCommand {
    WebCommand::ExpectList {
        target,
        items: items.iter().map(ToString::to_string).collect(),
        matching: TextMatch::Contains,
    }
}

/// `examples/shop/trails/buy.trail.yaml`, step by step.
pub(crate) fn trail() -> Vec<Vec<Command>> {
    let steps = vec![
        vec![WebCommand::Navigate(NavigateTo::Url(page("index.html")))],
        vec![visible(role("heading", "Shop"))],
        vec![click(role("button", "Sign in"))],
        vec![text("Enter your email")],
        vec![enter(role("textbox", "Email"), "ada@example.com")],
        vec![
            enter(css("#password"), "guess"),
            click(role("button", "Sign in")),
        ],
        vec![text("Wrong email or password")],
        vec![
            enter(css("#password"), "secret"),
            WebCommand::PressKey("Enter".to_owned()),
        ],
        vec![
            visible(role("heading", "Products")),
            list(role("list", "Products"), &["Espresso 1", "Lemonade 8"]),
        ],
        vec![click(nth("button", "Add", 0))],
        vec![click(nth("button", "Add", 2))],
        vec![visible(role("link", r"\QCart (2)\E"))],
        vec![WebCommand::Scroll {
            target: role("list", "Products"),
            direction: Direction::Down,
            amount: 4000,
        }],
        vec![click(role("link", "Lemonade 40"))],
        vec![
            WebCommand::AwaitUrl {
                pattern: r"product\.html\?n=40$".to_owned(),
                limit: Duration::from_secs(5),
            },
            text("Home made"),
        ],
        vec![
            click(role("button", "One more")),
            click(role("button", "One more")),
        ],
        vec![WebCommand::ExpectValue {
            target: css("#quantity"),
            kind: ValueKind::Text,
            expected: "3".to_owned(),
            matching: TextMatch::Contains,
        }],
        vec![click(role("button", "Add to cart"))],
        vec![
            list(role("list", "Cart"), &["1 x Espresso 1", "3 x Lemonade 40"]),
            text("Total $15.30"),
        ],
        vec![
            WebCommand::AnswerDialogs {
                accept: true,
                text: None,
            },
            click(role("button", "Remove Green tea 3")),
        ],
        vec![text("Total $12.40")],
        vec![click(role("button", "Checkout"))],
        vec![
            enter(role("textbox", "Full name"), "Ada Lovelace"),
            enter(role("textbox", "Address"), "12 St James's Square"),
            WebCommand::Select {
                target: role("combobox", "Country"),
                values: vec!["Germany".to_owned()],
            },
        ],
        vec![click(role("switch", "Express delivery"))],
        vec![text("Arrives tomorrow")],
        vec![click(role("button", "Place order"))],
        vec![
            text("You pay $12.40."),
            click(css("dialog[open] button.go")),
        ],
        vec![
            visible(role("heading", "Thank you")),
            text("Your order is on its way, Ada Lovelace."),
        ],
    ];
    steps
        .into_iter()
        .map(|step| step.into_iter().map(Command::Web).collect())
        .collect()
}
