//! Intents as `am` and `cmd package` are given them.

use crate::android::Android;
use crate::android::commands::Call;
use crate::android::shell::io::Stop;
use crate::app::AppId;
use crate::world::{LAUNCHER, SETTINGS};

/// An intent taken apart, with the options of `am start` around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Intent {
    pub action: Option<String>,
    pub data: Option<String>,
    pub mime: Option<String>,
    pub categories: Vec<String>,
    pub component: Option<(AppId, String)>,
    pub package: Option<AppId>,
    pub flags: Option<String>,
    pub extras: bool,
    /// `-W`
    pub waits: bool,
    /// `-S`
    pub stops_first: bool,
    /// `--brief`
    pub brief: bool,
}

/// What an intent leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IntentTarget {
    /// To this activity.
    Activity(AppId, String),
    /// To the app that claims this link.
    Link(String),
    /// To the home screen.
    Home,
    /// Nowhere: this class does not exist.
    NoSuchClass(String),
    /// Nowhere: nobody handles it.
    Nobody,
}

impl Intent {
    /// The intent of a call; a switch that is not known ends it.
    pub async fn read(call: &Call<'_>, what: &str, args: &[String]) -> Result<Self, Stop> {
        match Self::of(args) {
            Ok(intent) => Ok(intent),
            Err(switch) => {
                call.unhandled();
                let why = format!("IllegalArgumentException: Unknown option: {switch}");
                Err(Stop(call.throw(what, why).await?))
            }
        }
    }

