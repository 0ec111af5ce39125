"use strict";
// Data of one judge and dataset come as a file beside this page, since a page that is opened from disk may load scripts
// and nothing else. All texts are set as text, never as markup.
const at = (id) => document.getElementById(id);
const loaded = new Map();
let data = null, open = null;

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null) made.setAttribute(key, value);
  return made;
}

function options(select, values, kept) {
  select.replaceChildren(...values.map(([value, text]) => element("option", text, { value })));
  select.value = values.some(([value]) => value === kept) ? kept : values[0][0];
  select.disabled = values.length < 2;
}

const number = (value, digits) => (value === null ? "not known" : value.toFixed(digits === undefined ? 2 : digits));
const count = (value, word) => `${value.toLocaleString("en")} ${word}${value === 1 ? "" : "s"}`;
const reason = (name) => (name === "no_score" ? "none is given" : name.replaceAll("_", " "));
const letter = (place) => String.fromCharCode(64 + place);
const comparing = () => data.kind === "candidates";

// What an option is called in a cell.
function option(item, value) {
  return value === null ? "–" : comparing() ? (value === 0 ? "tie" : letter(value)) : String(value);
}

function ordering(order) {
  return order.map((value) => (comparing() ? letter(value) : value)).join(" ");
}

function blockName(block) {
  const parts = [block.strategy, comparing() ? `${block.n} candidates` : `${block.n} levels`];
  if (block.profile !== "default") parts.push(`profile ${block.profile}`);
  if (block.condition !== "baseline") parts.push(`condition ${block.condition}`);
  return parts.join(", ");
}

window.readsLoaded = (found) => {
  loaded.set(`${found.dataset}/${found.judge}`, found);
  show(found);
};

function load() {
  const name = `${at("dataset").value}/${at("judge").value}`;
  if (loaded.has(name)) return show(loaded.get(name));
  at("status").textContent = "Loading …";
  const script = element("script", null, { src: `${name}.js`, charset: "utf-8" });
  script.onerror = () => {
    at("status").textContent = `There is no file ${name}.js beside this page, or it cannot be read.`;
    at("list").replaceChildren();
    at("caps").textContent = at("legend").textContent = "";
    at("single").hidden = true;
  };
  document.head.append(script);
}

function show(found) {
  data = found;
  open = null;
  at("single").hidden = true;
  const used = [...new Set(found.items.map((item) => item.block))].sort((a, b) => a - b);
  options(at("block"), used.length ? used.map((place) => [String(place), blockName(found.blocks[place])]) : [["", "none"]], wanted.block);
  const any = [["", "all"]];
  const names = [...new Set(found.items.map((item) => item.criterion).filter((name) => name !== null))].sort();
  options(at("criterion"), [...any, ...names.map((name) => [name, name])], at("criterion").value);
  options(at("why"), [...any, ...found.why.map((text, place) => [String(place), text])], "");
  sorts(at("sort").value);
  inBlock();
}

// The filters that depend on the reads of a block.
function inBlock() {
  const any = [["", "all"]], items = data.items.filter((item) => String(item.block) === at("block").value);
  const reads = items.flatMap((item) => item.reads);
  const scores = [...new Set(reads.map((read) => read.score).filter((score) => score !== null))].sort((a, b) => a - b);
  options(at("score"), [...any, ...scores.map((score) => [String(score), option(null, score)])], at("score").value);
  const reasons = [...new Set(reads.map((read) => read.failure).filter((reason) => reason !== null))].sort();
  const failing = [...any, ["none", "items without any"]];
  if (reasons.length) failing.push(["some", "items with some"]);
  options(at("failure"), [...failing, ...reasons.map((name) => [`: ${name}`, reason(name)])], at("failure").value);
  list();
}

function fits(item) {
  const score = at("score").value, failure = at("failure").value;
  return String(item.block) === at("block").value
    && (!at("criterion").value || item.criterion === at("criterion").value)
    && (!at("why").value || String(item.why) === at("why").value)
    && (!score || item.reads.some((read) => String(read.score) === score))
    && (failure === "" || (failure === "none" ? item.n_failed === 0 : failure === "some" ? item.n_failed > 0
      : item.reads.some((read) => `: ${read.failure}` === failure)));
}

// Name of the label of an item, which is no person's where nobody rated it.
function gold() {
  return data && data.gold ? data.gold : "human score";
}

const SORTS = {
  moved: ["how far the order moves it", (a, b) => (b.moved ?? -1) - (a.moved ?? -1) || (b.moved_soft ?? -1) - (a.moved_soft ?? -1)],
  failed: ["reads without a score", (a, b) => b.n_failed - a.n_failed],
  mean: ["mean score, highest first", (a, b) => (b.mean ?? -1) - (a.mean ?? -1)],
  human: ["human score, highest first", (a, b) => (b.human ?? -1) - (a.human ?? -1)],
  name: ["name", (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)],
};

