/* SPDX-License-Identifier: Apache-2.0 */
/* What the fabric consists of, as a client reads it: by following the links of the lists. */

#include "tests/system/mockfm/mockfm.h"
#include "tests/unit/unit.h"

static const char *const lists[] = {
    "/fabric/vni/partitions", "/fabric/vni/blocks",    "/fabric/switches",      "/fabric/ports",
    "/fabric/links",          "/fabric/topology-maps", "/fabric/port-policies", "/switch-telemetry",
};
#define LISTS (sizeof lists / sizeof lists[0])

/* Gets each member that the page names; the number of them. */
static size_t follow(const struct mockfm_fm *fm, const json_t *links)
{
    const json_t *link;
    size_t i;

    assert_true(json_is_array(links));
    json_array_foreach(links, i, link)
    {
        const char *path = json_string_value(link);
        struct rawhttp_reply reply;

        assert_int_equal(rawhttp_once(fm->port, "GET", path, DOUBLE_LOGIN, NULL, &reply), 200);
        assert_string_equal(json_string_value(json_object_get(reply.json, "documentSelfLink")),
                            path);
        rawhttp_release(&reply);
    }
    return i;
}

/* Page by page as the fault makes them. */
static size_t read_list(const struct mockfm_fm *fm, const char *path)
{
    char next[128];
    size_t seen = 0;

    snprintf(next, sizeof next, "%s", path);
    while (*next) {
        struct rawhttp_reply reply;
        const char *further;

        assert_int_equal(rawhttp_once(fm->port, "GET", next, DOUBLE_LOGIN, NULL, &reply), 200);
        seen += follow(fm, json_object_get(reply.json, "documentLinks"));
        assert_in_range(seen, 1, 1000);
        further = json_string_value(json_object_get(reply.json, "nextPageLink"));
        snprintf(next, sizeof next, "%s", further ? further : "");
        rawhttp_release(&reply);
    }
    return seen;
}

static void lists__lead_to_every_member(void **state)
{
    static const char *const options[] = {"--fabric", "3x2x4", NULL};
    static const size_t members[LISTS] = {1, 1, 6, 24, 3 + 3, 1, 2, 6};
    struct mockfm_fm *fm = *state;

    mockfm_start(fm, options);
    for (size_t i = 0; i < LISTS; i++)
        assert_int_equal(read_list(fm, lists[i]), members[i]);
    mockfm_fault(fm, "{\"method\":\"GET\",\"page_size\":5}");
    for (size_t i = 0; i < LISTS; i++)
        assert_int_equal(read_list(fm, lists[i]), members[i]);
    assert_int_equal(read_list(fm, "/apis/fabric-manager/fabric/ports/"), 24);
}

