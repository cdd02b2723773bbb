//! Matrices: from the configuration and the command line to the configurations that trails run in.

mod misspelled;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use packtrain_compare::answer::ItemKind;
use packtrain_compare::cover::{self, Condition, Cover, Pattern};
use packtrain_config::{AxisValue, Config, KeyPath, Loaded, ValueSettings};
use packtrain_drivers::{AxisValues, known_axis};
use packtrain_engine::{CellSettings, Matrix};
use packtrain_model::suggest::did_you_mean;
use packtrain_model::trail::Trail;
use packtrain_model::{Axis, Cell, Diagnostic, Expected, MatrixSummary};

use crate::exit::CliError;
use crate::names::refused;

pub use misspelled::{NamedAxes, misspelled, misspelled_of_run, misspelled_of_trail};

/// What a command line says about matrices.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct MatrixOptions {
    /// Run in the configurations of this matrix of packtrain.yaml
    #[arg(long = "matrix", value_name = "NAME")]
    pub name: Option<String>,

    /// Vary an axis: locale=de-DE,en-US; repeatable
    #[arg(long = "axis", value_name = "AXIS=VALUES")]
    pub axes: Vec<String>,

    /// Only configurations with these values: locale=de-DE,viewport=390x844; repeatable
    #[arg(long = "cell", value_name = "AXIS=VALUE,..")]
    pub cells: Vec<String>,
}

/// The matrix of the command line; `None` when it names none.
///
/// # Errors
/// When there is no such matrix, or it is invalid.
pub fn wanted(config: &Config, wanted: &MatrixOptions) -> Result<Option<Arc<Matrix>>, CliError> {
    if wanted.name.is_none() && wanted.axes.is_empty() {
        return Ok(None);
    }
    let (name, configured) = match wanted.name.as_deref() {
        Some(name) => (name, named(config, name)?.clone()),
        None => ("", packtrain_config::Matrix::default()),
    };
    expand(name, configured, wanted).map(|matrix| Some(Arc::new(matrix)))
}

/// The matrix that a trail asks for itself; `None` when it asks for none.
///
/// # Errors
/// When there is no such matrix, or it is invalid.
pub fn of_trail(
    trail: &Trail,
    config: &Config,
    wanted: &MatrixOptions,
) -> Result<Option<Arc<Matrix>>, CliError> {
    let Some(said) = &trail.config.matrix else {
        return Ok(None);
    };
    let place = trail.source.name();
    let (name, matrix) = match said {
        serde_json::Value::String(name) => {
            let known =
                named(config, name).map_err(|error| error.cause(format!("{place} asks for it")))?;
            (name.as_str(), known.clone())
        }
        inline => {
            let mut matrix = packtrain_config::matrix(inline.clone())
                .map_err(|wrong| CliError::misuse(format!("{place}: config.matrix: {wrong}")))?;
            let folder = Path::new(place).parent();
            matrix.resolve_paths(folder.unwrap_or_else(|| Path::new(".")));
            ("", matrix)
        }
    };
    let expanded = expand(name, matrix, wanted);
    expanded
        .map(|mut matrix| {
            matrix.summary.is_inline = true;
            Some(Arc::new(matrix))
        })
        .map_err(|error| error.cause(format!("{place} asks for it")))
}

/// The values of configured matrices that drivers cannot apply, of axes that they know.
pub fn check_values(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, matrix) in &loaded.config.matrices {
        let mut check = |place: &[&str], axis: &str, value: &str| {
            if let Some((wanted, hint)) = refused(axis, value) {
                let key = KeyPath::new(["matrices", name].into_iter().chain(place.iter().copied()));
                found.push(loaded.mistake(key, wanted, hint));
            }
        };
        for (axis, values) in &matrix.axes.0 {
            for one in values {
                check(&["axes", axis], axis, &one.value);
            }
        }
        for (index, row) in matrix.add.iter().enumerate() {
            for (axis, value) in row {
                check(&["add", &index.to_string(), axis], axis, value);
            }
        }
    }
    found
}

