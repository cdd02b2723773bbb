//! What the made-up run is about: a shop's trails, a shelf of devices, and what goes wrong.

use packtrain_drivers::{Classifier, DeviceEvent, DeviceId, DeviceInfo, Platform, Size};
use packtrain_model::{Blame, Failure, Outcome, StepIndex, StepKind, StepSummary, TrailSummary};

use super::picture::Screen;

/// A trail that can be made up.
pub struct Trail {
    pub name: &'static str,
    pub title: &'static str,
    pub steps: Vec<Step>,
}

/// A step of it: its words, the tool it calls, how the element is found, what is on the screen.
pub struct Step {
    pub index: u32,
    pub kind: StepKind,
    pub text: &'static str,
    pub tool: &'static str,
    pub by: &'static str,
    pub screen: Screen,
}

/// How a session comes off its trail.
pub struct PlannedFailure {
    pub step: u32,
    pub outcome: Outcome,
    pub screen: Screen,
}

const TRAILS: [(&str, &str, &str); 4] = [
    (
        "checkout",
        "Buy two cups",
        r#"
trailhead | Start the shop with an empty basket | launchApp             |                            | list
step      | Search for "espresso cups"          | inputText             | hint "Search products"     | list
step      | Open the first product              | tapOnElement          | text "Espresso cup, white" | product
step      | Put two of them into the basket     | shop_addToBasket      |                            | product
verify    | The badge on the basket shows 2     | assertVisibleWithText | text "2"                   | product
step      | Open the basket                     | tapOnElement          | id "basket"                | basket
verify    | The total is 38.00 €                | assertVisibleWithText | text "38.00 €"             | basket
step      | Enter the delivery address          | inputText             | label "Street"             | form
step      | Place the order                     | tapOnElement          | text "Place order"         | basket
verify    | The page thanks for the order       | assertVisibleWithText | textRegex "Thank you.*"    | done
"#,
    ),
    (
        "search",
        "Search finds products",
        r#"
step   | Open the search                | tapOnElement          | id "search"            | list
step   | Type "lamp"                    | inputText             | hint "Search products" | list
verify | At least three lamps are listed | assertVisibleWithText | text "Desk lamp"       | list
step   | Filter by "under 50 €"         | tapOnElement          | text "under 50 €"      | list
"#,
    ),
    (
        "dark-mode",
        "Dark mode stays on after a restart",
        r#"
trailhead | Start the shop                      | launchApp       |                  | list
step      | Switch on dark mode in the settings | tapOnElement    | text "Dark mode" | form
step      | Restart the app                     | launchApp       |                  | list
verify    | The background is dark              | shop_assertDark |                  | list
"#,
    ),
    (
        "login",
        "Log in and out",
        r#"
step   | Open the login page         | tapOnElement          | text "Log in"     | form
step   | Enter user and password     | inputText             | label "E-mail"    | form
step   | Submit                      | tapOnElement          | text "Continue"   | list
verify | The account menu greets Ada | assertVisibleWithText | text "Hello, Ada" | list
step   | Log out                     | tapOnElement          | text "Log out"    | form
"#,
    ),
];

/// Those with something special come first, so that few devices show much.
const DEVICES: &str = "
web     | desktop                   | desktop 1280x800    | Chromium 156 | desktop | 1280 | 800
ios     | 00008120-001A35E80C8BA01E | iPhone 15 Pro       | iOS 19.1     | phone   | 393  | 852
android | 192.168.1.40:5555         | Moto G8             | Android 10   | phone   | 720  | 1600
android | emulator-5556             | Pixel 4a            | Android 13   | phone   | 1080 | 2340
android | R58M12ABCDE               | Galaxy S21          | Android 14   | phone   | 1080 | 2400
ios     | 00008112-000E             | iPad Air            | iOS 19.1     | tablet  | 820  | 1180
web     | firefox                   | desktop 1280x800    | Firefox 152  | desktop | 1280 | 800
android | emulator-5554             | Pixel 9             | Android 16   | phone   | 1080 | 2424
android | emulator-5558             | Pixel Tablet        | Android 15   | tablet  | 1600 | 2560
ios     | 9A8B7C6D-5E4F             | iPhone SE           | iOS 18.6     | phone   | 375  | 667
ios     | 00008140-0002             | iPhone 16           | iOS 19.1     | phone   | 393  | 852
web     | phone                     | iPhone 15, emulated | WebKit 26    | phone   | 393  | 659
";

