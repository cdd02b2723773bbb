//! A picture of at most 256 colours: one byte per pixel, a quarter of what RGBA would take.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use crate::geometry::Rect;

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// Steps between a text's colour and what lies behind it.
const SHADES: u8 = 4;

/// How a line of text stands in its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At its left edge.
    Left,
    /// In its middle.
    Centre,
}

/// A picture being drawn. Coordinates are dp or pt; the scale turns them into pixels.
#[derive(Debug)]
pub struct Canvas {
    width: u32,
    height: u32,
    scale: f64,
    palette: Vec<Rgb>,
    pixels: Vec<u8>,
}

impl Canvas {
    /// A picture of one colour.
    pub fn new(width: u32, height: u32, scale: f64, ground: Rgb) -> Self {
        Self {
            width,
            height,
            scale,
            palette: vec![ground],
            pixels: vec![0; width as usize * height as usize],
        }
    }

    /// Width in pixels.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// The rows from the top, each as RGBA.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u8>> {
        let palette: Vec<[u8; 4]> = (self.palette.iter())
            .map(|[r, g, b]| [*r, *g, *b, 255])
            .collect();
        // Most rows of a screen are like the one above.
        let (mut above, mut out) = (&[][..], Vec::new());
        self.pixels
            .chunks_exact(self.width.max(1) as usize)
            .map(move |row| {
                if row != above {
                    above = row;
                    out.clear();
                    out.extend(row.iter().flat_map(|index| palette[usize::from(*index)]));
                }
                out.clone()
            })
    }

    /// The part of it below `rect`; `None` when nothing of it is there.
    pub fn cut(&self, rect: &Rect) -> Option<Self> {
        let (left, top, right, bottom) = self.pixels_of(rect);
        let rows = self.pixels.chunks_exact(self.width.max(1) as usize);
        let rows = rows.take(bottom).skip(top);
        (left < right && top < bottom).then(|| Self {
            width: (right - left) as u32,
            height: (bottom - top) as u32,
            scale: self.scale,
            palette: self.palette.clone(),
            pixels: rows.flat_map(|row| &row[left..right]).copied().collect(),
        })
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, rect: &Rect, colour: Rgb) {
        let index = self.index_of(colour);
        let (left, top, right, bottom) = self.pixels_of(rect);
        for y in top..bottom {
            let start = y * self.width as usize;
            self.pixels[start + left..start + right].fill(index);
        }
    }

    /// Draws the edge of a rectangle, one dp thick.
    pub fn frame(&mut self, rect: &Rect, colour: Rgb) {
        let t = 1.0_f64.max(1.0 / self.scale);
        let (w, h) = (rect.w, rect.h);
        self.fill(&Rect::new(rect.x, rect.y, w, t), colour);
        self.fill(&Rect::new(rect.x, rect.bottom() - t, w, t), colour);
        self.fill(&Rect::new(rect.x, rect.y, t, h), colour);
        self.fill(&Rect::new(rect.right() - t, rect.y, t, h), colour);
    }

    /// Writes a text of `size` dp into `rect`, in as many lines as fit; what does not is cut off.
    pub fn text(&mut self, rect: &Rect, text: &str, size: f64, colour: Rgb, align: Align) {
        let font = Font::of_height(size * self.scale);
        let (advance, line_height) = (font.advance(), font.height());
        let (left, top, right, bottom) = self.pixels_of(rect);
        let (room, tall) = (right.saturating_sub(left), bottom.saturating_sub(top));
        if room < advance || tall == 0 {
            return;
        }
        let lines = wrap(text, room / advance, (tall / line_height).max(1));
        let used = lines.len() * line_height;
        let mut y = top + tall.saturating_sub(used) / 2;
        for line in lines {
            let width = line.chars().count() * advance;
            let mut x = match align {
                Align::Left => left,
                Align::Centre => left + room.saturating_sub(width) / 2,
            };
            for c in line.chars() {
                self.glyph(c, (x, y), &font, colour, (right, bottom));
                x += advance;
            }
            y += line_height;
        }
    }

    fn glyph(
        &mut self,
        c: char,
        at: (usize, usize),
        font: &Font,
        colour: Rgb,
        (right, bottom): (usize, usize),
    ) {
        let raster = get_raster(plain_letter(c), FontWeight::Regular, font.size)
            .or_else(|| get_raster('?', FontWeight::Regular, font.size));
        let Some(raster) = raster else {
            return;
        };
        for (row, line) in raster.rows().enumerate() {
            for (column, strength) in line.iter().enumerate() {
                let shade = strength / (255 / SHADES + 1);
                if shade == 0 {
                    continue;
                }
                let x0 = at.0 + column * font.zoom;
                let y0 = at.1 + row * font.zoom;
                for y in y0..(y0 + font.zoom).min(bottom) {
                    for x in x0..(x0 + font.zoom).min(right) {
                        self.blend(y * self.width as usize + x, colour, shade + 1);
                    }
                }
            }
        }
    }

    /// Mixes `colour` into one pixel, in steps of [`SHADES`].
    fn blend(&mut self, pixel: usize, colour: Rgb, shade: u8) {
        let Some(ground) = self.pixels.get(pixel).copied() else {
            return;
        };
        let ground = self.palette[usize::from(ground)];
        let mix = |a: u8, b: u8| {
            let (a, b, s) = (u32::from(a), u32::from(b), u32::from(shade.min(SHADES)));
            let all = u32::from(SHADES);
            u8::try_from((a * (all - s) + b * s) / all).unwrap_or(u8::MAX)
        };
        let mixed = [0, 1, 2].map(|i| mix(ground[i], colour[i]));
        self.pixels[pixel] = self.index_of(mixed);
    }

    fn index_of(&mut self, colour: Rgb) -> u8 {
        let found = self.palette.iter().position(|known| *known == colour);
        let index = found.unwrap_or_else(|| {
            // A picture of more colours than fit takes the nearest one; app screens have few.
            if self.palette.len() < 256 {
                self.palette.push(colour);
                self.palette.len() - 1
            } else {
                nearest(&self.palette, colour)
            }
        });
        u8::try_from(index).unwrap_or(u8::MAX)
    }

    /// Left, top, right and bottom in pixels, within the picture.
    fn pixels_of(&self, rect: &Rect) -> (usize, usize, usize, usize) {
        let within =
            |v: f64, most: u32| (v * self.scale).round().clamp(0.0, f64::from(most)) as usize;
        (
            within(rect.x, self.width),
            within(rect.y, self.height),
            within(rect.right(), self.width),
            within(rect.bottom(), self.height),
        )
    }
}

