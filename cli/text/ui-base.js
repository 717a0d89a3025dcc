// SPDX-License-Identifier: Apache-2.0
// What all views use: the session with mcastctl ui, the broker's answers, elements.

let key =
    "";  // of the session; nowhere but here: not in a cookie, which goes to every port of a host
export let write = false;  // mcastctl ui was started with --write

export class Refusal extends Error {
    constructor(status, code, detail) {
        super(detail);
        this.status = status;
        this.code = code;
    }
}

async function ask(path, method = "GET") {
    let answer;
    try {
        answer = await fetch(path, {method, headers: {"Mcast-Key": key}, cache: "no-store"});
    } catch (error) {
        throw new Refusal(
            0, "no-program", "mcastctl ui does not answer; has it ended? Start it again.");
    }
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({}));
    throw new Refusal(
        answer.status, problem.code, problem.detail || `HTTP status ${answer.status}`);
}

export const getJson = async (path) => (await ask(path)).json();
export const getText = async (path) => (await ask(path)).text();
export const release = async (path) => (await ask(path, "DELETE")).json();

export const hasKey = () => /^#[0-9a-f]{64}$/.test(location.hash);

// The address' key is good once, and stands there no longer.
export async function openSession() {
    if (!hasKey())
        throw new Refusal(
            403, "wrong-key",
            "This address has no key. Open the one that mcastctl ui " +
                "printed last: it prints a new one when one was used. A reload needs one, too.");
    key = location.hash.slice(1);
    history.replaceState(null, "", "/#now");
    ({key, write} = await getJson("/session"));
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Each event after number `after`, for ever, over as many connections as that takes.
// state(error): null: connected.
export async function follow(after, each, state) {
    for (let wait = 500;;) {
        try {
            const answer = await ask(`/v1/events?after=${after}`);
            state(null);
            const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
            for (let text = "";;) {
                const {value, done} = await reader.read();
                if (done) break;
                wait = 500;
                const parts = (text + value).split("\n\n");
                text = parts.pop();
                for (const event of parts.flatMap(parseEvents)) {
                    after = event.seq || event.to || after;
                    each(event);
                }
            }
        } catch (error) {
            state(error);
            if (error.code === "no-such-event") after = 0;  // an older copy of the ledger
        }
        await pause(wait);
        wait = Math.min(wait * 2, 5000);
    }
}

// h("p", {class: "soft"}, "text", …): text is never taken for HTML.
export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name === "onclick")
            element.addEventListener("click", value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value);
    }
    element.append(
        ...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
}

export const card = (title, attributes, ...children) =>
    h("section", {...attributes, class: `card ${attributes.class || ""}`}, h("h2", {}, title),
      ...children);

export function duration(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
    return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

export const since = (time) => time ? duration(Date.now() - Date.parse(time)) : "–";
// With the day, unless it is today.
export function clock(time) {
    const at = new Date(time), today = at.toDateString() === new Date().toDateString();
    return h(
        "time", {datetime: time, title: time},
        !time ? "" :
                (today ? "" : at.toLocaleDateString("sv") + " ") +
                    at.toLocaleTimeString([], {hour12: false}));
}
export const count = (number) => (number ?? 0).toLocaleString("en").replaceAll(",", "\u202f");

export const plural = (number, word, ending = "s") =>
    `${count(number)} ${word}${number === 1 ? "" : ending}`;

export const parseEvents = (stream) => stream.split("\n")
                                           .filter((line) => line.startsWith("data: "))
                                           .map((line) => JSON.parse(line.slice(6)));

// Parts of a whole as a bar with a legend: [[class, label, amount], …]
export function bar(parts) {
    const whole = parts.reduce((sum, part) => sum + part[2], 0) || 1;
    return [
        h("div", {class: "bar", "aria-hidden": "true"}, parts.map(([kind, , amount]) => {
            const piece = h("i", {class: kind});
            piece.style.width = `${100 * amount / whole}%`;
            return piece;
        })),
        h("dl", {},
          parts.map(
              ([kind, label,
                amount]) => [h("dt", {class: `key ${kind}`}, label), h("dd", {}, count(amount))]))
    ];
}
