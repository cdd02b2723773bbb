//! The page is left, or asks, or opens another.

use super::{Trap, click};

const LATER_ADDRESS: &str = "the driver is told of an address within a document beside the click";
const ASKED_BEFORE: &str =
    "Playwright may ask whether the page is left before a timer of 1 ms says so";
const LATER_TAB: &str = "the new tab may be the current one only after the click";

pub(super) const TRAPS: &[Trap] = &[
    click("a link", "<a id=go href=/second>Go</a>").leads_to("/second$"),
    click(
        "a link whose server is slow",
        "<a id=go>Go</a><script>
        const key = Math.random();
        go.href = `/held?${key}`;
        go.onclick = () => { setTimeout(() => fetch(`/release?${key}`), 1000) };
        </script>",
    )
    .leads_to("/held"),
    click(
        "a page that is busy before it is left",
        "<button id=go>Go</button><script>
        go.onclick = () => { setTimeout(() => {
          const [key, end] = [Math.random(), Date.now() + 300];
          while (Date.now() < end);
          setTimeout(() => fetch(`/release?${key}`), 1000);
          location = `/held?${key}`;
        }) };
        </script>",
    )
    .leads_to("/held").differs(ASKED_BEFORE),
    click(
        "a form whose server is slow",
        "<form action=/held><input type=hidden name=key><button id=go>Go</button></form><script>
        const { key } = document.forms[0].elements;
        key.value = Math.random();
        go.onclick = () => { setTimeout(() => fetch(`/release?key=${key.value}`), 1000) };
        </script>",
    )
    .leads_to("/held"),
    click("a form", "<form id=form action=/second><button id=go>Go</button></form>").leads_to("/second"),
    click("an address that is set", "<button id=go onclick=\"location = '/second'\">Go</button>").leads_to("/second$"),
    click(
        "an address that is set soon",
        "<button id=go onclick=\"setTimeout(() => { location = '/second' })\">Go</button>",
    )
    .leads_to("/second$")
    .differs(ASKED_BEFORE),
    click(
        "the page loaded again",
        "<button id=go onclick='location.reload()'>Go</button><script>note('loaded')</script>",
    ),
    click("a part of the page", "<a id=go href='#there'>Go</a>").leads_to("#there$").differs(LATER_ADDRESS),
    click(
        "an entry in the history",
        "<button id=go onclick=\"history.pushState('', '', '/pushed')\">Go</button>",
    )
    .leads_to("/pushed$").differs(LATER_ADDRESS),
    click(
        "a view that the page shows itself",
        "<a id=go href=/inside>Go</a><script>
        navigation.addEventListener('navigate', event => event.intercept({
          handler: async () => {
            document.body.insertAdjacentHTML('beforeend', '<iframe src=/second></iframe>');
            note('shown');
          },
        }));
        </script>",
    )
    .leads_to("/inside$").differs(LATER_ADDRESS).not_on_firefox("it may have no such event"),
    click(
        "two addresses at once",
        "<a id=go href=/second onclick=\"location.href = '/popup'\">Go</a>",
    )
    .leads_to("/second$").not_on_firefox("it may show the first before the second is begun"),
    click("a download", "<a id=go href=/file>Go</a>"),
    click("an answer without content", "<a id=go href=/nothing>Go</a>").fails().not_on_firefox("it is not waited for"),
    click("a script for an address", "<a id=go href=\"javascript: note('script'), void (location.hash = 'ran')\">Go</a>")
        .leads_to("#ran$").differs(LATER_ADDRESS),
    click("a link to another tab", "<a id=go href=/popup target=_blank>Go</a>").leads_to("/popup$").differs(LATER_TAB),
    click("a tab that is opened", "<button id=go onclick=\"window.open('/popup')\">Go</button>").leads_to("/popup$").differs(LATER_TAB),
    click("an alert", "<button id=go onclick=\"alert('Hello'); note('told')\">Go</button>"),
    click("a question", "<button id=go onclick=\"note(`${confirm('Sure?')} ${prompt('Name?')}`)\">Go</button>"),
    click(
        "a page that does not want to be left",
        "<a id=go href=/second>Go</a><script>addEventListener('beforeunload', event => { note('asked'); event.preventDefault() })</script>",
    )
    .not_on_firefox("the question may come after the click, and stay")
    .leads_to("/second$"),
    click(
        "a page that is busy when it is clicked",
        "<button id=go onclick='const end = Date.now() + 700; while (Date.now() < end); note(`done`)'>Go</button>",
    )
    .not_on_firefox("the click may wait for the questions"),
];
