/* Times in the reader's zone with UTC beside them, and countdowns that trust the server's clock, not the reader's. */
const language = document.documentElement.lang || "en";
const zoned = new Intl.DateTimeFormat(language, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
});
const inUtc = Intl.DateTimeFormat().resolvedOptions().timeZone === "UTC";
const born = new WeakMap(); // countdown element -> [server's now, our monotonic now] when it appeared

function localise() {
  if (inUtc) return;
  for (const element of document.querySelectorAll("time[data-local]:not([title])")) {
    const utc = element.textContent.trim();
    element.title = utc;
    element.textContent = zoned.format(new Date(element.dateTime));
    if (element.dataset.local !== "short") element.append(` (${utc.slice(-9)})`); // "14:32 UTC"
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
