//! A matrix as sessions see it: which configurations a device has, and what each of them means. Pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

use packtrain_drivers::{AppliedAxis, Axes, DeviceInfo, Platform, known_axis};
use packtrain_model::{Blame, Cell, MatrixSummary, Outcome};
use serde::{Deserialize, Serialize};

/// The configurations that trails run in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// Axes, cells and how they came about.
    pub summary: MatrixSummary,
    /// What goes with a value besides its name, by axis and value.
    pub meanings: BTreeMap<(String, String), CellSettings>,
}

/// What a configuration means to a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellSettings {
    /// What the device's driver applies.
    pub axes: Axes,
    /// Where relative addresses lead.
    pub base_url: Option<String>,
    /// An app file that is installed first.
    pub app_file: Option<PathBuf>,
    /// Headers that pages send with every request.
    pub headers: BTreeMap<String, String>,
    /// Arguments for apps that are launched.
    pub launch_arguments: Vec<String>,
    /// What the session remembers.
    pub memory: BTreeMap<String, String>,
    /// Texts of recordings, and what the app shows in their place.
    pub texts: BTreeMap<String, String>,
}

impl CellSettings {
    fn extend(&mut self, other: &Self) {
        self.axes.extend(other.axes.clone());
        if other.base_url.is_some() {
            self.base_url.clone_from(&other.base_url);
        }
        if other.app_file.is_some() {
            self.app_file.clone_from(&other.app_file);
        }
        self.headers.extend(other.headers.clone());
        self.launch_arguments.extend(other.launch_arguments.clone());
        self.memory.extend(other.memory.clone());
        self.texts.extend(other.texts.clone());
    }
}

impl Matrix {
    /// The configurations of devices of a platform: axes that it does not have are left out, and what
    /// is the same then is one. The reference is first; on a phone the dearest axes change least.
    pub fn cells_on(&self, platform: Platform) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for cell in [&self.summary.reference]
            .into_iter()
            .chain(&self.summary.cells)
        {
            if !self.summary.cells.contains(cell) {
                continue;
            }
            let cell = projected(cell, platform);
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        if platform != Platform::Web {
            let order = self.dearest_first();
            cells.sort_by_key(|cell| {
                let place = |axis: &String| {
                    let values = self.summary.axes.iter().find(|known| known.name == *axis)?;
                    let value = cell.0.get(axis)?;
                    values.values.iter().position(|known| known == value)
                };
                order.iter().map(place).collect::<Vec<_>>()
            });
        }
        cells
    }

    /// The cell of devices of a platform that others are compared with first.
    pub(crate) fn reference_on(&self, platform: Platform) -> Cell {
        projected(&self.summary.reference, platform)
    }

    /// What a configuration means.
    pub fn settings(&self, cell: &Cell) -> CellSettings {
        let mut settings = CellSettings::default();
        for (axis, value) in &cell.0 {
            if known_axis(axis).is_some() {
                settings.axes.insert(axis.clone(), value.clone());
            }
            if let Some(meaning) = self.meanings.get(&(axis.clone(), value.clone())) {
                settings.extend(meaning);
            }
        }
        settings
    }

    /// The axes, those first that are dearest to change on a phone.
    fn dearest_first(&self) -> Vec<String> {
        let cost = |axis: &str| {
            let installs = self
                .meanings
                .iter()
                .any(|((name, _), meaning)| name == axis && meaning.app_file.is_some());
            match known_axis(axis) {
                Some(known) => known.cost,
                None if installs => u8::MAX,
                None => 0,
            }
        };
        let names = self.summary.axes.iter().map(|axis| axis.name.clone());
        let mut names: Vec<_> = names.collect();
        names.sort_by_key(|name| std::cmp::Reverse(cost(name)));
        names
    }
}

fn projected(cell: &Cell, platform: Platform) -> Cell {
    let has = |axis: &str| known_axis(axis).is_none_or(|known| known.platforms.contains(&platform));
    let values = cell.0.iter().filter(|(axis, _)| has(axis));
    Cell(
        values
            .map(|(axis, value)| (axis.clone(), value.clone()))
            .collect(),
    )
}

/// Whether the device has what its cell asks for, as it says itself.
///
/// # Errors
/// The outcome when it has not, or does not say so: never a pass.
#[expect(clippy::result_large_err, reason = "it is called once for a session")]
pub(crate) fn took(
    wanted: &Axes,
    applied: &[AppliedAxis],
    device: &DeviceInfo,
) -> Result<(), Outcome> {
    let refused = |cause: String, hint: String| Outcome::Infrastructure {
        blame: Blame::Configuration,
        cause,
        hint: Some(hint),
        unstarted: Vec::new(),
    };
    for (axis, value) in wanted {
        let told = applied.iter().find(|told| told.axis == *axis);
        let device = &device.id;
        match told {
            Some(told) if told.want == *value && told.got == *value => {}
            Some(told) => {
                return Err(refused(
                    format!(
                        "{axis}={value} was not applied on {device}: it has {} ({})",
                        told.got, told.how
                    ),
                    "use `exclude` for values that a device does not support".to_owned(),
                ));
            }
            None => {
                return Err(refused(
                    format!("{axis}={value} cannot be applied on {device}"),
                    "use `exclude` for values that a device does not support; docs/matrix.md lists what is supported"
                        .to_owned(),
                ));
            }
        }
    }
    Ok(())
}

