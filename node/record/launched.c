/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/launched.h"

#include "base/memory.h"
#include "core/reservation/record.h"
#include "launch/credential.h"
#include "launch/sealed.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- The envelope ---- */

enum { LAUNCH_TEXT_MAX = 24 * 1024 + LAUNCH_ADDRESSES_MAX };

static bool begins_with(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* What the resource manager carried; both for free(). */
struct carried {
    char *envelope;
    char *addresses; /* NULL: none */
};

/* The first word of either kind in the text. */
static void find_words(const char *text, struct carried *carried)
{
    static const char blanks[] = " \t\r\n";
    for (const char *word = text + strspn(text, blanks); *word != '\0';) {
        const size_t length = strcspn(word, blanks);
        if (!carried->envelope &&
            (begins_with(word, CREDENTIAL_PREFIX) || begins_with(word, SEALED_PREFIX)))
            carried->envelope = memory_must(strndup(word, length));
        if (!carried->addresses && begins_with(word, LAUNCH_ADDRESSES_PREFIX))
            carried->addresses = memory_must(strndup(word, length));
        word += length;
        word += strspn(word, blanks);
    }
}

static void carried_release(struct carried *carried)
{
    free(carried->envelope);
    free(carried->addresses);
}

/* Up to LAUNCH_TEXT_MAX bytes; "" with a message when it cannot be read. */
static int read_file(const char *name, char out[LAUNCH_TEXT_MAX + 1])
{
    const bool standard = strcmp(name, "-") == 0;
    FILE *in = standard ? stdin : fopen(name, "re");
    const size_t length = in ? fread(out, 1, LAUNCH_TEXT_MAX, in) : 0;
    const bool failed = !in || ferror(in);
    out[length] = '\0';
    if (failed)
        say("the launch document %s cannot be read: %s", name, strerror(errno));
    if (in && !standard)
        fclose(in);
    return failed ? COMMAND_USAGE : COMMAND_GO_ON;
}

static int read_carried(const char *given, struct carried *carried)
{
    static const char variable[] = "env:";
    static char text[LAUNCH_TEXT_MAX + 1];
    int rc = COMMAND_GO_ON;
    if (begins_with(given, variable)) {
        const char *value = getenv(given + strlen(variable));
        snprintf(text, sizeof text, "%s", value ? value : "");
    } else {
        rc = read_file(given, text);
    }
    if (rc != COMMAND_GO_ON)
        return rc;
    find_words(text, carried);
    if (carried->envelope)
        return COMMAND_GO_ON;
    say("%s has no launch document (mcastctl launch prints one)", given);
    return COMMAND_NOT_FOUND;
}

/* ---- What is in it ---- */

/* The broker's user, who alone makes documents. */
static int find_maker(const struct settings *settings, uid_t *maker, struct error *err)
{
    const char *given = secure_getenv("MCAST_LAUNCH_USER");
    const char *name = given && given[0] ? given : settings->launch_user;
    uint32_t number;
    if (settings_number(name, UINT32_MAX - 1, &number)) {
        *maker = number;
        return 0;
    }
    const struct passwd *user = getpwnam(name);
    if (!user)
        return error_set(err, ERROR_IO,
                         "this node has no user %s, who would make launch documents: set "
                         "launch_user in node.conf to the broker's user, by name or uid",
                         name);
    *maker = user->pw_uid;
    return 0;
}

static char *open_sealed(const struct settings *settings, const char *envelope, struct error *err)
{
    struct launch_keys keys;
    char *document = NULL;
    if (launch_keys_read(&keys, settings->launch_key, true, err) == 0)
        document = sealed_open(&keys, envelope, err);
    launch_keys_wipe(&keys);
    return document;
}

/* For memory_wipe_text; or NULL. Only the kind that is configured is believed: else the weaker of
 * two would do. */
static char *open_envelope(const struct settings *settings, const char *envelope, struct error *err)
{
    const bool sealed = begins_with(envelope, SEALED_PREFIX), has_key = settings->launch_key[0];
    if (sealed && has_key)
        return open_sealed(settings, envelope, err);
    if (sealed || has_key) {
        (void)error_set(err, ERROR_REFUSED,
                        sealed ? "the launch document is sealed with a launch key, and this node "
                                 "has none: set launch_key in node.conf"
                               : "the launch document is a MUNGE credential, and this node takes "
                                 "sealed ones: set launch_key_file in mcastd.conf");
        return NULL;
    }
    const char *socket =
        settings->munge_socket[0] ? settings->munge_socket : secure_getenv("MCAST_MUNGE_SOCKET");
    uid_t maker = (uid_t)-1;
    return find_maker(settings, &maker, err) < 0 ? NULL
                                                 : credential_open(socket, envelope, maker, err);
}

static int refused(const struct error *err)
{
    say("%s", err->text);
    return COMMAND_UNMET;
}

static int parse_and_check(const struct node *node, const struct command_options *options,
                           const char *document, struct launch *launch)
{
    const struct launch_here here = {
        .cluster = node->cluster,
        .job = options->job,
        .restart = options->restart == UINT32_MAX ? -1 : (int64_t)options->restart,
        .uid = options->user == UINT32_MAX ? -1 : (int64_t)options->user,
        .node = node->name,
        .nodes = options->nodes,
        .now_s = (int64_t)time(NULL)};
    struct error err;
    if (launch_parse(launch, document, strlen(document), &err) < 0)
        return refused(&err);
    if (launch_check(launch, &here, &err) == 0)
        return COMMAND_GO_ON;
    launch_release(launch);
    return refused(&err);
}

/* A variable of the job's tasks, or a message: nothing depends on them. */
static void take_addresses(struct launch *launch, const char *word)
{
    if (!launch->addresses_digest)
        return;
    if (word && launch_addresses_match(launch, word))
        (void)json_object_set_new(launch->tasks, "MCAST_NODE_ADDRESSES",
                                  json_string(word + strlen(LAUNCH_ADDRESSES_PREFIX)));
    else
        say("warning: the addresses of the nodes of job %s %s, so its tasks get none; carry the "
            "whole line that mcastctl launch prints",
            launch->job,
            word ? "are not those that were made with its launch document"
                 : "did not come with its launch document");
}

int launched_read(struct node *node, const struct command_options *options, struct launch *launch)
{
    struct carried carried = {0};
    struct error err;
    int rc = read_carried(options->launch, &carried);
    char *document =
        rc == COMMAND_GO_ON ? open_envelope(&node->settings, carried.envelope, &err) : NULL;
    if (document)
        rc = parse_and_check(node, options, document, launch);
    else if (rc == COMMAND_GO_ON)
        rc = refused(&err);
    if (rc == COMMAND_GO_ON)
        take_addresses(launch, carried.addresses);
    memory_wipe_text(document);
    carried_release(&carried);
    return rc;
}

static int read_vnis(const json_t *list, struct claim *claim, struct error *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        const json_int_t vni = json_integer_value(value);
        if (!json_is_integer(value) || vni < 0 || vni > UINT16_MAX || i == CXI_SVC_MAX_VNIS)
            return error_set(err, ERROR_INVALID, "the launch document's VNIs are none");
        claim->vnis[claim->vni_count++] = (uint16_t)vni;
    }
    return 0;
}