/// The configured matrix of that name.
///
/// # Errors
/// When there is none.
pub fn named<'a>(config: &'a Config, name: &str) -> Result<&'a packtrain_config::Matrix, CliError> {
    config.matrices.get(name).ok_or_else(|| {
        let unknown = CliError::misuse(format!("unknown matrix `{name}`"));
        let names: Vec<_> = config.matrices.keys().map(String::as_str).collect();
        let meant = did_you_mean(name, names.iter().copied());
        let define = "define it under `matrices` in packtrain.yaml; docs/matrix.md shows how";
        unknown.hint(meant.unwrap_or_else(|| match names.join(", ").as_str() {
            "" => define.to_owned(),
            names => format!("available: {names}"),
        }))
    })
}

/// The matrix that a trail has of its own, when it makes sense.
fn inline(trail: &Trail) -> Option<packtrain_config::Matrix> {
    packtrain_config::matrix(trail.config.matrix.clone()?).ok()
}

/// What templates of a trail may name of its configuration, in whatever matrix it runs.
pub fn names(config: &Config, trail: &Trail) -> Vec<String> {
    let mut names = vec!["cell.id".to_owned()];
    for matrix in config.matrices.values().chain(&inline(trail)) {
        for (axis, values) in &matrix.axes.0 {
            names.push(format!("axis.{axis}"));
            let remembered = values.iter().flat_map(|value| value.settings.memory.keys());
            names.extend(remembered.cloned());
        }
    }
    names
}

/// A matrix' configurations.
///
/// # Errors
/// When it is invalid, or has more configurations than its limit.
pub fn expand(
    name: &str,
    mut matrix: packtrain_config::Matrix,
    wanted: &MatrixOptions,
) -> Result<Matrix, CliError> {
    let place = |part: &str| match name {
        "" => part.to_owned(),
        name => format!("matrices.{name}.{part}"),
    };
    let mut named = BTreeSet::new();
    for given in &wanted.axes {
        let (axis, values) = given_axis(given)?;
        if !named.insert(axis.clone()) {
            let message = format!("`--axis {axis}` is given twice");
            return Err(CliError::misuse(message)
                .hint("give all of its values in one flag: `--axis locale=de-DE,en-US`"));
        }
        let mut values = plain(values);
        match matrix.axes.0.iter_mut().find(|(known, _)| *known == axis) {
            Some((_, known)) => {
                // What goes with a value is kept.
                for value in &mut values {
                    if let Some(same) = known.iter().find(|known| known.value == value.value) {
                        value.clone_from(same);
                    }
                }
                *known = values;
            }
            None => matrix.axes.0.push((axis, values)),
        }
    }
    let axes = axes(&matrix, &place)?;
    for (part, rows) in [
        ("add", &matrix.add),
        ("reference", &vec![matrix.reference.clone()]),
    ] {
        for (axis, value) in rows.iter().flatten() {
            refuse_value(&matrix, axis, value, &place(part))?;
        }
    }
    let exclude = matrix.exclude.iter().enumerate().map(|(index, row)| {
        let refused = |wrong| format!("{}: {wrong}", place(&format!("exclude.{index}")));
        pattern(row).map_err(|wrong| CliError::misuse(refused(wrong)))
    });
    let exclude = exclude.collect::<Result<Vec<_>, _>>()?;
    for (index, expected) in matrix.expect.iter().enumerate() {
        refuse_odd(expected, &place(&format!("expect.{index}")))?;
    }
    let request = cover::Request {
        axes: axes.clone(),
        exclude,
        add: matrix.add.iter().map(|row| Cell(row.clone())).collect(),
        reference: Cell(matrix.reference.clone()),
        cover: match matrix.cover {
            packtrain_config::Cover::All => Cover::All,
            packtrain_config::Cover::Pairs => Cover::Pairs,
            packtrain_config::Cover::OneAtATime => Cover::OneAtATime,
        },
    };
    let covered = cover::cover(&request)
        .map_err(|error| CliError::misuse(format!("{}: {error}", place("cells"))))?;
    let reference = covered.cells.first().cloned().unwrap_or_default();
    let mut cells = covered.cells;
    if !wanted.cells.is_empty() {
        cells = chosen(&request, &cells, &reference, &wanted.cells)?;
    }
    let (limit, count) = (matrix.limit as usize, cells.len());
    if count > limit {
        let message = format!("{count} configurations are more than the limit of {limit}");
        return Err(CliError::misuse(message).hint(format!(
            "`cover: pairs` needs fewer; `limit` in {} may be higher",
            if name.is_empty() { "the matrix" } else { name }
        )));
    }
    let reference = Some(reference).filter(|one| cells.contains(one));
    let reference = reference.or_else(|| cells.first().cloned());
    Ok(Matrix {
        meanings: meanings(&matrix),
        summary: MatrixSummary {
            name: name.to_owned(),
            axes,
            cells,
            reference: reference.unwrap_or_default(),
            cover: matrix.cover.word().to_owned(),
            excluded: u32::try_from(covered.excluded).unwrap_or(u32::MAX),
            unreachable: covered.unreachable,
            is_inline: false,
            expect: matrix.expect.iter().map(expected).collect(),
        },
    })
}

