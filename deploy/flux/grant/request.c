/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/grant/request.h"

#include "base/nodelist.h"

#include <stdlib.h>
#include <string.h>

/* An idset is what stands between the brackets of a node list. */
bool request_count_ids(const char *text, uint32_t *count)
{
    char *list = NULL;
    bool brackets = text && text[0] == '[';
    if (!text || asprintf(&list, brackets ? "r%s" : "r[%s]", text) < 0)
        return false;
    int rc = nodelist_count(list, count, NULL);
    free(list);
    return rc == 0;
}

/* The nodes, one host list after the other; what is in them the broker checks. */
static int read_nodes(struct request *out, const json_t *execution, struct error *err)
{
    const json_t *lists = json_object_get(execution, "nodelist");
    size_t length = 0;
    size_t i;
    json_t *list;
    json_array_foreach(lists, i, list)
    {
        if (!json_is_string(list))
            return error_set(err, ERROR_CORRUPT, "R: nodelist has something else than strings");
        length += json_string_length(list) + 1;
    }
    if (length == 0)
        return error_set(err, ERROR_CORRUPT, "R names no nodes");
    char *end = malloc(length);
    out->wanted.nodes = end;
    if (!end)
        return error_set(err, ERROR_NOMEM, "memory is exhausted");
    json_array_foreach(lists, i, list) end =
        stpcpy(stpcpy(end, i > 0 ? "," : ""), json_string_value(list));
    return 0;
}

/* Ranks and cores. A job can have more cores on one node than on another; a service is made for
 * the most, because too little reserved slows a job down, and too much is scaled back (F7). */
static int read_ranks(struct request *out, const json_t *execution, struct error *err)
{
    const json_t *parts = json_object_get(execution, "R_lite");
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part)
    {
        const json_t *children = json_object_get(part, "children");
        const char *ranks = json_string_value(json_object_get(part, "rank"));
        const char *cores = json_string_value(json_object_get(children, "core"));
        uint32_t rank_count = 0;
        uint32_t core_count = 0;
        if (!request_count_ids(ranks, &rank_count) ||
            (cores && !request_count_ids(cores, &core_count)))
            return error_set(err, ERROR_CORRUPT, "R: R_lite has ranks or cores that are no idset");
        out->wanted.node_count += rank_count;
        if (core_count > out->wanted.cores_per_node)
            out->wanted.cores_per_node = core_count;
    }
    if (out->wanted.node_count == 0)
        return error_set(err, ERROR_CORRUPT, "R has no ranks");
    return 0;
}

/* ---- what the user wants: false: the value is not allowed ---- */

/* Its index, or -1. */
static int find_word(const char *given, const char *const *words)
{
    for (int i = 0; given && words[i]; i++) {
        if (strcmp(given, words[i]) == 0)
            return i;
    }
    return -1;
}

static bool read_vnis(struct request *out, const json_t *value)
{
    json_int_t count = json_integer_value(value);
    out->wanted.vni_count = (int32_t)count;
    return json_is_integer(value) && count >= 0 && count <= 4;
}

static bool read_hwcoll(struct request *out, const json_t *value)
{
    static const char *const words[] = {"auto", "on", "off", "required", NULL};
    const int word = find_word(json_string_value(value), words);
    out->wanted.hwcoll = word < 0 ? NULL : words[word];
    return word >= 0;
}

enum { NUMBER_SIZE = 24 };

/* Flux's commands take for JSON what can be: a name of digits alone arrives as a number, and these
 * three words as such. NULL: it is none of them, and no text. */
static const char *text_of(const json_t *value, char number[NUMBER_SIZE])
{
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_null(value))
        return "null";
    if (!json_is_integer(value))
        return json_string_value(value);
    snprintf(number, NUMBER_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return number;
}

/* Words of these letters, at most max, with colons or commas between them, into list. */
static bool read_list(const json_t *value, const char *letters, char *text, size_t size,
                      const char **list, size_t max)
{
    char number[NUMBER_SIZE];
    const char *given = text_of(value, number);
    size_t count = 0;
    if (!given || strlen(given) >= size || given[strspn(given, letters)])
        return false;
    char *rest = strcpy(text, given);
    for (char *word; (word = strsep(&rest, ":,"));) {
        if (!word[0] || count == max)
            return false;
        list[count++] = word;
    }
    return true;
}

