//! Something lies above the element, or gets there.

use super::{Action, Trap, click, trap};

pub(super) const TRAPS: &[Trap] = &[
    click(
        "an overlay for ever",
        r#"<button id=go>Go</button><div id=over style="position: fixed; inset: 0"></div>"#,
    )
    .fails(),
    click(
        "an overlay for 300 ms",
        r#"<button id=go>Go</button><div id=over style="position: fixed; inset: 0"></div>
        <script>begin = () => { setTimeout(() => over.remove(), 300) }</script>"#,
    ),
    click(
        "an overlay that lets pointers through",
        r#"<button id=go>Go</button><div style="position: fixed; inset: 0; pointer-events: none"></div>"#,
    ),
    click(
        "an element that lets pointers through",
        r#"<main id=under><button id=go style="pointer-events: none">Go</button></main>"#,
    )
    .fails(),
    click(
        "an overlay between check and event, for ever",
        r#"<button id=go>Go</button>
        <script>go.onpointermove = () => { document.body.insertAdjacentHTML('beforeend', '<div id=over style="position: fixed; inset: 0"></div>') }</script>"#,
    )
    .fails(),
    click(
        "an overlay between check and event, for a moment",
        r#"<button id=go>Go</button><div id=over style="position: fixed; inset: 0; display: none"></div>
        <script>go.addEventListener('pointermove', () => {
          over.style.display = '';
          setTimeout(() => over.remove(), 300);
        }, { once: true })</script>"#,
    ),
    click(
        "replaced between check and event",
        r#"<div id=home><button id=go>Go</button></div>
        <script>go.onmouseover = () => { home.innerHTML = '<button id=go>Go</button>' }</script>"#,
    ),
    click(
        "replaced by another between check and event",
        r#"<div id=home><button id=go>Go</button></div>
        <script>go.onpointermove = () => { home.innerHTML = '<button id=other>Go</button>' }</script>"#,
    )
    .fails()
    .differs("it is gone before Playwright looks"),
    click(
        "removed by its own mousedown",
        r#"<button id=go>Go</button><script>go.onmousedown = () => go.remove()</script>"#,
    ),
    click(
        "under a sticky header",
        r#"<header id=head style="position: sticky; top: 0; height: 300px; background: silver">Head</header>
        <div style="height: 100px"></div><button id=go>Go</button><div style="height: 2000px"></div>
        <script>begin = () => scrollTo(0, 200)</script>"#,
    ),
    click(
        "under a banner at the bottom",
        r#"<div style="height: 2000px"></div><button id=go>Go</button><div style="height: 2000px"></div>
        <div id=banner style="position: fixed; bottom: 0; left: 0; right: 0; height: 65vh; background: silver">Cookies</div>"#,
    ),
    click(
        "its own pseudo-element above it",
        r#"<style>#go::after { content: ''; position: absolute; inset: 0 }</style>
        <a id=go style="position: relative; display: block; height: 80px">Go</a>"#,
    ),
    click(
        "a field under its floating label",
        r#"<div style="position: relative"><input id=go><label id=label for=go style="position: absolute; inset: 0">Name</label></div>"#,
    )
    .fails(),
    trap(
        "an element that opens above itself when hovered over",
        Action::Hover,
        r#"<button id=go>Go</button>
        <script>go.onmouseenter = () => { document.body.insertAdjacentHTML('beforeend', '<div id=menu style="position: fixed; inset: 0">Menu</div>') }</script>"#,
    )
    .fails(),
    trap(
        "a covered field to fill",
        Action::Fill("text"),
        r#"<input id=go><div id=over style="position: fixed; inset: 0"></div>"#,
    ),
];
