// The worker, seen from the page. Only the latest request is answered; older ones that wait are dropped.

const text = (id) => document.getElementById(id).textContent;

async function compile() {
  const packed = Uint8Array.from(atob(text("wasm")), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

export class Client {
  /** Longest time that a run may delay the next one, milliseconds. */
  static patience = 3000;

  #module = compile();
  #worker;
  #id = 0;
  #waiting;
  #running;

  constructor(receive) {
    this.receive = receive;
    this.#module.catch((error) => receive({ answers: [{ error: `WebAssembly: ${error.message}` }] }));
  }

  /** Requests answers; `receive` gets them, with `about`. */
  async request(requests, about) {
    this.#waiting = { requests, about };
    const module = await this.#module;
    if (this.#running && performance.now() - this.#running.begun > Client.patience) {
      this.#worker.terminate();
      this.#worker = this.#running = undefined;
    }
    if (!this.#worker) {
      const source = new Blob([JSON.parse(text("worker"))], { type: "text/javascript" });
      const url = URL.createObjectURL(source);
      this.#worker = new Worker(url);
      this.#worker.onmessage = ({ data }) => this.#answered(data);
      this.#worker.postMessage({ module });
    }
    this.#next();
  }

  #next() {
    if (this.#running || !this.#waiting) return;
    const { requests, about } = this.#waiting;
    this.#waiting = undefined;
    this.#running = { about, begun: performance.now() };
    this.#worker.postMessage({ id: ++this.#id, requests });
  }

  #answered({ id, answers, milliseconds }) {
    if (id !== this.#id) return;
    const { about } = this.#running;
    this.#running = undefined;
    this.receive({ answers, about, milliseconds });
    this.#next();
  }
}
