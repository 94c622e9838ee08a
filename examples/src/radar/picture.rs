//! Draws a picture of a map for people: with axes, a scale of colours, and a drawing of the graph of operators.

use std::convert::Infallible;
use std::iter;

use embedded_graphics::mono_font::ascii::{FONT_7X13, FONT_8X13_BOLD, FONT_9X15, FONT_9X15_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{Line, Polyline, PrimitiveStyle, Rectangle, Triangle};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};

use super::{CARRIER, PULSE_RATE, PULSES, SAMPLE_RATE, SAMPLES};
use crate::png_io::Image;

const SIZE: Size = Size::new(1380, 560);

/// The upper left corner of the map, and the size of a cell, in pixels.
const MAP: Point = Point::new(500, 64);
const CELL: Size = Size::new(3, 13);
const MAP_SIZE: Size = Size::new(SAMPLES as u32 * CELL.width, PULSES as u32 * CELL.height);

/// The ends of the colour scale, in decibels over the mean power.
const DECIBELS: [f64; 2] = [-2.0, 18.0];

/// The decibels above which a cell gets a frame, which makes the small cell visible.
const FRAMED: f64 = 5.0;

const LIGHT_SPEED: f64 = 299_792_458.0;

/// The length of a range cell in metres.
const RANGE_CELL: f64 = LIGHT_SPEED / (2.0 * SAMPLE_RATE);

/// The size of a Doppler cell in metres per second.
const SPEED_CELL: f64 = LIGHT_SPEED / CARRIER * PULSE_RATE / (2 * PULSES) as f64;

const INK: Rgb888 = Rgb888::new(40, 40, 40);
const PALE: Rgb888 = Rgb888::new(110, 110, 110);
const OWN_STREAM: Rgb888 = Rgb888::new(206, 226, 242);
const OTHER_STREAM: Rgb888 = Rgb888::new(240, 240, 240);

/// Draws a map beside the graph that made it. `graph` is in the language of Graphviz.
pub fn draw(number: u64, map: &[f32], graph: &str) -> Image {
    let mut canvas = Canvas::new();
    canvas.map(number, map);
    canvas.scale();
    canvas.graph(&Drawing::new(graph));
    canvas.0
}

/// Returns the pixel in the middle of a cell, as x and y.
pub fn middle(doppler: usize, range: usize) -> (usize, usize) {
    let corner = corner(doppler, range) + CELL / 2;
    (corner.x as usize, corner.y as usize)
}

/// Returns the upper left pixel of a cell. Speeds grow upwards; the Doppler cells from `PULSES / 2` on are negative speeds.
fn corner(doppler: usize, range: usize) -> Point {
    let row = (3 * PULSES / 2 - 1 - doppler) % PULSES;
    MAP + Point::new(range as i32 * CELL.width as i32, row as i32 * CELL.height as i32)
}

fn color(decibels: f64) -> Rgb888 {
    let [low, high] = DECIBELS;
    let color =
        colorous::VIRIDIS.eval_continuous(((decibels - low) / (high - low)).clamp(0.0, 1.0));
    Rgb888::new(color.r, color.g, color.b)
}

struct Canvas(Image);

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        SIZE
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(
        &mut self,
        pixels: I,
    ) -> Result<(), Infallible> {
        pixels.into_iter().try_for_each(|Pixel(point, color)| {
            self.fill_solid(&Rectangle::new(point, Size::new_equal(1)), color)
        })
    }

    fn fill_solid(&mut self, area: &Rectangle, color: Rgb888) -> Result<(), Infallible> {
        let Rectangle { top_left, size } = area.intersection(&self.bounding_box());
        let color = [color.r(), color.g(), color.b()];
        for row in 0..size.height as usize {
            let first = (top_left.y as usize + row) * SIZE.width as usize + top_left.x as usize;
            let pixels = &mut self.0.rgb[3 * first..][..3 * size.width as usize];
            pixels.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&color));
        }
        Ok(())
    }
}

impl Canvas {
    fn new() -> Self {
        let Size { width, height } = SIZE;
        Self(Image { width, height, rgb: vec![255; 3 * (width * height) as usize] })
    }

    fn fill(&mut self, corner: Point, size: Size, color: Rgb888) {
        let Ok(()) = self.fill_solid(&Rectangle::new(corner, size), color);
    }

    fn line(&mut self, from: Point, to: Point) {
        let Ok(()) =
            Line::new(from, to).into_styled(PrimitiveStyle::with_stroke(INK, 1)).draw(self);
    }

