/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/launched.h"

#include "base/memory.h"
#include "core/reservation/record.h"
#include "launch/credential.h"
#include "launch/sealed.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- The envelope ---- */

static bool is_envelope(const char *word)
{
    return strncmp(word, CREDENTIAL_PREFIX, strlen(CREDENTIAL_PREFIX)) == 0 ||
           strncmp(word, SEALED_PREFIX, strlen(SEALED_PREFIX)) == 0;
}

/* The first word of the text that is an envelope, for free(); NULL: there is none. */
static char *find_envelope(const char *text)
{
    static const char blanks[] = " \t\r\n";
    for (const char *word = text + strspn(text, blanks); *word != '\0';) {
        const size_t length = strcspn(word, blanks);
        if (is_envelope(word))
            return memory_must(strndup(word, length));
        word += length;
        word += strspn(word, blanks);
    }
    return NULL;
}

/* Up to SEALED_LAUNCH_MAX bytes; "" with a message when it cannot be read. */
static int read_file(const char *name, char out[SEALED_LAUNCH_MAX + 1])
{
    const bool standard = strcmp(name, "-") == 0;
    FILE *in = standard ? stdin : fopen(name, "re");
    const size_t length = in ? fread(out, 1, SEALED_LAUNCH_MAX, in) : 0;
    const bool failed = !in || ferror(in);
    out[length] = '\0';
    if (failed)
        say("the launch document %s cannot be read: %s", name, strerror(errno));
    if (in && !standard)
        fclose(in);
    return failed ? COMMAND_USAGE : COMMAND_GO_ON;
}

static int read_envelope(const char *given, char **envelope)
{
    static const char variable[] = "env:";
    static char text[SEALED_LAUNCH_MAX + 1];
    int rc = COMMAND_GO_ON;
    if (strncmp(given, variable, strlen(variable)) == 0) {
        const char *value = getenv(given + strlen(variable));
        snprintf(text, sizeof text, "%s", value ? value : "");
    } else {
        rc = read_file(given, text);
    }
    if (rc != COMMAND_GO_ON)
        return rc;
    *envelope = find_envelope(text);
    if (*envelope)
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

/* For memory_wipe_text; or NULL. */
static char *open_envelope(const struct settings *settings, const char *envelope, struct error *err)
{
    const char *socket =
        settings->munge_socket[0] ? settings->munge_socket : secure_getenv("MCAST_MUNGE_SOCKET");
    uid_t maker = (uid_t)-1;
    if (strncmp(envelope, SEALED_PREFIX, strlen(SEALED_PREFIX)) == 0) {
        (void)error_set(err, ERROR_IO,
                        "this launch document needs the broker's key, and this "
                        "mcast-node reads MUNGE credentials only");
        return NULL;
    }
    return find_maker(settings, &maker, err) < 0 ? NULL
                                                 : credential_open(socket, envelope, maker, err);
}

/* What is wrong with the document is the job's fault, what cannot be asked is the node's. */
static int refused(const struct error *err)
{
    say("%s", err->text);
    return err->code == ERROR_IO || err->code == ERROR_NOMEM ? COMMAND_REFUSED : COMMAND_UNMET;
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

int launched_read(struct node *node, const struct command_options *options, struct launch *launch)
{
    char *envelope = NULL;
    struct error err;
    int rc = read_envelope(options->launch, &envelope);
    if (rc != COMMAND_GO_ON)
        return rc;
    char *document = open_envelope(&node->settings, envelope, &err);
    free(envelope);
    if (!document)
        return refused(&err);
    rc = parse_and_check(node, options, document, launch);
    memory_wipe_text(document);
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
    *claim = (struct claim){.number = launch->number,
                            .uid = launch->uid,
                            .node_count = launch->node_count,
                            .active = true,
                            .launched_until_s = launch->expires_s + LAUNCH_CLOCK_SKEW_S};
    claim_set_name(claim, launch->cluster, launch->job);
    claim->cores_per_node =
        (uint32_t)json_integer_value(json_object_get(launch->driver, "cores_per_node"));
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const char *word = json_string_value(json_array_get(classes, i));
        claim->traffic_classes |= word ? (unsigned int)traffic_class_from_word(word) : 0;
    }
    return read_vnis(json_object_get(launch->driver, "vnis"), claim, err);
}

/* ---- What has ended here ---- */

/* One line for each, "<number> <until, Unix seconds>". */
static const char ended_file[] = "ended";
enum { ENDED_LINE_SIZE = 48 };

static bool read_line(const char *line, uint64_t *number, int64_t *until_s)
{
    return sscanf(line, "%" SCNu64 " %" SCNd64, number, until_s) == 2;
}

bool ended_has(const struct statedir *dir, uint64_t number)
{
    char *text = NULL;
    bool found = false;
    if (statedir_read(dir, ended_file, &text, NULL) < 0)
        return false;
    for (const char *line = text; !found && *line != '\0'; line += strspn(line, "\n")) {
        uint64_t ended;
        int64_t until_s;
        found = read_line(line, &ended, &until_s) && ended == number;
        line += strcspn(line, "\n");
    }
    free(text);
    return found;
}

/* The lines that still count, behind which is room for one more; for free(). */
static char *keep_current(const char *text, int64_t now_s)
{
    char *kept = memory_zeroed(strlen(text) + ENDED_LINE_SIZE);
    for (const char *line = text; *line != '\0'; line += strspn(line, "\n")) {
        const size_t length = strcspn(line, "\n");
        uint64_t number;
        int64_t until_s;
        if (read_line(line, &number, &until_s) && until_s >= now_s)
            sprintf(kept + strlen(kept), "%" PRIu64 " %" PRId64 "\n", number, until_s);
        line += length;
    }
    return kept;
}

int ended_add(const struct statedir *dir, const struct claim *claim, struct error *err)
{
    const int64_t now_s = (int64_t)time(NULL);
    char *text = NULL;
    if (claim->launched_until_s < now_s)
        return 0;
    if (statedir_lock(dir, STATEDIR_ENDED, err) < 0)
        return err->code;
    if (statedir_read(dir, ended_file, &text, NULL) < 0)
        text = memory_text("");
    char *kept = keep_current(text, now_s);
    sprintf(kept + strlen(kept), "%" PRIu64 " %" PRId64 "\n", claim->number,
            claim->launched_until_s);
    const int rc = statedir_write(dir, ended_file, kept, err);
    statedir_unlock(dir, STATEDIR_ENDED);
    free(kept);
    free(text);
    return rc;
}

int launched_check_ended(const struct node *node, const struct claim *claim)
{
    const struct note *newest = notes_newest(&node->notes, claim->cluster, claim->job);
    struct note now;
    const bool later = newest && newest->claim.number > claim->number;
    const bool over = note_read(&node->dir, claim->number, &now, NULL) == 0 &&
                      (now.state == NOTE_GONE || now.state == NOTE_LINGERING);
    if (!later && !over && !ended_has(&node->dir, claim->number))
        return COMMAND_GO_ON;
    say("the launch document is of %s of job %s, which %s on this node: ask for a new one at each "
        "start",
        later ? "an earlier start" : "this start", claim->name,
        later ? "has been started again" : "has ended");
    return COMMAND_UNMET;
}
