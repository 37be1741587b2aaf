/* Times in the reader's zone with UTC beside them, and what ticks: it trusts the server's clock, not the reader's. */
const page = document.documentElement.lang || "en";
const language = page === "en" ? "en-GB" : page; // day before month, as everywhere on the site
const parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
const zoned = { full: new Intl.DateTimeFormat(language, { ...parts, year: "numeric" }), short: new Intl.DateTimeFormat(language, parts) };
const thisYear = new Date().getFullYear();
const inUtc = Intl.DateTimeFormat().resolvedOptions().timeZone === "UTC";
const numbers = new Intl.NumberFormat(language);
const told = new WeakMap(); // what ticks -> our monotonic now when the server told what its attributes say

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

function age(element) { // seconds since then
  if (!told.has(element)) told.set(element, performance.now());
  return (performance.now() - told.get(element)) / 1000;
}

function left(element) {
  return Math.round(Date.parse(element.dateTime) / 1000 - Number(element.dataset.now) - age(element));
}

function written(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

function show(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function lookedWords({ dataset }, seconds) {
  return dataset.words.replace("{seconds}", numbers.format(seconds)).replace("{head}", numbers.format(dataset.head));
}

function tick() {
  for (const element of document.querySelectorAll("[data-countdown]")) {
    const seconds = left(element);
    show(element, seconds > 0 ? written(seconds) : element.dataset.wordOver);
  }
  for (const element of document.querySelectorAll("[data-looked]")) {
    show(element, lookedWords(element, Number(element.dataset.looked) + Math.floor(age(element))));
  }
}

/* A look found nothing new: only what ticks is told again. Between two looks, or while none is answered, it goes on. */
function retell({ target, detail }) {
  for (const element of target.querySelectorAll("[data-countdown], [data-looked]")) {
    if ("countdown" in element.dataset) element.dataset.now = detail.now;
    else Object.assign(element.dataset, { looked: detail.seconds ?? "", head: detail.head });
    told.set(element, performance.now());
  }
  tick();
}

function all() {
  localise();
  tick();
}

all();
setInterval(tick, 1000);
document.addEventListener("htmx:load", all);
document.addEventListener("ticked", retell);