/// Whether a value of a configuration means something: drivers can apply it, or what goes with it is
/// said.
///
/// # Errors
/// When it does not.
fn refuse_value(
    matrix: &packtrain_config::Matrix,
    axis: &str,
    value: &str,
    place: &str,
) -> Result<(), CliError> {
    if let Some((why, meant)) = refused(axis, value) {
        return Err(CliError::misuse(format!("{place}: {axis}: {why}")).hinted(meant));
    }
    let values = matrix.axes.0.iter().find(|(name, _)| name == axis);
    let values = values.map_or(&[][..], |(_, values)| values);
    let plain = ValueSettings::default();
    let says_more = values.iter().any(|known| known.settings != plain);
    if says_more && !values.iter().any(|known| known.value == value) {
        let message = format!("{place}: unknown value {axis}={value}");
        let values: Vec<_> = values.iter().map(|known| known.value.as_str()).collect();
        return Err(CliError::misuse(message).hint(format!("available: {}", values.join(", "))));
    }
    Ok(())
}

/// Whether an expectation can ever hold.
///
/// # Errors
/// When its kind is none, or its name no regular expression.
fn refuse_odd(expected: &packtrain_config::Expectation, place: &str) -> Result<(), CliError> {
    if *expected == packtrain_config::Expectation::default() {
        let odd = CliError::misuse(format!("{place} matches every difference"));
        return Err(odd.hint("add when, step, kind, role or name"));
    }
    if let Some(kind) = &expected.kind
        && serde_json::from_value::<ItemKind>(kind.as_str().into()).is_err()
    {
        let odd = CliError::misuse(format!("{place}.kind: invalid kind `{kind}`"));
        return Err(odd.hint(
            "expected one of missing, added, name, value, state, order, out_of_view, into_view, \
             untranslated, raw_key, matches",
        ));
    }
    if let Some(Err(error)) = expected.name.as_deref().map(regex::Regex::new) {
        return Err(CliError::misuse(format!("{place}.name: {error}")));
    }
    Ok(())
}

fn expected(configured: &packtrain_config::Expectation) -> Expected {
    Expected {
        trail: None,
        when: configured.when.clone(),
        step: configured.step,
        kind: configured.kind.clone(),
        role: configured.role.clone(),
        name: configured.name.clone(),
    }
}

/// The axes, when their values are such that drivers can apply them.
fn axes(
    matrix: &packtrain_config::Matrix,
    place: &dyn Fn(&str) -> String,
) -> Result<Vec<Axis>, CliError> {
    let mut axes = Vec::new();
    for (name, values) in &matrix.axes.0 {
        let known = known_axis(name);
        for value in values {
            if let Some((why, meant)) = refused(name, &value.value) {
                let place = place(&format!("axes.{name}"));
                return Err(CliError::misuse(format!("{place}: {why}")).hinted(meant));
            }
        }
        let is_number = |value: &AxisValue| value.value.parse::<f64>().is_ok();
        axes.push(Axis {
            name: name.clone(),
            values: values.iter().map(|value| value.value.clone()).collect(),
            ordered: match known.map(|known| known.values) {
                Some(AxisValues::Number | AxisValues::Size) => true,
                Some(_) => false,
                None => values.iter().all(is_number),
            },
        });
    }
    Ok(axes)
}

fn plain(values: Vec<String>) -> Vec<AxisValue> {
    let plain = |value| AxisValue {
        value,
        settings: ValueSettings::default(),
    };
    values.into_iter().map(plain).collect()
}

