// Values of a scenario file as numbers, and back (docs/scenario.md).

const RATES = { bit: 1, kbit: 1e3, Mbit: 1e6, Gbit: 1e9, Tbit: 1e12 };
const TIMES = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };
const SIZES = { B: 1, KB: 1e3, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function parse(value, units) {
  const match = typeof value === "string" && value.trim().match(/^([0-9.]+)\s*([A-Za-zµ]+)$/);
  const number = match && Number(match[1]) * units[match[2]];
  return Number.isFinite(number) ? number : undefined;
}

/** Three significant digits without trailing zeros. */
const short = (number) => String(Number(number.toPrecision(3)));

function write(value, units, names) {
  const name = names.findLast((name) => value >= units[name] * 0.9995) ?? names[0];
  return short(value / units[name]) + name;
}

export const rate = {
  parse: (value) => parse(value, RATES),
  write: (value) => write(value, RATES, ["bit", "kbit", "Mbit", "Gbit"]),
};
export const time = {
  parse: (value) => parse(value, TIMES),
  write: (value) => (value === 0 ? "0s" : write(value, TIMES, ["us", "ms", "s"])),
};
export const size = {
  parse: (value) => (typeof value === "number" || typeof value === "bigint" ? Number(value) : parse(value, SIZES)),
  write: (value) => (value < 1000 ? Math.round(value) : write(value, SIZES, ["B", "KB", "MB", "GB"])),
};
export const count = {
  parse: (value) => (typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined),
  write: (value) => Math.round(value),
};
