/* Parts that poll: swap only when something changed, say politely what did, and never show a sign-in page in a box. */
const shown = new Map(); // id -> text of the last answer, without what differs in every answer
const VOLATILE = /value="[A-Za-z0-9]{64}"|data-now="\d+"/g;

function wasSentAway({ xhr, requestConfig }) {
  return xhr.responseURL && new URL(xhr.responseURL).pathname !== new URL(requestConfig.path, location.href).pathname;
}

document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, serverResponse } = event.detail;
  if (wasSentAway(event.detail)) { // the session ended: the whole page must ask to sign in
    event.detail.shouldSwap = false;
    location.reload();
    return;
  }
  if (!target.id || !target.hasAttribute("data-quiet")) return;
  const text = serverResponse.replace(VOLATILE, "");
  if (shown.get(target.id) === text) event.detail.shouldSwap = false;
  shown.set(target.id, text);
});

for (const [name, cut] of [["htmx:sendError", true], ["htmx:timeout", true], ["htmx:beforeSwap", false]]) {
  document.addEventListener(name, () => {
    const notice = document.getElementById("cut-off");
    if (notice.hidden === cut) notice.hidden = !cut;
  });
}

let said = document.querySelector("[data-announce]")?.dataset.announce;
document.addEventListener("htmx:load", () => {
  const words = document.querySelector("[data-announce]")?.dataset.announce;
  if (!words || words === said) return;
  said = words;
  document.getElementById("live").textContent = words;
});
