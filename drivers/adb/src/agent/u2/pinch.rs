//! Two fingers at once: the parameters of the server's `gesture`.
//!
//! Source: `gesture` of u2.jar hands its points and steps to `UiObject.performTwoPointerGesture`
//! of androidx.test.uiautomator, which divides each way by the steps as whole numbers. Ways that
//! the steps do not divide end short of where they should, and jump there as the fingers leave,
//! when no app looks any more; a way of fewer pixels than steps is not gone at all.

use std::time::Duration;

use serde_json::{Value, json};

use super::SWIPE_STEP_TIME;

/// A place in pixels.
type Pixels = (i64, i64);

/// The parameters of a gesture of two fingers: about as long as told, and to where they should be
/// but for a few pixels.
pub(super) fn gesture(from: [Pixels; 2], to: [Pixels; 2], time: Duration) -> Value {
    let longest = from
        .into_iter()
        .zip(to)
        .map(|(from, to)| (to.0 - from.0).abs().max((to.1 - from.1).abs()))
        .max();
    let steps = steps(longest.unwrap_or_default(), time);
    let ends = [0, 1].map(|n| {
        let along = |from: i64, to: i64| from + rounded(to - from, steps) * steps;
        point((along(from[n].0, to[n].0), along(from[n].1, to[n].1)))
    });
    let [start1, start2] = from.map(point);
    let [end1, end2] = ends;
    // The selector of every element: the points are the screen's, and no element is looked for.
    let any = json!({ "mask": 0, "childOrSibling": [], "childOrSiblingSelector": [] });
    json!([any, start1, start2, end1, end2, steps])
}

/// The number of steps next to what the time asks for in which a way is gone by whole pixels.
fn steps(way: i64, time: Duration) -> i64 {
    let wanted = time.as_millis() / SWIPE_STEP_TIME.as_millis();
    let wanted = i64::try_from(wanted).unwrap_or(i64::MAX).clamp(2, 12_000);
    let pixels_per_step = rounded(way, wanted).max(1);
    rounded(way, pixels_per_step).max(1)
}

/// The quotient, to the nearest whole number.
fn rounded(dividend: i64, divisor: i64) -> i64 {
    (dividend.abs() + divisor / 2) / divisor * dividend.signum()
}

fn point((x, y): Pixels) -> Value {
    json!({ "x": x, "y": y })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(params: &Value) -> ([Pixels; 4], i64) {
        let point = |at: &Value| (at["x"].as_i64().unwrap(), at["y"].as_i64().unwrap());
        let points = [1, 2, 3, 4].map(|at| point(&params[at]));
        (points, params[5].as_i64().unwrap())
    }

    #[test]
    fn the_steps_divide_both_ways_and_take_about_the_time() {
        for (far, near, ms) in [
            (432, 216, 400),
            (431, 43, 1000),
            (500, 499, 400),
            (7, 300, 90),
        ] {
            let time = Duration::from_millis(ms);
            let corners = |half: i64| [(540 - half, 1200 + half), (540 + half, 1200 - half)];
            let params = gesture(corners(far), corners(near), time);
            let ([start1, start2, end1, end2], steps) = told(&params);
            assert_eq!([start1, start2], corners(far));
            for (start, end, wanted) in [
                (start1, end1, corners(near)[0]),
                (start2, end2, corners(near)[1]),
            ] {
                for (start, end, wanted) in [(start.0, end.0, wanted.0), (start.1, end.1, wanted.1)]
                {
                    assert_eq!((end - start) % steps, 0, "{params}");
                    let pixels_per_step = (end - start).abs() / steps;
                    assert!(2 * (end - wanted).abs() <= pixels_per_step, "{params}");
                }
            }
            let wanted = i64::try_from(ms).unwrap() / 5;
            assert!(steps <= wanted + wanted / 2, "{steps} for {wanted}");
        }
    }

    #[test]
    fn a_way_of_few_pixels_takes_no_more_steps_than_pixels() {
        let params = gesture(
            [(100, 500), (300, 500)],
            [(80, 500), (320, 500)],
            Duration::from_secs(4),
        );
        let (points, steps) = told(&params);
        assert_eq!(points[2..], [(80, 500), (320, 500)]);
        assert_eq!(steps, 20);
    }
}
