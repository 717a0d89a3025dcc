// SPDX-License-Identifier: Apache-2.0
// All reservations that may be seen, as a table, and one of them.

import {bar, card, clock, count, getJson, getText, h} from "/ui-base.js";
import {parseEvents, pause, plural, release, since, write} from "/ui-base.js";

const ROW = 34, SPARE = 8, PAGE = 1000, GONE_MAX = 1000, REREAD_MS = 300000;

const jobs = new Map();   // by number
const gone = new Map();   // those that ended while the page was open
const notes = new Map();  // by number: what was seen of their nodes and trees, [time, text]
let redraw = () => {}, read = 0, complete = false, trouble = "";
let filter = "", column = "number", down = true, chosen = 0;
let matches = [], stale = true;

// ---- what is known of all ----

function take(job) {
    job.words = [
        job.cluster + "/" + job.job, job.state, "uid" + (job.uid ?? ""), job.nodes || "",
        (job.vnis || []).join(" "), job.hwcoll?.state || ""
    ].join(" ").toLowerCase();
    const before = jobs.get(job.number);
    noteChanges(before, job);
    jobs.set(job.number, job);
    stale = true;
}

function note(job, was, is, text) {
    if (is === undefined || is === was) return;
    notes.set(job.number, [...notes.get(job.number) || [], [new Date().toISOString(), text]]);
}

function noteChanges(before, job) {
    if (!before) return;  // it may have been so for long
    const is = job.waiting_for?.count, trees = job.hwcoll?.trees;
    note(
        job, before.waiting_for?.count ?? job.node_count, is,
        `${count(job.node_count - is)} of ${plural(job.node_count, "node")} are clean`);
    note(job, before.hwcoll?.trees ?? 0, trees, `it has ${plural(trees, "multicast tree")}`);
}

function drop(job) {
    jobs.delete(job.number);
    gone.set(job.number, {...job, gone: new Date().toISOString()});
    if (gone.size > GONE_MAX) {
        const oldest = gone.keys().next().value;
        gone.delete(oldest);
        notes.delete(oldest);
    }
    stale = true;
}

// An event tells what the reservation has since then.
export function jobsChange(event) {
    if (!event.number || !event.state || !complete) return;
    const before = jobs.get(event.number);
    if (!before && (gone.has(event.number) || event.event !== "reserved")) return;
    take({
        ...before,
        cluster: event.cluster,
        job: event.job,
        number: event.number,
        uid: event.uid,
        state: event.state,
        node_count: event.node_count,
        vnis: event.vnis,
        created: before?.created || event.time,
        released: event.event === "released" ? event.time : before?.released,
        hwcoll: {...before?.hwcoll, state: event.event, addresses: event.addresses}
    });
}

// Page by page; those that are not among them any more have ended. state: "" for all.
async function readAll(state) {
    const began = Date.now(), seen = new Set();
    // What came by events while it was read need not be on a page that was read before.
    const before = [...jobs.values()].filter((job) => !state || job.state === state);
    for (let path = `/v1/jobs?limit=${PAGE}${state ? `&state=${state}` : ""}`; path;) {
        const page = await getJson(path);
        for (const job of page.jobs) {
            seen.add(job.number);
            take(job);
        }
        read = Math.max(read, jobs.size);
        path = page.next;
        redraw();
    }
    for (const job of before)
        if (!seen.has(job.number) && jobs.get(job.number)?.state === job.state) drop(job);
    redraw();
    return Date.now() - began;
}

export async function jobsStart(onChange) {
    redraw = onChange;
    for (let whole = 0;;) {
        let took = 0;
        try {
            const all = Date.now() - whole > REREAD_MS;
            took = await readAll(all ? "" : "releasing");
            if (all) whole = Date.now();
            complete = true;
            trouble = "";
        } catch (error) {
            trouble = error.message;
            redraw();
        }
        await pause(Math.max(2000, 10 * took));
    }
}

export const longestWaits =
    (most) => [...jobs.values()]
                  .filter((job) => job.state === "releasing")
                  .sort((a, b) => (a.released || "").localeCompare(b.released || ""))
                  .slice(0, most);

// ---- the table ----