/* The words are those of the API. */
static bool read_classes(struct request *out, const json_t *value)
{
    static const char *const known[] = {"best_effort", "low_latency", "bulk_data",
                                        "dedicated_access", NULL};
    out->wanted.traffic_classes = out->classes;
    if (!read_list(value, "abcdefghijklmnopqrstuvwxyz_:,", out->classes_text,
                   sizeof out->classes_text, out->classes, REQUEST_CLASSES_MAX))
        return false;
    for (size_t i = 0; out->classes[i]; i++) {
        if (find_word(out->classes[i], known) < 0)
            return false;
    }
    return true;
}

/* Which shared VNIs there are the broker knows; here only that they are words. */
static bool read_shared(struct request *out, const json_t *value)
{
    out->wanted.shared_vnis = out->shared;
    return read_list(value, "abcdefghijklmnopqrstuvwxyz0123456789_.-:,", out->shared_text,
                     sizeof out->shared_text, out->shared, REQUEST_SHARED_MAX);
}

/* Of one node's jobs only: what -o mcast.vnis says goes before it, as it is the narrower word. */
static bool read_single_node(struct request *out, const json_t *value)
{
    static const char *const words[] = {"off", "on", NULL};
    const int word = find_word(json_string_value(value), words);
    if (out->wanted.node_count == 1 && out->wanted.vni_count < 0)
        out->wanted.vni_count = word;
    return word >= 0;
}

/* Which profiles there are the broker knows. */
static bool read_profile(struct request *out, const json_t *value)
{
    char number[NUMBER_SIZE];
    const char *given = text_of(value, number);
    if (given && strlen(given) < sizeof out->profile_text)
        strcpy(out->profile_text, given);
    out->wanted.profile = out->profile_text;
    return profile_name_valid(out->profile_text);
}

/* What else a user has written may be long, or no text. */
static const char *shown_name(const char *name)
{
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");
    return length > 0 && length <= 30 && !name[length] ? name : "…";
}

static int read_values(struct request *out, const json_t *values, struct error *err)
{
    static const struct {
        const char *name;
        bool (*read)(struct request *out, const json_t *value);
        const char *allowed;
    } known[] = {
        {"vnis", read_vnis, "a number from 0 to 4"},
        {"shared", read_shared,
         "at most 3 names of shared VNIs with colons between them; '\"7.5\"' is the name 7.5"},
        {"hwcoll", read_hwcoll, "auto, on, off or required"},
        {"tc", read_classes,
         "one or more of best_effort, low_latency, bulk_data and dedicated_access, with colons "
         "between them"},
        {"single-node", read_single_node, "on or off"}, /* after vnis, which it looks at */
        {"profile", read_profile, "the name of a profile of the site: a-z, 0-9 and _"},
    };
    const size_t count = sizeof known / sizeof known[0];
    size_t understood = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(values, known[i].name);
        if (value && !known[i].read(out, value))
            return error_set(err, ERROR_INVALID, "-o mcast.%s is %s", known[i].name,
                             known[i].allowed);
        understood += value ? 1 : 0;
    }
    if (understood == json_object_size(values))
        return 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)values, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(known[i].name, name) != 0)
            i++;
        if (i == count)
            break;
    }
    return error_set(err, ERROR_INVALID,
                     "-o mcast.%s is none of vnis, shared, hwcoll, tc, single-node and profile",
                     shown_name(name));
}

static int read_option(struct request *out, const json_t *option, struct error *err)
{
    const char *word = json_string_value(option);
    if (json_is_object(option))
        return read_values(out, option, err);
    if (json_is_false(option) || (word && strcmp(word, "off") == 0)) {
        out->off = true;
        return 0;
    }
    /* `-o mcast` alone arrives as 1. */
    if (!option || json_is_null(option) || json_is_true(option) ||
        json_integer_value(option) == 1 || (word && strcmp(word, "on") == 0))
        return 0;
    return error_set(err, ERROR_INVALID,
                     "-o mcast is on or off; wishes are -o mcast.vnis=N, mcast.shared=NAMES, "
                     "mcast.hwcoll=WORD, mcast.tc=CLASSES, mcast.single-node=on|off and "
                     "mcast.profile=NAME");
}

/* What flux-coral2 calls two of ours, so that a site's scripts work here as they are. */
static int read_coral2(struct request *out, const json_t *option, struct error *err)
{
    const char *word = json_string_value(option);
    const json_t *count = json_object_get(option, "vnicount");
    out->off = word && strcmp(word, "off") == 0;
    if (out->off || (json_is_object(option) && json_object_size(option) == (count ? 1 : 0) &&
                     (!count || read_vnis(out, count))))
        return 0;
    return error_set(err, ERROR_INVALID,
                     "-o cray-slingshot is off, or cray-slingshot.vnicount=N of 0 to 4; here these "
                     "are -o mcast=off and -o mcast.vnis=N");
}

