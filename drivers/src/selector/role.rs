//! The roles that an element of a page can have.

/// Those of ARIA, as Playwright tells them.
const ROLES: &str = "alert alertdialog application article banner blockquote button caption cell checkbox \
    code columnheader combobox complementary contentinfo definition deletion dialog \
    directory document emphasis feed figure form generic grid gridcell group heading img \
    insertion link list listbox listitem log main mark marquee math menu menubar menuitem \
    menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation \
    progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox \
    separator slider spinbutton status strong subscript superscript switch tab table tablist \
    tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem";

/// All of them.
pub fn roles() -> impl Iterator<Item = &'static str> {
    ROLES.split(' ')
}

/// Whether a word is one of them, in lower case.
pub fn is_role(word: &str) -> bool {
    roles().any(|role| role == word)
}

/// An element as lists print it, without the `[level=1]` or `: value` behind its name.
pub fn without_state(line: &str) -> &str {
    let quote = line.find("\" [").or_else(|| line.find("\": "));
    let end = quote.map_or_else(|| line.find(" ["), |quote| Some(quote + 1));
    line[..end.unwrap_or(line.len())].trim()
}

/// The role and the name of such an element, `button "Save"`; `None` of any other text.
pub fn role_and_name(element: &str) -> Option<(&str, &str)> {
    let (role, name) = element.split_once(" \"")?;
    let name = name.strip_suffix('"')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!role.is_empty() && role.chars().all(is_word)).then_some((role, name))
}