const columns = [
    ["cluster", "cluster", (job) => job.cluster], ["job", "job", (job) => job.job],
    ["state", "state", (job) => job.state], ["nodes", "nodes", (job) => job.node_count || 0],
    ["uid", "user", (job) => job.uid ?? -1], ["vnis", "VNIs", (job) => job.vnis?.[0] || 0],
    [
        "addresses", "addresses",
        (job) => job.hwcoll?.state === "reserved" ? job.hwcoll.addresses || 0 : 0
    ],
    ["number", "age", (job) => job.number]
];
const minor = new Set(["cluster", "uid", "vnis", "addresses", "number"]);

function pick() {
    if (!stale) return;
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    matches = [];
    for (const job of jobs.values())
        if (words.every((word) => job.words.includes(word))) matches.push(job);
    const value = columns.find(([name]) => name === column)[2], way = down ? -1 : 1;
    matches.sort((a, b) => {
        const x = value(a), y = value(b);
        return (x < y ? -way : x > y ? way : 0) || b.number - a.number;
    });
    stale = false;
}

const shows = (job) =>
    [job.cluster, job.job, job.state, count(job.node_count), job.uid ?? "–",
     (job.vnis || []).join(", ") || "–",
     job.hwcoll?.state === "reserved" ? count(job.hwcoll.addresses) : "–", since(job.created)];

function fill(row, job, index) {
    shows(job).forEach((text, i) => {
        const cell = row.children[i];
        if (cell.textContent !== String(text)) cell.textContent = text;
    });
    row.dataset.number = job.number;
    row.setAttribute("aria-rowindex", index + 2);
    row.setAttribute("aria-selected", index === chosen);
    row.id = `row-${index}`;
    row.style.transform = `translateY(${index * ROW}px)`;
}

// As many rows as can be seen, whatever there are.
function draw(table, rows) {
    const first = Math.max(0, Math.floor(table.scrollTop / ROW) - SPARE);
    const last =
        Math.min(matches.length, Math.ceil((table.scrollTop + table.clientHeight) / ROW) + SPARE);
    rows.style.height = `${matches.length * ROW}px`;
    while (rows.children.length > last - first) rows.lastChild.remove();
    while (rows.children.length < last - first)
        rows.append(h(
            "div", {role: "row", class: "row"},
            columns.map(
                ([name]) => h("span", {role: "gridcell", class: minor.has(name) ? "minor" : ""}))));
    for (let i = first; i < last; i++) fill(rows.children[i - first], matches[i], i);
    table.setAttribute("aria-rowcount", matches.length + 1);
    if (last > chosen && chosen >= first)
        table.setAttribute("aria-activedescendant", `row-${chosen}`);
    else
        table.removeAttribute("aria-activedescendant");
}

function head() {
    return h(
        "div", {id: "head", role: "row", class: "row"},
        columns.map(
            ([name, label]) =>
                h("span", {
                    role: "columnheader",
                    class: minor.has(name) ? "minor" : "",
                    "aria-sort": name === column ? (down ? "descending" : "ascending") : "none"
                },
                  h("button", {
                      type: "button",
                      onclick: () => {
                          down = name === column ? !down : false;
                          column = name;
                          stale = true;
                          redraw();
                      }
                  },
                    label + (name === column ? (down ? " ↓" : " ↑") : "")))));
}

let current = null;  // the table that is shown

export function showJobs(view) {
    const input = h("input", {
        id: "filter",
        type: "search",
        autocomplete: "off",
        spellcheck: "false",
        placeholder: "job, cluster, state, uid1001, VNI, node list",
        "aria-label": "Filter"
    });
    const told = h("span", {id: "told", role: "status", class: "soft"});
    const rows = h("div", {id: "rows", role: "rowgroup"});
    const table =
        h("div", {id: "table", role: "grid", tabindex: "0", "aria-label": "Reservations"}, head(),
          rows);
    input.value = filter;
    input.addEventListener("input", () => {
        filter = input.value;
        chosen = 0;
        stale = true;
        table.scrollTop = 0;
        refresh();
    });
    let framed = false;
    table.addEventListener("scroll", () => {
        if (framed) return;
        framed = true;
        requestAnimationFrame(() => {
            framed = false;
            draw(table, rows);
        });
    });
    rows.addEventListener("click", (event) => {
        const row = event.target.closest(".row");
        if (row) location.hash = `#job/${row.dataset.number}`;
    });
    let headed = "";
    const refresh = () => {
        pick();
        if (headed !== column + down) {
            table.querySelector("#head").replaceWith(head());
            headed = column + down;
        }
        told.textContent = `${count(matches.length)} of ${count(jobs.size)} reservations` +
            (complete ? "" : ", reading on") + (trouble ? `; not read since: ${trouble}` : "");
        draw(table, rows);
    };
    current = {table, refresh};
    view.replaceChildren(h("div", {class: "tools"}, input, told), table);
    return refresh;
}

