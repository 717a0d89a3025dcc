// SPDX-License-Identifier: Apache-2.0
// How the broker is now.

import {bar, card, clock, count, duration, h, plural, since} from "/ui-base.js";
import {longestWaits} from "/ui-jobs.js";

const SHOWN = 12;

function link(status, events) {
    const fm = status.fabric_manager;
    const past = events.slice(0, 5);
    return card(
        "Link to the fabric manager", {id: "card-link"},
        h("p", {class: `big ${fm.link === "up" ? "good" : "bad"}`},
          `${fm.link}, for ${since(fm.since)}`),
        h("p", {class: "soft"}, fm.url || "no address"),
        fm.last_error ? h("p", {class: fm.link === "up" ? "soft" : "bad"}, fm.last_error) : null,
        h("p", {}, `lost ${plural(fm.losses, "time")} since the broker's start`),
        h("ol", {},
          past.map(
              (event) =>
                  h("li", {}, clock(event.time),
                    event.event === "link-up" ? "up" : `down: ${event.detail || ""}`))));
}

function vnis(status) {
    const v = status.vnis;
    return card(
        "VNIs", {id: "card-vnis"},
        h("p", {class: `big ${v.free ? "" : "bad"}`}, `${count(v.free)} free`), bar([
            ["is-live", "in use", v.live], ["is-held", "quarantined", v.held],
            ["is-quarantined", "suspect", v.quarantined], ["is-free", "free", v.free]
        ]),
        v.quarantined ?
            h("p", {class: "warn"},
              `${count(v.quarantined)} may be in use by jobs that the ledger does not know`) :
            null,
        v.overdue ?
            h("p", {class: "warn"}, `${count(v.overdue)} quarantined for longer than they should be`) :
            null,
        h("h2", {}, "By cluster"),
        h("dl", {},
          status.clusters.map(
              (cluster) =>
                  [h("dt", {}, cluster.name),
                   h("dd", {},
                     `${count(cluster.vnis_live)} in use (${plural(cluster.active, "job")}), ` +
                         `${count(cluster.vnis_held)} quarantined (${
                             plural(cluster.releasing, "job")})` +
                         (cluster.list_error ? `; list of jobs: ${cluster.list_error}` : ""))])));
}

function addresses(status) {
    const a = status.addresses;
    return card(
        "Multicast addresses", {id: "card-addresses"},
        h("p", {class: "big"},
          a.total ? `${count(a.reserved)} of ${count(a.total)}` : `${count(a.reserved)} reserved`),
        a.total ? bar([
            ["is-live", "reserved", a.reserved],
            ["is-free", "left", Math.max(0, a.total - a.reserved)]
        ]) :
                  h("p", {class: "soft"}, "no total is configured"),
        h("p", {},
          `${count(a.per_job)} for each job` +
              (a.full_since ? `; too few are left for one more, for ${since(a.full_since)}` : "")),
        h("h2", {}, "By cluster"),
        h("dl", {},
          status.clusters.map(
              (cluster) =>
                  [h("dt", {}, cluster.name),
                   h("dd",
                     {class: cluster.budget && cluster.addresses >= cluster.budget ? "warn" : ""},
                     count(cluster.addresses) +
                         (cluster.budget ? ` of its budget of ${count(cluster.budget)}` : ""))])));
}

const waits = [
    ["fm_reserve", "reserves at the fabric manager"], ["fm_release", "releases there"],
    ["fm_check", "checks there"], ["fm_cleanup", "clean-ups of trees there"],
    ["fm_under_way", "calls under way"], ["unsaved", "changes to be saved"],
    ["requests", "requests to be answered"]
];

