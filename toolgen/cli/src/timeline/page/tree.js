// Values of JSON as a tree whose branches fold. A text that holds JSON is such a branch too, and marked as a text.

/** Most children of a branch that are shown at once. */
const MOST_CHILDREN = 200;
/** Most characters of a text that are shown at once. */
const MOST_TEXT = 20000;

const isBranch = (value) => value !== null && typeof value === "object" && Object.keys(value).length > 0;

/** The object or the list that a text holds as JSON; `null` if it holds none. */
function heldBy(text) {
  if (typeof text !== "string" || !/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** How many values are in a value, counted up to a limit. */
function extent(value, limit) {
  let count = 0;
  const open = [value];
  while (open.length && count < limit) {
    const next = open.pop();
    count += 1;
    const inside = heldBy(next) ?? next;
    if (isBranch(inside)) for (const child of Object.values(inside).slice(0, limit)) open.push(child);
  }
  return count;
}

/** A value as a tree: its members, without a branch for the value itself. */
function tree(value) {
  const made = make("div", "tree");
  if (isBranch(value)) children(made, value, 1);
  else made.append(node(null, value, 0));
  return made;
}

function children(parent, value, depth, from = 0) {
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  for (const [name, child] of entries.slice(from, from + MOST_CHILDREN)) parent.append(node([name, isList], child, depth));
  const next = from + MOST_CHILDREN;
  if (next >= entries.length) return;
  const more = make("button", "", `Show ${Math.min(MOST_CHILDREN, entries.length - next)} more of ${entries.length.toLocaleString()}`);
  more.onclick = () => {
    more.remove();
    children(parent, value, depth, next);
  };
  parent.append(more);
}

function node(name, value, depth) {
  const held = heldBy(value);
  const inside = held ?? value;
  const label = name ? [make("span", name[1] ? "key index" : "key", name[0]), ": "] : [];
  const mark = held === null ? [] : [make("span", "mark", "JSON in a string"), " "];
  if (!isBranch(inside)) {
    const leaf = make("div", "leaf");
    const shown = held === null ? scalar(value) : [make("span", "null", Array.isArray(inside) ? "[]" : "{}")];
    leaf.append(...label, ...mark, ...shown);
    return leaf;
  }
  const branch = make("details");
  const head = make("summary");
  const size = Object.keys(inside).length;
  const kind = Array.isArray(inside) ? `[${size} item${size === 1 ? "" : "s"}]` : `{${size} member${size === 1 ? "" : "s"}}`;
  head.append(...label, ...mark, make("span", "kind", kind));
  const body = make("div", "branch");
  branch.append(head, body);
  // Branches are filled when they are opened first, so that a megabyte costs what is shown of it.
  const fill = () => body.firstChild || children(body, inside, depth + 1);
  branch.ontoggle = () => branch.open && fill();
  if (extent(inside, 61) <= 60 || (depth < 2 && size <= 20)) {
    fill();
    branch.open = true;
  }
  return branch;
}

/** A value without members: texts in quotes with their line ends, cut where they are long. */
function scalar(value) {
  if (typeof value === "string") return cut(value, "string", '"');
  const kind = value === null || typeof value === "object" ? "null" : typeof value;
  return [make("span", kind, JSON.stringify(value) ?? "")];
}

/** A text, cut where it is long, with a button that shows it whole. */
function cut(text, className, quote = "") {
  const content = plain(text);
  const body = make("span", className);
  if (content.length <= MOST_TEXT) {
    body.textContent = quote + content + quote;
    return [body];
  }
  body.textContent = `${quote}${content.slice(0, MOST_TEXT)}…`;
  const more = make("button", "", `Show all ${content.length.toLocaleString()} characters`);
  more.onclick = () => {
    body.textContent = quote + content + quote;
    more.remove();
  };
  return [body, more];
}