/// What a screen looks like as text.
pub const SNAPSHOT: &str = r#"[b1] NavigationBar "Basket"
  [b2] Button "Back"
[b3] Cell "Espresso cup, white"
  [b4] StaticText "2 ×"
  [b5] StaticText "19,00 €"
[b6] StaticText "Total"
[b7] StaticText "38,00 €"
[b8] Button "Place order"
[b9] TabBar
  [b10] Button "Home"
  [b11] Button "Basket, 2 items" (selected)
  [b12] Button "Account"
"#;

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split('|').map(str::trim).collect())
}

/// The first so many trails.
pub fn trails(count: usize) -> Vec<Trail> {
    TRAILS
        .iter()
        .take(count)
        .map(|&(name, title, table)| {
            let first = u32::from(!table.trim_start().starts_with("trailhead"));
            let steps = (first..)
                .zip(rows(table))
                .map(|(index, row)| Step {
                    index,
                    kind: match row[0] {
                        "trailhead" => StepKind::Trailhead,
                        "verify" => StepKind::Verify,
                        _ => StepKind::Step,
                    },
                    text: row[1],
                    tool: row[2],
                    by: row[3],
                    screen: match row[4] {
                        "form" => Screen::Form,
                        "product" => Screen::Product,
                        "basket" => Screen::Basket,
                        "done" => Screen::Done,
                        _ => Screen::List,
                    },
                })
                .collect();
            Trail { name, title, steps }
        })
        .collect()
}

impl Trail {
    /// What the run announces.
    pub fn summary(&self) -> TrailSummary {
        TrailSummary {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            path: format!("trails/{}.trail.yaml", self.name),
            tags: vec!["smoke".to_owned()],
            steps: self
                .steps
                .iter()
                .map(|step| StepSummary {
                    step: StepIndex(step.index),
                    kind: step.kind,
                    text: step.text.to_owned(),
                    line: 6 + step.index * 7,
                })
                .collect(),
        }
    }

    /// Why the whole trail is skipped on a device.
    pub fn skip(&self, device: &DeviceInfo) -> Option<String> {
        (self.name == "dark-mode" && device.id.platform() == Platform::Web)
            .then(|| "the site has no dark mode".to_owned())
    }

    /// What goes wrong on a device.
    pub fn trouble(&self, device: &DeviceInfo, attempt: u32) -> Option<PlannedFailure> {
        let platform = device.id.platform();
        match self.name {
            "checkout" if platform == Platform::Ios => Some(self.failure(
                6,
                Screen::Basket,
                "expected text \"38.00 €\" to be visible; the screen shows \"38,00 €\"",
                Some(
                    "the device formats numbers for another region; match `38[.,]00 €`, or set \
                     the region",
                ),
                &[
                    "looked for text \"38.00 €\" for 5.0 s, 21 snapshots",
                    "nearest: [b7] StaticText \"38,00 €\" (distance 1)",
                    "nearest: [b3] StaticText \"19,00 €\" (distance 3)",
                ],
            )),
            "checkout" if device.model == "Moto G8" => Some(self.failure(
                8,
                Screen::Keyboard,
                "\"Place order\" was found but is covered by the keyboard",
                Some("add `hideKeyboard` before the tap"),
                &[
                    "found text \"Place order\" at (360, 1490)",
                    "hit test at (360, 1490): android.inputmethodservice.SoftInputWindow",
                    "tried to scroll it into sight: nothing scrolls",
                ],
            )),
            "search" if device.model == "Pixel 4a" && attempt == 1 => Some(self.failure(
                3,
                Screen::Error,
                "expected text \"Desk lamp\" to be visible; the screen still shows a spinner",
                None,
                &["looked for text \"Desk lamp\" for 5.0 s, 19 snapshots"],
            )),
            "search" if device.model == "iPad Air" => Some(PlannedFailure {
                step: 4,
                outcome: Outcome::NeedsAgent {
                    why: "no recording for ios-tablet or ios".to_owned(),
                },
                screen: Screen::List,
            }),
            "dark-mode" if device.model == "Galaxy S21" => Some(PlannedFailure {
                step: 0,
                outcome: Outcome::Infrastructure {
                    blame: Blame::Device,
                    cause: format!(
                        "device `{}` went offline while the app was being launched",
                        device.id.name()
                    ),
                    hint: Some(
                        "check the cable; `packtrain devices --watch` shows when it is back"
                            .to_owned(),
                    ),
                    unstarted: Vec::new(),
                },
                screen: Screen::Error,
            }),
            _ => None,
        }
    }

