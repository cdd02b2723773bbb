//! Scrolling until something is in sight.

use packtrain_drivers::{Command, InputCommand, Platform};
use serde_json::json;

use crate::lab::{Lab, on_both};
use crate::phone::{List, label};

on_both! {
    what_is_in_sight_already_needs_no_scrolling
    a_list_is_scrolled_until_the_text_is_wholly_in_sight
    a_list_comes_to_rest_only_where_something_is_found_or_nothing_new_comes
    what_comes_in_sight_while_the_list_moves_is_looked_at_again_at_rest
    a_part_in_sight_is_enough_when_the_call_says_so
    a_pattern_takes_the_whole_text_and_a_text_any_part
    the_end_of_a_list_ends_the_scrolling_with_a_clear_error
    a_list_that_loads_more_at_its_end_is_scrolled_on
    scrolling_up_moves_the_finger_down
    the_start_position_chooses_the_part_of_the_screen_that_is_scrolled
    an_element_is_brought_to_the_middle_when_that_is_wanted
    an_element_at_the_end_of_a_list_cannot_get_to_the_middle_and_is_found_all_the_same
    scrolling_is_for_something
}

fn swipes(lab: &Lab) -> Vec<(f64, f64)> {
    let did = lab.phone.did();
    did.iter()
        .filter_map(|command| match command {
            Command::Input(InputCommand::Swipe { from, to, .. }) => Some((from.y, to.y)),
            _ => None,
        })
        .collect()
}

async fn what_is_in_sight_already_needs_no_scrolling(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(50));
    lab.call("scrollUntilTextIsVisible", json!({"text": "item 3"}))
        .await
        .unwrap();
    assert_eq!(swipes(&lab), []);
}

async fn a_list_is_scrolled_until_the_text_is_wholly_in_sight(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(50));
    let answer = lab
        .call("scrollUntilTextIsVisible", json!({"text": "Item 25"}))
        .await
        .unwrap();
    // Each swipe is 800 long; line 25 ends at 5000, and 2000 are in sight.
    assert_eq!(swipes(&lab), [(1000.0, 200.0); 4]);
    assert_eq!(answer.text.unwrap(), "in sight after 4 swipes");
    assert_eq!(answer.report.located.unwrap().by, "text with \"Item 25\"");
}

async fn a_list_comes_to_rest_only_where_something_is_found_or_nothing_new_comes(
    platform: Platform,
) {
    let rests = |lab: &Lab| {
        let told = lab.phone.told();
        let asks = |command: &Command| matches!(command, Command::AwaitChange { limit, .. } if limit.is_zero());
        // Several in a row are one rest.
        let ends = told
            .windows(2)
            .filter(|two| asks(&two[0]) && !asks(&two[1]));
        ends.count() + usize::from(told.last().is_some_and(asks))
    };
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(50));
    lab.call("scrollUntilTextIsVisible", json!({"text": "Item 25"}))
        .await
        .unwrap();
    assert_eq!((swipes(&lab).len(), rests(&lab)), (4, 1));
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(20));
    lab.failure("scrollUntilTextIsVisible", json!({"text": "Item 99"}))
        .await;
    assert_eq!((swipes(&lab).len(), rests(&lab)), (4, 1));
}

async fn what_comes_in_sight_while_the_list_moves_is_looked_at_again_at_rest(platform: Platform) {
    let lab = Lab::new(platform).await;
    {
        let mut world = lab.phone.world();
        world.list = Some(List::of(50));
        // It rolls on, and out of sight again.
        world.on_settle = Some(Box::new(|world| {
            world.list.as_mut().unwrap().offset = 6000.0;
        }));
    }
    let (message, ..) = lab
        .failure("scrollUntilTextIsVisible", json!({"text": "Item 11"}))
        .await;
    assert!(message.contains("does not scroll any further"), "{message}");
}

async fn a_part_in_sight_is_enough_when_the_call_says_so(platform: Platform) {
    let swiped = async |share: u32| {
        let lab = Lab::new(platform).await;
        lab.phone.world().list = Some(List {
            lines: 50,
            offset: 100.0,
        });
        let arguments = json!({"textRegex": "Item 11", "visibilityPercentage": share});
        lab.call("scrollUntilTextIsVisible", arguments)
            .await
            .unwrap();
        swipes(&lab).len()
    };
    assert_eq!((swiped(50).await, swiped(51).await), (0, 1));
}

async fn a_pattern_takes_the_whole_text_and_a_text_any_part(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(20));
    lab.call("scrollUntilTextIsVisible", json!({"textRegex": "item 1"}))
        .await
        .unwrap();
    assert_eq!(swipes(&lab).len(), 0);
    let arguments = json!({"textRegex": "Item 1[5]", "text": "Item 1"});
    lab.call("scrollUntilTextIsVisible", arguments)
        .await
        .unwrap();
    assert_eq!(swipes(&lab).len(), 2);
}

async fn the_end_of_a_list_ends_the_scrolling_with_a_clear_error(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(20));
    let (message, log, hint) = lab
        .failure("scrollUntilTextIsVisible", json!({"text": "Item 99"}))
        .await;
    assert_eq!(
        message,
        "text with \"Item 99\" did not come into view, and the screen does not scroll any further"
    );
    assert!(
        log.iter().any(|line| line == "scrolled down 4 times"),
        "{log:?}"
    );
    assert!(hint.unwrap().contains("continue down"));
}

async fn a_list_that_loads_more_at_its_end_is_scrolled_on(platform: Platform) {
    let lab = Lab::new(platform).await;
    {
        let mut world = lab.phone.world();
        world.list = Some(List::of(12));
        world.coming.push_back(Box::new(|world| {
            world.list.as_mut().unwrap().lines = 20;
        }));
    }
    lab.call("scrollUntilTextIsVisible", json!({"text": "Item 19"}))
        .await
        .unwrap();
}

async fn scrolling_up_moves_the_finger_down(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List {
        lines: 50,
        offset: 3000.0,
    });
    let arguments = json!({"text": "Item 14", "direction": "UP"});
    lab.call("scrollUntilTextIsVisible", arguments)
        .await
        .unwrap();
    assert_eq!(swipes(&lab), [(1000.0, 1800.0)]);
}

async fn the_start_position_chooses_the_part_of_the_screen_that_is_scrolled(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(50));
    let arguments = json!({"text": "Item 11", "scrollStartPosition": "bottom"});
    lab.call("scrollUntilTextIsVisible", arguments)
        .await
        .unwrap();
    assert_eq!(swipes(&lab), [(1700.0, 1200.0)]);
}

async fn an_element_is_brought_to_the_middle_when_that_is_wanted(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(50));
    let arguments = json!({"text": "Item 10", "centerElement": true});
    lab.call("scrollUntilTextIsVisible", arguments)
        .await
        .unwrap();
    // Line 10 is from 1800 to 2000: 800 are as far as one swipe goes, and near enough.
    assert_eq!(swipes(&lab), [(1000.0, 200.0)]);
}

async fn an_element_at_the_end_of_a_list_cannot_get_to_the_middle_and_is_found_all_the_same(
    platform: Platform,
) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(10));
    let arguments = json!({"text": "Item 10", "centerElement": true});
    let answer = lab
        .call("scrollUntilTextIsVisible", arguments)
        .await
        .unwrap();
    assert!(answer.report.notes[0].contains("scrolling ended before"));
}

async fn scrolling_is_for_something(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    let (message, ..) = lab
        .failure("scrollUntilTextIsVisible", json!({"text": " "}))
        .await;
    assert!(message.contains("textRegex"), "{message}");
    assert_eq!(lab.phone.looks(), 0);
}