fn meanings(matrix: &packtrain_config::Matrix) -> BTreeMap<(String, String), CellSettings> {
    let mut meanings = BTreeMap::new();
    for (axis, values) in &matrix.axes.0 {
        for AxisValue { value, settings } in values {
            let ValueSettings {
                base_url,
                app_file,
                headers,
                launch_arguments,
                memory,
                texts,
            } = settings.clone();
            meanings.insert(
                (axis.clone(), value.clone()),
                CellSettings {
                    base_url,
                    app_file,
                    headers,
                    launch_arguments,
                    memory,
                    texts,
                    ..CellSettings::default()
                },
            );
        }
    }
    meanings
}

fn pattern(row: &BTreeMap<String, String>) -> Result<Pattern, String> {
    let conditions = row.iter().map(|(axis, condition)| {
        let parsed: Result<Condition, _> = condition.parse();
        let parsed = parsed.map_err(|error| format!("{axis}: {error}"))?;
        Ok((axis.clone(), parsed))
    });
    conditions.collect()
}

/// `locale=de-DE,en-US`.
fn given_axis(text: &str) -> Result<(String, Vec<String>), CliError> {
    let refused = || {
        CliError::misuse(format!("invalid --axis `{text}`"))
            .hint("expected NAME=VALUE,VALUE, such as locale=de-DE,en-US")
    };
    let (name, values) = text.split_once('=').ok_or_else(refused)?;
    let values: Vec<_> = values
        .split(',')
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
        .collect();
    if name.trim().is_empty() || values.is_empty() {
        return Err(refused());
    }
    Ok((name.trim().to_owned(), values))
}