int launched_claim(const struct launch *launch, struct claim *claim, struct error *err)
{
    const json_t *classes = json_object_get(launch->driver, "traffic_classes");
    if (interconnect_from_word(launch->interconnect) < 0)
        return error_set(err, ERROR_VERSION,
                         "the launch document is for the interconnect %.32s, which this mcast-node "
                         "does not know: install the broker's release on this node",
                         launch->interconnect);
    *claim = (struct claim){.number = launch->number,
                            .uid = launch->uid,
                            .node_count = launch->node_count,
                            .active = true,
                            .launched_s = launch->issued_s,
                            .launched_until_s = launch->expires_s + LAUNCH_CLOCK_SKEW_S};
    claim_set_name(claim, launch->cluster, launch->job);
    claim->cores_per_node =
        (uint32_t)json_integer_value(json_object_get(launch->driver, "cores_per_node"));
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const char *word = json_string_value(json_array_get(classes, i));
        claim->traffic_classes |= word ? (unsigned int)traffic_class_from_word(word) : 0;
    }
    const int rc = read_vnis(json_object_get(launch->driver, "vnis"), claim, err);
    claim_set_shared(claim, json_integer_value(json_object_get(launch->driver, "vnis_shared")));
    return rc;
}

/* ---- What has ended here ---- */

