/* Copy the plain ASCII form of a value and say so: <button data-copy="0.5" data-word-done="Copied" hidden>. */
const SAID_MS = 2000;

function show(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
}

async function write(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea"); // plain http on a home network has no clipboard API
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await write(button.dataset.copy);
  const word = button.querySelector("[data-copy-word]");
  const before = button.dataset.word ?? word.textContent;
  button.dataset.word = before;
  word.textContent = button.dataset.wordDone;
  document.getElementById("live").textContent = button.dataset.wordDone;
  button.classList.add("copy-done");
  setTimeout(() => {
    word.textContent = before;
    button.classList.remove("copy-done");
  }, SAID_MS);
});

show(document);
document.addEventListener("htmx:load", (event) => show(event.detail.elt.parentNode ?? event.detail.elt));
