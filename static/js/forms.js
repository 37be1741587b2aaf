/* Passwords that can be shown and measured, number steppers, and forms that cannot be sent twice by haste. */
const MINIMUM = 15;
const MAXIMUM = 128;

function reveal(button) {
  const input = document.getElementById(button.getAttribute("aria-controls"));
  const shown = input.type === "text";
  input.type = shown ? "password" : "text";
  button.dataset.wordShow ??= button.textContent;
  button.textContent = shown ? button.dataset.wordShow : button.dataset.wordHide;
  button.setAttribute("aria-pressed", String(!shown));
}

function judge(password) {
  const characters = [...password.normalize("NFKC")];
  if (characters.length < MINIMUM) return ["short", Math.min(1.4, characters.length / MINIMUM)];
  if (characters.length > MAXIMUM) return ["long", 1];
  const different = new Set(characters).size;
  if (different < 7) return ["plain", 2];
  return different >= 12 && characters.length >= 20 ? ["strong", 4] : ["fair", 3];
}

function measure(box, password) {
  const [word, value] = judge(password);
  const text = box.dataset[`word${word[0].toUpperCase()}${word.slice(1)}`].replace("{n}", [...password].length);
  box.hidden = !password;
  box.querySelector("meter").value = value;
  box.querySelector("[role=status]").textContent = text;
}

function step(button) {
  const input = button.closest("[data-stepper]").querySelector("input");
  if (Number(button.dataset.step) > 0) input.stepUp();
  else input.stepDown();
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function limits(stepper) {
  const input = stepper.querySelector("input");
  for (const button of stepper.querySelectorAll("[data-step]")) {
    const more = Number(button.dataset.step) > 0;
    button.setAttribute("aria-disabled", String(more ? Number(input.value) >= Number(input.max) : Number(input.value) <= Number(input.min)));
  }
}

function enhance() {
  for (const hidden of document.querySelectorAll("[data-reveal][hidden], [data-step][hidden]")) hidden.hidden = false;
  document.querySelectorAll("[data-stepper]").forEach(limits);
}

document.addEventListener("click", (event) => {
  const shown = event.target.closest("[data-reveal]");
  const stepped = event.target.closest("[data-step]");
  if (shown) reveal(shown);
  if (stepped) step(stepped);
});

document.addEventListener("input", (event) => {
  const box = document.querySelector(`[data-strength="${event.target.id}"]`);
  if (box) measure(box, event.target.value);
  const stepper = event.target.closest("[data-stepper]");
  if (stepper) limits(stepper);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  event.submitter?.setAttribute("aria-busy", "true");
});

window.addEventListener("pageshow", () => { // back from the next page: the form may be sent again
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
});

enhance();
document.addEventListener("htmx:load", enhance);