    /// Takes `args` apart, or says which switch is not known. Source: `Intent.parseCommandArgs`
    /// and `am`'s help.
    fn of(args: &[String]) -> Result<Self, String> {
        let mut intent = Self::default();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            let mut value = || args.next().cloned();
            match arg.as_str() {
                "-a" => intent.action = value(),
                "-d" => intent.data = value(),
                "-t" => intent.mime = value(),
                "-c" => intent.categories.extend(value()),
                "-n" => intent.component = value().and_then(|c| component(&c)),
                "-p" => intent.package = value().map(AppId),
                "-f" => intent.flags = value(),
                "-W" => intent.waits = true,
                "-S" => intent.stops_first = true,
                "--brief" => intent.brief = true,
                "--user"
                | "--display"
                | "-P"
                | "-R"
                | "-i"
                | "--windowingMode"
                | "--task"
                | "--receiver-permission" => drop(value()),
                "-e" | "--es" | "--ez" | "--ei" | "--el" | "--ef" | "--eu" | "--ecn" | "--eia"
                | "--esa" => {
                    intent.extras = true;
                    value();
                    value();
                }
                "--esn" => {
                    intent.extras = true;
                    value();
                }
                flag if flag.starts_with('-') => return Err(flag.to_owned()),
                package => intent.package = Some(package.into()),
            }
        }
        Ok(intent)
    }

    /// Whether nothing was said about where it leads.
    pub fn is_empty(&self) -> bool {
        self.shown() == "Intent {  }"
    }

    /// As `Intent.toString` writes it.
    pub fn shown(&self) -> String {
        let flags = self.flags.as_ref().map(|flags| {
            let hex = flags.strip_prefix("0x");
            let number = match hex {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => flags.parse(),
            };
            format!("flg=0x{:x}", number.unwrap_or(0))
        });
        let categories = (!self.categories.is_empty()).then(|| self.categories.join(","));
        let component = self.component.as_ref();
        let parts = [
            self.action.as_ref().map(|action| format!("act={action}")),
            categories.map(|categories| format!("cat=[{categories}]")),
            (self.data.as_ref()).map(|data| format!("dat={}", shortened(data))),
            self.mime.as_ref().map(|mime| format!("typ={mime}")),
            flags,
            (self.package.as_ref()).map(|package| format!("pkg={package}")),
            component.map(|(package, class)| format!("cmp={}", short(package, class))),
            self.extras.then(|| "(has extras)".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("Intent {{ {} }}", parts.join(" "))
    }

    /// Where it leads on this device.
    pub fn leads(&self, android: &Android) -> IntentTarget {
        if let Some((package, class)) = &self.component {
            let there = android
                .device()
                .world(|world| world.has_activity(package, class));
            return if there || package.as_str() == LAUNCHER {
                IntentTarget::Activity(package.clone(), class.clone())
            } else {
                IntentTarget::NoSuchClass(short(package, class))
            };
        }
        if self
            .categories
            .iter()
            .any(|c| c == "android.intent.category.HOME")
        {
            return IntentTarget::Home;
        }
        if let Some(data) = &self.data {
            return match &self.package {
                None => IntentTarget::Link(data.clone()),
                Some(package) => main_of(android, package),
            };
        }
        if let Some(package) = &self.package {
            return main_of(android, package);
        }
        match self.action.as_deref() {
            Some(action) if action.starts_with("android.settings.") => {
                main_of(android, &SETTINGS.into())
            }
            _ => IntentTarget::Nobody,
        }
    }
}

fn main_of(android: &Android, package: &AppId) -> IntentTarget {
    match android.device().world(|world| world.installed_app(package)) {
        Some(app) => IntentTarget::Activity(app.id, app.main_activity),
        None => IntentTarget::Nobody,
    }
}

/// `pkg/.Class` or `pkg/full.Class`.
fn component(text: &str) -> Option<(AppId, String)> {
    let (package, class) = text.split_once('/')?;
    let class = match class.strip_prefix('.') {
        Some(_) => format!("{package}{class}"),
        None => class.to_owned(),
    };
    Some((package.into(), class))
}

/// `pkg/.Class` where the class lies in the package.
pub(in crate::android) fn short(package: &AppId, class: &str) -> String {
    match class.strip_prefix(package.as_str()) {
        Some(rest) if rest.starts_with('.') => format!("{package}/{rest}"),
        _ => format!("{package}/{class}"),
    }
}

/// A link as intents show it: without what may be private.
/// Source: AOSP `Uri.toSafeString`.
fn shortened(data: &str) -> String {
    let Some((scheme, rest)) = data.split_once(':') else {
        return if data.is_empty() { "" } else { "/..." }.to_owned();
    };
    match rest.strip_prefix("//") {
        Some(rest) => {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
            let host = authority.rsplit('@').next().unwrap_or("");
            format!("{scheme}://{host}/...")
        }
        None if rest.starts_with('/') => format!("{scheme}:/..."),
        None => format!("{scheme}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Intent {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Intent::of(&args).unwrap()
    }

    #[test]
    fn intents_are_shown_as_android_shows_them() {
        let intent = of(
            "-W -a android.intent.action.MAIN -c android.intent.category.LAUNCHER -n a.b/.C -f 0x10200000 --es k v",
        );
        assert_eq!(
            intent.shown(),
            "Intent { act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] flg=0x10200000 cmp=a.b/.C (has extras) }"
        );
        assert!(intent.waits);
        assert_eq!(
            of("--esa k a,b --task 7 --esn k -n a.b/.C").component,
            intent.component
        );
        assert_eq!(Intent::of(&["--nope".to_owned()]), Err("--nope".to_owned()));
        assert_eq!(intent.component, Some(("a.b".into(), "a.b.C".to_owned())));
        let link = of("-a android.intent.action.VIEW -d https://example.com/private");
        assert_eq!(
            link.shown(),
            "Intent { act=android.intent.action.VIEW dat=https://example.com/... }"
        );
        for (link, safe) in [
            (
                "https://me@example.com:8080?q=1",
                "https://example.com:8080/...",
            ),
            ("shop://cart", "shop://cart/..."),
            ("file:///sdcard/a.png", "file:///..."),
            ("tel:+49-30.1", "tel:"),
            ("geo:1,2", "geo:"),
        ] {
            assert_eq!(shortened(link), safe);
        }
    }
}
