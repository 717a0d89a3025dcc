/* SPDX-License-Identifier: Apache-2.0 */
/* What mcastctl status says of each fault (B5): cause, since when, and what to do; the worst first;
 * and never more than a screen. */
#include "cli/status/statustable.h"
#include "tests/unit/unit.h"

#include <time.h>

/* Of the JSON, with @N for the time N seconds ago, or ahead (@-N); freed by the caller. */
static char *shown(const char *json)
{
    char *text = NULL, *expanded = NULL;
    size_t size;
    FILE *out = open_memstream(&expanded, &size), *before = stdout;
    for (const char *c = json; *c; c++) {
        char *end = NULL, when[32];
        if (*c != '@') {
            fputc(*c, out);
            continue;
        }
        const time_t time_of = time(NULL) - strtol(c + 1, &end, 10);
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000Z", gmtime(&time_of));
        fputs(when, out);
        c = end - 1;
    }
    fclose(out);
    json_error_t fault;
    json_t *root = json_loads(expanded, 0, &fault);
    if (!root)
        fail_msg("%s: %s", fault.text, expanded);
    stdout = open_memstream(&text, &size);
    assert_int_equal(statustable_print(root), 0);
    fclose(stdout);
    stdout = before;
    json_decref(root);
    free(expanded);
    return text;
}

