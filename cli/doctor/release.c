/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/release.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One thing that is known to be wrong, in the releases from `from` up to, and without, `fixed`.
 *
 * Only what its publisher's own history says, or what can be read in the published source at the
 * releases named; nothing by hearsay. Builds of a vendor under the same numbers can differ. */
struct defect {
    const char *name;
    enum finding_level level;
    const char *from;
    const char *fixed; /* NULL: in the newest release that was looked at, named in the comment */
    const char *finding;
    const char *advice;
};

static const struct defect defects[] = {
    /* github.com/ofiwg/libfabric, tags v1.21.0 and v1.22.0: prov/cxi/src/cxip_coll.c and
     * cxip_curl.c know neither status 409 nor FI_CXI_COLL_FABRIC_MGR_CACERT; both are in v2.0.0. No
     * provider cxi before v1.21.0 (commit fd950a5a3): older numbers with one are HPE's builds. */
    {"libfabric", FINDING_WARNING, "1.21.0", "2.0.0",
     "hardware collectives talk to the fabric manager without verifying it, whatever "
     "FI_CXI_COLL_FABRIC_MGR_CACERT says",
     "use libfabric 2.3.0 or newer for jobs with hardware collectives"},
    /* The same, v2.3.0 in NEWS.md: "Use native curl timeout" (1f01d3a71: gave up after 100 ms of
     * 409), "Return correct error for HTTP 400". */
    {"libfabric", FINDING_WARNING, "2.0.0", "2.3.0",
     "gives up a multicast tree that the fabric manager cannot make within 100 ms, and reports "
     "HTTP 400 as a server error",
     "use libfabric 2.3.0 or newer for jobs with hardware collectives"},
    /* NEWS.md v2.3.0: "Disable collective logical operators" (b5fd641ae: "logical operators are not
     * supported by hw"); they came with v2.1.0 (478347ff1). */
    {"libfabric", FINDING_WARNING, "2.1.0", "2.3.0",
     "offers logical reductions to hardware that has none",
     "use libfabric 2.3.0 or newer for jobs with hardware collectives"},
    /* v2.5.0 in its history: "implement result seqno tracking" (606b7100e: a leaf cannot tell when
     * it has the root's repeated result). The retry itself came with v2.3.0 (163f63ee7). */
    {"libfabric", FINDING_WARNING, "2.3.0", "2.5.0",
     "a leaf of a multicast tree cannot tell the repeated result of a reduction from an old one",
     "use libfabric 2.5.0 or newer for jobs with hardware collectives"},
    /* Read in v2.0.0 to v2.6.0 (June 2026) and in main of 2026-08-21: _cxip_create_mcast_cb and
     * _cxip_delete_mcast_cb, case 409 (without end since v2.3.0, 1f01d3a71); cxip_curl_perform
     * returns +FI_ENOENT for a CACERT that is not there, which its callers take for success. */
    {"libfabric", FINDING_OK, "2.0.0", NULL,
     "no release is known that does not wait for ever when FI_CXI_COLL_FABRIC_MGR_CACERT names a "
     "file that is not there, or (from 2.3.0 on) when the fabric manager goes on answering 409",
     "have the file that [hwcoll] job_ca names on every node"},

    /* github.com/SchedMD/slurm, CHANGELOG/slurm-23.02.md, -23.11.md, -24.05.md: "Fix security issue
     * around managing VNI access. CVE-2024-42511", in 23.02.8, 23.11.9, 24.05.2. The plugin is
     * there since 22.05, for which no fixed release was published. */
    {"slurm", FINDING_PROBLEM, "22.05.0", "23.02.8",
     "switch/hpe_slingshot lets users at VNIs that are not theirs (CVE-2024-42511)",
     "upgrade Slurm to 23.02.8, 23.11.9, 24.05.2 or newer"},
    {"slurm", FINDING_PROBLEM, "23.11.0", "23.11.9",
     "switch/hpe_slingshot lets users at VNIs that are not theirs (CVE-2024-42511)",
     "upgrade Slurm to 23.11.9, 24.05.2 or newer"},
    {"slurm", FINDING_PROBLEM, "24.05.0", "24.05.2",
     "switch/hpe_slingshot lets users at VNIs that are not theirs (CVE-2024-42511)",
     "upgrade Slurm to 24.05.2 or newer"},
    /* The same files, 23.11.10 and 24.05.3: "Fix issue that could result in a 0 length state file".
     */
    {"slurm", FINDING_WARNING, "23.11.0", "23.11.10",
     "switch/hpe_slingshot can lose its state, and with it which VNIs are in use",
     "upgrade Slurm to 23.11.10, 24.05.3 or newer"},
    {"slurm", FINDING_WARNING, "24.05.0", "24.05.3",
     "switch/hpe_slingshot can lose its state, and with it which VNIs are in use",
     "upgrade Slurm to 24.05.3 or newer"},
    /* Tags slurm-23-11-… to slurm-24-05-8-1, collectives.c: "/fabric/collectives/jobs/%u" without
     * the cluster's name, which came with 24.11.0 (f729da51c3). */
    {"slurm", FINDING_WARNING, "23.11.0", "24.11.0",
     "with fm_url set, it names its reservations at the fabric manager by the job's number alone: "
     "two Slurm clusters of one fabric take each other's",
     "leave hardware collectives to mcastd (no fm_url in SwitchParameters), or upgrade Slurm"},
    /* CHANGELOG/slurm-24.11.md, 24.11.5: "Prevent potential segfault on failed curl request to the
     * fabric manager", "Fix vni range not updating", "Make sure the slurmctld can free step VNIs".
     */
    {"slurm", FINDING_WARNING, "24.11.0", "24.11.5",
     "switch/hpe_slingshot can crash when a call of the fabric manager fails, and does not free "
     "VNIs of steps after a restart of slurmctld",
     "upgrade Slurm to 24.11.5 or newer"},
    /* Read in slurm-24-11-0-1 to slurm-26-05-3-1 and in master of 2026-08-20: _cleanup_thread
     * compares ClusterName without looking for its end, takes the number behind it, and deletes
     * "<ClusterName>-<number>" unless that job runs; json_object_array_length of a missing
     * documentLinks aborts. */
    {"slurm", FINDING_OK, "24.11.0", NULL,
     "with fm_url set, slurmctld deletes every reservation \"<ClusterName>-<number>\" that is no "
     "running job of its own, every 30 s",
     "no cluster of mcastd may have, or begin with, the ClusterName of such a Slurm"},

    /* github.com/flux-framework/flux-core, NEWS.md: 0.68.0 "resolve perilog plugin issue that lets
     * a job start after prolog timeout"; 0.76.0 "add FLUX_JOB_ID_PATH to the job environment". */
    {"flux-core", FINDING_WARNING, "0.1.0", "0.68.0",
     "a job whose prolog timed out starts all the same, without its VNIs",
     "use flux-core 0.76.0 or newer"},
    {"flux-core", FINDING_WARNING, "0.1.0", "0.76.0",
     "tasks have no FLUX_JOB_ID_PATH, which distinguishes steps of sub-instances",
     "use flux-core 0.76.0 or newer"},

    /* github.com/flux-framework/flux-coral2, NEWS.md: cray-slingshot came with 0.27.0; 0.28.0 "fix
     * slingshot CXI service resource request" (#408) and "set SLINGSHOT_TCS" (#418); 0.29.0 "drop
     * unnecessary timeouts that may cause large jobs to fail" (#433, commit 8a9f56e). */
    {"flux-coral2", FINDING_WARNING, "0.27.0", "0.28.0",
     "cray-slingshot asks for more of the NIC than there may be and fails the job, and sets no "
     "SLINGSHOT_TCS",
     "use flux-coral2 0.29.0 or newer"},
    {"flux-coral2", FINDING_WARNING, "0.27.0", "0.29.0",
     "cray-slingshot gives up on large jobs for a timeout that they need not heed",
     "use flux-coral2 0.29.0 or newer"},

    /* github.com/HewlettPackard/shs-libcxi, issue 18 (opened 2026-06-10): a regression from 13.0.0
     * to 13.1.0 and 14.0.0, with libfabric 2.5.1. One report; a cause or a fix was not found. */
    {"libcxi", FINDING_OK, "13.1.0", NULL,
     "one site reports a regression against 13.0.0 with libfabric 2.5.1 (shs-libcxi issue 18, open "
     "when last looked at, in 2026)",
     "if jobs cannot use the NIC, try libcxi 13.0.0"},
};

