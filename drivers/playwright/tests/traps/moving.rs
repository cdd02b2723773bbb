//! The element moves, is animated, comes late, or goes away as it is touched.

use super::{Action, Trap, click, trap};

pub(super) const TRAPS: &[Trap] = &[
    click(
        "a transition",
        r#"<style>#go { position: absolute; left: 20px; transition: left 400ms linear } .there { left: 420px !important }</style>
        <button id=go>Go</button><script>begin = () => { go.offsetLeft; go.className = 'there' }</script>"#,
    ),
    click(
        "moved by animation frames for a while",
        r#"<button id=go style="position: absolute">Go</button>
        <script>begin = () => {
          let left = 20;
          const move = () => { go.style.left = `${left += 10}px`; if (left < 400) requestAnimationFrame(move) };
          requestAnimationFrame(move);
        }</script>"#,
    ),
    click(
        "moved by animation frames for ever",
        r#"<button id=go style="position: absolute">Go</button>
        <script>let n = 0; const move = () => { go.style.left = `${20 + n++ % 40}px`; requestAnimationFrame(move) }; move()</script>"#,
    )
    .fails(),
    click(
        "pulsing for ever",
        r#"<style>@keyframes pulse { to { transform: scale(1.5) } } #go { animation: pulse 500ms infinite alternate linear }</style>
        <button id=go>Go</button>"#,
    )
    .fails(),
    click(
        "changing colour for ever",
        r#"<style>@keyframes glow { to { background: gold } } #go { animation: glow 300ms infinite alternate }</style>
        <button id=go>Go</button>"#,
    ),
    click(
        "arriving after 900 ms",
        r#"<main id=home></main><script>begin = () => { setTimeout(() => { home.innerHTML = '<button id=go>Go</button>' }, 900) }</script>"#,
    ),
    click(
        "drawn anew each frame for a while",
        r#"<main id=home><button id=go>Go</button></main>
        <script>begin = () => {
          let n = 0;
          const draw = () => { home.innerHTML = '<button id=go>Go</button>'; if (n++ < 30) requestAnimationFrame(draw) };
          requestAnimationFrame(draw);
        }</script>"#,
    ),
    click(
        "moving away on mousedown",
        r#"<button id=go style="position: absolute; left: 20px">Go</button>
        <script>go.onmousedown = () => { go.style.left = '400px' }</script>"#,
    ),
    click(
        "moving away when hovered over, once",
        r#"<button id=go style="position: absolute; left: 20px">Go</button>
        <script>go.addEventListener('mouseover', () => { go.style.left = '400px' }, { once: true })</script>"#,
    ),
    click(
        "the clock of the page replaced",
        r#"<button id=go>Go</button><script>
        setTimeout = setInterval = requestAnimationFrame = () => 1;
        Date.now = performance.now = () => 5;
        Promise.prototype.then = undefined;
        </script>"#,
    ),
    click(
        "the page's own geometry lied about",
        r#"<button id=go>Go</button><script>
        Element.prototype.getBoundingClientRect = Element.prototype.getClientRects = () => [];
        document.elementFromPoint = document.elementsFromPoint = () => null;
        </script>"#,
    ),
    trap(
        "a moving field to fill",
        Action::Fill("text"),
        r#"<input id=go style="position: absolute">
        <script>let n = 0; const move = () => { go.style.left = `${20 + n++ % 40}px`; requestAnimationFrame(move) }; move()</script>"#,
    ),
    trap(
        "a menu that opens when hovered over",
        Action::Hover,
        r#"<style>nav ul { display: none } nav:hover ul { display: block }</style>
        <nav id=go>Menu<ul><li>Item</li></ul></nav>"#,
    ),
];
