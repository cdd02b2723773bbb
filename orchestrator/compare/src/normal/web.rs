//! Elements of a page as assistive technology sees them.

use packtrain_drivers::tree::WebNode;

use super::{Reading, node};

/// States that say something of the page. Which element has the focus, or what the cursor looks like,
/// does not.
const STATES: [&str; 5] = ["checked", "disabled", "expanded", "pressed", "selected"];

pub(super) fn read(web: &WebNode) -> Reading {
    let Some(role) = web.role.as_deref().and_then(role) else {
        return Reading::Wrapper;
    };
    let mut kept = node(role, web.name.as_deref().unwrap_or_default());
    kept.value.clone_from(&web.value);
    kept.id.clone_from(&web.test_id);
    // A field's text is what it is called when nothing else names it; this is its value.
    if role == "textbox" && kept.value.as_deref() == Some(kept.name.as_str()) {
        kept.value = None;
    }
    let is_told = |state: &&String| {
        let name = state.split('=').next().unwrap_or_default();
        STATES.contains(&name) && !state.ends_with("=false")
    };
    kept.states = web.states.iter().filter(is_told).cloned().collect();
    Reading::Keep(kept)
}

/// The word for an ARIA role; `None` for what only holds others.
fn role(aria: &str) -> Option<&'static str> {
    Some(match aria {
        "button" => "button",
        "link" => "link",
        "textbox" | "searchbox" | "spinbutton" => "textbox",
        "combobox" => "combobox",
        "checkbox" => "checkbox",
        "radio" => "radio",
        "switch" => "switch",
        "slider" => "slider",
        "tab" => "tab",
        "menuitem" | "menuitemcheckbox" | "menuitemradio" | "treeitem" => "menuitem",
        "option" => "option",
        "heading" => "heading",
        "img" | "image" | "figure" => "image",
        "list" | "listbox" | "menu" | "menubar" | "tree" | "tablist" | "radiogroup" => "list",
        "listitem" => "listitem",
        "table" | "grid" | "treegrid" => "table",
        "row" | "rowheader" | "columnheader" => "row",
        "cell" | "gridcell" => "cell",
        "dialog" | "alertdialog" => "dialog",
        "alert" | "status" | "log" | "tooltip" => "status",
        "progressbar" | "meter" => "progressbar",
        "banner" | "complementary" | "contentinfo" | "form" | "main" | "navigation" | "region"
        | "search" | "toolbar" | "iframe" => "region",
        "group" | "article" | "rowgroup" => "group",
        "document" | "application" | "none" | "presentation" | "separator" => return None,
        _ => "text",
    })
}