function sorts(chosen) {
  const words = (value, text) => (value === "human" ? `${gold()}, highest first` : text);
  options(at("sort"), Object.entries(SORTS).map(([value, [text]]) => [value, words(value, text)]), chosen);
}

// The orders that all items of a block are read in; null where each item has its own.
function sharedOrders(items) {
  const of = (item) => item.reads.map((read) => ordering(read.order) + (read.levels ? ` / ${read.levels.join(" ")}` : ""));
  const first = items.length ? of(items[0]) : [];
  return items.every((item) => of(item).join("|") === first.join("|")) ? first : null;
}

function cell(item, read) {
  if (read.score === null) {
    const made = element("td", "×", { class: "cell none", title: reason(read.failure) });
    made.append(element("span", ` no score: ${reason(read.failure)}`, { class: "unseen" }));
    return made;
  }
  const side = comparing() || item.mean === null ? "" : read.score > item.mean + 0.25 ? " more" : read.score < item.mean - 0.25 ? " less" : "";
  return element("td", option(item, read.score), { class: `cell${side}` });
}

function list() {
  const block = data.blocks[Number(at("block").value)];
  if (!block) {
    at("status").textContent = "There are no reads.";
    return;
  }
  const held = data.items.filter((item) => String(item.block) === at("block").value);
  const shown = held.filter(fits).sort(SORTS[at("sort").value][1]);
  at("status").textContent = `${count(shown.length, "item")} of the ${held.length} that this page holds; `
    + `${count(block.n_items, "item")} with ${count(block.n_reads, "read")} in all, ${count(block.n_failed, "read")} without a score.`;
  const caps = data.caps;
  at("caps").textContent = `This page holds of each judge, dataset and strategy up to ${caps.moved} items that the order moves most, `
    + `${caps.failed} of the others with the most reads without a score, and ${caps.drawn} of the rest, drawn at random; of an item up `
    + `to ${caps.reads} reads, of a text up to ${caps.characters.toLocaleString("en")} characters. So what stands here is no fair sample, `
    + `but for the items drawn at random.`;
  const orders = sharedOrders(held), most = Math.max(0, ...held.map((item) => item.reads.length));
  const heads = orders || Array.from({ length: most }, (_, place) => `read ${place + 1}`);
  const criteria = at("criterion").options.length > 2, human = held.some((item) => item.human !== null);
  const table = element("table"), row = element("tr"), body = element("tbody");
  row.append(element("th", "Item", { scope: "col" }));
  if (criteria) row.append(element("th", "Criterion", { scope: "col" }));
  if (human) row.append(element("th", data.gold ? "Intended" : "Human", { scope: "col", class: "cell" }));
  if (!comparing()) row.append(element("th", "Mean", { scope: "col", class: "cell" }));
  row.append(element("th", comparing() ? "Not the commonest" : "Moved by", { scope: "col", class: "cell" }));
  row.append(...heads.map((text) => element("th", text, { scope: "col", class: "cell" })));
  for (const item of shown) {
    const line = element("tr", null, { class: item === open ? "open" : null }), name = element("th", null, { scope: "row" });
    const button = element("button", item.name, { type: "button" });
    button.onclick = () => single(item, true);
    name.append(button);
    line.append(name);
    if (criteria) line.append(element("td", item.criterion));
    if (human) line.append(element("td", item.human === null ? "–" : item.human.toFixed(2), { class: "cell" }));
    if (!comparing()) line.append(element("td", item.mean === null ? "–" : item.mean.toFixed(2), { class: "cell" }));
    const moved = item.moved === null ? "–" : comparing() ? `${Math.round(100 * item.moved)}%` : item.moved.toFixed(2);
    line.append(element("td", moved, { class: "cell" }));
    line.append(...item.reads.map((read) => cell(item, read)));
    for (let place = item.reads.length; place < heads.length; place += 1) line.append(element("td", "", { class: "cell" }));
    body.append(line);
  }
  const head = element("thead"), caption = element("caption", "Items with the answer under each order", { class: "unseen" });
  head.append(row);
  table.append(caption, head, body);
  at("list").replaceChildren(table);
  const what = { levels: "the score at each position, first to last", criteria: "the number of the criterion at each position, first to last", candidates: "the candidate at each position, first to last" }[data.kind];
  at("legend").textContent = (orders ? `Columns are orders: ${what}. ` : "Each item has orders of its own, see the item. ")
    + (comparing() ? "A cell is the candidate that was chosen, A the first in the order of the dataset. Not the commonest: the share of verdicts that are not the item's commonest one. "
      : "Moved by: the greatest difference between the mean scores of two orders, in points; where answers are drawn at random, a part of it is chance. Blue cells lie below the item's mean, red ones above it. ")
    + "× is a read without a score.";
}