/* One line for each, ended by the time until which it counts (Unix seconds):
 *   number N until       a reservation
 *   job CLUSTER JOB ended until   a job of which only the name was known, "-": of any cluster
 *   all ended until      all documents that were made before, when there were too many lines
 * and " +S", the same until by the clock since boot: a line is dropped when both are over, as the
 * time of day may be set back. A S that is too far for this boot is an earlier one's, of which no
 * document is good (is_of_before_boot). */
static const char ended_file[] = "ended";
enum {
    ENDED_LINE_SIZE = 64 + CLAIM_NAME_SIZE,
    ENDED_SIZE_MAX = 48 * 1024, /* of what statedir_read takes */
};

struct ended {
    uint64_t number; /* 0: not of a reservation */
    char cluster[CLUSTER_NAME_MAX + 1], job[JOB_ID_MAX + 1];
    int64_t ended_s, until_s;
};

static bool read_line(const char *line, struct ended *ended)
{
    *ended = (struct ended){.until_s = -1};
    return sscanf(line, "number %20" SCNu64 " %19" SCNd64, &ended->number, &ended->until_s) == 2 ||
           sscanf(line, "job %32[a-z0-9_-] %128s %19" SCNd64 " %19" SCNd64, ended->cluster,
                  ended->job, &ended->ended_s, &ended->until_s) == 4 ||
           sscanf(line, "all %19" SCNd64 " %19" SCNd64, &ended->ended_s, &ended->until_s) == 2;
}

/* What it says of the claim's document. The clocks of broker and node may differ. */
static bool is_about(const struct ended *ended, const struct claim *claim)
{
    if (ended->number)
        return ended->number == claim->number;
    const bool same_job =
        !ended->job[0] ||
        (strcmp(ended->job, claim->job) == 0 &&
         (strcmp(ended->cluster, "-") == 0 || strcmp(ended->cluster, claim->cluster) == 0));
    return same_job && claim->launched_s <= ended->ended_s + LAUNCH_CLOCK_SKEW_S;
}

/* The file's text, "" when there is none, for free(); NULL with err. */
static char *read_ended(const struct statedir *dir, struct error *err)
{
    char *text = NULL;
    const int rc = statedir_read(dir, ended_file, &text, err);
    return rc == ERROR_NOT_FOUND ? memory_text("") : rc < 0 ? NULL : text;
}

/* Also when that cannot be read. */
static bool may_have_ended(const struct statedir *dir, const struct claim *claim)
{
    struct error err;
    char *text = read_ended(dir, &err);
    bool found = !text;
    for (const char *line = text; !found && *line != '\0'; line += strspn(line, "\n")) {
        struct ended ended;
        found = read_line(line, &ended) && is_about(&ended, claim);
        line += strcspn(line, "\n");
    }
    free(text);
    return found;
}

bool ended_has(const struct statedir *dir, const struct claim *claim)
{
    struct claim number_only = *claim;
    number_only.launched_s = INT64_MAX; /* after any job that was known by its name only */
    return may_have_ended(dir, &number_only);
}

static int64_t boot_clock_s(void)
{
    return note_clock_ms() / 1000;
}

/* Of its text up to the line break. */
static bool is_over(const char *line, size_t length, int64_t now_s)
{
    struct ended ended;
    const char *last = memrchr(line, ' ', length);
    if (!read_line(line, &ended))
        return true;
    const int64_t left_s =
        last && last[1] == '+' ? strtoll(last + 1, NULL, 10) - boot_clock_s() : -1;
    return ended.until_s < now_s && (left_s < 0 || left_s > LAUNCHED_LONGEST_S);
}