function waiting(status) {
    const longest = longestWaits(5);
    return card(
        "What waits", {id: "card-waits"},
        h("dl", {},
          waits.map(
              ([name, label]) => [h("dt", {}, label), h("dd", {}, count(status.queues[name]))])),
        h("p", {class: "soft"},
          "a job that starts now waits for the fabric manager for at most " +
              duration(status.fabric_manager.reserve_wait_ms)),
        h("h2", {}, "Released jobs that wait, longest first"),
        longest.length ?
            h("ul", {},
              longest.map(
                  (job) =>
                      h("li", {}, h("a", {href: `#job/${job.number}`}, `${job.cluster}/${job.job}`),
                        ` for ${since(job.released)}`,
                        job.waiting_for ? `, for ${plural(job.waiting_for.count, "node")}` :
                            job.held_until ? ", for their time to be over" :
                                             ", for the fabric manager"))) :
                                          h("p", {class: "soft"}, "none"));
}

function findings(known) {
    const found =
        (known.doctor?.findings || [])
            .filter((finding) => finding.level !== "ok")
            .sort((a, b) => a.level.localeCompare(b.level));  // "problem" before "warning"
    const alarms = known.status.alarms;
    const fine = known.doctor && !known.doctor.refused && !found.length && !alarms.length;
    return card(
        "Findings", {id: "card-findings"},
        fine ? h("p", {class: "big good"}, "nothing is wrong") : null,
        known.doctor?.refused ? h("p", {class: "soft"}, known.doctor.refused) : null,
        known.doctor ? null : h("p", {class: "soft"}, "not known"),
        alarms.map(
            (alarm) =>
                h("p", {class: "bad"}, `alarm ${alarm.kind}, for ${since(alarm.since)}: `,
                  `${alarm.detail}. ${alarm.advice || ""}`)),
        found.map(
            (finding) =>
                h("p", {}, h("strong", {class: finding.level}, `${finding.level}: `),
                  `${finding.check}: ${finding.finding}. `, finding.advice || "")));
}

function brokers(status) {
    const lead = status.leadership;
    return card(
        "Broker", {id: "card-broker"},
        h("p", {class: "big"}, `${status.role}, up ${since(status.started)}`),
        h("dl", {}, h("dt", {}, "version"), h("dd", {}, status.version),
          lead ?
              [
                  h("dt", {}, "leader"), h("dd", {}, lead.leader || "none"), h("dt", {}, "lease"),
                  h("dd", {},
                    `${duration(lead.lease_age_ms || 0)} old of ${duration(lead.lease_ms)}`),
                  h("dt", {}, "standbys"),
                  h("dd", {}, (lead.standbys || []).map((one) => one.url).join(", ") || "none")
              ] :
              [h("dt", {}, "standbys"), h("dd", {}, "it is the only one")],
          h("dt", {}, "connections"),
          h("dd", {}, `${count(status.connections.open)} of ${count(status.connections.max)}`),
          h("dt", {}, "failed commits"), h("dd", {}, count(status.commits.failures))));
}

function latest(known) {
    return card(
        "Latest events", {id: "card-events", class: "wide"},
        known.noEvents ? h("p", {class: "soft"}, known.noEvents) : null,
        h("ol", {},
          known.events.filter((event) => event.event !== "gap")
              .slice(0, SHOWN)
              .map(
                  (event) => h(
                      "li", {}, clock(event.time),
                      h("span", {class: event.fatal ? "bad" : ""}, event.event), " ",
                      event.number ?
                          h("a", {href: `#job/${event.number}`}, `${event.cluster}/${event.job}`) :
                          event.cluster || "",
                      event.detail ? ` ${event.detail}` : ""))));
}

export function showNow(view, known) {
    return () => {
        const status = known.status;
        if (!status) return view.replaceChildren(h("p", {}, "waiting for the broker"));
        const focused = document.activeElement?.getAttribute("href");
        view.replaceChildren(
            h("div", {class: "cards"}, findings(known), link(status, known.links), vnis(status),
              addresses(status), waiting(status), brokers(status), latest(known)));
        if (focused)
            [...view.querySelectorAll("a")]
                .find((a) => a.getAttribute("href") === focused)
                ?.focus();
    };
}