function facts(item) {
  const rows = [["Group", item.group_id]];
  if (item.candidates) {
    item.candidates.forEach((name, place) => {
      const score = item.raters.length > place ? `, ${gold()} ${number(item.raters[place])}` : "";
      rows.push([`Candidate ${letter(place + 1)}`, name + score]);
    });
  } else {
    rows.push(["Candidate", item.candidate], [gold()[0].toUpperCase() + gold().slice(1), item.human === null ? "none" : number(item.human)
      + (item.raters.length > 1 ? `, the mean of ${item.raters.map((value) => +value.toFixed(2)).join(", ")}` : "")]);
  }
  rows.push(["Criterion", item.criterion]);
  if (item.options) rows.push(["Criteria by number", item.options.map((name, place) => `${place + 1} ${name}`).join(", ")]);
  if (comparing()) rows.push(["Verdicts that are not the commonest", item.moved === null ? "not known" : `${Math.round(100 * item.moved)}%`]);
  else {
    rows.push(["Mean score", number(item.mean)]);
    rows.push(["Moved by the order", item.moved === null ? "not known: fewer than two orders have a score" : `${number(item.moved)} points`]);
    if (item.moved_soft !== null) rows.push(["Moved, by the probabilities", `${number(item.moved_soft)} points`]);
  }
  rows.push(["Reads", `${item.n_reads}, ${item.n_failed} without a score${item.reads.length < item.n_reads ? `; the first ${item.reads.length} are shown` : ""}`]);
  rows.push(["Shown because", data.why[item.why]]);
  return rows.filter(([, value]) => value !== null).flatMap(([name, value]) => [element("dt", name), element("dd", value)]);
}

const percent = (share) => (share < 0.0005 ? "0%" : `${(100 * share).toFixed(1)}%`);

function positions(item, read) {
  const shares = read.probabilities || [], levels = data.kind === "levels", criteria = data.kind === "criteria";
  return read.order.map((value, place) => {
    const chosen = criteria ? item.options && item.options[value - 1] === item.question : read.position === place + 1;
    const made = element("td", option(item, value), { class: `cell${chosen ? " chosen" : ""}` });
    if (chosen) made.append(element("span", criteria ? " this criterion" : " chosen", { class: "unseen" }));
    if ((levels || comparing()) && place < shares.length) made.append(element("span", percent(shares[place]), { class: "share" }));
    return made;
  });
}

function single(item, move) {
  open = item;
  const most = Math.max(...item.reads.map((read) => read.order.length));
  at("name").textContent = item.question ? `${item.name}: ${item.question}` : item.name;
  at("facts").replaceChildren(...facts(item));
  const table = element("table"), head = element("thead"), row = element("tr"), body = element("tbody");
  const soft = data.kind === "criteria" ? Math.max(0, ...item.reads.map((read) => (read.probabilities || []).length)) : 0;
  const expected = !comparing() && item.reads.some((read) => read.expected !== null);
  const tied = comparing() && item.reads.some((read) => read.tie && read.probabilities);
  const place = (k) => `position ${k}${k === 1 ? " (first)" : k === most ? " (last)" : ""}`;
  row.append(element("th", "Read", { scope: "col" }));
  for (let k = 1; k <= most; k += 1) row.append(element("th", place(k), { scope: "col", class: "cell" }));
  for (let k = 1; k <= soft; k += 1) row.append(element("th", `p(${k})`, { scope: "col", class: "cell" }));
  if (tied) row.append(element("th", "p(tie)", { scope: "col", class: "cell" }));
  row.append(element("th", comparing() ? "Chosen" : "Score", { scope: "col", class: "cell" }));
  if (expected) row.append(element("th", "Expected score", { scope: "col", class: "cell" }));
  row.append(element("th", "What the parser made of it", { scope: "col" }));
  item.reads.forEach((read, index) => {
    const line = element("tr");
    line.append(element("th", String(index + 1), { scope: "row" }), ...positions(item, read));
    for (let k = read.order.length; k < most; k += 1) line.append(element("td", ""));
    for (let k = 0; k < soft; k += 1) line.append(element("td", read.probabilities ? percent(read.probabilities[k]) : "–", { class: "cell" }));
    if (tied) line.append(element("td", read.tie && read.probabilities ? percent(read.probabilities[read.order.length]) : "–", { class: "cell" }));
    line.append(cell(item, read));
    if (expected) line.append(element("td", read.expected === null ? "–" : read.expected.toFixed(2), { class: "cell" }));
    line.append(element("td", parsed(item, read)));
    body.append(line);
  });
  head.append(row);
  table.append(element("caption", "Reads of this item", { class: "unseen" }), head, body);
  at("grid").replaceChildren(table);
  const known = item.reads.some((read) => read.probabilities);
  at("grid-legend").textContent = {
    levels: "Cells: the score that stood at each position; the frame marks the one that was chosen.",
    criteria: "Cells: the criterion that stood at each position, by its number; the frame marks the one that this row is about.",
    candidates: "Cells: the candidate that stood at each position; the frame marks the one that was chosen.",
  }[data.kind] + (known ? (data.kind === "criteria" ? " p(k): probability of score k." : " Below it, its probability.") : " Probabilities of the options are not known.");
  at("answers").replaceChildren(...item.reads.map((read, index) => answer(item, read, index)));
  at("single").hidden = false;
  list();
  history.replaceState(null, "", `#${data.dataset}/${data.judge}/${item.block}/${data.items.indexOf(item)}`);
  if (move) at("name").focus();
}

