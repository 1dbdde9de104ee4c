// The worker, seen from the page. Only the latest request is answered; older ones that wait are dropped.

const text = (id) => document.getElementById(id).textContent;

export class Client {
  /** Longest time that a run may delay the next one, milliseconds; of the first run of a worker, which compiles the WebAssembly. */
  static limit = 3000;
  static firstLimit = 20000;

  #worker;
  #hasAnswered = false;
  #id = 0;
  #waiting;
  #running;

  constructor(receive) {
    this.receive = receive;
    this.#start();
  }

  #start() {
    this.#hasAnswered = false;
    const source = new Blob([JSON.parse(text("worker"))], { type: "text/javascript" });
    this.#worker = new Worker(URL.createObjectURL(source));
    this.#worker.onmessage = ({ data }) => this.#answered(data);
    this.#worker.postMessage({ packed: text("wasm") });
  }

  /** Requests answers; `receive` gets them, with `about`. */
  request(requests, about) {
    this.#waiting = { requests, about };
    const limit = this.#hasAnswered ? Client.limit : Client.firstLimit;
    if (this.#running && performance.now() - this.#running.begun > limit) {
      this.#worker.terminate();
      this.#running = undefined;
      this.#start();
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
    this.#hasAnswered = true;
    const { about } = this.#running;
    this.#running = undefined;
    this.receive({ answers, about, milliseconds });
    this.#next();
  }
}
