"use strict";
// Adds to the page: a box that finds any table or metric, folds that open for what a link leads to, and printing.
// The page is complete without it: contents are links, folds open by themselves, and #unfolded prints by style.css.
(function () {
  const MOST = 40; // found at a time
  const PLACES = "main h2, main h3, main summary:not(:has(h2)), main dt, main .scroll[aria-label], main .plot svg[aria-label], main thead th, main tbody tr > :first-child";
  const contents = document.querySelector("nav details"), lists = Array.from(contents.children).slice(1);
  const wide = matchMedia("(min-width: 84rem)");

  // ---- Folds open for what is looked for
  function unfold(element) {
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }
  function follow() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || target === document.body) return;
    unfold(target);
    target.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  // A link to where the page is already changes no address.
  document.addEventListener("click", (event) => { if (event.target.closest("a[href^='#']")) setTimeout(follow, 0); });

  // ---- The box: a place is found by its own words, and by those that others call it by (same_words.toml)
  const LETTER = "[\\p{L}\\p{N}_]", sameWords = JSON.parse(document.body.dataset.sameWords);
  // Of a word of more than three letters its beginning is enough; Chinese has no spaces between words.
  function patternOf(term) {
    const word = term.split(" ").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + (part.length > 3 ? `${LETTER}*` : "")).join("\\s+");
    return new RegExp(/\p{Script=Han}/u.test(term) ? word : `(?<!${LETTER})${word}(?!${LETTER})`, "u");
  }
  const ignored = sameWords.ignored.map(patternOf), same = sameWords.same.map((names) => ({ names, patterns: names.map(patternOf) }));
  function wantedOf(text) {
    let rest = text.toLowerCase();
    const terms = [];
    for (const { names, patterns } of same) for (const pattern of patterns) {
      const at = rest.match(pattern);
      if (at && at[0].length > 1) terms.push({ text: at[0], patterns, exact: names.includes(at[0]) });
    }
    // The longest first; memory_swpd is that figure, and not any that begins with memory.
    terms.sort((one, other) => other.text.length - one.text.length || other.exact - one.exact);
    const wanted = new Map(), exact = new Set();
    for (const term of terms) {
      const found = wanted.get(term.text);
      if (found ? exact.has(term.text) && !term.exact : !rest.includes(term.text)) continue;
      if (term.exact) exact.add(term.text);
      wanted.set(term.text, [...(found || []), ...term.patterns]);
      rest = rest.replace(term.text, " ");
    }
    const others = ignored.reduce((left, word) => left.replace(word, " "), rest);
    (wanted.size || others.trim() ? others : rest).split(/\s+/).filter(Boolean).forEach((word) => wanted.set(word, []));
    return Array.from(wanted, ([word, group]) => ({ text: word, whole: patternOf(word), others: group }));
  }
  // A note under a name is its second line.
  const textOf = (element) => Array.from(element.childNodes, (one) => (one.localName === "small" ? ": " : "") + one.textContent).join("");
  function placesOf() {
    const known = new Set(), found = [];
    for (const element of document.querySelectorAll(PLACES)) {
      const words = (element.getAttribute("aria-label") || element.title || textOf(element)).trim().replace(/\s+/g, " ");
      const section = element.closest("section"), title = section.querySelector("h2").textContent.trim();
      const key = title + "\n" + words;
      if (!/\p{L}/u.test(words) || known.has(key) || element.closest(".numbers")) continue;
      known.add(key);
      found.push({ element, words, title, text: words.toLowerCase(), id: section.id || section.querySelector("[id]").id });
    }
    return found;
  }
  let places = null;
  const box = document.createElement("input"), results = document.createElement("ul");
  Object.assign(box, { type: "search", className: "find", placeholder: document.body.dataset.find, autocomplete: "off" });
  box.setAttribute("aria-label", document.body.dataset.find);
  results.className = "results";
  results.setAttribute("aria-live", "polite");
  contents.querySelector("summary").after(box, results);

  function find() {
    places = places || placesOf();
    const wanted = wantedOf(box.value);
    // What has the very word stands before what begins with it, then what others call so, then what only contains it.
    const rank = (one, word) => word.whole.test(one.text) ? 3 : ` ${one.text}`.includes(` ${word.text}`) ? 2 : word.others.some((other) => other.test(one.text)) ? 2 : one.text.includes(word.text) ? 1 : 0;
    const ranked = wanted.length ? places.map((one) => ({ ...one, ranks: wanted.map((word) => rank(one, word)) })) : [];
    // Places that have every word; where there are none, those that have most of them.
    const words = (one) => one.ranks.filter(Boolean).length, most = Math.max(0, ...ranked.map(words));
    const found = ranked.filter((one) => most && words(one) === most), sum = (one) => one.ranks.reduce((a, b) => a + b);
    found.sort((one, other) => sum(other) - sum(one));
    results.replaceChildren(...found.slice(0, MOST).map(function (one) {
      const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
      link.href = "#" + one.id;
      link.textContent = one.words.length > 90 ? one.words.slice(0, 90) + "…" : one.words;
      where.textContent = one.words === one.title ? "" : one.title;
      link.append(where);
      link.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); show(one.element); });
      item.append(link);
      return item;
    }));
    if (wanted.length && !found.length) results.append(Object.assign(document.createElement("li"), { textContent: document.body.dataset.foundNothing }));
    lists.forEach((list) => { list.hidden = wanted.length > 0; });
  }
  function show(element) {
    unfold(element);
    if (!wide.matches) contents.open = false;
    const shown = element.tagName === "svg" ? element.closest(".plot") : element.closest("tr") || element;
    shown.scrollIntoView({ block: "center" });
    document.querySelectorAll(".found").forEach((other) => other.classList.remove("found"));
    shown.classList.add("found");
    shown.setAttribute("tabindex", "-1");
    shown.focus({ preventScroll: true });
  }
  box.addEventListener("input", find);
  contents.addEventListener("keydown", function (event) {
    const links = Array.from(results.querySelectorAll("a")), at = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      box.value = "";
      find();
      box.focus();
    } else if (event.key === "Enter" && event.target === box && links.length) links[0].click();
    else if (event.key === "ArrowDown" && at + 1 < links.length) links[at + 1].focus();
    else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] || box).focus();
    else return;
    event.preventDefault();
  });
  addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    event.preventDefault();
    contents.open = true;
    box.focus();
  });

  // ---- Printing: what is open, or everything
  let opened = [];
  addEventListener("beforeprint", function () {
    const folds = location.hash === "#unfolded" ? "main details:not([open])" : ".printed:not([open])";
    opened = Array.from(document.querySelectorAll(folds));
    opened.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));
  document.querySelector(".print-everything").addEventListener("click", function (event) {
    event.preventDefault();
    location.hash = "unfolded";
    addEventListener("afterprint", () => { location.hash = "end"; }, { once: true });
    print();
  });

  // ---- Tables that can be scrolled take the focus, so that keys can scroll them; contents beside the page stay open
  function adapt() {
    document.querySelectorAll(".scroll, pre").forEach(function (table) {
      if (table.scrollWidth > table.clientWidth + 1 || table.scrollHeight > table.clientHeight + 1) table.tabIndex = 0;
      else table.removeAttribute("tabindex");
    });
    if (wide.matches) contents.open = true;
  }
  adapt();
  addEventListener("resize", adapt);
  document.addEventListener("toggle", adapt, true);
  follow();
})();
