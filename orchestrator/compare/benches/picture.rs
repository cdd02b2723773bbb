//! How long comparing takes, and how that compares with reading the pictures' bytes once.

use std::hint::black_box;
use std::io::Write;

use packtrain_compare::picture::{self, Picture};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    for (width, height) in [(1_280, 720), (1_080, 2_400)] {
        let was = page(width, height, 0);
        let same = was.clone();
        let copy = best(|| {
            black_box(black_box(&was).rgba == black_box(&same).rgba);
        });
        writeln!(out, "{width}x{height}: reading both once {copy:.2} ms")?;
        let row = width as usize * 4;
        let mut shifted = was.clone();
        let end = was.rgba.len();
        shifted
            .rgba
            .copy_within(200 * row..end - 24 * row, 224 * row);
        let mut button = was.clone();
        button.rgba[300 * row..348 * row].fill(90);
        for (name, is) in [
            ("equal", &same),
            ("a button", &button),
            ("moved down", &shifted),
            ("all else", &page(width, height, 3)),
        ] {
            let took = best(|| {
                black_box(picture::difference(black_box(&was), black_box(is), &[]));
            });
            writeln!(
                out,
                "  {name:<11} {took:7.2} ms, {:6.1} times reading",
                took / copy
            )?;
        }
        let file = encoded(&was);
        let took = best(|| {
            black_box(Picture::decode(black_box(&file)).is_ok());
        });
        writeln!(
            out,
            "  decoding    {took:7.2} ms, {:6.1} times reading",
            took / copy
        )?;
    }
    Ok(())
}

/// The shortest of several runs, in milliseconds.
fn best(run: impl Fn()) -> f64 {
    (0..15)
        .map(|_| {
            #[expect(clippy::disallowed_types, reason = "this crate has no tokio")]
            let started = std::time::Instant::now();
            run();
            started.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::MAX, f64::min)
}

/// A page of lines and letters, each with its own ink.
fn page(width: u32, height: u32, seed: u32) -> Picture {
    let mut rgba = vec![255; (width * height * 4) as usize];
    for y in 0..height {
        for x in 0..width {
            let (line, letter) = (y / 20, x / 9);
            let ink = (line * 31 + letter * 17 + seed * 5) % 7;
            if y % 20 < 12 && y % 20 > ink && x % 9 < 2 + ink % 4 {
                let at = ((y * width + x) * 4) as usize;
                rgba[at..at + 3].fill((ink * 20 + line % 40) as u8);
            }
        }
    }
    Picture {
        width,
        height,
        rgba,
    }
}

fn encoded(picture: &Picture) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&picture.rgba));
    assert!(written.is_ok(), "a picture in memory can be written");
    file
}
