/* Times in the reader's zone with UTC beside them, and countdowns that trust the server's clock, not the reader's. */
const page = document.documentElement.lang || "en";
const language = page === "en" ? "en-GB" : page; // day before month, as everywhere on the site
const parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
const zoned = { full: new Intl.DateTimeFormat(language, { ...parts, year: "numeric" }), short: new Intl.DateTimeFormat(language, parts) };
const thisYear = new Date().getFullYear();
const inUtc = Intl.DateTimeFormat().resolvedOptions().timeZone === "UTC";
const born = new WeakMap(); // countdown element -> [server's now, our monotonic now] when it appeared

function localise() {
  if (inUtc) return;
  for (const element of document.querySelectorAll("time[data-local]:not([title])")) {
    const utc = element.textContent.trim();
    element.title = utc;
    const at = new Date(element.dateTime);
    const short = element.dataset.local === "short" && at.getFullYear() === thisYear;
    element.textContent = zoned[short ? "short" : "full"].format(at);
    if (element.dataset.local === "short") continue;
    const beside = document.createElement("span");
    beside.className = "nowrap";
    beside.textContent = `(${utc.slice(-9)})`; // "14:32 UTC"
    element.append(" ", beside);
  }
}

function left(element) {
  if (!born.has(element)) born.set(element, [Number(element.dataset.now) * 1000, performance.now()]);
  const [server, ours] = born.get(element);
  return Math.round((Date.parse(element.dateTime) - server - (performance.now() - ours)) / 1000);
}

function written(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

function tick() {
  for (const element of document.querySelectorAll("[data-countdown]")) {
    const seconds = left(element);
    const text = seconds > 0 ? written(seconds) : element.dataset.wordOver;
    if (element.textContent !== text) element.textContent = text;
  }
}

function all() {
  localise();
  tick();
}

all();
setInterval(tick, 1000);
document.addEventListener("htmx:load", all);
