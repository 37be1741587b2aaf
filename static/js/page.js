/* Menus that close, messages that can be put away, dialogs, printing. */
function show(root) {
  for (const element of root.querySelectorAll("[data-close][hidden], [data-print][hidden], [data-dialog][hidden]")) element.hidden = false;
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  event.target.closest("[data-close]")?.closest(".toast")?.remove();
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.dialog).showModal();
  }
  if (event.target.closest("[data-print]")) window.print();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

show(document);
document.addEventListener("htmx:load", () => show(document));
