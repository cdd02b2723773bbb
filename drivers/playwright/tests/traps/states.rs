//! The element cannot be seen, or must not be touched, or there are several.

use super::{Action, Trap, click, trap};

pub(super) const TRAPS: &[Trap] = &[
    click("a disabled button", "<button id=go disabled>Go</button>").fails(),
    click(
        "a button of a disabled fieldset",
        "<fieldset disabled><button id=go>Go</button></fieldset>",
    )
    .fails(),
    click(
        "disabled by ARIA",
        "<div role=group aria-disabled=true><button id=go>Go</button></div>",
    )
    .fails(),
    click(
        "enabled after 300 ms",
        "<button id=go disabled>Go</button><script>begin = () => { setTimeout(() => { go.disabled = false }, 300) }</script>",
    ),
    trap(
        "a disabled button to hover over",
        Action::Hover,
        "<button id=go disabled>Go</button>",
    ),
    trap(
        "a read-only field",
        Action::Fill("text"),
        "<input id=go readonly value=old>",
    )
    .fails(),
    trap(
        "a hidden field of a date",
        Action::Fill("2026-11-26"),
        "<input id=go type=date style='display: none'>",
    )
    .fails(),
    click(
        "a button with nothing to see",
        "<button id=go style='opacity: 0'>Go</button>",
    ),
    click(
        "hidden by visibility",
        "<button id=go style='visibility: hidden'>Go</button>",
    )
    .fails(),
    click(
        "displayed as its contents",
        "<div id=go style='display: contents'><button id=in>Go</button></div>",
    )
    .not_on_firefox("what is displayed as its contents has no box and counts as hidden"),
    click(
        "a wrapper of no size around what can be seen",
        "<div id=go style='width: 0; height: 0'><button id=in>Go</button></div>",
    )
    .fails(),
    click("inert", "<main inert><button id=go>Go</button></main>").fails(),
    click(
        "behind a modal dialog",
        "<button id=go>Go</button><dialog id=box>Sure? <button>OK</button></dialog><script>box.showModal()</script>",
    )
    .fails(),
    click(
        "in a modal dialog",
        "<dialog id=box><form method=dialog><button id=go>OK</button></form></dialog><script>box.showModal()</script>",
    ),
    click(
        "in a popover",
        "<button id=other>Other</button><div id=pop popover><button id=go>Go</button></div><script>pop.showPopover()</script>",
    ),
    click(
        "several that match",
        "<button id=go class=first>One</button><button id=go>Two</button>",
    ),
];
