//! Draws screens that look like an app from afar: bars for text, boxes for everything else.

use std::io::Write;

use packtrain_model::screen::ScreenTree;

/// What the screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Screen {
    /// Two fields and a button.
    Form,
    /// Rows with a picture each.
    List,
    /// One big picture and a button.
    Product,
    /// Rows with a total and a button.
    Basket,
    /// The basket with a keyboard over its lower half.
    Keyboard,
    /// A tick.
    Done,
    /// A message in the middle.
    Error,
}

#[derive(Clone, Copy)]
struct Rect {
    x: i32,
    y: i32,
    w: i32,
    h: i32,
}

struct Canvas {
    width: i32,
    height: i32,
    pixels: Vec<u8>,
}

const INK: [u8; 3] = [38, 44, 56];
const PALE: [u8; 3] = [206, 211, 220];
const PAPER: [u8; 3] = [250, 250, 252];

/// A PNG of `width` x `height` pixels in an accent colour.
pub fn draw(screen: Screen, width: u32, height: u32, accent: [u8; 3]) -> Vec<u8> {
    let (w, h) = (width as i32, height as i32);
    let mut canvas = Canvas {
        width: w,
        height: h,
        pixels: PAPER.repeat((width * height) as usize),
    };
    let margin = w / 16;
    let inner = w - 2 * margin;
    let bar = h / 11;
    let at = |x, y, w, h| Rect { x, y, w, h };
    canvas.fill(at(0, 0, w, bar), accent, 0);
    canvas.fill(at(margin, bar / 2, inner / 3, bar / 5), PAPER, 3);
    let button = at(margin, h - 2 * bar, inner, bar * 4 / 5);
    let rows = |canvas: &mut Canvas, count: i32, space: i32| {
        for row in 0..count {
            let y = bar + bar / 2 + row * space;
            canvas.fill(
                at(margin, y, space * 3 / 4, space * 3 / 4),
                tint(accent, row),
                6,
            );
            let x = margin + space;
            canvas.fill(at(x, y + 4, (inner - space) * (5 - row % 3) / 6, 7), INK, 3);
            canvas.fill(at(x, y + 18, (inner - space) / 2, 5), PALE, 2);
        }
    };
    match screen {
        Screen::Form => {
            for row in 0..2 {
                let y = bar * 2 + row * bar * 3 / 2;
                canvas.fill(at(margin, y, inner / 3, 6), INK, 3);
                canvas.fill(at(margin, y + 12, inner, bar * 4 / 5), PALE, 6);
                canvas.fill(at(margin + 2, y + 14, inner - 4, bar * 4 / 5 - 4), PAPER, 5);
            }
            canvas.fill(at(margin, bar * 6, inner, bar * 4 / 5), accent, 8);
        }
        Screen::List => rows(&mut canvas, 7, bar * 5 / 4),
        Screen::Product => {
            canvas.fill(
                at(margin, bar * 3 / 2, inner, h / 2 - bar),
                tint(accent, 3),
                10,
            );
            canvas.fill(at(margin, h / 2 + bar, inner * 2 / 3, 9), INK, 4);
            for line in 0..3 {
                let y = h / 2 + bar + 22 + line * 13;
                canvas.fill(at(margin, y, inner - line * 30, 5), PALE, 2);
            }
            canvas.fill(button, accent, 8);
        }
        Screen::Basket | Screen::Keyboard => {
            rows(&mut canvas, 2, bar * 5 / 4);
            let y = bar * 5;
            canvas.fill(at(margin, y, inner, 2), PALE, 0);
            canvas.fill(at(margin, y + 12, inner / 4, 8), INK, 3);
            canvas.fill(at(w - margin - inner / 4, y + 12, inner / 4, 8), INK, 3);
            canvas.fill(button, accent, 8);
            if screen == Screen::Keyboard {
                let top = h * 6 / 10;
                canvas.fill(at(0, top, w, h - top), [196, 201, 211], 0);
                let key = w / 11;
                for row in 0..4 {
                    for column in 0..10 {
                        let (x, y) = (key / 2 + column * key, top + 8 + row * key * 4 / 3);
                        canvas.fill(at(x, y, key - 4, key), PAPER, 3);
                    }
                }
            }
        }
        Screen::Done => {
            canvas.fill(
                at(w / 2 - bar, h / 3, bar * 2, bar * 2),
                [52, 168, 108],
                bar,
            );
            canvas.fill(at(w / 4, h / 3 + bar * 3, w / 2, 9), INK, 4);
            canvas.fill(at(w / 3, h / 3 + bar * 3 + 20, w / 3, 6), PALE, 3);
        }
        Screen::Error => {
            canvas.fill(at(margin, h / 3, inner, bar * 3), [252, 228, 226], 10);
            canvas.fill(
                at(margin * 2, h / 3 + bar / 2, inner / 2, 8),
                [190, 50, 40],
                4,
            );
            for line in 0..3 {
                let y = h / 3 + bar + line * 14;
                canvas.fill(at(margin * 2, y, inner - 3 * margin - line * 24, 5), INK, 2);
            }
        }
    }
    canvas.png()
}

