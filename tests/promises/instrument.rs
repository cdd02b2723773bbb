//! The instrument, on recordings that are made here: it keeps still where nothing is wrong, and where
//! something is, that is the first thing it says. `cargo bench -p packtrain-tests --bench instrument`
//! asks for more.

#[path = "../instrument/condition.rs"]
mod condition;
#[path = "../instrument/defects.rs"]
mod defects;
#[expect(dead_code, reason = "the bench uses more of it")]
#[path = "../instrument/question.rs"]
mod question;
#[expect(
    dead_code,
    clippy::print_stdout,
    reason = "as in the bench, which uses more of it"
)]
#[path = "../instrument/record.rs"]
mod record;
#[expect(dead_code, reason = "the bench uses more of it")]
#[path = "../instrument/recording.rs"]
mod recording;
#[path = "../instrument/server.rs"]
mod server;
#[path = "../instrument/sites.rs"]
mod sites;

use std::path::Path;

use packtrain_tests::repository;
use question::{BUILD, FLAG, QUESTIONS, Question};
use record::Studio;
use server::{RIGHT, Variant};

use crate::lab;

const AXES: &str = "{ locale: [en-US, { de-DE: { texts: { Thank you: Danke } } }], viewport: [1280x800, 390x844], colorScheme: [light, dark] }";

/// Of each kind of card one: failed, without a link, of other words, of other digits, 500, cut off.
const DEFECTS: [&str; 6] = ["d01", "d02", "d03", "d11", "d15", "d20"];

fn recorded(folder: &Path, shops: &[(&str, Variant)]) -> recording::Recordings {
    let studio = Studio {
        program: env!("CARGO_BIN_EXE_packtrain-under-test").as_ref(),
        app: &repository().join("tests/instrument/app"),
        folder,
        again: false,
    };
    let named = shops
        .iter()
        .map(|(name, variant)| ((*name).to_owned(), *variant));
    let named: Vec<_> = named.collect();
    let server = studio.serve().unwrap();
    studio.shops(&server, &named, AXES).unwrap();
    recording::open(folder)
}

#[test]
fn a_right_app_has_no_cards_whether_its_menu_is_hidden_or_unmounted() {
    let lab = lab();
    let unmounted = Variant {
        menu: "unmounted",
        ..RIGHT
    };
    let shops = [("app-hidden", RIGHT), ("app-unmounted", unmounted)];
    for (name, app) in recorded(lab.folder(), &shops).apps {
        let comparison = recording::compared(&app.view);
        let titles = comparison.clusters.iter().map(|card| &card.title);
        assert_eq!(titles.collect::<Vec<_>>(), Vec::<&String>::new(), "{name}");
        assert_eq!(comparison.sentence, "All 8 passed.", "{name}");
    }
}

#[test]
fn what_is_wrong_is_named_first_and_exactly_where_it_is() {
    let lab = lab();
    let wrong = DEFECTS.map(|defect| (defect, Variant { defect, ..RIGHT }));
    let shops = [&[("right-0", RIGHT)], &wrong[..]].concat();
    let recordings = recorded(lab.folder(), &shops);
    let [one, two, ..] = QUESTIONS;
    // On 16 cells two conditions are too many to be sure of.
    let added = &[FLAG, BUILD];
    for question in [one, Question { added, ..two }] {
        for defect in defects::all()
            .iter()
            .filter(|one| DEFECTS.contains(&one.id))
        {
            let answer = question.ask(&recordings, defect, 0).unwrap();
            let unmet = answer.unmet(defect);
            assert_eq!(unmet, None, "{}: {}", question.words, defect.what);
        }
    }
}