export function jobsKey(event) {
    const {table, refresh} = current;
    const page = Math.max(1, Math.floor(table.clientHeight / ROW) - 2), last = matches.length - 1;
    const typing = event.target.id === "filter";
    const to = {
        ArrowDown: chosen + 1,
        ArrowUp: chosen - 1,
        PageDown: chosen + page,
        PageUp: chosen - page,
        ...(typing ? {} : {Home: 0, End: last})
    }[event.key];
    if (event.key === "Enter" && matches[chosen] && event.target.tagName !== "BUTTON")
        location.hash = `#job/${matches[chosen].number}`;
    else if (event.key === "Escape" && typing)
        table.focus();
    else if (to !== undefined) {
        chosen = Math.max(0, Math.min(last, to));
        const top = chosen * ROW, room = table.clientHeight - 2 * ROW;
        table.scrollTop = Math.min(top, Math.max(table.scrollTop, top - room));
        refresh();
        event.preventDefault();
    }
}

// ---- one ----

const kinds = {
    reserved: "reserved",
    denied: "without addresses: denied",
    timeout: "without addresses: no answer in time",
    unavailable: "without addresses: the fabric manager was away",
    released: "released",
    lost: "its addresses were lost",
    adopted: "adopted",
    lingering: "services linger on a node"
};

function life(job, events) {
    const all = [
        [job.created, "asked for"],
        ...events.map(
            (event) =>
                [event.time,
                 (kinds[event.event] || event.event) + (event.detail ? `: ${event.detail}` : "")]),
        ...(notes.get(job.number) || [])
    ];
    if (job.gone)
        all.push([job.gone, "gone: its VNIs are free"]);
    else if (job.held_until)
        all.push([job.held_until, "VNIs free, if no node reports otherwise"]);
    all.sort((a, b) => a[0].localeCompare(b[0]));
    return card(
        "Life", {id: "job-life"},
        h("ol", {}, all.map(([time, text]) => h("li", {}, clock(time), text))));
}

function waitsFor(job) {
    const w = job.waiting_for;
    if (job.gone || !w)
        return card(
            "Waits for", {id: "job-waits"},
            h("p", {}, job.gone || job.state === "active" ? "nothing" : "the fabric manager"));
    return card(
        "Waits for", {id: "job-waits"}, bar([
            ["is-live", "nodes clean", job.node_count - w.count],
            ["is-quarantined", "services linger", w.lingering],
            ["is-held", "services reported", w.created], ["is-free", "nothing heard", w.unheard]
        ]),
        h("ul", {},
          w.reports.map(
              (one) =>
                  h("li", {},
                    `${one.node}: ${one.state}${one.services ? ` (${one.services})` : ""}`))),
        w.silent ? h("p", {},
                     `nothing heard of ${w.silent}${
                         w.silent_more ? ` and ${count(w.silent_more)} more` : ""}`) :
                                         null);
}

function map(topology) {
    if (!topology)
        return card("Map", {id: "job-map", class: "wide"}, h("p", {class: "soft"}, "not known"));
    const groups = new Map();
    for (const one of topology.switches)
        groups.set(one.group, [...(groups.get(one.group) || []), one]);
    return card(
        "Map", {id: "job-map", class: "wide"},
        h("p", {},
          `${count(topology.placed)} of ${plural(topology.node_count, "node")} at ` +
              `${plural(topology.switches.length, "switch", "es")} in ${
                  plural(topology.groups, "group")}; ${count(topology.nics_down)} of ${
                  count(topology.nics)} NICs down`),
        [...groups].map(
            ([group, switches]) =>
                h("div", {class: "group"}, h("h2", {}, `group ${group}`),
                  h("div", {class: "switches"},
                    switches.map(
                        (one) =>
                            h("div",
                              {class: `switch ${one.state === "up" || !one.state ? "" : "down"}`},
                              h("strong", {}, one.switch),
                              ` ${one.state || ""}, ${plural(one.node_count, "node")}`, h("br"),
                              h("span", {class: "soft"}, one.nodes || "")))))),
        topology.nodes_without_address ?
            h("p", {}, `without an address: ${topology.nodes_without_address}`) :
            null);
}