    fn text(&mut self, text: &str, at: Point, look: (&MonoFont<'_>, Rgb888), alignment: Alignment) {
        let style = TextStyleBuilder::new().alignment(alignment).baseline(Baseline::Middle).build();
        let character_style = MonoTextStyle::new(look.0, look.1);
        let Ok(_) = Text::with_text_style(text, at, character_style, style).draw(self);
    }

    /// Draws the cells, the title and both axes.
    fn map(&mut self, number: u64, map: &[f32]) {
        let mean = map.iter().copied().map(f64::from).sum::<f64>() / map.len() as f64;
        let mut framed = Vec::new();
        for (i, &power) in map.iter().enumerate() {
            let decibels = 10.0 * (f64::from(power) / mean).log10();
            self.fill(corner(i / SAMPLES, i % SAMPLES), CELL, color(decibels));
            if decibels > FRAMED {
                // The frame covers the middle of no other cell, which a test reads.
                let place = corner(i / SAMPLES, i % SAMPLES) - Point::new(6, 4);
                framed.push(Rectangle::new(place, CELL + Size::new(12, 8)));
            }
        }
        for frame in framed {
            let stroke = PrimitiveStyle::with_stroke(Rgb888::WHITE, 1);
            let Ok(()) = frame.into_styled(stroke).draw(self);
        }
        let title = format!("Range-Doppler map {number}, a running mean; over {FRAMED} dB framed");
        self.text(&title, MAP + Point::new(0, -44), (&FONT_9X15_BOLD, INK), Alignment::Left);

        let label = (&FONT_9X15, INK);
        let bottom = MAP.y + MAP_SIZE.height as i32;
        for metres in (0..).step_by(500).take_while(|&m| f64::from(m) < SAMPLES as f64 * RANGE_CELL)
        {
            let cells = f64::from(metres) / RANGE_CELL + 0.5;
            let at = Point::new(MAP.x + (cells * f64::from(CELL.width)) as i32, bottom);
            self.line(at, at + Point::new(0, 6));
            self.text(&metres.to_string(), at + Point::new(0, 18), label, Alignment::Center);
        }
        let below = Point::new(MAP.x + MAP_SIZE.width as i32 / 2, bottom + 42);
        self.text("range (m)", below, label, Alignment::Center);

        // The y of the middle of a cell of speed 0.
        let zero = middle(0, 0).1 as f64;
        for speed in (-3..=3).map(|step| 50 * step) {
            let y = zero - f64::from(speed) / SPEED_CELL * f64::from(CELL.height);
            let at = Point::new(MAP.x - 1, y.round() as i32);
            if (MAP.y..bottom).contains(&at.y) {
                self.line(at, at - Point::new(6, 0));
                self.text(&speed.to_string(), at - Point::new(12, 0), label, Alignment::Right);
            }
        }
        let above = MAP + Point::new(0, -18);
        self.text("speed towards the antenna (m/s)", above, label, Alignment::Left);
    }

    /// Draws the scale of colours, to the right of the map.
    fn scale(&mut self) {
        let corner = MAP + Point::new(MAP_SIZE.width as i32 + 24, 0);
        let [low, high] = DECIBELS;
        let height = f64::from(MAP_SIZE.height);
        for row in 0..MAP_SIZE.height {
            let decibels = high - (f64::from(row) + 0.5) / height * (high - low);
            self.fill(corner + Point::new(0, row as i32), Size::new(20, 1), color(decibels));
        }
        for decibels in [0, 5, 10, 15] {
            let y = (high - f64::from(decibels)) / (high - low) * height;
            let at = corner + Point::new(20, y as i32);
            self.line(at, at + Point::new(6, 0));
            let text = format!("{decibels}");
            self.text(&text, at + Point::new(12, 0), (&FONT_9X15, INK), Alignment::Left);
        }
        let above = corner + Point::new(20, -18);
        self.text("dB over the mean", above, (&FONT_9X15, INK), Alignment::Right);
    }

    fn graph(&mut self, drawing: &Drawing<'_>) {
        let title = format!("graph {}", drawing.name);
        self.text(&title, Point::new(20, 20), (&FONT_9X15_BOLD, INK), Alignment::Left);
        for edge in &drawing.edges {
            self.edge(drawing.boxes[edge.from].place, drawing.boxes[edge.to].place, edge.label);
        }
        for Node { place, label, has_own_stream, .. } in &drawing.boxes {
            let fill = if *has_own_stream { OWN_STREAM } else { OTHER_STREAM };
            self.boxed(*place, fill);
            let (name, ty) = label.split_once(": ").unwrap_or((label, ""));
            let middle = place.center();
            self.text(name, middle - Point::new(0, 9), (&FONT_8X13_BOLD, INK), Alignment::Center);
            self.text(ty, middle + Point::new(0, 9), (&FONT_7X13, PALE), Alignment::Center);
        }
        for (at, fill, text) in [
            (Point::new(20, 522), OWN_STREAM, "a stream of its own"),
            (Point::new(200, 522), OTHER_STREAM, "the stream of its input"),
        ] {
            self.boxed(Rectangle::new(at, Size::new(14, 14)), fill);
            self.text(text, at + Point::new(22, 7), (&FONT_7X13, INK), Alignment::Left);
        }
    }

    fn boxed(&mut self, place: Rectangle, fill: Rgb888) {
        self.fill(place.top_left, place.size, fill);
        let Ok(()) = place.into_styled(PrimitiveStyle::with_stroke(INK, 1)).draw(self);
    }

    /// Draws an arrow from the bottom of a box to the top of another box.
    fn edge(&mut self, from: Rectangle, to: Rectangle, label: &str) {
        let from = Point::new(from.center().x, from.top_left.y + from.size.height as i32);
        let to = Point::new(to.center().x, to.top_left.y - 1);
        let bend = from.y + 10;
        let corners = [from, Point::new(from.x, bend), Point::new(to.x, bend), to];
        let stroke = PrimitiveStyle::with_stroke(INK, 1);
        let Ok(()) = Polyline::new(&corners).into_styled(stroke).draw(self);
        let [left, right] = [-4, 4].map(|x| to + Point::new(x, -7));
        let head = Triangle::new(left, right, to);
        let Ok(()) = head.into_styled(PrimitiveStyle::with_fill(INK)).draw(self);
        // The fonts have no `→`, and `graph!` writes an edge as `>>`.
        let label = label.replace('→', ">>");
        let at = Point::new(to.x + 9, to.y - 13);
        self.text(&label, at, (&FONT_7X13, INK), Alignment::Left);
    }
}

/// A node of the graph, drawn as a box.
struct Node<'a> {
    id: &'a str,
    /// The name and the type of the node.
    label: &'a str,
    has_own_stream: bool,
    /// The number of edges on the longest path from a source to this node.
    level: usize,
    place: Rectangle,
}