/// The configurations that `--cell` asks for: those of the matrix in which its values hold, or else
/// the reference with its values, unless that is excluded.
fn chosen(
    request: &cover::Request,
    cells: &[Cell],
    reference: &Cell,
    wanted: &[String],
) -> Result<Vec<Cell>, CliError> {
    let axes = &request.axes;
    let mut chosen: Vec<Cell> = Vec::new();
    for text in wanted {
        let mut values = BTreeMap::new();
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let Some((axis, value)) = part.split_once('=') else {
                return Err(CliError::misuse(format!("invalid --cell `{text}`"))
                    .hint("expected AXIS=VALUE,AXIS=VALUE"));
            };
            let Some(known) = axes.iter().find(|known| known.name == axis) else {
                let names: Vec<_> = axes.iter().map(|axis| axis.name.as_str()).collect();
                let message = format!("`--cell {text}`: unknown axis `{axis}`");
                let hint = format!("available: {}", names.join(", "));
                return Err(CliError::misuse(message).hint(hint));
            };
            if !known.values.iter().any(|known| known == value) {
                let values = known.values.join(", ");
                let message = format!("`--cell {text}`: {axis} is never `{value}`");
                return Err(CliError::misuse(message).hint(format!("available: {values}")));
            }
            values.insert(axis.to_owned(), value.to_owned());
        }
        let holds = |cell: &&Cell| {
            let mut values = values.iter();
            values.all(|(axis, value)| cell.0.get(axis) == Some(value))
        };
        let mut found: Vec<_> = cells.iter().filter(holds).cloned().collect();
        if found.is_empty() {
            let mut cell = reference.clone();
            cell.0.extend(values);
            if let Some(index) = request.excluded_by(&cell) {
                let message = format!("`--cell {text}`: the matrix excludes {cell}");
                let hint = format!("`exclude` {} of the matrix leaves it out", index + 1);
                return Err(CliError::misuse(message).hint(hint));
            }
            found.push(cell);
        }
        for cell in found {
            if !chosen.contains(&cell) {
                chosen.push(cell);
            }
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(yaml: &str) -> packtrain_config::Matrix {
        let text = format!("matrices: {{ m: {yaml} }}");
        let config = packtrain_config::parse(&text, "packtrain.yaml").unwrap();
        config.matrices["m"].clone()
    }

    fn cells(yaml: &str, wanted: &MatrixOptions) -> Result<Vec<String>, String> {
        let expanded = expand("m", matrix(yaml), wanted);
        let told = expanded.map_err(|error| error.explanation.message)?;
        Ok(told.summary.cells.iter().map(ToString::to_string).collect())
    }

    fn one_cell(cell: &str) -> MatrixOptions {
        MatrixOptions {
            cells: vec![cell.to_owned()],
            ..MatrixOptions::default()
        }
    }

    const BOTH: &str = "{ axes: { locale: [en-US, de-DE], viewport: [390x844, 1280x800] } }";

    #[test]
    fn the_first_configuration_has_the_first_value_of_each_axis() {
        let all = cells(BOTH, &MatrixOptions::default()).unwrap();
        assert_eq!(all.len(), 4);
        assert_eq!(all[0], "locale=en-US, viewport=390x844");
    }

    #[test]
    fn an_axis_of_the_command_line_takes_the_place_of_one_of_the_file() {
        let axes = ["locale=fr-FR", "colorScheme=dark,light"];
        let wanted = MatrixOptions {
            axes: axes.map(str::to_owned).into(),
            ..MatrixOptions::default()
        };
        let all = cells(BOTH, &wanted).unwrap();
        assert_eq!(all.len(), 4);
        assert!(
            all.iter().all(|cell| cell.contains("locale=fr-FR")),
            "{all:?}"
        );
    }

    #[test]
    fn a_cell_is_found_or_made_of_the_reference() {
        let yaml = "{ axes: { locale: [en-US, de-DE], build: [new, old] }, cover: one-at-a-time }";
        let pick = |cell| cells(yaml, &one_cell(cell));
        let picked = pick("locale=de-DE").unwrap();
        assert_eq!(picked, ["build=new, locale=de-DE"]);
        let picked = pick("locale=de-DE,build=old").unwrap();
        assert_eq!(picked, ["build=old, locale=de-DE"]);
        assert!(pick("locale=xx").unwrap_err().contains("never `xx`"));
        let unknown = pick("lokale=de").unwrap_err();
        assert!(unknown.contains("unknown axis `lokale`"), "{unknown}");
    }

    #[test]
    fn a_cell_that_is_excluded_is_refused_and_one_that_is_added_is_not() {
        let yaml = "{ axes: { locale: [en-US, de-DE, fr-FR], build: [new, old] }, cover: one-at-a-time, \
                    exclude: [{ build: old, locale: '!=en-US' }], add: [{ build: old, locale: fr-FR }] }";
        let pick = |cell| cells(yaml, &one_cell(cell));
        let refused = pick("build=old,locale=de-DE").unwrap_err();
        let told = "`--cell build=old,locale=de-DE`: the matrix excludes build=old, locale=de-DE";
        assert_eq!(refused, told);
        let added = pick("build=old,locale=fr-FR").unwrap();
        assert_eq!(added, ["build=old, locale=fr-FR"]);
    }

    #[test]
    fn what_no_driver_can_apply_is_told_before_anything_runs() {
        for (axes, told) in [
            (
                "{ viewport: [big] }",
                "matrices.m.axes.viewport: `big` is not a width and a height",
            ),
            (
                "{ colorScheme: [sepia] }",
                "`sepia` is not one of light, dark",
            ),
            ("{ fontScale: [0] }", "`0` is not a number greater than 0"),
        ] {
            let error =
                cells(&format!("{{ axes: {axes} }}"), &MatrixOptions::default()).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn what_is_added_means_something_too() {
        for (matrix, told) in [
            (
                "axes: { viewport: [1x1] }, add: [{ viewport: big }]",
                "`big` is not a width",
            ),
            (
                "axes: { build: [old: { baseUrl: 'http://localhost:1' }, new] }, add: [{ build: nwe }]",
                "unknown value build=nwe",
            ),
        ] {
            let error = cells(&format!("{{ {matrix} }}"), &MatrixOptions::default()).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn an_expectation_that_can_never_hold_is_refused() {
        for (expect, told) in [
            (
                "{ kind: nonsense }",
                "expect.0.kind: invalid kind `nonsense`",
            ),
            ("{ name: '(' }", "expect.0.name"),
            ("{}", "matches every difference"),
        ] {
            let yaml = format!("{{ axes: {{ a: [1, 2] }}, expect: [{expect}] }}");
            let error = cells(&yaml, &MatrixOptions::default()).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn more_than_the_limit_is_refused_and_never_cut() {
        let error = cells(
            "{ axes: { a: [1, 2, 3] }, limit: 2 }",
            &MatrixOptions::default(),
        )
        .unwrap_err();
        assert!(
            error.contains("3 configurations are more than the limit of 2"),
            "{error}"
        );
    }
}