/* As one line, whatever the width. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if ((*from != ' ' && *from != '\n') || (to > text && to[-1] != ' '))
            *to++ = *from == '\n' ? ' ' : *from;
    *to = '\0';
}

static const struct {
    const char *json, *says;
} faults[] = {
    {"{\"role\":\"starting\"}",
     "NOT SERVING: this broker is starting → wait until it has loaded its ledger; journalctl"},
    {"{\"role\":\"standby\",\"leadership\":{\"leader\":null}}",
     "NO BROKER LEADS, so nothing is reserved or released: this one is standby → see that etcd "
     "runs"},
    {"{\"role\":\"standby\",\"url\":\"m1\",\"leadership\":{\"leader\":\"m2\"},\"brokers\":[{"
     "\"url\":\"m1\","
     "\"role\":\"standby\"},{\"url\":\"m2\",\"error\":\"refused\"}]}",
     "THE LEADER m2 DOES NOT ANSWER: refused; a standby takes over when its lease ends → ask again "
     "in half a minute"},
    {"{\"role\":\"standby\",\"leadership\":{\"leader\":\"m3\"},\"brokers\":[{\"url\":\"m1\","
     "\"role\":\"standby\"}]}",
     "THE LEADER m3 IS NOT AMONG THOSE THAT ANSWER, which know no jobs → mcastctl --url m3 status; "
     "add it"},
    {"{\"role\":\"leader\",\"url\":\"m1\",\"leadership\":{},\"brokers\":[{\"url\":\"m1\","
     "\"role\":\"leader\"},{\"url\":\"m2\",\"error\":\"refused\"}]}",
     "THE BROKER m2 DOES NOT ANSWER: refused → on its host: systemctl status mcastd"},
    {"{\"role\":\"leader\",\"url\":\"m1\",\"started\":\"a\",\"brokers\":[{\"url\":\"m1\",\"role\":"
     "\"leader\",\"started\":\"a\"},{\"url\":\"m2\",\"role\":\"leader\",\"started\":\"b\"}]}",
     "TWO BROKERS LEAD, m1 and m2: they share no ledger; below is the first one's status → list "
     "only those of one fabric"},
    {"{\"role\":\"leader\",\"leadership\":{\"unreachable_since\":\"@180\",\"last_error\":\"m3\"}}",
     "ETCD DOES NOT ANSWER for 3 min: m3 → etcdctl endpoint health"},
    {"{\"commits\":{\"storage_error\":\"disk full\",\"storage_failing_since\":\"@180\"}}",
     "NOTHING CAN BE SAVED for 3 min, so nothing is granted: disk full → free space there"},
    {"{\"leadership\":{},\"commits\":{\"storage_error\":\"no space left\"}}",
     "nothing is granted: no space left → etcdctl alarm list"},
    {"{\"certificate_expires\":\"@7300\"}",
     "THE BROKER'S CERTIFICATE ENDED 2 h ago: no client can connect over TCP → renew [broker] "
     "tls_cert"},
    {"{\"certificate_expires\":\"@-260000\"}",
     "THE BROKER'S CERTIFICATE ends in 3 d → renew [broker] tls_cert"},
    {"{\"munged_away_since\":\"@180\"}",
     "MUNGED DOES NOT ANSWER the broker for 3 min: who proves himself by MUNGE is refused → on the "
     "broker's host: systemctl status munge"},
    {"{\"vnis\":{\"free\":0,\"pool\":64,\"live\":64,\"none_since\":\"@180\"}}",
     "NO VNI IS FREE for 3 min: jobs that need one cannot start; 64 in use, 0 quarantined after "
     "their "
     "jobs → for jobs that are over but active: set list_command of the cluster, or mcastctl sync; "
     "else give [vni] pool more"},
    {"{\"vnis\":{\"free\":0,\"pool\":64,\"live\":60,\"held\":4}}",
     "60 in use, 4 quarantined after their jobs → mcastctl list --held says for which nodes; for "
     "jobs"},
    {"{\"vnis\":{\"free\":0,\"pool\":64,\"held\":64,\"held_most\":60,\"held_most_uid\":0}}",
     "64 quarantined after their jobs, 60 of them for jobs of root → mcastctl list --held says"},
    {"{\"vnis\":{\"free\":0,\"pool\":64,\"quarantined\":64}}",
     "NO VNI IS FREE: 64 may be in use by jobs that this ledger does not know → see the alarm "},
    {"{\"vnis\":{\"free\":9,\"pool\":64,\"held\":50},\"nodes\":{\"waited_since\":\"@7300\"}}",
     "50 OF 64 VNIS ARE QUARANTINED after their jobs, the longest for 2 h: 9 are free → mcastctl "
     "list "
     "--held"},
    {"{\"vnis\":{\"free\":60,\"pool\":64,\"held\":2},\"nodes\":{\"waited_since\":\"@200000\"}}",
     "NODES HAVE NOT REPORTED for 2 d: 2 VNIs are quarantined after their jobs → mcastctl list "
     "--held"},
    {"{\"alarms\":[{\"kind\":\"name-conflict\",\"cluster\":\"elcap\",\"since\":\"@180\",\"detail\":"
     "\"elcap-7\\u001b[2J has another token\",\"advice\":\"find it\"}]}",
     "ALARM name-conflict of cluster elcap for 3 min: elcap-7?[2J has another token → find it"},
    {"{\"fabric_manager\":{\"link\":\"down\",\"url\":\"https://fmn\",\"since\":\"@180\",\"last_"
     "error\":\"HTTP 401\",\"advice\":\"put the new password there\"}}",
     "NO FABRIC MANAGER for 3 min: HTTP 401; jobs run without hardware collectives → put the new "
     "password there"},
    {"{\"fabric_manager\":{\"link\":\"up\",\"url\":\"https://fmn\",\"reserves_failed\":3,"
     "\"reserves_failing_since\":\"@180\",\"reserve_error\":\"HTTP 507\"}}",
     "THE FABRIC MANAGER RESERVES NOTHING for 3 min, 3 times in a row: HTTP 507; jobs run without "
     "hardware collectives → see the fabric manager's own log; 507: it has fewer"},
    {"{\"fabric_manager\":{\"link\":\"listing\",\"url\":\"https://fmn\",\"since\":\"@3\"}}",
     "listing; jobs run without hardware collectives → wait a minute"},
    {"{\"fabric_manager\":{\"link\":\"up\",\"url\":\"https://fmn\",\"listed\":\"@180\",\"list_"
     "error\":\"no JSON\"}}",
     "CANNOT BE USED for 3 min, so losses and leftovers are not found: no JSON → see the fabric"},
    {"{\"fabric_manager\":{\"link\":\"up\",\"url\":\"https://fmn\",\"verify\":false}}",
     "THE FABRIC MANAGER IS NOT VERIFIED ([fm] verify = no): anyone on the way can pose as it → "},
    {"{\"fabric_manager\":{\"clock_apart_ms\":90000,\"clock_ahead\":true}}",
     "THE FABRIC MANAGER'S CLOCK IS 90 s ahead of the broker's → set both by NTP"},
    {"{\"addresses\":{\"total\":100,\"reserved\":92,\"per_job\":23,\"full_since\":\"@180\"}}",
     "ALL ADDRESSES ARE RESERVED for 3 min (92 of 100, 23 a job): jobs that start now run without "
     "hardware collectives → wait"},
    {"{\"addresses\":{\"per_job\":23},\"clusters\":[{\"name\":\"tuo\",\"budget\":46,\"addresses\":"
     "46},{\"name\":\"b\",\"budget\":1,\"addresses\":1},{\"name\":\"c\",\"budget\":1,\"addresses\":"
     "1},{\"name\":\"d\",\"budget\":1,\"addresses\":1},{\"name\":\"e\",\"budget\":99}]}",
     "THE BUDGETS OF tuo (46 of 46), b (1 of 1), c (1 of 1) and 1 more ARE USED UP: jobs that "
     "start there now run without hardware collectives → wait"},
    {"{\"nodes\":{\"lingering\":3,\"lingering_first\":\"n17\"}}",
     "SERVICES OF JOBS WILL NOT GO ON 3 NODES, the first is n17; their VNIs stay quarantined → "
     "drain them"},
    {"{\"nodes\":{\"lingering\":1,\"lingering_first\":\"n\\u001b[2J\"}}",
     "WILL NOT GO ON 1 NODE: n?[2J; their"},
    {"{\"jobs\":{\"active\":3,\"adopted\":2}}",
     "2 ACTIVE JOBS WERE FOUND WITHOUT THEIR VNIS: these may be given out again → until"},
    {"{\"version\":\"2\",\"leadership\":{\"configuration\":\"c\",\"standbys\":[]}}",
     "NO STANDBY: if this broker fails, none takes over → on the other hosts: systemctl status"},
    {"{\"version\":\"2\",\"leadership\":{\"configuration\":\"c\",\"standbys\":[{\"url\":\"https://"
     "m3\",\"version\":\"1\",\"configuration\":\"c\"}]}}",
     "THE STANDBY https://m3 HAS VERSION 1, this broker 2 → install the same"},
    {"{\"version\":\"2\",\"leadership\":{\"configuration\":\"c\",\"standbys\":[{\"url\":\"https://"
     "m3\",\"version\":\"2\",\"configuration\":\"d\"}]}}",
     "THE STANDBY https://m3 HAS ANOTHER CONFIGURATION than this broker → compare"},
    {"{\"partition_keys\":{\"pool\":14,\"free\":0}}",
     "NO PARTITION KEY IS FREE of 14: jobs that need one cannot start → wait for jobs to end"},
    {"{\"connections\":{\"open\":9,\"max\":9}}",
     "ALL 9 CONNECTIONS ARE TAKEN: others are refused → see who holds them"},
    {"{\"loop_absence_max_ms\":12000}",
     "THE BROKER ANSWERED NO REQUEST for 12 s, in the last five minutes → see whether"},
    {"{\"started\":\"@900\",\"clusters\":[{\"name\":\"tuo\",\"plugin\":{\"asked\":null}},{\"name\":"
     "\"b\",\"plugin\":{\"asked\":\"@20\"}}]}",
     "THE SLURM OF tuo HAS NOT ASKED for more than 5 min: its steps get no addresses → on"},
    {"{\"vnis\":{\"free\":3,\"pool\":9,\"other_partitions_used\":1}}",
     "1 VNI OF JOBS NOW BELONGS TO OTHER PARTITIONS of the fabric → mcastctl doctor"},
    {"{\"cleanups\":{\"given_up\":1}}",
     "THE TREES OF 1 STEP COULD NOT BE REMOVED since the start → journalctl"},
    {"{\"reload_refused\":true,\"reloaded\":\"@180\",\"reload_error\":\"mcastd.conf:3: bad\"}",
     "THE LAST RELOAD WAS REFUSED 3 min ago, what was in force before still is: mcastd.conf:3: bad "
     "→ mcastd --check"},
    {"{\"clusters\":[{\"name\":\"tuo\",\"list_error\":\"exit 1\",\"list_failing_since\":\"@180\"},{"
     "\"name\":\"b\",\"list_error\":\"x\"}]}",
     "THE ACTIVE JOBS OF tuo, b CANNOT BE LISTED for 3 min, so missed ends are not found: exit 1 → "
     "run list_command as the service's user: runuser -u mcastd -- env -i LANG=C.UTF-8 COMMAND"},
};

UNIT(verdict__names_cause_time_and_next_step)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char *text = shown(faults[i].json);
        squeeze(text);
        assert_words(text, faults[i].says);
        assert_words(text, " What else is wrong, and why: mcastctl doctor ");
        free(text);
    }
}

/* What an older broker, a standby and one that is well say. */
UNIT(verdict__of_what_is_no_fault)
{
    static const char *const wells[] = {
        "{}", "{\"version\":\"0.1.0\",\"alarms\":[]}",
        "{\"nodes\":{\"lingering\":0,\"lingering_first\":null},\"fabric_manager\":{\"link\":\"up\","
        "\"verify\":true,\"clock_apart_ms\":3000}}",
        "{\"vnis\":{\"free\":60,\"pool\":64,\"held\":4},\"nodes\":{\"waited_since\":\"@7300\"}}"};
    for (size_t i = 0; i < sizeof wells / sizeof wells[0]; i++) {
        char *text = shown(wells[i]);
        assert_int_equal(strncmp(text, "All is well.\n", 13), 0);
        free(text);
    }
    char *text = shown("{\"role\":\"standby\",\"leadership\":{\"leader\":\"https://m2:7470\"},"
                       "\"jobs\":{\"active\":0},\"clusters\":[{\"name\":\"tuo\"}],"
                       "\"fabric_manager\":{\"url\":\"https://fmn\",\"link\":\"down\"}}");
    assert_words(text, "This broker is a standby, which knows no jobs; https://m2:7470 leads: ask "
                       "that one (--url).\nAll "
                       "is well.\n");
    assert_null(strstr(text, "active")); /* 0 of a standby is no broker's number */
    assert_null(strstr(text, "CLUSTER"));
    free(text);
}

