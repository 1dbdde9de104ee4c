import { mount } from "svelte";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import App from "./App.svelte";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

mount(App, { target: document.getElementById("page"), props: { known: read("algorithms"), presets: read("presets"), start: read("start") } });
