#!/bin/sh
# Installs what the tests need and runs them. Asks nothing. Arguments go to `cargo test`.
#
# Debian and Ubuntu: packages through apt (with sudo unless root). macOS: through Homebrew.
# playwright-core comes from npm and Python clients from PyPI, into folders of their own.
set -eu
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo -n "$@"; else
        echo "tests/run.sh: to install packages, run as root or install sudo: $*" >&2
        exit 2
    fi
}

# Debian's package for each program that is missing.
missing=""
need() { have "$1" || missing="$missing $2"; }
if have apt-get; then
    have chromium || have chromium-browser || have google-chrome || missing="$missing chromium"
    need node nodejs
    need npm npm
    need adb adb
    need python3 python3
    need pkill procps
    need idevice_id libimobiledevice-utils
    need iproxy libusbmuxd-tools
    need cc build-essential
    python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
    if [ -n "$missing" ]; then
        echo "installing$missing"
        export DEBIAN_FRONTEND=noninteractive
        as_root apt-get update -qq
        # shellcheck disable=SC2086 # one word per package
        as_root apt-get install -y -qq --no-install-recommends $missing fonts-dejavu-core >/dev/null
    fi
elif have brew; then
    need node node
    need python3 python
    need adb android-platform-tools
    need idevice_id libimobiledevice
    need iproxy libusbmuxd
    [ -d "/Applications/Chromium.app" ] || [ -d "/Applications/Google Chrome.app" ] || missing="$missing chromium"
    # shellcheck disable=SC2086
    [ -z "$missing" ] || brew install $missing
else
    echo "tests/run.sh: neither apt-get nor brew; install Chromium, Node, npm, adb and Python 3 yourself" >&2
fi

# Third-party clients that the virtual phones must satisfy.
venv=target/test-venv
if [ ! -x "$venv/bin/python" ] || ! cmp -s tests/requirements.txt "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -r tests/requirements.txt
    cp tests/requirements.txt "$venv/requirements.txt"
fi
PACKTRAIN_TEST_PYTHON="$(pwd)/$venv/bin/python"
export PACKTRAIN_TEST_PYTHON

# What the drivers need besides: playwright-core from npm, the Android agent from PyPI.
cargo build --quiet -p packtrain-tests --bin packtrain-under-test
"${CARGO_TARGET_DIR:-target}/debug/packtrain-under-test" doctor --fix || true

exec cargo test --workspace --no-fail-fast "$@"
