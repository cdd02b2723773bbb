//! Expecting elements to be visible, or not to be.

use std::time::Duration;

use packtrain_tools::ToolError;
use serde_json::json;
use tokio::time::Instant;

use packtrain_drivers::Platform;

use crate::lab::{Lab, on_both};
use crate::phone::{button, element, field, label};

on_both! {
    a_visible_element_passes_at_the_first_look_even_while_things_move
    an_element_is_waited_for_as_long_as_the_call_says
    the_sessions_time_bounds_the_wait_and_the_hint_says_so
    an_expected_text_is_compared_as_the_mode_says
    a_blank_text_is_no_beginning_and_no_pattern_but_that_of_an_empty_field
    a_text_that_is_yet_to_change_is_waited_for
    the_expected_text_of_a_container_is_that_of_the_part_it_was_named_by
    a_field_shows_its_value_and_not_its_label
    what_is_not_there_is_not_visible_at_once
    what_goes_away_in_time_is_not_visible
    what_stays_fails_and_the_log_says_where_it_is
    what_is_scrolled_away_is_not_visible
    a_screen_without_elements_proves_nothing
    texts_are_patterns_of_the_whole_text_in_any_case_or_the_very_text
    an_exact_text_is_the_whole_text_in_its_case_and_no_pattern
    a_pattern_that_is_none_is_compared_as_text_and_the_report_says_so
    what_a_pattern_cannot_tell_is_never_gone
    what_has_no_effect_in_a_selector_is_told_when_nothing_matches_it
    elements_are_expected_by_id_and_by_accessibility_text
    find_matches_answers_what_is_in_sight_and_never_fails
    find_matches_waits_for_a_first_match_only_when_given_a_time
    waiting_until_something_is_gone_answers_whether_it_is
}

async fn a_visible_element_passes_at_the_first_look_even_while_things_move(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Thank you").line(300.0)]).await;
    lab.call("pressKey", json!({"keyCode": "HOME"}))
        .await
        .unwrap();
    let arguments = json!({"reason": "done", "nodeSelector": lab.by_text("Thank you")});
    let answer = lab
        .call("assertVisibleBySelector", arguments)
        .await
        .unwrap();
    assert_eq!(answer.report.located.unwrap().matched, 1);
    assert_eq!((lab.phone.looks(), lab.phone.waits().len()), (1, 0));
}

async fn an_element_is_waited_for_as_long_as_the_call_says(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Loading").line(300.0)]).await;
    let arguments = json!({"nodeSelector": lab.by_text("Ready"), "timeoutMs": 30_000});
    let (message, ..) = lab.failure("assertVisibleBySelector", arguments).await;
    assert!(message.ends_with("within 30.0 s"), "{message}");
    let waited = lab.phone.waits()[0];
    assert!(waited > Duration::from_secs(29) && waited <= Duration::from_secs(30));
}

async fn the_sessions_time_bounds_the_wait_and_the_hint_says_so(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Loading").line(300.0)]).await;
    let deadline = Instant::now() + Duration::from_secs(2);
    let arguments = json!({"nodeSelector": lab.by_text("Ready")});
    let error = lab
        .call_until("assertVisibleBySelector", arguments, deadline)
        .await
        .unwrap_err();
    let ToolError::Failed { hint, .. } = error else {
        panic!("{error:?}");
    };
    assert!(hint.unwrap().contains("--timeout"));
    assert!(lab.phone.waits()[0] < Duration::from_secs(2));
}

