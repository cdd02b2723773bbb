//! What an app does when it is touched: the first rule whose condition holds is carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};

use crate::app::condition::Condition;
use crate::app::loose::{Loose, Nothing};
use crate::app::template::{Expression, PlatformText, Template};
use crate::document::At;

/// Rules in order. Of these, the first whose `if` holds is carried out, and no other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rules(pub Arc<[Rule]>);

/// One rule. Its effects happen in the order of the fields here, whatever the order in the file.
#[derive(Debug, Clone, PartialEq, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// Carried out only when this holds.
    #[serde(rename = "if")]
    pub condition: Option<At<Condition>>,
    /// How long it takes before anything happens.
    pub after: Option<Delay>,
    /// Back to the initial values.
    pub clear: Vec<At<String>>,
    /// Assigns variables.
    pub set: BTreeMap<String, At<Expression>>,
    /// Adds to numbers.
    pub add: BTreeMap<String, At<Expression>>,
    /// Flips a yes or no.
    pub toggle: Option<At<String>>,
    /// Appends a record to a list.
    pub push: BTreeMap<String, At<BTreeMap<String, Expression>>>,
    /// Removes the record at an index from a list.
    pub remove: BTreeMap<String, At<Expression>>,
    /// To another screen; back returns here.
    pub goto: Option<At<String>>,
    /// To another screen, in the place of this one.
    pub replace: Option<At<String>>,
    /// To another screen, forgetting all before it.
    pub restart: Option<At<String>>,
    /// To the screen before.
    pub back: bool,
    /// The keyboard goes away.
    pub hide_keyboard: bool,
    /// The input with this id gets the focus.
    pub focus: Option<At<String>>,
    /// Shows a dialog.
    pub dialog: Option<At<String>>,
    /// Has the system ask for a permission.
    pub ask: Option<Ask>,
    /// Opens a link, in the app that claims it or in the browser.
    pub open: Option<Template>,
    /// Brings an app to the front, by its name or id.
    pub launch: Option<String>,
    /// The app crashes.
    pub crash: bool,
    /// The app goes to the background.
    pub exit: bool,
}

/// How long an effect takes.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Delay {
    /// Milliseconds, at least.
    pub ms: u64,
    /// Up to so many milliseconds more, by the device's seed.
    pub jitter: u64,
    /// Whether the app shows that it works, so that it is not idle meanwhile.
    pub busy: bool,
}

/// A system dialog that asks for a permission. A permission that is held is not asked for again:
/// `allow` is carried out at once; after two refusals (one on iOS), `deny`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// For what.
    pub permission: Permission,
    /// Instead of the platform's own sentence.
    pub text: Option<PlatformText>,
    /// After it was granted.
    pub allow: Rules,
    /// After it was refused.
    pub deny: Rules,
}

/// What an app may need the user's consent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Permission {
    Notifications,
    Camera,
    Contacts,
    Location,
    Microphone,
    Photos,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Notifications,
        Self::Camera,
        Self::Contacts,
        Self::Location,
        Self::Microphone,
        Self::Photos,
    ];

    /// Its name in app files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Notifications => "notifications",
            Self::Camera => "camera",
            Self::Contacts => "contacts",
            Self::Location => "location",
            Self::Microphone => "microphone",
            Self::Photos => "photos",
        }
    }

    /// Android's name for it.
    pub const fn android(self) -> &'static str {
        match self {
            Self::Notifications => "android.permission.POST_NOTIFICATIONS",
            Self::Camera => "android.permission.CAMERA",
            Self::Contacts => "android.permission.READ_CONTACTS",
            Self::Location => "android.permission.ACCESS_FINE_LOCATION",
            Self::Microphone => "android.permission.RECORD_AUDIO",
            Self::Photos => "android.permission.READ_MEDIA_IMAGES",
        }
    }

    /// How Android's dialog asks for it.
    pub fn android_question(self, app: &str) -> String {
        let what = match self {
            Self::Notifications => "send you notifications",
            Self::Camera => "take pictures and record video",
            Self::Contacts => "access your contacts",
            Self::Location => "access this device’s location",
            Self::Microphone => "record audio",
            Self::Photos => "access photos and videos on this device",
        };
        format!("Allow {app} to {what}?")
    }

    /// How the iOS alert asks for it.
    pub fn ios_question(self, app: &str) -> String {
        match self {
            Self::Notifications => format!("“{app}” Would Like to Send You Notifications"),
            Self::Camera => format!("“{app}” Would Like to Access the Camera"),
            Self::Contacts => format!("“{app}” Would Like to Access Your Contacts"),
            Self::Location => format!("Allow “{app}” to use your location?"),
            Self::Microphone => format!("“{app}” Would Like to Access the Microphone"),
            Self::Photos => format!("“{app}” Would Like to Access Your Photos"),
        }
    }
}

impl Rules {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Loose::<Rule, Vec<Rule>>::deserialize(deserializer)? {
            Loose::Map(rule) => Self([rule].into()),
            Loose::Seq(rules) => Self(rules.into()),
            Loose::Text(text) => {
                let message = format!("`{text}` is not a rule; write for example {{goto: home}}");
                return Err(serde::de::Error::custom(message));
            }
        })
    }
}

/// The long form of [`Ask`] in a file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LongAsk {
    permission: Permission,
    #[serde(default)]
    text: Option<PlatformText>,
    #[serde(default)]
    allow: Rules,
    #[serde(default)]
    deny: Rules,
}

impl<'de> Deserialize<'de> for Ask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(
            match Loose::<LongAsk, Nothing>::deserialize(deserializer)? {
                Loose::Map(long) => Self {
                    permission: long.permission,
                    text: long.text,
                    allow: long.allow,
                    deny: long.deny,
                },
                Loose::Text(name) => Self {
                    permission: (Permission::ALL.into_iter().find(|p| p.name() == name))
                        .ok_or_else(|| {
                            serde::de::Error::custom(format!("`{name}` is not a permission"))
                        })?,
                    text: None,
                    allow: Rules::default(),
                    deny: Rules::default(),
                },
                Loose::Seq(nothing) => match nothing {},
            },
        )
    }
}
