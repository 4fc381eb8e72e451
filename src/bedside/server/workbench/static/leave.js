// Leaves at once: nothing stays on the screen, and Back does not come here.
let last = 0;
export function leave() {
  document.body.replaceChildren();
  document.title = "";
  location.replace("about:blank");
}
document.getElementById("leave").addEventListener("click", leave);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (event.timeStamp - last < 700) leave();
  last = event.timeStamp;
});