    fn failure(
        &self,
        step: u32,
        screen: Screen,
        message: &str,
        hint: Option<&str>,
        log: &[&str],
    ) -> PlannedFailure {
        let tool = self.steps.iter().find(|known| known.index == step);
        PlannedFailure {
            step,
            outcome: Outcome::Failed(Failure {
                message: message.to_owned(),
                tool: tool.map(|step| step.tool.to_owned()),
                log: log.iter().map(|&line| line.to_owned()).collect(),
                hint: hint.map(str::to_owned),
                at: Some(format!(
                    "trails/{}.trail.yaml:{}:9",
                    self.name,
                    6 + step * 7
                )),
                fatal: false,
            }),
            screen,
        }
    }

    /// What the device reports unprompted during a step.
    pub fn noise(&self, step: u32, device: &DeviceInfo) -> Vec<DeviceEvent> {
        match (self.name, step, device.system.as_str()) {
            ("login", 3, "Firefox 152") => vec![
                DeviceEvent::RequestFailed {
                    method: "GET".to_owned(),
                    url: "http://localhost:8080/api/recommendations?user=ada&limit=20".to_owned(),
                    status: Some(500),
                    error: None,
                },
                DeviceEvent::Logged {
                    level: "error".to_owned(),
                    text: "recommendations: HTTP 500, showing none".to_owned(),
                    source: Some("app.js:412".to_owned()),
                },
                DeviceEvent::PageFailed {
                    error: "TypeError: can't access property \"length\", items is undefined\n    \
                            at render (app.js:388:21)\n    at refresh (app.js:417:5)"
                        .to_owned(),
                },
            ],
            ("checkout", 8, "Android 10") => vec![DeviceEvent::Logged {
                level: "warning".to_owned(),
                text: "IInputConnectionWrapper: finishComposingText on inactive InputConnection"
                    .to_owned(),
                source: None,
            }],
            ("checkout", 0, "Chromium 156") => vec![DeviceEvent::DialogOpened {
                dialog: "confirm".to_owned(),
                message: "Your basket has items in it. Empty it?".to_owned(),
                answer: "accepted".to_owned(),
            }],
            _ => Vec::new(),
        }
    }
}

/// The devices of the shelf, over and over.
pub fn devices(count: usize) -> Vec<DeviceInfo> {
    let shelf: Vec<_> = rows(DEVICES).collect();
    (0..count)
        .map(|place| {
            let row = &shelf[place % shelf.len()];
            let platform: Platform = row[0].parse().expect("the table is right");
            let name = match place / shelf.len() {
                0 => row[1].to_owned(),
                round => format!("{}-{}", row[1], round + 1),
            };
            let number = |text: &str| text.parse().expect("the table is right");
            DeviceInfo {
                id: DeviceId::new(platform, name),
                driver: match platform {
                    Platform::Android => "adb",
                    Platform::Ios => "wda",
                    Platform::Web => "playwright",
                }
                .to_owned(),
                classifiers: vec![Classifier(platform.to_string()), row[4].into()],
                model: row[2].to_owned(),
                system: row[3].to_owned(),
                screen: Size {
                    width: number(row[5]),
                    height: number(row[6]),
                },
            }
        })
        .collect()
}
