/* Show what only a browser with passkeys can do, and say in the page when one was not used. */
if (window.PublicKeyCredential) {
  for (const element of document.querySelectorAll("[data-passkeys][hidden]")) element.hidden = false;
  for (const element of document.querySelectorAll("[data-without-passkeys]")) element.hidden = true;
}

document.addEventListener("allauth.error", (event) => {
  event.preventDefault(); // somebody who puts the dialog away has made no error
  for (const element of document.querySelectorAll("[data-passkey-error]")) element.hidden = false;
});
