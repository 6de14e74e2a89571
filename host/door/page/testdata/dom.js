// As much of a browser as the page's script needs to show entries. The page comes behind it.
class Element {
  isConnected = true; children = []; dataset = {}; className = ""; value = ""; options = []; style = { setProperty() {} }; classList = { toggle() {}, contains() { return false; } };
  scrollHeight = 0; scrollTop = 0; clientHeight = 0;
  prepend(...more) { this.replaceChildren(...more, ...this.children); }
  get firstElementChild() { return this.children[0]; }
  get lastElementChild() { return this.children.at(-1); }
  append(...more) { this.replaceChildren(...this.children, ...more); }
  replaceChildren(...all) { this.children = all; for (const c of all) if (typeof c !== "string") c.parent = this; }
  attributes = {};
  setAttribute(name, value) { this.attributes[name] = value; }
  getAttribute(name) { return this.attributes[name] ?? null; }
  focus() {}
  showModal() { this.open = true; }
  close() { this.open = false; }
  remove() { this.parent?.replaceChildren(...this.parent.children.filter(c => c !== this)); }
  replaceWith(...all) { this.parent.replaceChildren(...this.parent.children.flatMap(c => c === this ? all : [c])); }
  get childElementCount() { return this.children.length; }
  get textContent() { return this.children.map(c => typeof c === "string" ? c : c.textContent).join(""); }
  set textContent(text) { this.children = [text]; }
  querySelector(query) {
    const [, name] = query.match(/^\.(\w+)$/) ?? [], [, seq] = query.match(/^\[data-seq='(\d+)'\]$/) ?? [];
    return this.children.find(c => name ? c.className === name : String(c.dataset?.seq) === seq) ?? null;
  }
}
globalThis.Option = class extends Element { constructor(text, value) { super(); this.textContent = text; this.value = String(value); } };
const elements = {};
globalThis.requestAnimationFrame = () => {};
globalThis.document = {
  documentElement: { dataset: { projects: "" } }, hidden: true, querySelectorAll: () => [], body: new Element(),
  getElementById: id => elements[id] ??= new Element(), createElement: () => new Element(),
};
Object.defineProperty(globalThis, "navigator", { value: { language: "en" } });
globalThis.location = { hash: "", search: "", origin: "http://localhost" };
globalThis.localStorage = globalThis.sessionStorage = { getItem() {}, setItem() {}, removeItem() {} };
globalThis.fetch = () => new Promise(() => {});
globalThis.setInterval = () => {};