struct Edge<'a> {
    from: usize,
    to: usize,
    label: &'a str,
}

/// A graph drawn in layers, with the sources at the top.
struct Drawing<'a> {
    name: &'a str,
    boxes: Vec<Node<'a>>,
    edges: Vec<Edge<'a>>,
}

impl<'a> Drawing<'a> {
    const WIDTH: u32 = 360;
    const BOX: Size = Size::new(160, 42);

    /// Reads the text that `graph!` writes for Graphviz. It has a line for each node and each edge, with the labels in quotes.
    /// Nodes of a pool of streams are in a cluster.
    fn new(graph: &'a str) -> Self {
        let mut drawing = Self { name: "", boxes: Vec::new(), edges: Vec::new() };
        let mut is_in_pool = false;
        for line in graph.lines() {
            let texts: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
            match texts[..] {
                [name] if line.starts_with("digraph") => drawing.name = name,
                [_] if line.contains("subgraph") => is_in_pool = true,
                [id, label] => {
                    let has_own_stream = is_in_pool;
                    let place = Rectangle::zero();
                    drawing.boxes.push(Node { id, label, has_own_stream, level: 0, place });
                }
                [from, to, label] => {
                    let find = |id| drawing.boxes.iter().position(|node| node.id == id);
                    let (Some(from), Some(to)) = (find(from), find(to)) else { continue };
                    drawing.edges.push(Edge { from, to, label });
                }
                _ => is_in_pool &= line.trim() != "}",
            }
        }
        drawing.arrange();
        drawing
    }

    fn arrange(&mut self) {
        // No path has more edges than there are nodes, so this number of rounds finds every level.
        for _ in 0..self.boxes.len() {
            for &Edge { from, to, .. } in &self.edges {
                self.boxes[to].level = self.boxes[to].level.max(self.boxes[from].level + 1);
            }
        }
        let levels = self.boxes.iter().map(|node| node.level + 1).max().unwrap_or(1);
        let height = (MAP_SIZE.height - Self::BOX.height) / (levels as u32 - 1).max(1);
        for level in 0..levels {
            let is_here = |node: &&mut Node<'_>| node.level == level;
            let count = self.boxes.iter().filter(|node| node.level == level).count() as u32;
            let y = MAP.y - 16 + (height * level as u32) as i32;
            for (i, node) in iter::zip(0.., self.boxes.iter_mut().filter(is_here)) {
                let middle = 20 + Self::WIDTH * (2 * i + 1) / (2 * count);
                let x = middle as i32 - Self::BOX.width as i32 / 2;
                node.place = Rectangle::new(Point::new(x, y), Self::BOX);
            }
        }
    }
}
