use super::*;

/// The same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> i64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64
    }
}

/// Discs with smoothed edges on white; every seventh is moved by so many eighths of a pixel.
fn discs(width: i64, height: i64, seed: u64, moved: i64) -> Picture {
    let mut rgba = vec![255_u8; (width * height * 4) as usize];
    let mut random = Random(seed);
    for number in 0..60 {
        let (left, top) = (random.next() % width, random.next() % height);
        let radius = 3 + random.next() % 20;
        let colour = [0; 3].map(|_: i64| random.next() % 256);
        let by = if number % 7 == 0 { moved } else { 0 };
        for y in (top - radius - 1).max(0)..(top + radius + 2).min(height) {
            for x in (left - radius - 1).max(0)..(left + radius + 2).min(width) {
                let covers = |sample: &i64| {
                    let across = 8 * (x - left) + 2 * (sample % 4) - 3 - by;
                    let down = 8 * (y - top) + 2 * (sample / 4) - 3;
                    across * across + down * down <= 64 * radius * radius
                };
                let covered = (0..16).filter(covers).count() as i64;
                let at = ((y * width + x) * 4) as usize;
                for (channel, colour) in colour.iter().enumerate() {
                    let old = i64::from(rgba[at + channel]);
                    rgba[at + channel] = ((old * (16 - covered) + colour * covered) / 16) as u8;
                }
            }
        }
    }
    Picture {
        width: width as u32,
        height: height as u32,
        rgba,
    }
}

fn plain(width: u32, height: u32) -> Picture {
    Picture {
        width,
        height,
        rgba: vec![255; (width * height * 4) as usize],
    }
}

fn paint(picture: &mut Picture, [left, top, right, bottom]: [i32; 4], colour: [u8; 3]) {
    for y in top..bottom {
        for x in left..right {
            let at = (y as usize * picture.width as usize + x as usize) * 4;
            picture.rgba[at..at + 3].copy_from_slice(&colour);
        }
    }
}

/// Lines of text, each of its own.
fn page(width: u32, height: u32) -> Picture {
    let mut picture = plain(width, height);
    for line in 0..height as i32 / 10 {
        for letter in 0..width as i32 / 8 {
            let ink = (line * 31 + letter * 17) % 7;
            let at = [
                letter * 8,
                line * 10 + ink,
                letter * 8 + 2 + ink % 4,
                line * 10 + 8,
            ];
            paint(&mut picture, at, [ink as u8 * 30, line as u8, letter as u8]);
        }
    }
    picture
}