static int read_options(struct request *out, const json_t *options, struct error *err)
{
    const json_t *ours = json_object_get(options, "mcast");
    const json_t *theirs = json_object_get(options, "cray-slingshot");
    if (ours && theirs)
        return error_set(err, ERROR_INVALID,
                         "-o mcast and -o cray-slingshot are both given: leave out the latter; "
                         "here cray-slingshot=off is mcast=off, cray-slingshot.vnicount=N is "
                         "mcast.vnis=N");
    return theirs ? read_coral2(out, theirs, err) : read_option(out, ours, err);
}

int request_parse(struct request *out, const json_t *r, const json_t *jobspec, struct error *err)
{
    static const char *const path[] = {"attributes", "system", "shell", "options"};
    const json_t *execution = json_object_get(r, "execution");
    const json_t *options = jobspec;
    *out = (struct request){.wanted = MCAST_REQUEST_INIT};
    int rc = read_nodes(out, execution, err);
    if (rc == 0)
        rc = read_ranks(out, execution, err);
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++)
        options = json_object_get(options, path[i]);
    return rc < 0 ? rc : read_options(out, options, err);
}

int request_read(struct request *out, FILE *from, struct error *err)
{
    json_error_t fault;
    json_t *r = json_loadf(from, JSON_DISABLE_EOF_CHECK, &fault);
    json_t *jobspec = r ? json_loadf(from, 0, &fault) : NULL;
    int rc;
    *out = (struct request){.wanted = MCAST_REQUEST_INIT};
    if (jobspec)
        rc = request_parse(out, r, jobspec, err);
    else
        rc = error_set(err, ERROR_CORRUPT, "%s cannot be read: %s", r ? "the jobspec" : "R",
                       fault.text);
    json_decref(r);
    json_decref(jobspec);
    return rc;
}

void request_release(struct request *request)
{
    free((void *)request->wanted.nodes);
    request->wanted.nodes = NULL;
}

const struct mcast_launch *request_launch(void)
{
    static const struct mcast_launch wish = {.size = sizeof wish, .restart = 0, .env = true};
    const char *way = getenv("MCAST_LAUNCH");
    return way && strcmp(way, "none") == 0 ? NULL : &wish;
}

bool request_fails_for_launch(const struct mcast_error *error)
{
    static const char *const words[] = {"no-envelope", "no-launch", "unknown-field"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(error->word, words[i]) == 0)
            return true;
    }
    return mcast_later(error, NULL);
}

/* "VNIs 1024,1025, 23 addresses"; "VNI 1026, no addresses: " and why. */
static json_t *summary(const json_t *memo)
{
    const json_t *vnis = json_object_get(memo, "vnis");
    const json_int_t addresses = json_integer_value(json_object_get(memo, "addresses"));
    const char *reason = json_string_value(json_object_get(memo, "reason"));
    char numbers[64] = "";
    size_t i, length = 0;
    json_t *vni;
    json_array_foreach(vnis, i, vni)
    {
        length +=
            (size_t)snprintf(numbers + length, sizeof numbers - length, "%s%" JSON_INTEGER_FORMAT,
                             i ? "," : "", json_integer_value(vni));
        if (length >= sizeof numbers)
            break;
    }
    const char *count = json_array_size(vnis) > 1 ? "VNIs " : length ? "VNI " : "no VNI";
    return addresses > 0
               ? json_sprintf("%s%s, %" JSON_INTEGER_FORMAT " addresses", count, numbers, addresses)
               : json_sprintf("%s%s, no addresses%s%s", count, numbers, reason ? ": " : "",
                              reason ? reason : "");
}

json_t *request_memo(const json_t *reservation)
{
    static const struct {
        const char *name, *field;
        bool of_hwcoll;
    } members[] = {
        {"number", "number", false},      {"vnis", "vnis", false},
        {"hwcoll", "state", true},        {"reason", "reason", true},
        {"addresses", "addresses", true}, {"warning", "warning", false},
    };
    const json_t *hwcoll = json_object_get(reservation, "hwcoll");
    json_t *memo = json_object();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value =
            json_object_get(members[i].of_hwcoll ? hwcoll : reservation, members[i].field);
        if (value && !json_is_null(value))
            json_object_set(memo, members[i].name, value);
    }
    /* How many it wished for, when it was given none. */
    const char *state = json_string_value(json_object_get(memo, "hwcoll"));
    if (!state || strcmp(state, "reserved") != 0)
        json_object_del(memo, "addresses");
    json_object_set_new(memo, "summary", summary(memo));
    return memo;
}