fn tint(color: [u8; 3], step: i32) -> [u8; 3] {
    color.map(|part| (i32::from(part) + (255 - i32::from(part)) * (step % 4 + 3) / 8) as u8)
}

impl Canvas {
    fn fill(&mut self, rect: Rect, color: [u8; 3], radius: i32) {
        let radius = radius.min(rect.w / 2).min(rect.h / 2);
        for y in rect.y.max(0)..(rect.y + rect.h).min(self.height) {
            for x in rect.x.max(0)..(rect.x + rect.w).min(self.width) {
                let dx = (rect.x + radius - x)
                    .max(x - (rect.x + rect.w - 1 - radius))
                    .max(0);
                let dy = (rect.y + radius - y)
                    .max(y - (rect.y + rect.h - 1 - radius))
                    .max(0);
                if dx * dx + dy * dy <= radius * radius {
                    let place = ((y * self.width + x) * 3) as usize;
                    self.pixels[place..place + 3].copy_from_slice(&color);
                }
            }
        }
    }

    fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("writing to memory");
        let mut stream = writer.stream_writer().expect("writing to memory");
        stream.write_all(&self.pixels).expect("writing to memory");
        stream.finish().expect("writing to memory");
        writer.finish().expect("writing to memory");
        file
    }
}

/// Draws a screen from its tree, as an app would look whose letters nobody can read.
pub fn draw_tree(tree: &ScreenTree, dark: bool, shade: u8, scale: f64) -> Vec<u8> {
    let at = |value: i32| (f64::from(value) * scale).round() as i32;
    let (w, h) = ((tree.width * scale) as i32, (tree.height * scale) as i32);
    let (paper, ink, accent) = if dark {
        ([24, 27, 32], [214, 218, 226], [70, 110 + shade, 190])
    } else {
        (PAPER, INK, [40, 90 + shade, 170])
    };
    let mut canvas = Canvas {
        width: w,
        height: h,
        pixels: paper.repeat((w * h) as usize),
    };
    for node in &tree.nodes {
        let Some([l, t, r, b]) = node.bounds.map(|bounds| bounds.map(at)) else {
            continue;
        };
        let (width, height) = (r - l, b - t);
        let all = Rect {
            x: l,
            y: t,
            w: width,
            h: height,
        };
        let (color, size) = match node.role.as_str() {
            "banner" => {
                let bar = if dark { [34, 44, 60] } else { tint(accent, 3) };
                canvas.fill(all, bar, 0);
                continue;
            }
            "image" => {
                canvas.fill(all, tint(accent, node.name.len() as i32), at(8));
                continue;
            }
            "button" => {
                canvas.fill(all, accent, at(8));
                (PAPER, 1.6)
            }
            "textbox" => {
                canvas.fill(all, PALE, at(6));
                let inner = Rect {
                    x: l + 1,
                    y: t + 1,
                    w: width - 2,
                    h: height - 2,
                };
                canvas.fill(inner, paper, at(6));
                (ink, 1.5)
            }
            "heading" => (ink, 2.4),
            _ => (ink, 1.5),
        };
        canvas.write(&node.name, (l + at(6), t + height / 4), size * scale, color);
    }
    canvas.png()
}

impl Canvas {
    /// Letters are five by seven dots that look like nothing in particular.
    fn write(&mut self, text: &str, (x, y): (i32, i32), size: f64, color: [u8; 3]) {
        for (place, letter) in text.chars().enumerate().filter(|(_, c)| *c != ' ') {
            let bits = (u64::from(letter) + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            for dot in (0..35).filter(|dot| bits >> dot & 1 == 1) {
                let left = f64::from(x) + (place as f64 * 6.0 + f64::from(dot % 5)) * size;
                let top = f64::from(y) + f64::from(dot / 5) * size;
                let side = size.ceil() as i32;
                let rect = Rect {
                    x: left as i32,
                    y: top as i32,
                    w: side,
                    h: side,
                };
                self.fill(rect, color, 0);
            }
        }
    }
}
