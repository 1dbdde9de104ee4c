// The live map. The stream of events needs the header Authorization, which EventSource cannot send: fetch reads it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token") ?? "";
let map = null;
let lines = [];
let connections = [];
let chosen = null;
let stale = true;

const request = async (path, options = {}) => {
    const response = await fetch(path, { ...options, headers: { Authorization: `Bearer ${token}` } });
    if (response.status === 401) {
        throw new Refused();
    }
    if (!response.ok) {
        throw new Error(`${path}: ${response.status}`);
    }
    return response;
};
class Refused extends Error {}

const state = (name, text) => {
    byId("state").dataset.state = name;
    byId("state").textContent = text;
};

// Places of nodes without coordinates: a circle.
const placed = (nodes) => {
    const known = nodes.every((node) => node.x !== null && node.y !== null);
    const points = nodes.map((node, index) => {
        const angle = (2 * Math.PI * index) / nodes.length;
        return known ? [node.x, node.y] : [Math.cos(angle), Math.sin(angle)];
    });
    const range = (axis) => {
        const values = points.map((point) => point[axis]);
        const low = values.reduce((a, b) => Math.min(a, b), Infinity);
        const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
        return [low, Math.max(high - low, 1e-9)];
    };
    const [x, y] = [range(0), range(1)];
    return points.map((point) => [40 + (920 * (point[0] - x[0])) / x[1], 40 + (520 * (point[1] - y[0])) / y[1]]);
};

const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
        made.setAttribute(key, value);
    }
    if (text !== undefined) {
        made.textContent = text;
    }
    return made;
};

const draw = () => {
    const svg = byId("map");
    svg.setAttribute("viewBox", "0 0 1000 620");
    svg.replaceChildren();
    byId("title").textContent = map.title ?? "Topology manager";
    const places = placed(map.nodes);
    const parallel = new Map();
    lines = map.links.map((link) => {
        // Links between two nodes lie beside each other, those of one direction on the right of it.
        const key = `${link.from} ${link.to}`;
        const number = parallel.get(key) ?? 0;
        parallel.set(key, number + 1);
        const [[x1, y1], [x2, y2]] = [places[link.from], places[link.to]];
        const length = Math.hypot(x2 - x1, y2 - y1) || 1;
        const aside = 3 + 6 * number;
        const [dx, dy] = [(-(y2 - y1) / length) * aside, ((x2 - x1) / length) * aside];
        const line = element("line", { x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy, "data-link": link.name });
        line.append(element("title", {}));
        svg.append(line);
        return line;
    });
    map.nodes.forEach((node, index) => {
        const [x, y] = places[index];
        const circle = element("circle", { cx: x, cy: y, r: map.nodes.length > 500 ? 2 : 6 });
        circle.append(element("title", {}, [node.name, ...node.prefixes].join("\n")));
        svg.append(circle);
        if (map.nodes.length <= 100) {
            svg.append(element("text", { x, y: y - 13 }, node.name));
        }
    });
    map.links.forEach((_, index) => paint(index));
};

const load = (link) => {
    if (link.available_bps === null || !link.capacity_bps) {
        return null;
    }
    return Math.min(1, Math.max(0, 1 - link.available_bps / link.capacity_bps));
};

const kind = (link) => {
    if (!link.up) {
        return "down";
    }
    if (link.available_bps === null) {
        return "idle";
    }
    const share = load(link) ?? 0;
    return share > 0.8 ? "high" : share >= 0.5 ? "middle" : "low";
};

const paint = (index) => {
    const link = map.links[index];
    const names = [kind(link)];
    if (link.subflows > 0) {
        names.push("used");
    }
    if (chosen !== null && chosen.includes(index)) {
        names.push("chosen");
    }
    lines[index].setAttribute("class", names.join(" "));
    const rate = link.available_bps === null ? "no rate" : `${(link.available_bps / 1e6).toFixed(1)} Mbit/s available`;
    const share = load(link);
    const parts = [link.name, rate];
    if (share !== null) {
        parts.push(`load ${Math.round(100 * share)} %`);
    }
    parts.push(`${link.subflows} subflows`);
    lines[index].firstChild.textContent = parts.join("\n");
};

const choose = (links) => {
    const before = chosen ?? [];
    chosen = links;
    [...before, ...(links ?? [])].forEach((index) => lines[index] && paint(index));
};

const cell = (row, text) => {
    const made = row.insertCell();
    made.textContent = text;
    return made;
};

const list = (view) => {
    connections = view.connections;
    choose(null);
    const body = byId("connections");
    body.replaceChildren();
    for (const connection of connections) {
        connection.groups.forEach((subflow, index) => {
            const row = body.insertRow();
            cell(row, index === 0 ? connection.endpoint : "");
            cell(row, index === 0 ? connection.connection : "");
            cell(row, `${subflow.local} → ${subflow.remote}`);
            const badge = document.createElement("span");
            badge.className = `group g${subflow.group % 8}`;
            badge.textContent = subflow.group;
            row.insertCell().append(badge);
            const unknown = { path: "coupled: a path is unknown", rate: "coupled: a rate is unknown or old" };
            cell(row, index === 0 ? (unknown[connection.unknown] ?? "") : "");
            row.addEventListener("mouseenter", () => choose(connection.links[index]));
            row.addEventListener("mouseleave", () => choose(null));
        });
    }
    const more = view.total - connections.length;
    byId("more").textContent = more > 0 ? `and ${more} more connections` : "";
};

const network = async (event) => {
    if (map === null || map.revision !== event.map) {
        map = await (await request("v1/map")).json();
        draw();
    }
    for (const [index, live] of event.links) {
        if (map.links[index]) {
            Object.assign(map.links[index], live);
            paint(index);
        }
    }
    const { endpoints, connections: open, subflows, separated, unknown } = event.totals;
    const text = `${endpoints} endpoints, ${open} connections, ${subflows} subflows, ${separated} separated, ${unknown} unknown`;
    stale ||= event.links.length > 0 || byId("totals").textContent !== text;
    byId("totals").textContent = text;
};

// The table at most once a second: it is large.
setInterval(async () => {
    if (!stale || map === null) {
        return;
    }
    stale = false;
    try {
        list(await (await request("v1/connections")).json());
    } catch {
        stale = true;
    }
}, 1000);

const follow = async () => {
    const response = await request("v1/events");
    byId("login").hidden = true;
    document.querySelector("main").hidden = false;
    sessionStorage.setItem("token", token);
    map = null;
    stale = true;
    state("live", "live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const { value, done } = await reader.read();
        if (done) {
            return;
        }
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) {
            const fields = event.split("\n");
            const data = fields.find((field) => field.startsWith("data: "));
            if (data && fields.includes("event: network")) {
                await network(JSON.parse(data.slice(6)));
            }
        }
    }
};

const login = () =>
    new Promise((resolve) => {
        byId("login").hidden = false;
        document.querySelector("main").hidden = true;
        state("lost", "no token");
        byId("login").addEventListener(
            "submit",
            (event) => {
                event.preventDefault();
                token = byId("token").value.trim();
                resolve();
            },
            { once: true },
        );
    });

const run = async () => {
    for (;;) {
        try {
            if (token === "") {
                await login();
            }
            await follow();
            state("lost", "the manager has closed the stream; trying again");
        } catch (error) {
            if (error instanceof Refused) {
                sessionStorage.removeItem("token");
                token = "";
                continue;
            }
            state("lost", `no answer (${error.message}); trying again`);
        }
        await new Promise((resolve) => setTimeout(resolve, 2000));
    }
};
// The token stays out of the history and of copied addresses.
history.replaceState(null, "", location.pathname);
run();
