# `just check` is the whole gate.

# Format, lints, tests, documentation, and how many lines it all is.
check: fmt clippy test docs deny lines

# Is everything formatted?
fmt:
    cargo fmt --all --check

# Lints, every one of them an error.
clippy:
    cargo clippy --workspace --all-targets -- -D warnings

# Everything the tests need, and the tests; tidy is one of them.
test *arguments:
    sh tests/run.sh {{ arguments }}

# The API documentation, without warnings.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items

# Licences, versions and origins of what is built in: deny.toml. `cargo install cargo-deny` first.
deny:
    cargo deny --workspace check bans licenses sources

# The lines of the product and of the tests, by room: every budget is by these.
lines:
    sh tests/lines.sh

# The bundled example.
demo:
    cargo run -- demo

# The program to hand out: target/dist/packtrain.
dist:
    cargo build --profile dist --locked -p packtrain-orchestrator

# Web flow against plain Playwright, start-up, selectors.
bench:
    cargo bench -p packtrain-tests --bench web_flow
    cargo bench -p packtrain-tests --bench start
    cargo bench -p packtrain-tests --bench phones
    cargo bench -p packtrain-drivers --bench selector
    cargo bench -p packtrain-driver-adb --bench fleet
