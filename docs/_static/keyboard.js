// What the theme leaves out for people who use a keyboard or a screen reader.
window.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  const mark = () => {
    for (const part of document.querySelectorAll("pre, .table-wrapper, .cell_output .output")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0; // so that arrow keys scroll it
    }
  };
  mark();
  window.addEventListener("resize", mark);
});
