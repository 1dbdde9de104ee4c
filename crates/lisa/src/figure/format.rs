//! The file formats of a figure. plotters draws SVG; resvg and svg2pdf convert the drawing with the font of this program, so that a
//! PNG or PDF has the same bytes on every machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use svg2pdf::usvg::{Options, Tree, fontdb::Database};

use super::size::PIXELS_PER_INCH;
use crate::values::Form;

/// DejaVu Sans, which may be embedded (LICENSES/DejaVu.txt).
pub const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");
/// Pixels of a PNG for each unit of the drawing: text stays legible on dense screens.
const SCALE: f32 = 2.0;

/// The format of a figure's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
    Pdf,
}

impl Format {
    /// The format of this name's ending.
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }
}

/// Parses the name of a figure's file.
pub fn parser() -> Form<PathBuf> {
    let form = "a file name that ends with .svg, .png or .pdf";
    Form::new(form, |name| {
        let path = PathBuf::from(name);
        match Format::of(&path) {
            Some(_) => Ok(path),
            None => Err(String::new()),
        }
    })
}

/// A drawing as the bytes of this file.
///
/// # Errors
/// For a drawing that is too large for a PNG.
pub fn encode(svg: &str, path: &Path) -> Result<Vec<u8>, String> {
    let tree = || {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        let options = Options {
            font_family: "DejaVu Sans".into(),
            fontdb: Arc::new(fonts),
            ..Options::default()
        };
        Tree::from_str(svg, &options).map_err(|error| error.to_string())
    };
    match Format::of(path) {
        Some(Format::Png) => {
            let tree = tree()?;
            let size = tree.size().to_int_size().scale_by(SCALE);
            let size = size.ok_or("the figure has no size")?;
            let pixels = Pixmap::new(size.width(), size.height());
            let mut pixels = pixels.ok_or("the figure is too large for a PNG")?;
            let scale = Transform::from_scale(SCALE, SCALE);
            resvg::render(&tree, scale, &mut pixels.as_mut());
            pixels.encode_png().map_err(|error| error.to_string())
        }
        Some(Format::Pdf) => {
            let page = svg2pdf::PageOptions {
                dpi: PIXELS_PER_INCH as f32,
            };
            let pdf = svg2pdf::to_pdf(&tree()?, svg2pdf::ConversionOptions::default(), page);
            pdf.map_err(|error| error.to_string())
        }
        Some(Format::Svg) | None => Ok(svg.as_bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = r#"<svg width="60" height="20" xmlns="http://www.w3.org/2000/svg"><text x="2" y="15" font-family="sans-serif" font-size="14">ABC</text></svg>"#;

    #[test]
    fn a_png_has_the_text_and_is_the_same_each_time() {
        let png = encode(SVG, Path::new("a.PNG")).unwrap();
        assert_eq!(png, encode(SVG, Path::new("a.png")).unwrap());
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (120, 40));
        assert!(pixels.pixels().iter().any(|pixel| pixel.alpha() == 255));
    }

    #[test]
    fn a_pdf_is_the_same_each_time() {
        let pdf = encode(SVG, Path::new("a.pdf")).unwrap();
        assert!(pdf.starts_with(b"%PDF-") && pdf == encode(SVG, Path::new("b.pdf")).unwrap());
        let empty = r#"<svg width="60" height="20" xmlns="http://www.w3.org/2000/svg"/>"#;
        assert!(pdf.len() > 500 + encode(empty, Path::new("a.pdf")).unwrap().len());
    }

    #[test]
    fn the_ending_is_the_format() {
        let is_figure = |name: &str| Format::of(Path::new(name)).is_some();
        assert!(is_figure("a.b.svg") && is_figure("x.pdf"));
        assert!(!is_figure("a.jpg"));
    }
}