struct Font {
    size: RasterHeight,
    zoom: usize,
}

impl Font {
    /// The largest that is not taller than `pixels`; the smallest there is otherwise.
    fn of_height(pixels: f64) -> Self {
        let sizes = [
            RasterHeight::Size16,
            RasterHeight::Size20,
            RasterHeight::Size24,
            RasterHeight::Size32,
        ];
        let wanted = pixels.max(16.0) as usize;
        let mut best = (0, RasterHeight::Size16, 1);
        for size in sizes {
            let zoom = wanted / size.val();
            let height = zoom * size.val();
            if zoom > 0 && height > best.0 {
                best = (height, size, zoom);
            }
        }
        Self {
            size: best.1,
            zoom: best.2,
        }
    }

    const fn advance(&self) -> usize {
        get_raster_width(FontWeight::Regular, self.size) * self.zoom
    }

    const fn height(&self) -> usize {
        self.size.val() * self.zoom
    }
}

/// Breaks a text at spaces into lines of at most `per_line` characters.
fn wrap(text: &str, per_line: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= per_line;
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if fits(line) => {
                line.push(' ');
                line.push_str(word);
            }
            _ if full => break,
            _ => lines.push(word.chars().take(per_line).collect()),
        }
    }
    lines
}

/// The letter the font has for one it lacks.
const fn plain_letter(c: char) -> char {
    match c {
        '’' | '‘' => '\'',
        '“' | '”' => '"',
        '•' => '·',
        '—' | '–' => '-',
        '…' => '.',
        other => other,
    }
}

fn nearest(palette: &[Rgb], colour: Rgb) -> usize {
    let distance = |known: &Rgb| -> u32 {
        let pairs = known.iter().zip(colour);
        pairs.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    (palette.iter().enumerate())
        .min_by_key(|(_, known)| distance(known))
        .map_or(0, |(index, _)| index)
}