async fn an_expected_text_is_compared_as_the_mode_says(platform: Platform) {
    let rows = vec![label(" Total: $5.00 ").id("total").line(300.0)];
    let lab = Lab::showing(platform, rows).await;
    let selector = lab.by_text(".*Total.*");
    let expect = |text: &str, mode: &str| json!({"nodeSelector": selector, "expectedText": text, "textMatchMode": mode});
    for (text, mode) in [
        ("Total: $5.00", "EXACT"),
        (" Total: $5.00", "exact"),
        ("Total:", "Prefix"),
        ("Total: \\$\\d\\.\\d\\d", "REGEX"),
    ] {
        lab.call("assertVisibleBySelector", expect(text, mode))
            .await
            .unwrap();
    }
    for (text, mode) in [
        ("total: $5.00", "EXACT"),
        ("$5.00", "PREFIX"),
        ("Total", "REGEX"),
    ] {
        let (message, ..) = lab
            .failure("assertVisibleBySelector", expect(text, mode))
            .await;
        assert!(message.contains("Total: $5.00"), "{message}");
    }
}

async fn a_blank_text_is_no_beginning_and_no_pattern_but_that_of_an_empty_field(
    platform: Platform,
) {
    let lab = Lab::showing(platform, vec![field("Name", "").id("name").line(300.0)]).await;
    let block = match platform {
        Platform::Android => "androidMaestro",
        _ => "iosMaestro",
    };
    let expect = |text: &str, mode: &str| json!({"nodeSelector": {block: {"resourceIdRegex": ".*name"}}, "expectedText": text, "textMatchMode": mode});
    for (text, mode) in [("", "PREFIX"), (" ", "PREFIX"), ("", "REGEX")] {
        let (message, ..) = lab
            .failure("assertVisibleBySelector", expect(text, mode))
            .await;
        assert_eq!(message, "`expectedText` is blank", "{mode}");
    }
    lab.call("assertVisibleBySelector", expect("", "EXACT"))
        .await
        .unwrap();
}

async fn a_text_that_is_yet_to_change_is_waited_for(platform: Platform) {
    let total = |text: &str| label(text).line(300.0);
    let lab = Lab::showing(platform, vec![total("Total: 0")]).await;
    lab.phone
        .world()
        .coming
        .push_back(Box::new(move |world| world.show(vec![total("Total: 7")])));
    let arguments = json!({"nodeSelector": lab.by_text("Total.*"), "expectedText": "Total: 7"});
    lab.call("assertVisibleBySelector", arguments)
        .await
        .unwrap();
    assert_eq!(lab.phone.looks(), 1, "the wait brings what it saw");
}

async fn the_expected_text_of_a_container_is_that_of_the_part_it_was_named_by(platform: Platform) {
    let row = element("Cell", "")
        .line(300.0)
        .with(vec![label("Milk").line(300.0), label("2 l").line(350.0)]);
    let lab = Lab::showing(platform, vec![row]).await;
    let expect = |text: &str| json!({"nodeSelector": {"containsChild": lab.by_text("Milk")}, "expectedText": text});
    lab.call("assertVisibleBySelector", expect("Milk"))
        .await
        .unwrap();
    lab.failure("assertVisibleBySelector", expect("2 l")).await;
}

async fn a_field_shows_its_value_and_not_its_label(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "Ada").id("name").line(300.0)]).await;
    let words = json!({"resourceId": "name"});
    lab.call("assertVisibleWithResourceId", words)
        .await
        .unwrap();
    let block = match platform {
        Platform::Android => "androidMaestro",
        _ => "iosMaestro",
    };
    let selector = json!({block: {"resourceIdRegex": ".*name"}});
    let expect = |text: &str| json!({"nodeSelector": selector, "expectedText": text});
    lab.call("assertVisibleBySelector", expect("Ada"))
        .await
        .unwrap();
    lab.failure("assertVisibleBySelector", expect("Name")).await;
}

async fn what_is_not_there_is_not_visible_at_once(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("7:45").line(300.0)]).await;
    lab.call("assertNotVisibleWithText", json!({"text": "7:30"}))
        .await
        .unwrap();
    let arguments = json!({"nodeSelector": lab.by_text("7:30")});
    lab.call("assertNotVisibleBySelector", arguments)
        .await
        .unwrap();
    assert_eq!((lab.phone.looks(), lab.phone.waits().len()), (2, 0));
}

