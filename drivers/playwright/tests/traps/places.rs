//! The element lies out of sight, in a frame, in a shadow tree, or is not a plain box.

use super::{Trap, click};

/// The lane aims at the middle of the box around a quadrangle, Playwright at the middle of its corners.
const MIDDLE: &str = "the middle of a box around a quadrangle";

pub(super) const TRAPS: &[Trap] = &[
    click(
        "below what is in sight",
        "<div style='height: 3000px'></div><button id=go>Go</button><div style='height: 3000px'></div>",
    ),
    click(
        "cut off by the end of the window",
        "<button id=go style='position: absolute; top: calc(100vh - 40px); height: 200px'>Go</button><div style='height: 3000px'></div>",
    ),
    click(
        "in a form called host",
        "<form name=host><button id=go type=button>Go</button></form>",
    ),
    click(
        "in a container that scrolls",
        "<div id=box style='height: 100px; overflow: auto'><div style='height: 900px'></div><button id=go>Go</button></div>",
    ),
    click(
        "scrolled to smoothly",
        "<style>html { scroll-behavior: smooth }</style><div style='height: 3000px'></div><button id=go>Go</button><div style='height: 3000px'></div>",
    ),
    click(
        "in a container that scrolls smoothly",
        "<div style='height: 100px; overflow: auto; scroll-behavior: smooth'><div style='height: 900px'></div><button id=go>Go</button></div>",
    ),
    click(
        "in a frame",
        "<iframe id=frame></iframe><script>frame.srcdoc = framed('<button id=go>Go</button>')</script>",
    ),
    click(
        "beside a frame",
        "<iframe srcdoc='<p>Frame'></iframe><button id=go>Go</button>",
    ),
    click(
        "in a shadow tree",
        "<div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<button id=go>Go</button>'</script>",
    ),
    click(
        "in a shadow tree in a shadow tree",
        "<div id=host></div><script>
        const outer = host.attachShadow({ mode: 'open' });
        outer.innerHTML = '<div></div>';
        outer.firstChild.attachShadow({ mode: 'open' }).innerHTML = '<button id=go>Go</button>';
        </script>",
    ),
    click(
        "in a slot",
        "<div id=host><button id=go>Go</button></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<b><slot></slot></b>'</script>",
    ),
    click(
        "scaled",
        "<div style='transform: scale(2.5); transform-origin: 0 0'><button id=go>Go</button></div>",
    ),
    click(
        "zoomed",
        "<div style='zoom: 1.7'><button id=go style='zoom: 1.3'>Go</button></div>",
    ),
    click(
        "turned",
        "<button id=go style='position: absolute; left: 200px; top: 200px; width: 300px; transform: rotate(33deg)'>Go</button>",
    )
    .differs(MIDDLE),
    click(
        "turned and cut off",
        "<button id=go style='position: fixed; left: -100px; top: -20px; width: 300px; height: 90px; transform: rotate(33deg)'>Go</button>",
    )
    .differs(MIDDLE),
    click(
        "a link over several lines",
        "<p style='width: 180px'>Some words before <a id=go href='#there'>a link that goes on over <b>several</b> lines of the text</a> and after.</p>",
    ),
    click(
        "a link around a block",
        "<a id=go href='#there'><div style='height: 60px; width: 200px'>Block</div></a>",
    ),
    click(
        "a part of a drawing",
        "<svg width=300 height=200><circle id=go cx=150 cy=100 r=60 /></svg>",
    ),
    click(
        "a canvas",
        "<canvas id=go width=300 height=150 style='border: 10px solid; padding: 5px'></canvas>",
    ),
    click(
        "an area of an image",
        "<img usemap='#map' width=200 height=100 alt=Map src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>
        <map name=map><area id=go shape=rect coords='50,20,150,80' href='#there' alt=There></map>",
    )
    .fails(),
    click("a summary", "<details><summary id=go>More</summary>Text</details>"),
    click(
        "an element to be dragged",
        "<div id=go draggable=true style='width: 100px; height: 50px'>Drag</div>",
    ),
    click(
        "an option of a list",
        "<select size=3><option>One<option id=go>Two<option>Three</select>",
    ),
];
