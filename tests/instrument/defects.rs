//! What is planted, and how one recognises a card about it. `app/defects.js` does it to the page.

use packtrain_compare::answer::ClusterKind::{
    self, Console, Defect as Layout, Difference, Failure, Network, Slow, Visual,
};

use super::condition::Literal;

/// Something that is wrong with the shop.
pub(crate) struct Defect {
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    /// Kinds of cards that may be about it.
    pub(crate) kinds: &'static [ClusterKind],
    /// One of these stands in its title; any title will do where there are none.
    pub(crate) about: &'static [&'static str],
    /// Where else it cannot be seen.
    pub(crate) only: Option<Literal>,
}

const fn defect(
    id: &'static str,
    what: &'static str,
    kinds: &'static [ClusterKind],
    about: &'static [&'static str],
) -> Defect {
    Defect {
        id,
        what,
        kinds,
        about,
        only: None,
    }
}

const fn only(axis: &'static str, value: &'static str, mut defect: Defect) -> Defect {
    defect.only = Some((axis, value));
    defect
}

/// All of them. Words are in every language that the reference of a run may be in.
pub(crate) const ALL: &[Defect] = &[
    defect("d01", "button of a step is disabled", &[Failure], &[]),
    defect("d02", "link is missing", &[Difference], &["Privacy", "Datenschutz", "الخصوصية"]),
    defect("d03", "heading has other words", &[Difference], &["All products", "include taxes", "Alle Produkte", "كل المنتجات"]),
    defect("d04", "link of a step is hidden", &[Failure], &[]),
    defect("d05", "button of a step is covered", &[Failure], &[]),
    defect("d06", "button of a step is missing", &[Failure], &[]),
    defect("d07", "raw key", &[Difference], &["shop.note.taxes"]),
    defect("d08", "text that is verified is another", &[Failure], &[]),
    defect("d09", "link stands there twice", &[Difference], &["Contact", "Kontakt", "اتصل بنا"]),
    defect("d10", "price has swapped digits", &[Difference, Visual], &["249", "294", "٢٩٤", "٢٤٩", "Office chair"]),
    defect("d11", "total is wrong", &[Difference, Visual], &["34.8", "43.8", "34,8", "43,8", "٣٤", "٤٣", "Total", "Summe"]),
    defect("d12", "number is not formatted", &[Difference, Visual], &["1240", "1,240", "1.240", "١٬٢٤٠", "Cairo"]),
    defect("d13", "link stands elsewhere", &[Difference], &["Contact", "Kontakt", "اتصل بنا", "Imprint", "Privacy"]),
    defect("d14", "banner that does not belong there", &[Difference], &["We deliver", "status", "Wir liefern", "نوصل"]),
    defect("d15", "API answers 500", &[Network, Console], &["api/stock", "500"]),
    defect("d16", "step is slow", &[Slow], &[]),
    defect("d17", "error on the console", &[Console], &["no provider"]),
    defect("d18", "script is missing", &[Network, Console], &["pay.js", "404"]),
    defect("d19", "page scrolls sideways", &[Layout], &[]),
    defect("d20", "text is cut off", &[Layout], &["All prices", "Alle Preise", "كل الأسعار"]),
    defect("d21", "link is far out of view", &[Difference], &["Continue", "Weiter", "متابعة"]),
    defect("d22", "buttons overlap", &[Layout], &["Delivery", "Lieferung", "التوصيل"]),
    defect("d23", "link is covered", &[Layout], &["Continue", "Weiter", "متابعة"]),
    only("locale", "de-DE", defect("d24", "button is in English", &[Difference], &["Place order", "Bestellen"])),
    only("locale", "ar-EG", defect("d25", "text is in German among Arabic", &[Difference, Visual], &["Alle Preise", "All prices", "كل الأسعار"])),
    defect("d26", "placeholder is not filled in", &[Difference, Visual], &["{0}", "Your order"]),
    defect("d27", "link is in French", &[Difference], &["Contactez", "Contact", "Kontakt"]),
    defect("d28", "text is hardly to be seen", &[Visual], &[]),
    only("colorScheme", "dark", defect("d29", "heading is dark on dark", &[Visual], &[])),
    defect("d30", "button is crimson", &[Visual], &[]),
    defect("d31", "button is 14 px high", &[Visual], &[]),
    defect("d32", "12 px are missing or too many", &[Visual], &[]),
    defect("d33", "dialog does not open", &[Failure], &[]),
    defect("d34", "spinner stays", &[Difference], &["40218", "progress"]),
    defect("d35", "picture is missing", &[Network, Console, Visual], &["gone.svg", "404"]),
    defect("d36", "field has another value", &[Difference], &["Country", "Land", "Ireland", "Irland", "Egypt"]),
    defect("d37", "checkbox is checked", &[Difference], &["Gift", "Geschenk", "تغليف"]),
    defect("d38", "icon is another", &[Visual], &[]),
    defect("d39", "heading is none", &[Difference], &["In stock", "Vorrätig", "متوفر"]),
    defect("d40", "item of a list is missing", &[Difference], &["Stool", "Hocker", "مقعد"]),
    defect("d41", "dialog opens by itself", &[Difference], &["Gift", "Geschenk", "تغليف", "We deliver"]),
    defect("d42", "checkbox is disabled", &[Difference], &["Gift", "Geschenk", "تغليف"]),
];