/* Nothing can start before what stops deleting (B11), before what jobs run without. */
UNIT(verdict__the_worst_is_first)
{
    char *text =
        shown("{\"clusters\":[{\"name\":\"tuo\",\"list_error\":\"exit 1\"}],\"vnis\":{\"free\":0},"
              "\"commits\":{\"storage_error\":\"full\"},\"alarms\":[{\"kind\":\"mass-loss\"}],"
              "\"fabric_manager\":{\"link\":\"down\",\"url\":\"u\"}}");
    static const char *const order[] = {"NOTHING CAN BE SAVED", "NO VNI IS FREE",
                                        "ALARM mass-loss"};
    const char *at = text;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_words(at, order[i]);
        at = strstr(at, order[i]);
    }
    assert_words(text, "And 2 more faults: mcastctl doctor\n");
    free(text);
}

/* All faults at once, 64 clusters and the largest numbers. */
UNIT(status__is_at_most_a_screen)
{
    char *json = NULL, *text, *rest;
    size_t size, lines = 0;
    FILE *out = open_memstream(&json, &size);
    fputs("{\"version\":\"0.1.0\",\"role\":\"leader\",\"started\":\"@90000\",\"alarms\":[", out);
    for (int i = 0; i < 64; i++)
        fprintf(out, "%s{\"kind\":\"name-conflict\",\"cluster\":\"c%d\",\"detail\":\"%0300d\"}",
                i > 0 ? "," : "", i, i);
    fputs("],\"leadership\":{\"standbys\":[", out);
    for (int i = 0; i < 8; i++)
        fprintf(out, "%s{\"url\":\"https://m%d\",\"host\":\"m%d\"}", i > 0 ? "," : "", i, i);
    fputs("]},\"commits\":{\"storage_error\":\"", out);
    for (int i = 0; i < 60; i++)
        fputs("disk full ", out);
    fputs("\",\"records\":9223372036854775807},\"clusters\":[", out);
    for (int i = 0; i < 64; i++)
        fprintf(out,
                "%s{\"name\":\"cluster%d\",\"nodes\":\"n[%0200d]\",\"list_error\":\"x\","
                "\"budget\":1,\"addresses\":9}",
                i > 0 ? "," : "", i, i);
    fputs("],\"vnis\":{\"free\":0,\"pool\":64512", out);
    static const char *const names[] = {
        "live",        "held",        "overdue", "shared",
        "quarantined", "unconfirmed", "refused", "other_partitions_used"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fprintf(out, ",\"%s\":9223372036854775807", names[i]);
    fputs("},\"partition_keys\":{\"pool\":14,\"taken\":14},\"addresses\":{\"total\":9},\"jobs\":{},"
          "\"cleanups\":{\"pending\":1,\"given_up\":1},\"connections\":{},\"fabric_manager\":{"
          "\"link\":\"down\",\"url\":\"https://fmn\"}}",
          out);
    fclose(out);
    text = rest = shown(json);
    for (char *line; (line = strsep(&rest, "\n")) && rest; lines++)
        assert_true(strlen(line) <= 80 || !strchr(line, ' ') || strstr(line, "000000"));
    assert_in_range(lines, 12, 24);
    free(text);
    free(json);
}

UNIT_RUN(NULL, NULL)