function parsed(item, read) {
  if (read.failure !== null) return `no score: ${reason(read.failure)}`;
  const form = read.pattern === null ? "" : `, in the form “${read.pattern.replaceAll("_", " ")}”`;
  return `${option(item, read.score)}${form}`;
}

function answer(item, read, index) {
  const made = element("article", null, { class: "read" }), name = `read-${index + 1}`;
  made.setAttribute("aria-labelledby", name);
  made.append(element("h4", `Read ${index + 1}: order ${ordering(read.order)}`, { id: name }));
  if (read.levels) made.append(element("p", `Score levels in the order ${read.levels.join(" ")}.`));
  const ranks = read.ranking ? ` Ranking, best first: ${ordering(read.ranking)}.` : "";
  made.append(element("p", `The parser: ${parsed(item, read)}.${ranks}${read.finish === "length" ? " The answer was cut at its longest length." : ""}`));
  if (read.error) made.append(element("p", `There is no answer: ${read.error}`));
  if (read.text !== null) made.append(text(read.text, `Answer of read ${index + 1}`));
  else if (!read.error) made.append(element("p", "No answer is stored."));
  if (read.cut) made.append(element("p", `The answer is longer; ${data.caps.characters.toLocaleString("en")} characters are shown.`));
  if (read.constrained) {
    made.append(element("p", "Second request, which allowed nothing but a label:"), text(read.constrained, `Second answer of read ${index + 1}`));
  }
  if (read.prompt) {
    const more = element("details"), [frame, middle] = read.prompt, [first, last] = data.frames[frame];
    more.append(element("summary", "Prompt, as it was sent"), text(first + middle + last, `Prompt of read ${index + 1}`));
    if (read.prompt_cut) more.append(element("p", `The prompt is longer; ${data.caps.characters.toLocaleString("en")} characters are shown.`));
    more.append(element("p", `Request ${read.request}`, { class: "about" }));
    made.append(more);
  } else made.append(element("p", "The prompt is not stored: the answer was recorded elsewhere.", { class: "about" }));
  return made;
}

function text(value, label) {
  return element("pre", value === "" ? "(empty)" : value, { class: "text", dir: "auto", tabindex: "0", role: "region", "aria-label": label });
}

const unique = (name, label) => [...new Map(PAGE.sets.map((each) => [each[name], each[label]]))];
// Where the address says: dataset/judge, and perhaps a block and an item.
const parts = decodeURIComponent(location.hash.slice(1)).split("/");
const wanted = { dataset: parts[0], judge: parts[1], block: parts[2], item: parts[3] };

function pairs(changed) {
  const other = changed === "judge" ? "dataset" : "judge", kept = at(other).value;
  const there = PAGE.sets.filter((each) => each[changed] === at(changed).value).map((each) => each[other]);
  options(at(other), unique(other, `${other}_label`).filter(([value]) => there.includes(value)), kept);
}

options(at("judge"), unique("judge", "judge_label"), wanted.judge);
options(at("dataset"), unique("dataset", "dataset_label"), wanted.dataset);
pairs("judge");
at("judge").disabled = unique("judge", "judge_label").length < 2;
sorts("moved");
at("judge").onchange = () => { pairs("judge"); load(); };
at("dataset").onchange = load;
at("block").onchange = inBlock;
for (const id of ["criterion", "score", "failure", "why", "sort"]) at(id).onchange = list;
at("filters").onsubmit = (event) => event.preventDefault();
at("back").onclick = (event) => { event.preventDefault(); at("list").focus(); at("list").scrollIntoView(); };
load();
if (wanted.item !== undefined) {
  const opened = window.readsLoaded;
  window.readsLoaded = (found) => {
    opened(found);
    if (`${found.dataset}/${found.judge}` === `${wanted.dataset}/${wanted.judge}` && found.items[Number(wanted.item)]) single(found.items[Number(wanted.item)], false);
    window.readsLoaded = opened;
  };
}