bool release_find(const char *text, struct release *out)
{
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text))
            continue;
        unsigned count = 0;
        const char *at = text;
        *out = (struct release){0};
        for (; count < RELEASE_PARTS && isdigit((unsigned char)*at); count++) {
            char *end;
            out->part[count] = (unsigned)strtoul(at, &end, 10);
            at = *end == '.' ? end + 1 : "";
            text = end;
        }
        if (count > 1)
            return true;
        text--;
    }
    return false;
}

int release_compare(const struct release *a, const struct release *b)
{
    for (size_t i = 0; i < RELEASE_PARTS; i++) {
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    }
    return 0;
}

static bool is_affected(const struct defect *defect, const char *name,
                        const struct release *release)
{
    struct release from, fixed;
    return strcmp(defect->name, name) == 0 && release_find(defect->from, &from) &&
           release_compare(release, &from) >= 0 &&
           (!defect->fixed ||
            (release_find(defect->fixed, &fixed) && release_compare(release, &fixed) < 0));
}

static void format_release(const struct release *release, char out[64])
{
    if (release->part[3] > 0)
        snprintf(out, 64, "%u.%u.%u.%u", release->part[0], release->part[1], release->part[2],
                 release->part[3]);
    else
        snprintf(out, 64, "%u.%u.%u", release->part[0], release->part[1], release->part[2]);
}

void release_judge(struct findings *findings, const char *name, const struct release *release,
                   const char *where)
{
    static const struct release first_cxi = {{1, 21, 0, 0}};
    char number[64];
    bool clean = true;
    format_release(release, number);
    for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
        if (!is_affected(&defects[i], name, release))
            continue;
        clean = false;
        findings_addf(findings, defects[i].level, name, defects[i].advice, "%s (%s): %s", number,
                      where, defects[i].finding);
    }
    if (!clean)
        return;
    if (strcmp(name, "libfabric") == 0 && release_compare(release, &first_cxi) < 0)
        findings_addf(findings, FINDING_OK, name, NULL,
                      "%s (%s): as published it has no cxi provider; what HPE's build of this "
                      "number does is not publicly known",
                      number, where);
    else
        findings_addf(findings, FINDING_OK, name, NULL, "%s (%s): nothing bad is known of it",
                      number, where);
}
