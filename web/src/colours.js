// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008), as in the figures of `lisa run --plot`.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b87a00", "#000000"];
const DARK = ["#4da6e0", "#ff8a3d", "#2dc79a", "#e39cc4", "#8fd0f5", "#f0b429", "#ffffff"];

export const colour = (index, isDark) => (isDark ? DARK : LIGHT)[index % LIGHT.length];

/** Colour of a variable of the style sheet. */
export const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
