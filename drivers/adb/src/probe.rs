//! What a phone says about itself when it is asked.

use packtrain_drivers::{Classifier, DeviceId, DeviceInfo, Size};
use tokio::time::Instant;

use crate::identity::Identity;
use crate::phone::{Phone, Repeat};
use crate::wire::WireError;

/// The name of this driver in device information.
const DRIVER: &str = "android-ondevice-accessibility";
/// Width in dp from which a screen is a tablet's. Source: Android's resource qualifier `sw600dp`.
const TABLET: f64 = 600.0;
/// What is asked, each answer behind a line of its own.
const QUESTIONS: &str = "getprop ro.product.model; echo =; getprop ro.product.manufacturer; \
    echo =; getprop ro.build.version.release; echo =; getprop ro.build.characteristics; echo =; \
    wm size; echo =; wm density; echo =; getprop ro.serialno; echo =; \
    cat /proc/sys/kernel/random/boot_id 2>/dev/null; echo =; getprop ro.build.version.sdk";

/// A phone's or tablet's unchanging properties.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// What people call it: `Pixel 9`.
    pub model: String,
    /// Android's version: `15`.
    pub version: String,
    /// The API level: `35`.
    pub api: Option<u32>,
    /// The screen as the device stands by itself, in pixels.
    pub screen: Size,
    /// What kind of device it is.
    pub form: Form,
}

/// What kind of device it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Held in one device.
    Phone,
    /// Held in two.
    Tablet,
    /// Stands in a living room.
    Tv,
    /// Worn.
    Watch,
    /// Built into a car.
    Car,
}

impl Form {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Phone => "phone",
            Self::Tablet => "tablet",
            Self::Tv => "tv",
            Self::Watch => "watch",
            Self::Car => "car",
        }
    }
}

impl Profile {
    /// Asks the device; also which one it is.
    pub(crate) async fn ask(
        phone: &Phone,
        deadline: Instant,
    ) -> Result<(Self, Option<Identity>), WireError> {
        let output = phone.shell(QUESTIONS, Repeat::Freely, deadline).await?;
        let out = output.out();
        read(&out).ok_or_else(|| WireError::Garbled {
            doing: "ask the device what it is".to_owned(),
            reason: format!(
                "it answered {:?}",
                out.chars().take(200).collect::<String>()
            ),
        })
    }

    /// The profile in Packtrain's own terms.
    pub(crate) fn info(&self, id: DeviceId) -> DeviceInfo {
        DeviceInfo {
            id,
            driver: DRIVER.to_owned(),
            classifiers: vec![
                Classifier::from("android"),
                Classifier::from(self.form.as_str()),
            ],
            model: self.model.clone(),
            system: format!("Android {}", self.version),
            screen: self.screen,
        }
    }
}

fn read(out: &str) -> Option<(Profile, Option<Identity>)> {
    let answers: Vec<&str> = out.split("=\n").map(str::trim).collect();
    let answers: [&str; 9] = match answers.try_into() {
        Ok(answers) => answers,
        // Devices before Android 7 end their lines as terminals do.
        Err(_) => {
            let all: Vec<&str> = out.split("=\r\n").map(str::trim).collect();
            all.try_into().ok()?
        }
    };
    let [
        model,
        maker,
        version,
        characteristics,
        size,
        density,
        serial,
        boot,
        api,
    ] = answers;
    let screen = read_size(size)?;
    let density = last_number(density).filter(|density| *density > 0.0);
    let narrow = screen.width.min(screen.height);
    let width_in_dp = narrow * 160.0 / density.unwrap_or(160.0);
    let is = |word: &str| characteristics.split(',').any(|own| own.trim() == word);
    let form = if is("tv") {
        Form::Tv
    } else if is("watch") {
        Form::Watch
    } else if is("automotive") {
        Form::Car
    } else if is("tablet") || (density.is_some() && width_in_dp >= TABLET) {
        Form::Tablet
    } else {
        Form::Phone
    };
    let profile = Profile {
        model: match (model, maker) {
            ("", "") => "Android device".to_owned(),
            ("", maker) => maker.to_owned(),
            (model, _) => model.replace('_', " "),
        },
        version: version.to_owned(),
        api: api.parse().ok(),
        screen,
        form,
    };
    Some((profile, Identity::new(boot, serial)))
}

/// `Physical size: 1080x2400`, and below it `Override size: 720x1600`, which then counts.
fn read_size(text: &str) -> Option<Size> {
    let size = text.lines().last()?.rsplit(' ').next()?;
    let (width, height) = size.trim().split_once('x')?;
    let number = |text: &str| {
        text.parse::<u32>()
            .ok()
            .filter(|n| (1..100_000).contains(n))
    };
    Some(Size::new(
        f64::from(number(width)?),
        f64::from(number(height)?),
    ))
}

fn last_number(text: &str) -> Option<f64> {
    text.lines().last()?.rsplit(' ').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(characteristics: &str, size: &str, density: &str) -> String {
        [
            "Pixel 9",
            "Google",
            "15",
            characteristics,
            size,
            density,
            "R3",
            "b0-07",
            "35",
        ]
        .map(|answer| format!("{answer}\n"))
        .join("=\n")
    }

    fn form(characteristics: &str, size: &str, density: u32) -> Form {
        let size = format!("Physical size: {size}");
        let density = format!("Physical density: {density}");
        read(&answers(characteristics, &size, &density))
            .unwrap()
            .0
            .form
    }

    #[test]
    fn a_phone_says_what_it_is() {
        let text = answers(
            "nosdcard",
            "Physical size: 1080x2424\nOverride size: 720x1600",
            "Physical density: 420",
        );
        let (profile, identity) = read(&text).unwrap();
        assert_eq!(identity, Identity::new("b0-07", "R3"));
        assert_eq!(profile.api, Some(35));
        let info = profile.info(DeviceId::new(packtrain_drivers::Platform::Android, "X"));
        assert_eq!(info.model, "Pixel 9");
        assert_eq!(info.system, "Android 15");
        assert_eq!(info.screen, Size::new(720.0, 1600.0));
        let classifiers = info.classifiers.iter().map(|c| c.0.as_str());
        assert!(classifiers.eq(["android", "phone"]));
        assert_eq!(read(&text.replace('\n', "\r\n")), Some((profile, identity)));
    }

    #[test]
    fn what_it_is_decides_its_classifier() {
        assert_eq!(form("nosdcard", "1080x2424", 420), Form::Phone);
        assert_eq!(form("default", "2560x1600", 320), Form::Tablet);
        assert_eq!(form("tablet", "800x1280", 420), Form::Tablet);
        assert_eq!(form("tv,nosdcard", "1920x1080", 320), Form::Tv);
        assert_eq!(form("watch", "384x384", 320), Form::Watch);
    }

    #[test]
    fn nonsense_is_no_profile() {
        for text in ["", "=\n=\n=\n=\n=\n=\n=\n=\n", "error: closed\n"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