fn encoded(
    width: u32,
    height: u32,
    change: impl FnOnce(&mut png::Encoder<'_, &mut Vec<u8>>),
    data: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    change(&mut encoder);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(data).expect("pixels");
    writer.finish().expect("an end");
    file
}

#[test]
fn as_many_pixels_differ_as_pixelmatch_counts() {
    // pixelmatch 5.3.0, threshold 0.1, on the same discs.
    for (width, height, seed, moved, counted) in COUNTED {
        let difference = difference(
            &discs(width, height, seed, 0),
            &discs(width, height, seed, moved),
            &[],
        );
        let Difference::Changed { pixels, areas } = difference else {
            panic!("{difference:?}");
        };
        assert_eq!(pixels, counted, "{width}x{height}, seed {seed}");
        assert_eq!(areas.iter().map(|area| area.pixels).sum::<u64>(), counted);
    }
}

const COUNTED: [(i64, i64, u64, i64, u64); 4] = [
    (320, 240, 1, 24, 266),
    (320, 240, 2, 40, 781),
    (200, 300, 3, 8, 21),
    (64, 64, 4, 24, 57),
];

#[test]
fn equal_pictures_do_not_differ() {
    assert_eq!(
        difference(&page(320, 240), &page(320, 240), &[]),
        Difference::None
    );
    assert_eq!(
        difference(&plain(0, 0), &plain(0, 0), &[]),
        Difference::None
    );
}

#[test]
fn boxes_say_where_and_whether_something_came_or_went() {
    let was = plain(200, 100);
    let mut is = was.clone();
    paint(&mut is, [20, 20, 60, 40], [0, 0, 200]);
    paint(&mut is, [150, 70, 154, 74], [0, 0, 0]);
    let area = |at, pixels, kind| Area { at, pixels, kind };
    assert_eq!(
        difference(&was, &is, &[]),
        Difference::Changed {
            pixels: 816,
            areas: vec![
                area([20, 20, 60, 40], 800, BoxKind::Added),
                area([150, 70, 154, 74], 16, BoxKind::Added),
            ],
        }
    );
    let Difference::Changed { areas, .. } = difference(&is, &was, &[]) else {
        panic!("they differ");
    };
    assert_eq!(areas[0].kind, BoxKind::Removed);
}

#[test]
fn what_is_masked_is_left_out_and_masks_may_lie_anywhere() {
    let was = plain(200, 100);
    let mut is = was.clone();
    paint(&mut is, [20, 20, 60, 40], [0, 0, 200]);
    let masks = [
        [20, 20, 60, 40],
        [-50, -5, 9_999, 2],
        [5, 5, 1, 1],
        [i32::MIN, 0, i32::MAX, 0],
    ];
    assert_eq!(difference(&was, &is, &masks), Difference::None);
    assert_ne!(difference(&was, &is, &masks[1..]), Difference::None);
}

#[test]
fn a_screen_that_moved_down_is_told_as_that() {
    let was = page(320, 480);
    let mut is = was.clone();
    let row = 320 * 4;
    is.rgba.copy_within(100 * row..468 * row, 112 * row);
    paint(&mut is, [0, 100, 320, 112], [250, 200, 0]);
    let moved = difference(&was, &is, &[]);
    let Difference::Shifted { by, at, .. } = moved else {
        panic!("{moved:?}");
    };
    assert_eq!((by, at), ([0, 12], [0, 112, 320, 480]));
    paint(&mut is, [100, 200, 220, 260], [0, 0, 0]);
    assert!(matches!(
        difference(&was, &is, &[]),
        Difference::Changed { .. }
    ));
}

#[test]
fn a_part_that_moved_sideways_is_told_as_that() {
    let was = page(320, 240);
    let mut is = was.clone();
    for y in 50..90 {
        let start = (y * 320) * 4;
        is.rgba.copy_within(start..start + 312 * 4, start + 8 * 4);
        is.rgba[start..start + 8 * 4].fill(255);
    }
    let moved = difference(&was, &is, &[]);
    assert!(
        matches!(moved, Difference::Shifted { by: [8, 0], .. }),
        "{moved:?}"
    );
}

#[test]
fn pictures_of_unequal_size_are_not_compared() {
    assert_eq!(
        difference(&plain(10, 20), &plain(20, 10), &[]),
        Difference::Size
    );
    let broken = Picture {
        width: u32::MAX,
        height: u32::MAX,
        rgba: Vec::new(),
    };
    assert_eq!(difference(&broken, &broken, &[]), Difference::Size);
}

#[test]
fn every_kind_of_png_is_read() {
    use png::{BitDepth, ColorType};
    let red = Picture {
        width: 2,
        height: 1,
        rgba: vec![255, 0, 0, 255, 255, 0, 0, 255],
    };
    let decode = |file: &[u8]| Picture::decode(file).expect("a picture");
    let deep = encoded(
        2,
        1,
        |e| {
            e.set_color(ColorType::Rgb);
            e.set_depth(BitDepth::Sixteen);
        },
        &[255, 255, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0],
    );
    assert_eq!(decode(&deep), red);
    let palette = encoded(
        2,
        1,
        |e| {
            e.set_color(ColorType::Indexed);
            e.set_depth(BitDepth::One);
            e.set_palette(vec![0, 0, 0, 255, 0, 0]);
        },
        &[0b1100_0000],
    );
    assert_eq!(decode(&palette), red);
    let grey = encoded(
        2,
        1,
        |e| e.set_color(ColorType::GrayscaleAlpha),
        &[7, 8, 9, 10],
    );
    assert_eq!(decode(&grey).rgba, [7, 7, 7, 8, 9, 9, 9, 10]);
    let grey = encoded(2, 1, |e| e.set_color(ColorType::Grayscale), &[7, 9]);
    assert_eq!(decode(&grey).rgba, [7, 7, 7, 255, 9, 9, 9, 255]);
}

#[test]
fn hostile_files_are_refused() {
    let whole = encoded(
        64,
        64,
        |e| e.set_color(png::ColorType::Rgb),
        &[7; 64 * 64 * 3],
    );
    for length in 0..whole.len() - 12 {
        assert!(
            Picture::decode(&whole[..length]).is_err(),
            "cut at {length}"
        );
    }
    for at in 0..whole.len() {
        let mut bent = whole.clone();
        bent[at] ^= 0x55;
        // Whatever it is read as, it is whole.
        assert!(
            Picture::decode(&bent).map_or(true, |picture| picture.is_whole()),
            "bent at {at}"
        );
    }
    // A header that says 100,000 by 100,000, with a right checksum.
    let mut header = b"IHDR".to_vec();
    header.extend(100_000_u32.to_be_bytes());
    header.extend(100_000_u32.to_be_bytes());
    header.extend([8, 6, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    file.extend(&header);
    file.extend(checksum(&header).to_be_bytes());
    file.extend([0; 64]);
    assert!(matches!(
        Picture::decode(&file),
        Err(DecodeError::TooLarge { .. })
    ));
    assert!(Picture::decode(b"").is_err());
}

/// CRC-32, as PNG has it.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    })
}
