use super::*;

fn judged(error: DriverError, overtime: Option<TimeLimit>) -> Outcome {
    let circumstances = Circumstances {
        tool: "web_click",
        at: None,
        stop: CancelCause::Interrupt,
        overtime,
    };
    judge(&error.into(), circumstances)
}

fn timeout() -> DriverError {
    DriverError::Timeout {
        doing: "click".into(),
        after: Duration::from_secs(1),
        log: vec![],
    }
}

#[test]
fn the_app_fails_a_step_and_the_device_does_not() {
    for error in [DriverError::unmet("no"), DriverError::Invalid("no".into())] {
        assert!(matches!(judged(error, None), Outcome::Failed(_)));
    }
    for error in [timeout(), DriverError::lost("gone")] {
        let outcome = judged(error, None);
        let Outcome::Infrastructure { blame, .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(blame, Blame::Device);
    }
}

#[test]
fn a_session_whose_time_is_over_has_failed_and_a_device_that_is_lost_then_is_lost() {
    let limit = Some(TimeLimit::Session(Duration::from_millis(13)));
    let Outcome::Failed(failure) = judged(timeout(), limit) else {
        panic!("the device is blamed")
    };
    assert!(
        failure.message.starts_with("session timed out after 13 ms"),
        "{}",
        failure.message
    );
    assert!(matches!(
        judged(DriverError::lost("gone"), limit),
        Outcome::Infrastructure { .. }
    ));
}

#[test]
fn what_was_cancelled_is_no_failure() {
    assert_eq!(
        judged(DriverError::Cancelled, None),
        Outcome::Cancelled {
            by: CancelCause::Interrupt
        }
    );
}
