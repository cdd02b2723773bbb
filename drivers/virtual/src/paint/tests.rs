use std::sync::Arc;

use super::*;
use crate::app::App;
use crate::latency::Latency;
use crate::shape;
use crate::world::{Catalog, Key as Press, Theme, World, WorldOptions};

fn shop() -> World {
    let text = include_str!("../../../../examples/shop/app.yaml");
    let shop = App::parse(text, "app.yaml").expect("valid");
    let mut world = World::new(WorldOptions {
        shape: shape::models(shape::Platform::Android)
            .next()
            .expect("a model"),
        catalog: Arc::new(Catalog::new([shop]).expect("valid")),
        latency: Arc::new(Latency::fast()),
        seed: 1,
    });
    world.launch(&"com.example.shop".into()).expect("installed");
    world
}

fn png(world: &mut World) -> Vec<u8> {
    encode(&draw::draw(&world.snapshot(), 1080, 2424)).expect("encoded")
}

#[test]
fn the_same_screen_gives_the_same_bytes_and_another_screen_others() {
    let (mut one, mut other) = (shop(), shop());
    let first = png(&mut one);
    assert_eq!(first, png(&mut other));
    one.set_theme(Theme::Dark);
    assert_ne!(first, png(&mut one));
    other.key(Press::Power);
    assert_ne!(first, png(&mut other));
}

#[test]
fn a_picture_is_rgba_of_the_size_asked_for() {
    let bytes = png(&mut shop());
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes))
        .read_info()
        .expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("a frame");
    assert_eq!(
        (info.width, info.height, info.color_type),
        (1080, 2424, png::ColorType::Rgba)
    );
    assert!(bytes.len() < 200_000, "{} bytes", bytes.len());
    let blue = pixels
        .chunks_exact(4)
        .filter(|p| *p == [25, 99, 166, 255])
        .count();
    assert!(blue > 100_000, "the button is painted: {blue}");
}

#[tokio::test]
async fn the_painter_keeps_no_more_than_it_may() {
    let painter = Painter::new(PaintLimits {
        cache: 60_000,
        at_once: 1,
    });
    let mut world = shop();
    for width in 100..140 {
        let snapshot = world.snapshot();
        painter
            .png(snapshot, width, width * 2)
            .await
            .expect("painted");
    }
    let cache = painter.cache.lock();
    assert!(cache.used <= 60_000 && !cache.pictures.is_empty());
    let total: usize = cache.pictures.values().map(|(_, p)| p.len()).sum();
    assert_eq!(total, cache.used);
}