/* The lines that still count, in the same memory. */
static void keep_current(char *text, int64_t now_s)
{
    char *to = text;
    for (char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n"), whole = length + (line[length] == '\n');
        if (line[length] == '\n' && !is_over(line, length, now_s)) {
            memmove(to, line, whole);
            to += whole;
        }
        line += whole;
    }
    *to = '\0';
}

/* line: without its end. until_s: as it says. */
static int append_line(const struct statedir *dir, const char *line, int64_t until_s,
                       struct error *err)
{
    const int64_t now_s = (int64_t)time(NULL), boot_s = boot_clock_s();
    /* Else the time of day is wrong now, or was. */
    const bool possible = until_s > now_s && until_s - now_s < LAUNCHED_LONGEST_S;
    const int64_t left_s = possible ? until_s - now_s : LAUNCHED_LONGEST_S;
    int rc = statedir_lock(dir, STATEDIR_ENDED, err);
    if (rc < 0)
        return rc;
    char *text = read_ended(dir, NULL);
    if (text)
        keep_current(text, now_s);
    char *kept = text && strlen(text) < ENDED_SIZE_MAX
                     ? memory_format("%s%s +%" PRId64 "\n", text, line, boot_s + left_s)
                     : memory_format("all %" PRId64 " %" PRId64 " +%" PRId64 "\n", now_s,
                                     now_s + LAUNCHED_LONGEST_S, boot_s + LAUNCHED_LONGEST_S);
    rc = statedir_write(dir, ended_file, kept, err);
    statedir_unlock(dir, STATEDIR_ENDED);
    free(kept);
    free(text);
    return rc;
}

int ended_add(const struct statedir *dir, const struct claim *claim, struct error *err)
{
    char line[ENDED_LINE_SIZE];
    const int64_t until_s = claim->launched_until_s ? claim->launched_until_s
                                                    : (int64_t)time(NULL) + LAUNCHED_LONGEST_S;
    snprintf(line, sizeof line, "number %" PRIu64 " %" PRId64, claim->number, until_s);
    return append_line(dir, line, until_s, err);
}

int ended_add_job(const struct statedir *dir, const char *cluster, const char *job,
                  struct error *err)
{
    const int64_t now_s = (int64_t)time(NULL);
    char line[ENDED_LINE_SIZE];
    snprintf(line, sizeof line, "job %s %s %" PRId64 " %" PRId64, cluster ? cluster : "-", job,
             now_s, now_s + LAUNCHED_LONGEST_S);
    return append_line(dir, line, now_s + LAUNCHED_LONGEST_S, err);
}

/* What a node knew may be lost by a boot, and then the broker believes that nothing of jobs that
 * were over by it is there, or comes (core/requests/fence.c). */
static bool is_of_before_boot(const struct claim *claim)
{
    if (claim->launched_s >= boot_time_ms() / 1000 + LAUNCH_CLOCK_SKEW_S)
        return false;
    say("the launch document of job %s is of before this node booted, or of the %d s after that, "
        "by which clocks may differ",
        claim->name, LAUNCH_CLOCK_SKEW_S);
    return true;
}

int launched_check_ended(struct node *node, const struct claim *claim)
{
    struct error err;
    struct note now;
    if (is_of_before_boot(claim))
        return COMMAND_UNMET;
    notes_release(&node->notes); /* as they are now that no other process works on the job */
    if (notes_load(&node->notes, &node->dir, &err) < 0)
        return command_failed(&err);
    const struct note *newest = notes_newest(&node->notes, claim->cluster, claim->job);
    const bool later = newest && newest->claim.number > claim->number;
    const bool over = note_read(&node->dir, claim->number, &now, NULL) == 0 &&
                      (now.state == NOTE_GONE || now.state == NOTE_LINGERING);
    if (!later && !over && !may_have_ended(&node->dir, claim))
        return COMMAND_GO_ON;
    say("the launch document is of %s of job %s, which %s on this node",
        later ? "an earlier start" : "this start", claim->name,
        later ? "has been started again" : "has ended");
    return COMMAND_UNMET;
}
