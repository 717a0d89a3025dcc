// SPDX-License-Identifier: Apache-2.0
// Up to an hour as curves. The broker keeps no past: this page samples it while it is open.

import {card, getJson, getText, h, pause} from "/ui-base.js";

const EACH_MS = 5000, KEPT = 3600000 / EACH_MS, OVER = 60000 / EACH_MS;
const samples = [];  // {at, reserves, buckets: [[le, count], …], queue, quarantined, held}
let trouble = "";

// The buckets and the count of PUT on a job.
const labels = '{method="PUT",route="/v1/clusters/{}/jobs/{}"';
const prefix = "mcastd_http_request_duration_seconds_";
const bucket = `${prefix}bucket${labels},le="`, total = `${prefix}count${labels}} `;

async function sample() {
    const [status, metrics] =
        await Promise.all([getJson("/v1/status"), getText("/metrics").catch(() => "")]);
    const one = {
        at: Date.now(),
        reserves: metrics ? 0 : NaN,
        buckets: [],
        queue: 0,
        quarantined: status.vnis.quarantined,
        held: status.vnis.held
    };
    for (const name of ["fm_reserve", "fm_release", "fm_check", "fm_cleanup"])
        one.queue += status.queues[name];
    for (const line of metrics.split("\n")) {
        if (line.startsWith(total)) one.reserves = Number(line.slice(total.length));
        if (!line.startsWith(bucket)) continue;
        const [le, amount] = line.slice(bucket.length).split('"} ');
        one.buckets.push([le === "+Inf" ? Infinity : Number(le), Number(amount)]);
    }
    samples.push(one);
    if (samples.length > KEPT) samples.shift();
}

export async function timeStart(redraw) {
    for (;;) {
        await sample().then(
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

// Counters begin anew with the broker.
const grown = (a, b) => Number.isFinite(a) && b < a ? b : b - a;

function rate(i) {
    const a = samples[i - 1], b = samples[i];
    return a ? grown(a.reserves, b.reserves) * 1000 / (b.at - a.at) : NaN;
}

// Of the requests of the last minute; as high as the bucket's bound, in ms.
function quantile(q) {
    return (i) => {
        const a = samples[Math.max(0, i - OVER)], b = samples[i];
        const total = grown(a.reserves, b.reserves), anew = b.reserves < a.reserves;
        if (!(total > 0)) return NaN;
        const found =
            b.buckets.find(([, n], k) => n - (anew ? 0 : a.buckets[k]?.[1] || 0) >= q * total);
        return found && found[0] !== Infinity ? found[0] * 1000 : NaN;
    };
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
    const values = lines.map(([, , value]) => samples.map((one, i) => value(i)));
    const highest = Math.max(1e-9, ...values.flat().filter(Number.isFinite));
    const paths = values.map((list, k) => {
        let path = "", pen = "M";
        list.forEach((value, i) => {
            if (!Number.isFinite(value)) {
                pen = "M";
                return;
            }
            path += `${pen}${((samples[i].at - begin) * 1000 / (Date.now() - begin)).toFixed(1)} ${
                (98 - 94 * value / highest).toFixed(1)}`;
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

export function showTime(view) {
    return () => view.replaceChildren(
               h("p", {class: "soft"},
                 trouble ? `not sampled: ${trouble}` :
                           "Sampled each 5 s since this page was opened."),
               h("div", {class: "cards"},
                 curve("Reserves per second", "time-reserves", [["a", "reserves/s", rate]]),
                 curve(
                     "How long reserves take (ms)", "time-latency",
                     [
                         ["a", "half of them, up to", quantile(0.5)],
                         ["b", "99 of 100, up to", quantile(0.99)]
                     ]),
                 curve(
                     "Queue at the fabric manager", "time-queue",
                     [["a", "calls", (i) => samples[i].queue]]),
                 curve("VNIs that are not free and in no job", "time-vnis", [
                     ["a", "quarantined", (i) => samples[i].held],
                     ["b", "suspect", (i) => samples[i].quarantined]
                 ])));
}
