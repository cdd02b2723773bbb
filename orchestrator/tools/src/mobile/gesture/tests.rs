use super::*;

const SCREEN: Size = Size::new(1000.0, 2000.0);

fn stroke(from: (f64, f64), to: (f64, f64)) -> Stroke {
    Stroke {
        from: Point::new(from.0, from.1),
        to: Point::new(to.0, to.1),
    }
}

#[test]
fn swipes_go_as_far_as_maestros() {
    let goes = |finger| swipe(SCREEN, finger, None);
    assert_eq!(goes(Direction::Up), stroke((500.0, 1000.0), (500.0, 200.0)));
    assert_eq!(
        goes(Direction::Down),
        stroke((500.0, 1000.0), (500.0, 1800.0))
    );
    assert_eq!(
        goes(Direction::Left),
        stroke((900.0, 1000.0), (100.0, 1000.0))
    );
    assert_eq!(
        goes(Direction::Right),
        stroke((100.0, 1000.0), (900.0, 1000.0))
    );
}

#[test]
fn a_swipe_on_an_element_starts_in_it() {
    let from = Point::new(300.0, 1500.0);
    let goes = |finger| swipe(SCREEN, finger, Some(from)).to;
    assert_eq!(goes(Direction::Up), Point::new(300.0, 200.0));
    assert_eq!(goes(Direction::Left), Point::new(100.0, 1500.0));
}

#[test]
fn a_swipe_never_turns_round_near_the_edge() {
    let from = Point::new(950.0, 60.0);
    assert_eq!(swipe(SCREEN, Direction::Up, Some(from)).to.y, 30.0);
    assert_eq!(swipe(SCREEN, Direction::Right, Some(from)).to.x, 975.0);
}

#[test]
fn to_scroll_down_the_finger_goes_up() {
    let goes = |start| scroll(SCREEN, Direction::Down, start);
    assert_eq!(
        goes(ScrollStart::Center),
        stroke((500.0, 1000.0), (500.0, 200.0))
    );
    assert_eq!(
        goes(ScrollStart::Top),
        stroke((500.0, 800.0), (500.0, 300.0))
    );
    assert_eq!(
        goes(ScrollStart::Bottom),
        stroke((500.0, 1700.0), (500.0, 1200.0))
    );
}

#[test]
fn scrolling_sideways_stays_in_the_part_it_is_told() {
    let stroke = scroll(SCREEN, Direction::Right, ScrollStart::Bottom);
    assert_eq!(stroke.from, Point::new(850.0, 1500.0));
    assert_eq!(stroke.to, Point::new(150.0, 1500.0));
}

#[test]
fn places_are_read_with_and_without_percent_signs() {
    assert_eq!(shares("90%,50%").unwrap(), (0.9, 0.5));
    assert_eq!(shares(" 25 , 12.5% ").unwrap(), (0.25, 0.125));
    assert_eq!(shares("120%,-3%").unwrap(), (1.0, 0.0));
    for wrong in ["", "50%", "a,b", "NaN,1", "1,2,3"] {
        assert!(shares(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_edge_itself_is_not_touched() {
    assert_eq!(at(SCREEN, 1.0, 1.0), Point::new(999.0, 1999.0));
}
