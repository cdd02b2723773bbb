mod config;
mod list;
mod mistakes;
pub(crate) mod mutations;
mod unified;

use super::{Parsed, Trail};

/// A trail with everything the unified form has.
pub(crate) const FULL: &str = r#"# Checks the counter of the shop.
config:
  id: shop/counter
  title: "Count: up & down"
  description: |
    Taps the buttons
    and reads the number.
  target: com.example.shop
  context: 'The counter starts at {{args.start}}'
  priority: P1
  tags: [smoke, counter]
  devices:
    android: ANDROID_ONDEVICE_ACCESSIBILITY
    web: PLAYWRIGHT_NATIVE
  skip:
    ios: "not ported yet"
    android-tablet: ""
  memory:
    user: ada
    tier: 5
    beta: true
  metadata:
    jira: SHOP-12
  args:
    start: integer
    greeting:
      type: string
      description: What the page says
      default: "hello"
    loud:
      type: boolean
      default: false
      required: false

trailhead:
  step: Open the shop
  recording:
    android-phone:
      launchApp:
        appId: com.example.shop
    web: {}
  maxRetries: 1

trail:
  # The first tap.
  - step: "Tap \"Plus\""
    recording:
      android-phone:
        - tapOnElementBySelector:
            reason: It adds one. # always
            nodeSelector:
              androidAccessibility:
                textRegex: Plus
        - pressBack:
      web:
        - web_click: {ref: e4}
        - web_type:
            text: "{{args.greeting}}"
            clearFirst: false
      android-tablet: []

  - verify: The number is
      one more than before
    recording:
      web:
        - web_verifyTextVisible:
            text: 7:30
  - step: |-
      Say
      goodbye
    recordable: false
    maxRetries: 3
"#;

/// A trail that must be one, without warnings.
fn trail(text: &str) -> Trail {
    let Parsed { trail, warnings } = parsed(text);
    assert_eq!(warnings, []);
    trail
}

fn parsed(text: &str) -> Parsed {
    Trail::parse(text, "f.trail.yaml").unwrap_or_else(|problems| {
        let shown: Vec<String> = problems
            .iter()
            .map(|problem| problem.render(false))
            .collect();
        panic!("{}", shown.join("\n\n"));
    })
}

/// Every problem as `line:column: severity: message | hint`; without a place as `f severity: ...`.
fn problems(text: &str) -> Vec<String> {
    let problems = match Trail::parse(text, "f") {
        Ok(parsed) => parsed.warnings,
        Err(problems) => problems,
    };
    problems
        .iter()
        .map(|problem| {
            let told = problem.to_string();
            let told = match problem.span {
                Some(_) => told.trim_start_matches("f:").to_owned(),
                None => told.replacen("f:", "f", 1),
            };
            match &problem.hint {
                Some(hint) => format!("{told} | {hint}"),
                None => told,
            }
        })
        .collect()
}

/// The only problem.
fn problem(text: &str) -> String {
    let problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems[0].clone()
}

/// The names a device answers to, from its classifiers.
fn on(segments: &[&str]) -> Vec<String> {
    let classifiers: Vec<_> = segments.iter().map(|segment| (*segment).into()).collect();
    super::lineage(&classifiers)
}