async fn what_goes_away_in_time_is_not_visible(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Saving").line(300.0)]).await;
    lab.phone.world().coming.push_back(Box::new(|world| {
        world.show(vec![label("Saved").line(300.0)])
    }));
    lab.call("assertNotVisibleWithText", json!({"text": "saving"}))
        .await
        .unwrap();
}

async fn what_stays_fails_and_the_log_says_where_it_is(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Delete").line(300.0)]).await;
    let (message, log, _) = lab
        .failure("assertNotVisibleWithText", json!({"text": "delete"}))
        .await;
    assert_eq!(message, "text \"delete\" did not go away within 5.0 s");
    assert!(
        log[0].contains("Button \"Delete\" at 0,300 to 1000,400"),
        "{log:?}"
    );
}

async fn what_is_scrolled_away_is_not_visible(platform: Platform) {
    let rows = vec![label("Top").line(0.0), label("Delete").line(2200.0)];
    let lab = Lab::showing(platform, rows).await;
    lab.call("assertNotVisibleWithText", json!({"text": "Delete"}))
        .await
        .unwrap();
    lab.failure("assertVisibleWithText", json!({"text": "Delete"}))
        .await;
}

async fn a_screen_without_elements_proves_nothing(platform: Platform) {
    let lab = Lab::showing(platform, Vec::new()).await;
    let (message, ..) = lab
        .failure("assertNotVisibleWithText", json!({"text": "Delete"}))
        .await;
    assert!(message.contains("no elements at all"), "{message}");
}

async fn texts_are_patterns_of_the_whole_text_in_any_case_or_the_very_text(platform: Platform) {
    let rows = vec![label("Debit 1582 (USD)").line(300.0)];
    let lab = Lab::showing(platform, rows).await;
    for text in [".*debit \\d+.*", "DEBIT 1582 .USD.", "Debit 1582 (USD)"] {
        lab.call("assertVisibleWithText", json!({"text": text}))
            .await
            .unwrap();
        lab.failure("assertNotVisibleWithText", json!({"text": text}))
            .await;
    }
    lab.call("assertNotVisibleWithText", json!({"text": "Debit"}))
        .await
        .unwrap();
}

async fn an_exact_text_is_the_whole_text_in_its_case_and_no_pattern(platform: Platform) {
    let rows = vec![label("Total (5.00)").line(300.0)];
    let lab = Lab::showing(platform, rows).await;
    let exact = |text: &str| json!({"text": text, "exact": true});
    for tool in ["assertVisibleWithText", "tapOnElementWithText"] {
        lab.call(tool, exact("Total (5.00)")).await.unwrap();
        for text in ["total (5.00)", "Total", "Total .5.00.", ".*"] {
            lab.failure(tool, exact(text)).await;
        }
    }
    lab.call("assertNotVisibleWithText", exact("total (5.00)"))
        .await
        .unwrap();
}

