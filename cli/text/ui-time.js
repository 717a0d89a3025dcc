// SPDX-License-Identifier: Apache-2.0
// The last hour as curves, from the samples that the broker keeps.

import {card, getJson, h, pause} from "/ui-base.js";

const EACH_MS = 5000, KEPT_MS = 3600000;
let samples = [];  // as /v1/history has them, with their time in ms as `at`
let trouble = "";

// A broker that was started again, or another one that leads now, begins anew: what is known stays.
async function read() {
    const {samples: more} = await getJson(`/v1/history?after=${samples.at(-1)?.at || 0}`);
    samples.push(...more.map((one) => ({...one, at: Date.parse(one.time)})));
    samples = samples.filter((one) => one.at > Date.now() - KEPT_MS);
}

export async function timeStart(redraw) {
    for (;;) {
        await read().then(
            () => {
                trouble = "";
            },
            (error) => {
                trouble = error.message;
            });
        redraw();
        await pause(EACH_MS);
    }
}

const text = (value) =>
    Number.isFinite(value) ? value.toLocaleString("en", {maximumFractionDigits: 1}) : "–";

function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

function curve(title, id, lines) {
    const span = Math.max(300000, Date.now() - (samples[0]?.at || 0)),
          begin = Date.now() - Math.min(span, 3600000);
    const values = lines.map(([, , value]) => samples.map(value));
    const highest = Math.max(1e-9, ...values.flat().filter(Number.isFinite));
    const paths = values.map((list, k) => {
        let path = "", pen = "M";
        list.forEach((value, i) => {
            if (!Number.isFinite(value)) {
                pen = "M";
                return;
            }
            const dot = pen === "M" ? "h0.1" : "";  // is seen between two gaps, too
            path += `${pen}${((samples[i].at - begin) * 1000 / (Date.now() - begin)).toFixed(1)} ${
                (98 - 94 * value / highest).toFixed(1)}${dot}`;
            pen = "L";
        });
        return svg("path", {class: lines[k][0], d: path || "M0 98"});
    });
    const now = lines.map(
        ([, label], k) => `${label}: ${text(values[k].at(-1))}, at most ${
            text(Math.max(...values[k].filter(Number.isFinite)))}`);
    return card(
        title, {id},
        svg("svg", {
            viewBox: "0 0 1000 100",
            preserveAspectRatio: "none",
            role: "img",
            "aria-label": now.join("; ")
        },
            svg("path", {class: "axis", d: "M0 99H1000"}), ...paths),
        h("p", {class: "soft"}, `${Math.round((Date.now() - begin) / 60000)} minutes ago … now`),
        lines.map(
            (
                [
                    kind,
                ],
                k) =>
                h("p", {class: kind === "a" ? "key is-live" : "key is-quarantined"}, now[k])));
}

const rate = (one) => one.reserves * 1000 / one.since_ms;
const ms = (name) => (one) => one[name] / 1000;  // of none: not a number, so the curve has a gap

export function showTime(view) {
    return () => view.replaceChildren(
               h("p", {class: "soft"},
                 trouble ? `not read since: ${trouble}` :
                           "As the broker sampled it, each 10 s, for an hour at most."),
               h("div", {class: "cards"},
                 curve("Reserves per second", "time-reserves", [["a", "reserves/s", rate]]),
                 curve(
                     "How long reserves take (ms)", "time-latency",
                     [
                         ["a", "half of them, up to", ms("reserve_half_us")],
                         ["b", "99 of 100, up to", ms("reserve_99_us")]
                     ]),
                 curve(
                     "Queue at the fabric manager", "time-queue",
                     [["a", "calls", (one) => one.queue]]),
                 curve("VNIs that are not free and in no job", "time-vnis", [
                     ["a", "quarantined", (one) => one.held],
                     ["b", "suspect", (one) => one.quarantined]
                 ])));
}