static void lists__need_the_login(void **state)
{
    struct mockfm_fm *fm = *state;
    char bearer[128], member[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    for (size_t i = 0; i < LISTS; i++) {
        snprintf(member, sizeof member, "%s/default", lists[i]);
        assert_int_equal(rawhttp_once(fm->port, "GET", lists[i], NULL, NULL, NULL), 401);
        assert_int_equal(rawhttp_once(fm->port, "GET", member, NULL, NULL, NULL), 401);
        assert_int_equal(rawhttp_once(fm->port, "GET", lists[i], bearer, NULL, NULL), 403);
    }
}

static void lists__can_only_be_read(void **state)
{
    static const char *const methods[] = {"POST", "PATCH", "PUT", "DELETE"};
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    for (size_t i = 0; i < LISTS; i++) {
        const char *method = methods[i % 4];

        assert_int_equal(rawhttp_once(fm->port, method, lists[i], DOUBLE_LOGIN, "{}", &reply), 405);
        assert_non_null(strstr(reply.head, "Allow: GET\r\n"));
        rawhttp_release(&reply);
    }
}

static void member__unknown_is_404_for_both_clients(void **state)
{
    struct mockfm_fm *fm = *state;

    for (size_t i = 0; i < LISTS; i++) {
        struct rawhttp_reply reply;
        char path[128];

        snprintf(path, sizeof path, "%s/g7s7p7", lists[i]);
        assert_int_equal(rawhttp_once(fm->port, "GET", path, DOUBLE_LOGIN, NULL, &reply), 404);
        assert_true(json_is_string(json_object_get(reply.json, "message")));
        assert_true(json_is_string(json_object_get(reply.json, "detail")));
        rawhttp_release(&reply);
    }
}

static void post_control(const struct mockfm_fm *fm, const char *body, int status)
{
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/fabric", NULL, body, NULL), status);
}

static json_int_t member_number(const struct mockfm_fm *fm, const char *path, const char *member)
{
    struct rawhttp_reply reply;
    assert_int_equal(rawhttp_once(fm->port, "GET", path, DOUBLE_LOGIN, NULL, &reply), 200);
    const json_int_t number = json_integer_value(json_object_get(reply.json, member));
    rawhttp_release(&reply);
    return number;
}

/* As an administrator does, or a cable that breaks; versions tell it. */
static void control__changes_states_and_versions(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    const json_int_t ports = member_number(fm, "/fabric/ports", "documentVersion");
    const json_int_t switches = member_number(fm, "/fabric/switches", "documentVersion");

    assert_true(ports > 0);
    post_control(fm, "{\"set\":{\"/fabric/switches/g0s1\":\"OFFLINE\"}}", 200);
    assert_int_equal(
        rawhttp_once(fm->port, "GET", "/fabric/switches/g0s1", DOUBLE_LOGIN, NULL, &reply), 200);
    assert_string_equal(json_string_value(json_object_get(reply.json, "state")), "OFFLINE");
    assert_true(json_integer_value(json_object_get(reply.json, "documentUpdateTimeMicros")) > 0);
    rawhttp_release(&reply);
    assert_int_equal(member_number(fm, "/fabric/switches", "documentVersion"), switches + 1);
    assert_int_equal(member_number(fm, "/fabric/ports", "documentVersion"), ports);
    post_control(fm, "{\"set\":{\"/fabric/switches/g0s1\":\"absent\"}}", 200);
    assert_int_equal(
        rawhttp_once(fm->port, "GET", "/fabric/switches/g0s1", DOUBLE_LOGIN, NULL, NULL), 404);
    assert_int_equal(read_list(fm, "/fabric/switches"), 3);
    post_control(fm, "{\"set\":{\"/fabric/switches/g9s9\":\"OFFLINE\"}}", 404);
    post_control(fm, "{\"set\":{\"/fabric/vni/partitions/default\":\"OFFLINE\"}}", 404);
    post_control(fm, "{\"set\":[]}", 400);
    post_control(fm, "{\"set\":{\"/fabric/switches/g0s0\":1}}", 400);
}

static void list__has_its_documents_when_asked(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    const char *link;
    json_t *document;

    assert_int_equal(
        rawhttp_once(fm->port, "GET", "/fabric/ports?expand&$limit=3", DOUBLE_LOGIN, NULL, &reply),
        200);
    assert_int_equal(json_object_size(json_object_get(reply.json, "documents")), 3);
    json_object_foreach(json_object_get(reply.json, "documents"), link, document)
    {
        assert_string_equal(json_string_value(json_object_get(document, "documentSelfLink")), link);
        assert_string_equal(json_string_value(json_object_get(document, "state")), "ONLINE");
    }
    const char *next = json_string_value(json_object_get(reply.json, "nextPageLink"));
    assert_non_null(strstr(next, "expand"));
    rawhttp_release(&reply);
}

static void lists__lie_on_demand(void **state)
{
    struct mockfm_fm *fm = *state;

    mockfm_fault(fm, "{\"path\":\"/fabric/switches\",\"half_list\":true}");
    assert_int_equal(read_list(fm, "/fabric/switches"), 2);
    mockfm_fault(fm, "{\"path\":\"/fabric/ports\",\"page_size\":4,\"shifting_list\":true}");
    assert_int_equal(read_list(fm, "/fabric/ports"), 16 - 3);
    mockfm_fault(fm, "{\"path\":\"/fabric/switches\",\"page_size\":1,\"half_list\":true}");
    assert_int_equal(read_list(fm, "/fabric/switches"), 2);
}

UNIT_MAIN(RUNNING(control__changes_states_and_versions),
          RUNNING(list__has_its_documents_when_asked), RUNNING(lists__lie_on_demand),
          STOPPED(lists__lead_to_every_member), RUNNING(lists__need_the_login),
          RUNNING(lists__can_only_be_read), RUNNING(member__unknown_is_404_for_both_clients))