async fn a_pattern_that_is_none_is_compared_as_text_and_the_report_says_so(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Total (").line(300.0)]).await;
    let answer = lab
        .call("assertVisibleWithText", json!({"text": "total ("}))
        .await
        .unwrap();
    assert!(
        answer.report.notes[0].contains("plain text"),
        "{:?}",
        answer.report.notes
    );
}

async fn what_a_pattern_cannot_tell_is_never_gone(platform: Platform) {
    let steep = "x".repeat(60);
    let rows = vec![label("saved").line(300.0), label(&steep).line(500.0)];
    let lab = Lab::showing(platform, rows).await;
    for (pattern, why) in [
        ("(saved", "`(saved` is compared as plain text"),
        (r"(x+x+)+(?!z)\1y", "takes too many steps to match"),
    ] {
        let selector = lab.by_text(pattern);
        for (tool, arguments) in [
            (
                "assertNotVisibleBySelector",
                json!({"nodeSelector": selector}),
            ),
            ("assertNotVisibleWithText", json!({"text": pattern})),
            ("waitUntilNotVisible", json!({"nodeSelector": selector})),
        ] {
            let (message, _, hint) = lab.failure(tool, arguments).await;
            assert!(message.contains(why), "{tool}: {message}");
            assert!(hint.unwrap().contains("`\\Q`"), "{tool}");
        }
    }
}

async fn what_has_no_effect_in_a_selector_is_told_when_nothing_matches_it(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Saved").line(300.0)]).await;
    let mut child = lab.by_text("Saving");
    child["index"] = json!(1);
    let arguments = json!({"nodeSelector": {"containsChild": child}});
    let answer = lab
        .call("assertNotVisibleBySelector", arguments)
        .await
        .unwrap();
    let notes = &answer.report.notes;
    assert!(
        notes.iter().any(|note| note.contains("has no effect")),
        "{notes:?}"
    );
}

async fn elements_are_expected_by_id_and_by_accessibility_text(platform: Platform) {
    let rows = vec![button("").named("Open cart").id("cart").line(100.0)];
    let lab = Lab::showing(platform, rows).await;
    let passes = [
        ("assertVisibleWithResourceId", json!({"resourceId": "cart"})),
        (
            "assertVisibleWithResourceId",
            json!({"resourceId": "cart", "accessibilityText": "open cart"}),
        ),
        (
            "assertVisibleWithAccessibilityText",
            json!({"accessibilityText": "Open cart", "id": "cart"}),
        ),
    ];
    for (tool, arguments) in passes {
        lab.call(tool, arguments).await.unwrap();
    }
    let other = json!({"resourceId": "cart", "accessibilityText": "close cart"});
    lab.failure("assertVisibleWithResourceId", other).await;
}

async fn find_matches_answers_what_is_in_sight_and_never_fails(platform: Platform) {
    let rows = vec![
        button("Add").id("add_1").line(100.0),
        button("Add").id("add_2").line(300.0),
        button("Add").line(2400.0),
    ];
    let lab = Lab::showing(platform, rows).await;
    let found = lab
        .call("findMatches", json!({"selector": lab.by_text("Add")}))
        .await
        .unwrap()
        .data
        .unwrap();
    assert_eq!(found.as_array().unwrap().len(), 2);
    assert_eq!(found[1]["indexPath"], json!([1]));
    assert_eq!(
        found[1]["bounds"],
        json!({"left": 0, "top": 300, "right": 1000, "bottom": 400})
    );
    assert_eq!(found[1]["matchedText"], "Add");
    let id = found[1]["resourceId"].as_str().unwrap();
    assert!(id.ends_with("add_2"), "{id}");
    let none = lab
        .call(
            "findMatches",
            json!({"selector": lab.by_text("Nope"), "timeoutMs": 500}),
        )
        .await
        .unwrap();
    assert_eq!(none.data, Some(json!([])));
}

async fn find_matches_waits_for_a_first_match_only_when_given_a_time(platform: Platform) {
    for (timeout, found) in [(json!(null), 0), (json!(30_000), 1)] {
        let lab = Lab::showing(platform, vec![label("Loading").line(300.0)]).await;
        lab.phone.world().coming.push_back(Box::new(|world| {
            world.show(vec![label("Ready").line(300.0)])
        }));
        let arguments = json!({"selector": lab.by_text("Ready"), "timeoutMs": timeout});
        let answer = lab
            .call("findMatches", arguments)
            .await
            .unwrap()
            .data
            .unwrap();
        assert_eq!(answer.as_array().unwrap().len(), found);
    }
}

async fn waiting_until_something_is_gone_answers_whether_it_is(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Loading").line(300.0)]).await;
    let arguments = json!({"nodeSelector": lab.by_text("Loading"), "timeoutMs": 400});
    let stays = lab
        .call("waitUntilNotVisible", arguments.clone())
        .await
        .unwrap();
    assert_eq!(stays.data, Some(json!(false)));
    lab.phone.world().coming.push_back(Box::new(|world| {
        world.show(vec![label("Ready").line(300.0)])
    }));
    let goes = lab.call("waitUntilNotVisible", arguments).await.unwrap();
    assert_eq!(goes.data, Some(json!(true)));
}