/// A name of a cell that can be part of a user's name or an address: `web-desktop-de-de-390x844`.
pub(crate) fn cell_id(device: &str, cell: &Cell) -> String {
    let words = [device]
        .into_iter()
        .chain(cell.0.values().map(String::as_str));
    let mut id = String::new();
    for word in words {
        if !id.is_empty() {
            id.push('-');
        }
        for c in word.chars() {
            if c.is_ascii_alphanumeric() || c == '.' {
                id.push(c.to_ascii_lowercase());
            } else if !c.is_ascii() {
                // Letters of other alphabets stay apart by their numbers.
                id.push_str(&format!("u{:x}", u32::from(c)));
            } else if !id.ends_with('-') {
                id.push('-');
            }
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::{DeviceId, Size};
    use packtrain_model::Axis;

    use super::*;

    fn cell(values: &[(&str, &str)]) -> Cell {
        let values = values
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
        Cell(values.collect())
    }

    fn matrix(axes: &[(&str, &[&str])], cells: Vec<Cell>) -> Matrix {
        Matrix {
            summary: MatrixSummary {
                axes: axes
                    .iter()
                    .map(|(name, values)| Axis {
                        name: (*name).to_owned(),
                        values: values.iter().map(|value| (*value).to_owned()).collect(),
                        ordered: false,
                    })
                    .collect(),
                reference: cells[0].clone(),
                cells,
                ..MatrixSummary::default()
            },
            meanings: BTreeMap::new(),
        }
    }

    #[test]
    fn a_phone_has_no_cell_twice_that_differs_in_what_only_browsers_have() {
        let matrix = matrix(
            &[
                ("engine", &["chromium", "firefox"]),
                ("locale", &["en-US", "de-DE"]),
            ],
            vec![
                cell(&[("engine", "chromium"), ("locale", "en-US")]),
                cell(&[("engine", "firefox"), ("locale", "en-US")]),
                cell(&[("engine", "chromium"), ("locale", "de-DE")]),
            ],
        );
        assert_eq!(matrix.cells_on(Platform::Web).len(), 3);
        let phone = [cell(&[("locale", "en-US")]), cell(&[("locale", "de-DE")])];
        assert_eq!(matrix.cells_on(Platform::Android), phone);
    }

    #[test]
    fn a_phone_changes_its_language_less_often_than_its_colours() {
        let both = |locale, scheme| cell(&[("locale", locale), ("colorScheme", scheme)]);
        let matrix = matrix(
            &[
                ("colorScheme", &["light", "dark"]),
                ("locale", &["en-US", "de-DE"]),
            ],
            vec![
                both("en-US", "light"),
                both("de-DE", "light"),
                both("en-US", "dark"),
                both("de-DE", "dark"),
            ],
        );
        let cells = matrix.cells_on(Platform::Ios);
        let locales: Vec<_> = cells.iter().map(|cell| cell.0["locale"].as_str()).collect();
        assert_eq!(locales, ["en-US", "en-US", "de-DE", "de-DE"]);
    }

    #[test]
    fn an_axis_that_did_not_take_is_infrastructure_and_so_is_one_that_nobody_read_back() {
        let device = DeviceInfo {
            id: DeviceId::new(Platform::Web, "a"),
            driver: String::new(),
            classifiers: Vec::new(),
            model: String::new(),
            system: String::new(),
            screen: Size::new(1.0, 1.0),
        };
        let wanted = Axes::from([("colorScheme".to_owned(), "dark".to_owned())]);
        let told = |got: &str| AppliedAxis {
            axis: "colorScheme".to_owned(),
            want: "dark".to_owned(),
            got: got.to_owned(),
            how: "matchMedia".to_owned(),
            took_ms: std::time::Duration::ZERO,
        };
        assert_eq!(took(&wanted, &[told("dark")], &device), Ok(()));
        for applied in [vec![told("light")], vec![]] {
            let outcome = took(&wanted, &applied, &device).unwrap_err();
            assert!(
                matches!(outcome, Outcome::Infrastructure { .. }),
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn an_id_of_a_cell_can_be_part_of_an_address() {
        let cell = cell(&[("locale", "de-DE"), ("viewport", "390x844")]);
        assert_eq!(cell_id("web/desktop", &cell), "web-desktop-de-de-390x844");
    }
}
