/* Arrow keys, Home and End move through the rows of the work list while one of them has the focus. */
const list = document.querySelector("[data-worklist]");

function target(rows, place, key) {
  if (key === "ArrowDown") return rows[place + 1];
  if (key === "ArrowUp") return rows[place - 1];
  if (key === "Home") return rows[0];
  return key === "End" ? rows[rows.length - 1] : undefined;
}

list?.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const rows = [...list.querySelectorAll("[data-row]")];
  const place = rows.indexOf(event.target);
  const next = place < 0 ? undefined : target(rows, place, event.key);
  if (!next) return;
  event.preventDefault();
  next.focus();
});
