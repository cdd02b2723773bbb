//! Fields, labels and choices, and scripts that interfere.

use super::{Action, Trap, click, trap};

pub(super) const TRAPS: &[Trap] = &[
    trap("text", Action::Fill("text"), "<input id=go value=old>"),
    trap(
        "nothing instead of text",
        Action::Fill(""),
        "<input id=go value=old>",
    ),
    trap(
        "a number",
        Action::Fill("12.5"),
        "<input id=go type=number value=3>",
    ),
    trap(
        "a date",
        Action::Fill("2026-11-26"),
        "<input id=go type=date>",
    ),
    trap(
        "the label of a field",
        Action::Fill("text"),
        "<label id=go>Name <input id=in></label>",
    ),
    trap(
        "what can be edited",
        Action::Fill("text"),
        "<div id=go contenteditable>old <b>bold</b></div>",
    ),
    trap(
        "a mask",
        Action::Fill("1234567"),
        "<input id=go><script>go.oninput = () => { go.value = go.value.replace(/\\D/g, '').replace(/(\\d{3})(?=\\d)/g, '$1-') }</script>",
    ),
    trap(
        "a field with an end",
        Action::Fill("123456"),
        "<input id=go maxlength=4>",
    ),
    trap(
        "text that is refused",
        Action::Fill("text"),
        "<input id=go value=old><script>go.onbeforeinput = event => event.preventDefault()</script>",
    ),
    trap(
        "a field that gives the focus away",
        Action::Fill("text"),
        "<input id=go><input id=other><script>go.onfocus = () => other.focus()</script>",
    ),
    trap("more text", Action::Append("c"), "<input id=go value=ab>"),
    trap(
        "a key",
        Action::Press("Enter"),
        "<form id=form onsubmit='event.preventDefault()'><input id=go></form><script>go.focus()</script>",
    ),
    trap(
        "a choice by its label",
        Action::Select(&["Large"]),
        "<select id=go><option value=s>Small<option value=l>Large</select>",
    ),
    trap(
        "several choices",
        Action::Select(&["One", "3"]),
        "<select id=go multiple><option>One<option selected>Two<option value=3>Three</select>",
    ),
    trap(
        "a choice that is disabled",
        Action::Select(&["Two"]),
        "<select id=go><option>One<option disabled>Two</select>",
    )
    .fails(),
    trap(
        "a choice that is not there",
        Action::Select(&["Three"]),
        "<select id=go><option>One<option>Two</select>",
    )
    .fails(),
    trap(
        "a choice that comes late",
        Action::Select(&["Two"]),
        "<select id=go><option>One</select><script>begin = () => { setTimeout(() => go.add(new Option('Two')), 300) }</script>",
    ),
    click(
        "the label of a checkbox",
        "<input id=box type=checkbox><label id=go for=box>Agree</label>",
    ),
    click(
        "a label with a link in it",
        "<label id=go>Agree <a id=terms href='#terms'>to all the terms there are</a> <input id=box type=checkbox></label>",
    ),
    click(
        "the label around a checkbox",
        "<label id=go>Agree <input id=box type=checkbox></label>",
    ),
    click(
        "the label of a checkbox nobody sees",
        "<label id=go><input id=box type=checkbox style='position: absolute; opacity: 0'>Agree</label>",
    ),
    click(
        "a checkbox under its own drawing",
        "<label style='position: relative'><input id=go type=checkbox style='opacity: 0'><i id=drawing style='position: absolute; inset: 0; background: gold'></i></label>",
    )
    .fails(),
    click(
        "the label of a file",
        "<label id=go>Picture <input id=file type=file hidden></label>",
    ),
    click(
        "a button that gives the focus away",
        "<button id=go onmousedown='event.preventDefault(); other.focus()'>Go</button><input id=other>",
    ),
    click(
        "a click that nobody else may see",
        "<button id=go>Go</button><script>for (const type of ['pointerdown', 'mousedown', 'click']) addEventListener(type, event => event.stopImmediatePropagation(), true)</script>",
    ),
    click(
        "a field that formats itself when it is left",
        "<input id=field value=1><button id=go>Go</button><script>
        begin = () => { field.focus(); document.execCommand('insertText', false, '2') };
        field.onchange = () => { field.style.height = '200px' };
        </script>",
    ),
];
