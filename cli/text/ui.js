// SPDX-License-Identifier: Apache-2.0
// The page of mcastctl ui: what is known of the broker, kept live, and which view is shown.

import {follow, getJson, getText, hasKey, openSession} from "/ui-base.js";
import {parseEvents, pause, Refusal} from "/ui-base.js";
import {jobsChange, jobsKey, jobsStart, showJob, showJobs} from "/ui-jobs.js";
import {showNow} from "/ui-now.js";
import {showTime, timeStart} from "/ui-time.js";

const LATEST = 200;  // events that are remembered

const known = {
    status: null,
    doctor: null,
    events: [],
    links: []
};
const $ = (id) => document.getElementById(id);
const views = {
    now: showNow,
    jobs: showJobs,
    job: showJob,
    time: showTime
};
let shown = "", refresh = null, asked = false;

function tell(error) {
    $("link").className = error ? "lost" : "live";
    $("link").textContent = error ? "not connected" : "live";
    $("trouble").hidden = !error;
    const again = !error || error.code === "wrong-key" ? "" : " It is tried again.";
    if (error && $("trouble").textContent !== error.message + again)
        $("trouble").textContent = error.message + again;
}

// ---- which view ----

function show() {
    const [name, ...rest] = location.hash.slice(1).split("/");
    shown = Object.hasOwn(views, name) ? name : "now";
    for (const link of document.querySelectorAll("nav a")) {
        const current = link.hash === (shown === "job" ? "#jobs" : `#${shown}`);
        if (current)
            link.setAttribute("aria-current", "page");
        else
            link.removeAttribute("aria-current");
    }
    refresh = views[shown]($("view"), known, ...rest);  // what draws it anew
    refresh();
}

function redraw() {
    // Not while text is being selected there.
    if (refresh && !String(getSelection())) refresh();
}

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("release-box")?.open) return;
    const typing = event.target.id === "filter";
    const view = {1: "#now", 2: "#jobs", 3: "#time"}[event.key];
    if (event.key === "Escape" && shown === "job")
        location.hash = "#jobs";
    else if (event.key === "/" && !typing) {
        if (shown !== "jobs") location.hash = "#jobs";
        setTimeout(() => $("filter")?.focus());
        event.preventDefault();
    } else if (view && !typing)
        location.hash = view;
    else if (shown === "jobs")
        jobsKey(event);
});

// ---- what is known ----

async function readStatus() {
    if (asked) return;
    asked = true;
    try {
        known.status = await getJson("/v1/status");
        tell(null);
    } catch (error) { tell(error); }
    asked = false;
    redraw();
}

let soon = 0;
function readSoon() {
    if (!soon)
        soon = setTimeout(() => {
            soon = 0;
            readStatus();
        }, 250);
}

function onEvent(event) {
    if (!event.seq) return;  // a gap
    known.events.unshift(event);
    if (event.event.startsWith("link-") && !(event.seq <= known.links[0]?.seq))
        known.links.unshift(event);
    known.events.length = Math.min(known.events.length, LATEST);
    jobsChange(event);
    readSoon();
}

// For admins; others are told so once.
async function readDoctor() {
    for (;;) {
        try {
            known.doctor = await getJson("/v1/doctor");
        } catch (error) {
            known.doctor = error.status === 403 ? {refused: error.message, findings: []} : null;
        }
        redraw();
        await pause(10000);
    }
}

async function followAll() {
    known.links =
        parseEvents(await getText("/v1/events?follow=0&kind=link-up,link-down").catch(() => ""))
            .reverse();
    const after = Math.max(0, known.status.events.last - LATEST);
    await follow(after, onEvent, (error) => {
        if (error?.status === 403 && error.code !== "wrong-key")
            known.noEvents = error.message;
        else if (error)
            readSoon();
    });
}

async function start() {
    // A new address in this tab.
    addEventListener("hashchange", () => {
        if (hasKey()) location.reload();
    });
    try {
        await openSession();
    } catch (error) {
        tell(error instanceof Refusal ? error : new Refusal(0, "", String(error)));
        return;
    }
    addEventListener("hashchange", show);
    show();
    while (!known.status) {
        await readStatus();
        if (!known.status) await pause(1000);
    }
    followAll();
    readDoctor();
    jobsStart(redraw);
    timeStart(redraw);
    setInterval(readStatus, 3000);
}

start();
