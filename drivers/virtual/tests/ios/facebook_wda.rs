//! facebook-wda from PyPI, unmodified, through a whole purchase.

use super::bench::Bench;

const SCRIPT: &str = include_str!("facebook_wda.py");

#[tokio::test]
async fn facebook_wda_buys_a_coffee() {
    let python = std::env::var("PACKTRAIN_TEST_PYTHON").expect(
        "PACKTRAIN_TEST_PYTHON must name a Python with facebook-wda: \
         python3 -m venv V && V/bin/pip install facebook-wda, then V/bin/python",
    );
    let bench = Bench::new().await;
    let url = format!("http://{}", bench.phone().wda_address());
    let printed = bench.run(&python, &["-c", SCRIPT, &url]).await;
    assert!(printed.ends_with("bought\n"), "{printed}");
    assert_eq!(
        bench.phone().device().unhandled(),
        [],
        "it asked for nothing the phone does not have"
    );
    bench.end().await;
}
