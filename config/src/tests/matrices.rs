//! Matrices are read in order, and a combination of what does not exist is told with its line.

use super::project::Project;

const MATRIX: &str = "
matrices:
  release:
    axes:
      viewport: [390x844, 1280x800]
      fontScale: [1, 1.3]
      build: [old: { baseUrl: 'http://localhost:1' }, new]
";

#[test]
fn values_keep_their_order_and_are_as_written() {
    let config = Project::new(MATRIX).load().config;
    let axes = &config.matrices["release"].axes.0;
    let shown: Vec<_> = axes
        .iter()
        .map(|(name, values)| {
            let values: Vec<_> = values.iter().map(|value| value.value.as_str()).collect();
            format!("{name}: {}", values.join(" "))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "build: old new",
            "fontScale: 1 1.3",
            "viewport: 390x844 1280x800"
        ]
    );
    assert_eq!(
        axes[0].1[0].settings.base_url.as_deref(),
        Some("http://localhost:1")
    );
}

#[test]
fn what_a_combination_says_must_exist() {
    for (line, told) in [
        (
            "    exclude: [{ fontscale: '>1' }]",
            "unknown axis `fontscale`",
        ),
        (
            "    reference: { viewport: 1x1 }",
            "`1x1` is not a value of `viewport`",
        ),
        ("    add: [{}]", "names no axis"),
        ("    limit: 0", "must be between 1 and"),
        (
            "    expect: [{ when: { locale: de } }]",
            "unknown axis `locale`",
        ),
    ] {
        let error = Project::new(&format!("{MATRIX}{line}\n")).error();
        let text = error.to_string();
        assert!(text.contains(told), "{line}: {text}");
        assert!(text.contains("packtrain.yaml:8"), "{line}: {text}");
    }
    let error = Project::new("matrices: { a: { axes: { locale: [de, de] } } }").error();
    assert!(error.to_string().contains("`de` is given twice"));
    let error = Project::new("matrices: { a: {} }").error();
    assert!(error.to_string().contains("a matrix needs an axis"));
}

#[test]
fn a_mask_is_one_thing() {
    let told = Project::new("run: { masks: [{ css: a, text: b }] }").error();
    assert!(told.to_string().contains("takes one of css, text and rect"));
    let told = Project::new("run: { masks: [{ rect: '1,2,3' }] }").error();
    assert!(told.to_string().contains("invalid rectangle"));
}
