/* Parts that poll: swap only when something changed, and say politely what did. */
const shown = new Map(); // id -> text of the last answer, without what differs in every answer
const VOLATILE = /value="[A-Za-z0-9]{64}"|data-now="\d+"/g;

document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, serverResponse } = event.detail;
  if (!target.id || !target.hasAttribute("data-quiet")) return;
  const text = serverResponse.replace(VOLATILE, "");
  if (shown.get(target.id) === text) event.detail.shouldSwap = false;
  shown.set(target.id, text);
});

let said = document.querySelector("[data-announce]")?.dataset.announce;
document.addEventListener("htmx:load", () => {
  const words = document.querySelector("[data-announce]")?.dataset.announce;
  if (!words || words === said) return;
  said = words;
  document.getElementById("live").textContent = words;
});
