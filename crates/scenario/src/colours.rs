//! Colours of series in figures.

/// Red, green and blue of the first seven series: colours that colour-blind readers can distinguish, without yellow, which is pale on
/// white (Okabe and Ito, "Color Universal Design", 2008).
pub const SERIES: [[u8; 3]; 7] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [0, 0, 0],
];
