/* The support desk: a slash leads to the box from anywhere on the page, as long as nothing is being typed. */
const box = document.querySelector("[data-slash]");

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  box.focus();
  box.select();
});

for (const hint of document.querySelectorAll("[data-slash-hint][hidden]")) hint.hidden = false;
