// The sliders: values of keys of the scenario, read from its text and written back into it. Comments and other keys stay.

import { parse, patch } from "@decimalturn/toml-patch";
import * as units from "./units.js";

const BOTTLENECKS = ["shared-bottleneck", "non-shared-bottleneck"];

/** The connection that the sliders change: the first with MPTCP, else the first. */
function chosen(scenario) {
  const list = Array.isArray(scenario.connection) ? scenario.connection : [];
  return list.find((connection) => connection.protocol === "mptcp") ?? list[0];
}

function slider(key, label, unit, value, least, most, more = {}) {
  return { key, label, unit, value, least, most, isLogarithmic: least > 0, ...more };
}

/** One slider for a value, or one for each item of a list. */
function each(key, label, unit, value, least, most) {
  const items = Array.isArray(value) ? value : [value];
  return items.map((item, index) => {
    const isList = Array.isArray(value);
    const name = isList ? `${label}, path ${index + 1}` : label;
    const number = unit === units.count && typeof item === "object" ? item?.packets : item;
    return slider(isList ? `${key}.${index}` : key, name, unit, unit.parse(number), least, most);
  });
}

/** Sliders for a scenario; those without a number are left out. */
export function sliders(text) {
  let scenario;
  try {
    scenario = parse(text);
  } catch {
    return [];
  }
  const topology = scenario.topology ?? {};
  const connection = chosen(scenario) ?? {};
  const name = connection.name ? ` of ${connection.name}` : "";
  const all = [
    ...each("topology.rate", "Rate", units.rate, topology.rate, 1e5, 1e9),
    ...each("topology.rtt", "RTT", units.time, topology.rtt, 1e-3, 1),
    ...each("topology.queue", "Queue", units.count, topology.queue, 1, 1000),
    slider("connection.bytes", `Size${name || " of the transfer"}`, units.size, units.size.parse(connection.bytes), 1e4, 1e8),
    slider("connection.initial_window", "Initial window", units.count, Number(connection.initial_window ?? 10), 1, 100),
  ];
  if (connection.protocol === "mptcp") {
    const delay = units.time.parse(connection.join_delay ?? "0s");
    all.push(slider("connection.join_delay", "Delay of the join", units.time, delay, 0, 0.5));
    const subflows = Number(connection.subflows ?? 2);
    all.push(slider("connection.subflows", "Subflows", units.count, subflows, 1, 8, { isLogarithmic: false }));
  }
  return all.filter((slider) => Number.isFinite(slider.value));
}

/** Whether each path can get an RTT of its own, and whether it has one. */
export function rttOfPaths(text) {
  try {
    const { topology } = parse(text);
    const isPossible = BOTTLENECKS.includes(topology.kind) && topology.rtt !== undefined;
    return { isPossible, isList: Array.isArray(topology.rtt) };
  } catch {
    return { isPossible: false, isList: false };
  }
}

/** The text with one RTT for all paths, or one for each. */
export function withRtts(text, isList) {
  const scenario = parse(text);
  const { topology } = scenario;
  const paths = Number(topology.paths ?? chosen(scenario)?.subflows ?? 2);
  topology.rtt = isList ? Array(paths).fill(topology.rtt) : topology.rtt[0];
  return patch(text, scenario);
}

/** The text with another value of a slider. */
export function withValue(text, slider, value) {
  const scenario = parse(text);
  const [table, name, index] = slider.key.split(".");
  const target = table === "topology" ? scenario.topology : chosen(scenario);
  const written = slider.unit.write(value);
  if (name === "subflows" && table === "connection") resizePaths(scenario.topology, written);
  if (index === undefined) target[name] = item(target[name], written);
  else target[name][index] = item(target[name][index], written);
  return patch(text, scenario);
}

/** A queue with other keys keeps them. */
function item(old, written) {
  return old !== null && typeof old === "object" ? { ...old, packets: written } : written;
}

/** Lists with an item for each path get as many as there are subflows. */
function resizePaths(topology, paths) {
  if (!BOTTLENECKS.includes(topology.kind)) return;
  if (topology.paths !== undefined) topology.paths = paths;
  for (const [key, list] of Object.entries(topology)) {
    if (!Array.isArray(list) || key === "down" && topology.kind === "shared-bottleneck") continue;
    const last = list.at(-1);
    topology[key] = Array.from({ length: paths }, (_, i) => list[i] ?? (key === "names" ? `path ${i + 1}` : last));
  }
}

/** Position of a value on its slider, 0 to 1000, and back. */
export function toPosition({ value, least, most, isLogarithmic }) {
  const share = isLogarithmic ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  return Math.round(1000 * Math.min(Math.max(share, 0), 1));
}

export function fromPosition({ least, most, isLogarithmic }, position) {
  const share = position / 1000;
  return isLogarithmic ? least * (most / least) ** share : least + share * (most - least);
}
