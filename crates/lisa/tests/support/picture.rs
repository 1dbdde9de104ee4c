//! A figure as readers see it: its texts with their places, and its marks.

use std::path::Path;
use std::sync::Arc;

use svg2pdf::usvg::{Group, Node, Options, Paint, Rect, Tree, fontdb::Database};

/// A figure.
pub struct Picture {
    /// Width and height.
    pub size: (f32, f32),
    /// Each text with its box.
    pub texts: Vec<(String, Rect)>,
    /// Each line, filled area or circle.
    pub shapes: Vec<Shape>,
}

/// A shape without text.
pub struct Shape {
    /// Colour, `#rrggbb`.
    pub colour: String,
    /// Whether the shape is filled.
    pub is_filled: bool,
    /// Number of points.
    pub points: usize,
    /// The box.
    pub area: Rect,
}

impl Picture {
    /// Reads an SVG with the font of PNG and PDF. Every figure is on white ground, and nothing is outside of it.
    pub fn read(svg: &str) -> Self {
        let font = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/DejaVuSans.ttf");
        let mut fonts = Database::new();
        fonts.load_font_file(font).unwrap();
        fonts.set_sans_serif_family("DejaVu Sans");
        let options = Options {
            font_family: "DejaVu Sans".into(),
            fontdb: Arc::new(fonts),
            ..Options::default()
        };
        let tree = Tree::from_str(svg, &options).unwrap();
        let mut picture = Self {
            size: (tree.size().width(), tree.size().height()),
            texts: Vec::new(),
            shapes: Vec::new(),
        };
        picture.add(tree.root());
        let ground = &picture.shapes[0];
        assert_eq!(
            (ground.colour.as_str(), ground.is_filled),
            ("#ffffff", true)
        );
        let (width, height) = picture.size;
        assert!(ground.area.width() >= width - 1.0 && ground.area.height() >= height - 1.0);
        let inside = |area: &Rect| {
            area.left() >= -1.0
                && area.top() >= -1.0
                && area.right() <= width + 1.0
                && area.bottom() <= height + 1.0
        };
        for (text, area) in &picture.texts {
            assert!(
                inside(area),
                "`{text}` at {area:?} is outside of {width}x{height}"
            );
        }
        for shape in &picture.shapes {
            assert!(inside(&shape.area), "{} at {:?}", shape.colour, shape.area);
        }
        picture.check_overlaps();
        picture
    }

    fn add(&mut self, group: &Group) {
        for node in group.children() {
            match node {
                Node::Group(group) => self.add(group),
                Node::Text(text) => {
                    let parts = text.chunks().iter().map(|chunk| chunk.text());
                    let words = parts.collect::<String>().trim().to_owned();
                    self.texts.push((words, text.abs_bounding_box()));
                }
                Node::Path(path) => {
                    let fill = path.fill().map(|fill| fill.paint());
                    let paint = fill.or(path.stroke().map(|stroke| stroke.paint()));
                    let Some(Paint::Color(colour)) = paint else {
                        continue;
                    };
                    self.shapes.push(Shape {
                        colour: format!(
                            "#{:02x}{:02x}{:02x}",
                            colour.red, colour.green, colour.blue
                        ),
                        is_filled: fill.is_some(),
                        points: path.data().points().len(),
                        area: path.abs_bounding_box(),
                    });
                }
                Node::Image(_) => panic!("figures have no images"),
            }
        }
    }

    /// No text covers another.
    fn check_overlaps(&self) {
        for (number, (one, a)) in self.texts.iter().enumerate() {
            for (other, b) in &self.texts[number + 1..] {
                let apart = a.right() <= b.left() + 1.0
                    || b.right() <= a.left() + 1.0
                    || a.bottom() <= b.top() + 3.0
                    || b.bottom() <= a.top() + 3.0;
                assert!(apart, "`{one}` at {a:?} covers `{other}` at {b:?}");
            }
        }
    }

    /// Whether a text is this one.
    pub fn has(&self, text: &str) -> bool {
        self.texts.iter().any(|(words, _)| words == text)
    }

    /// Fails unless all of these are texts of the figure.
    pub fn must_have(&self, texts: &[&str]) {
        for text in texts {
            let all: Vec<&String> = self.texts.iter().map(|(words, _)| words).collect();
            assert!(self.has(text), "no `{text}` in {all:?}");
        }
    }

    /// Number of lines of a colour with at least this number of points.
    pub fn lines(&self, colour: &str, points: usize) -> usize {
        let is =
            |shape: &&Shape| shape.colour == colour && !shape.is_filled && shape.points >= points;
        self.shapes.iter().filter(is).count()
    }

    /// Number of filled shapes of a colour.
    pub fn filled(&self, colour: &str) -> usize {
        let is = |shape: &&Shape| shape.colour == colour && shape.is_filled;
        self.shapes.iter().filter(is).count()
    }
}

/// Colours of the first series, of reductions, sums and credits.
pub const BLUE: &str = "#0072b2";
pub const ORANGE: &str = "#d55e00";
pub const GREEN: &str = "#009e73";
pub const RED: &str = "#be1428";
pub const GREY: &str = "#969696";
pub const CREDIT: &str = "#006e50";
