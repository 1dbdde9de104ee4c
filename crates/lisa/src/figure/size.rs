//! The size of a figure: `--size`.

use crate::values::Form;

/// Smallest and largest edge, pixels.
const EDGES: std::ops::RangeInclusive<f64> = 160.0..=10_000.0;
/// Pixels of an inch, as in CSS.
pub const PIXELS_PER_INCH: f64 = 96.0;

/// Units of lengths, with their pixels.
const UNITS: [(&str, f64); 5] = [
    ("px", 1.0),
    ("mm", PIXELS_PER_INCH / 25.4),
    ("cm", PIXELS_PER_INCH / 2.54),
    ("in", PIXELS_PER_INCH),
    ("pt", PIXELS_PER_INCH / 72.0),
];

/// Width and height, pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// The parser of `1200x600`, `16cmx9cm`, `7x4in`.
pub fn parser() -> Form<Size> {
    let form = "WIDTHxHEIGHT in px, mm, cm, in or pt, like `1200x600`, `16cmx9cm` or `7x4in`";
    Form::new(form, parse)
}

fn parse(text: &str) -> Result<Size, String> {
    let (width, height) = text.split_once(['x', '×']).ok_or_else(String::new)?;
    let split = |text: &str| -> (String, String) {
        let text = text.trim();
        let end = text.find(|c: char| c.is_ascii_alphabetic());
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        (number.trim().into(), unit.trim().into())
    };
    let (width, height) = (split(width), split(height));
    let pixels = |(number, unit): &(String, String)| -> Result<u32, String> {
        let unit = match (&**unit, &*height.1) {
            ("", "") => "px",
            // `7x4in`: both in inches.
            ("", unit) | (unit, _) => unit,
        };
        let factor = UNITS.iter().find(|(name, _)| *name == unit);
        let factor = factor.ok_or_else(String::new)?.1;
        let number: f64 = number.parse().map_err(|_| String::new())?;
        let pixels = number * factor;
        match EDGES.contains(&pixels) {
            true => Ok(pixels.round() as u32),
            false => Err(format!(
                "an edge has {} to {} px (96 px are an inch)",
                EDGES.start(),
                EDGES.end()
            )),
        }
    };
    Ok(Size {
        width: pixels(&width)?,
        height: pixels(&height)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let size = |text| parse(text).map(|size| (size.width, size.height));
        assert_eq!(size("1200x600"), Ok((1200, 600)));
        assert_eq!(size("7x4in"), Ok((672, 384)));
        assert_eq!(size("12.7cm x 50.8mm"), Ok((480, 192)));
        for text in [
            "",
            "x",
            "1200",
            "axb",
            "-5x300",
            "NaNx300",
            "3emx2em",
            "größexbreite",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.is_empty() || error.contains("160 to"),
                "{text}: {error}"
            );
        }
        assert!(parse("10x10").unwrap_err().contains("160 to 10000 px"));
        assert!(parse("99999x300").unwrap_err().contains("160 to 10000 px"));
    }
}