const pathOf = (job) =>
    `/v1/clusters/${encodeURIComponent(job.cluster)}/jobs/${encodeURIComponent(job.job)}`;

// Asks first, then shows what the broker answers: by the number, as the name may be a later
// reservation's by then.
function askRelease(job) {
    const told = h("p", {id: "release-told", role: "status"}, "");
    const tell = (kind, text) => {
        told.className = kind;
        told.textContent = text;
    };
    const yes = h(
        "button", {
            type: "button",
            id: "release-yes",
            onclick: async () => {
                yes.disabled = true;
                try {
                    const path = `${pathOf(job)}?number=${job.number}`;
                    tell("good", `The broker answers: ${(await release(path)).state}.`);
                } catch (error) {
                    tell("bad", `Not released: ${error.message}`);
                }
            }
        },
        "Release");
    const no = h("button", {type: "button", id: "release-no", onclick: () => box.close()}, "Close");
    const box = h(
        "dialog", {id: "release-box", "aria-labelledby": "release-what"},
        h("h2", {id: "release-what"}, `Release ${job.cluster}/${job.job}?`),
        h("p", {},
          `Reservation ${job.number} of uid ${job.uid ?? "–"}, ${plural(job.node_count, "node")}. ` +
              "Its VNIs and addresses are taken back. A job that still runs loses them: release " +
              "only what is over."),
        told, h("p", {}, no, " ", yes));
    document.getElementById("release-box")?.remove();
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
    no.focus();
}

function facts(job) {
    const has = job.hwcoll || {};
    return card(
        `${job.cluster}/${job.job}`, {id: "job-facts"},
        h("p", {class: "big", id: "job-state"}, job.gone ? "gone" : job.state), h("dl", {}, [
            ["number", job.number], ["user", job.uid ?? "–"],
            ["nodes", `${count(job.node_count)}: ${job.nodes || ""}`],
            ["VNIs", (job.vnis || []).join(", ") || "–"],
            ["collectives", `${has.state || "–"}${has.reason ? ` (${has.reason})` : ""}`],
            ["addresses", has.state === "reserved" ? count(has.addresses) : "–"], ["network", job.interconnect || "–"]
        ].map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))])),
        write && job.state === "active" && !job.gone ?
            h("button", {type: "button", id: "release", onclick: () => askRelease(job)},
              "Release…") :
            null);
}

export function showJob(view, known, text) {
    const number = Number(text), stays = () => location.hash === `#job/${text}`;
    let events = [], topology = null, told = "", faults = "";
    async function look() {
        const page = await getJson(`/v1/jobs?limit=1&after=${number - 1}`);
        const found = page.jobs.find((one) => one.number === number);
        if (found)
            take(found);
        else if (jobs.has(number))
            drop(jobs.get(number));
        const job = jobs.get(number) || gone.get(number);
        if (!job) return;
        const where =
            `cluster=${encodeURIComponent(job.cluster)}&job=${encodeURIComponent(job.job)}`;
        events = parseEvents(await getText(`/v1/events?follow=0&${where}`))
                     .filter((event) => event.number === number);
        if (found && !topology)
            topology = await getJson(`${pathOf(job)}/topology`).catch(() => null);
    }
    (async () => {
        for (; stays(); await pause(1000)) {
            await look().then(
                () => {
                    faults = "";
                },
                (error) => {
                    faults = error.message;
                });
            if (stays()) redraw();
        }
    })();
    return () => {
        const job = jobs.get(number) || gone.get(number);
        const now = JSON.stringify([job, events, topology, faults, notes.get(number)]);
        if (now === told) return;
        told = now;
        const back = h("p", {}, h("a", {href: "#jobs"}, "← all reservations"));
        if (!job)
            return view.replaceChildren(
                back,
                h("p", {}, faults || `There is no reservation ${text} any more, or not yet.`));
        const focused = document.activeElement?.id;
        view.replaceChildren(
            back,
            h("div", {class: "cards"}, facts(job), life(job, events), waitsFor(job),
              map(topology)));
        if (focused) document.getElementById(focused)?.focus();
    };
}
