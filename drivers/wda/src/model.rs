//! What people call the models Apple numbers, and how large their screens are.

use packtrain_drivers::Size;

/// The name of a model by its product type: `iPhone15,2` is an `iPhone 14 Pro`. One that is not
/// listed is called by its type.
pub(crate) fn name(product_type: &str) -> &str {
    let known = MODELS.iter().find(|(known, ..)| *known == product_type);
    known.map_or(product_type, |(_, name, _)| name)
}

/// The screen of a model by its name, upright, in points, unless its owner has it zoomed.
pub(crate) fn screen(name: &str) -> Option<Size> {
    let known = MODELS.iter().find(|(_, known, _)| *known == name);
    known.map(|(.., (width, height))| Size::new(f64::from(*width), f64::from(*height)))
}

/// Whether a product type is an iPad's.
pub(crate) fn is_tablet(product_type: &str) -> bool {
    product_type.starts_with("iPad")
}

/// iPhones since 2017, which run every iOS that WebDriverAgent still supports.
const MODELS: &[(&str, &str, (u16, u16))] = &[
    ("iPhone10,1", "iPhone 8", (375, 667)),
    ("iPhone10,2", "iPhone 8 Plus", (414, 736)),
    ("iPhone10,3", "iPhone X", (375, 812)),
    ("iPhone10,4", "iPhone 8", (375, 667)),
    ("iPhone10,5", "iPhone 8 Plus", (414, 736)),
    ("iPhone10,6", "iPhone X", (375, 812)),
    ("iPhone11,2", "iPhone XS", (375, 812)),
    ("iPhone11,4", "iPhone XS Max", (414, 896)),
    ("iPhone11,6", "iPhone XS Max", (414, 896)),
    ("iPhone11,8", "iPhone XR", (414, 896)),
    ("iPhone12,1", "iPhone 11", (414, 896)),
    ("iPhone12,3", "iPhone 11 Pro", (375, 812)),
    ("iPhone12,5", "iPhone 11 Pro Max", (414, 896)),
    ("iPhone12,8", "iPhone SE (2nd generation)", (375, 667)),
    ("iPhone13,1", "iPhone 12 mini", (375, 812)),
    ("iPhone13,2", "iPhone 12", (390, 844)),
    ("iPhone13,3", "iPhone 12 Pro", (390, 844)),
    ("iPhone13,4", "iPhone 12 Pro Max", (428, 926)),
    ("iPhone14,2", "iPhone 13 Pro", (390, 844)),
    ("iPhone14,3", "iPhone 13 Pro Max", (428, 926)),
    ("iPhone14,4", "iPhone 13 mini", (375, 812)),
    ("iPhone14,5", "iPhone 13", (390, 844)),
    ("iPhone14,6", "iPhone SE (3rd generation)", (375, 667)),
    ("iPhone14,7", "iPhone 14", (390, 844)),
    ("iPhone14,8", "iPhone 14 Plus", (428, 926)),
    ("iPhone15,2", "iPhone 14 Pro", (393, 852)),
    ("iPhone15,3", "iPhone 14 Pro Max", (430, 932)),
    ("iPhone15,4", "iPhone 15", (393, 852)),
    ("iPhone15,5", "iPhone 15 Plus", (430, 932)),
    ("iPhone16,1", "iPhone 15 Pro", (393, 852)),
    ("iPhone16,2", "iPhone 15 Pro Max", (430, 932)),
    ("iPhone17,1", "iPhone 16 Pro", (402, 874)),
    ("iPhone17,2", "iPhone 16 Pro Max", (440, 956)),
    ("iPhone17,3", "iPhone 16", (393, 852)),
    ("iPhone17,4", "iPhone 16 Plus", (430, 932)),
    ("iPhone17,5", "iPhone 16e", (390, 844)),
];
