/* SPDX-License-Identifier: Apache-2.0 */

#include <signal.h>

#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

#define LIST "/fabric/collectives/jobs/"

/* Answers to the pages in the order they are asked for; the text "%URL%" in one is the puppet's. */
struct book {
    struct {
        int status;
        const char *body;
        enum scriptedserver_fault fault;
    } pages[5];
    const char *url;
    char paths[5][128];
};

static void turn(void *arg, const struct scriptedserver_request *request,
                 struct scriptedserver_answer *answer)
{
    struct book *book = arg;
    size_t page = request->number - 1;
    if (page >= 5 || !book->pages[page].body) {
        answer->status = 410;
        return;
    }
    (void)snprintf(book->paths[page], sizeof book->paths[page], "%s %s", request->method,
                   request->path);
    const char *body = book->pages[page].body;
    const char *mark = strstr(body, "%URL%");
    answer->status = book->pages[page].status != 0 ? book->pages[page].status : 200;
    answer->fault = book->pages[page].fault;
    answer->body = !mark ? scriptedserver_text("%s", body)
                         : scriptedserver_text("%.*s%s%s", (int)(mark - body), body, book->url,
                                               mark + strlen("%URL%"));
}

struct collected {
    char names[256]; /* each followed by '|'; "/" between pages */
    size_t count;
    struct landing landing;
    struct apiclient *destroy; /* when a page comes */
};

static void on_page(void *arg, const char *const *names, size_t count)
{
    struct collected *all = arg;
    assert_int_equal(all->landing.times, 0);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(all->names);
        (void)snprintf(all->names + length, sizeof all->names - length, "%s|", names[i]);
    }
    all->count += count;
    if (all->destroy)
        apiclient_destroy_api(all->destroy);
}

static void on_end(void *arg, const struct fmapi_reply *reply)
{
    assert_true(secret_none(reply->token));
    apiclient_land(&((struct collected *)arg)->landing, reply);
}

/* Lists once; asserts what comes of it and how many pages were asked for. */
static void lists(struct book *book, enum fmcall_outcome outcome, const char *names,
                  const char *words, unsigned asked)
{
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = turn, .arg = book});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct collected all = {0};
    struct apiclient apiclient;

    book->url = scriptedserver_url(scriptedserver);
    apiclient_init(&apiclient, &options);
    fmapi_list(apiclient.api, on_page, on_end, &all);
    apiclient_await(&apiclient, &all.landing);
    if (all.landing.outcome != outcome || strcmp(all.names, names) != 0 ||
        !strstr(all.landing.words, words))
        fail_msg("%s: %s, names %s", fmcall_outcome_word(all.landing.outcome), all.landing.words,
                 all.names);
    assert_int_equal(scriptedserver_requests(scriptedserver), asked);
    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

static void list__reads_one_page(void **state)
{
    struct book book = {
        .pages = {{.body = "{\"documentLinks\":[\"" LIST "c-1\",\"" LIST "d-f%3A2\"],"
                           "\"documentCount\":2}"}}};
    lists(&book, FM_OK, "c-1|d-f:2|", "HTTP 200", 1);
    assert_string_equal(book.paths[0], "GET " LIST);

    struct book empty = {.pages = {{.body = "{\"documentLinks\":[]}"}}};
    lists(&empty, FM_OK, "", "HTTP 200", 1);
}

static void list__reads_all_pages(void **state)
{
    struct book book = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"" LIST "?page=2\"}"},
                  {.body = "{\"documentLinks\":[],\"nextPageLink\":\"%URL%" LIST "?page=3\"}"},
                  {.body = "{\"documentLinks\":[\"/j/c-2\",\"/j/c-3\"]}"}}};
    lists(&book, FM_OK, "c-1|c-2|c-3|", "HTTP 200", 3);
    assert_string_equal(book.paths[1], "GET " LIST "?page=2");
    assert_string_equal(book.paths[2], "GET " LIST "?page=3");
}

/* documentCount: of the page with some, of the whole list with others. */
static void list__checks_the_count(void **state)
{
    struct book whole = {
        .pages = {
            {.body =
                 "{\"documentLinks\":[\"/j/c-1\"],\"documentCount\":3,\"nextPageLink\":\"/2\"}"},
            {.body = "{\"documentLinks\":[\"/j/c-2\",\"/j/c-3\"],\"documentCount\":3}"}}};
    lists(&whole, FM_OK, "c-1|c-2|c-3|", "", 2);

    struct book each = {
        .pages = {
            {.body =
                 "{\"documentLinks\":[\"/j/c-1\"],\"documentCount\":1,\"nextPageLink\":\"/2\"}"},
            {.body = "{\"documentLinks\":[\"/j/c-2\",\"/j/c-3\"],\"documentCount\":2}"}}};
    lists(&each, FM_OK, "c-1|c-2|c-3|", "", 2);

    struct book missing = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"documentCount\":2}"}}};
    lists(&missing, FM_BUSY, "c-1|", "the list is not whole: documentCount is 2, the pages hold 1",
          1);

    struct book more = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"documentCount\":0}"}}};
    lists(&more, FM_BUSY, "c-1|", "the list is not whole: documentCount is 0", 1);

    struct book changing = {
        .pages = {
            {.body =
                 "{\"documentLinks\":[\"/j/c-1\"],\"documentCount\":3,\"nextPageLink\":\"/2\"}"},
            {.body = "{\"documentLinks\":[\"/j/c-2\",\"/j/c-3\"],\"documentCount\":4}"}}};
    lists(&changing, FM_BUSY, "c-1|", "the list is not whole: pages claim 3 and 4 jobs", 2);
}

/* A partial or odd list deletes nothing (F20): it must say that it is one. */
static void list__says_when_it_is_not_whole(void **state)
{
    struct book half = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"/2\"}"},
                  {.status = 500, .body = "{\"message\":\"out of order\"}"}}};
    lists(&half, FM_BUSY, "c-1|", "HTTP 500: out of order", 2);

    struct book cut = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"/2\"}"},
                  {.body = "{\"documentLinks\":[]}", .fault = SCRIPTEDSERVER_TRUNCATE}}};
    lists(&cut, FM_BROKEN, "c-1|", "the connection broke", 2);

    struct book odd = {.pages = {{.body = "{\"documentLinks\":[\"/j/c-1\",{}]}"}}};
    lists(&odd, FM_BUSY, "", "the list is not whole: an entry of documentLinks", 1);

    struct book none = {.pages = {{.body = "{}"}}};
    lists(&none, FM_BUSY, "", "the list is not whole: documentLinks is missing", 1);

    struct book moved = {.pages = {{.status = 404, .body = "{\"message\":\"no such path\"}"}}};
    lists(&moved, FM_NOT_ROUTED, "", "did not write (a gateway in front of it? a wrong [fm] url?)",
          1);

    struct book off = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"/2\"}"},
                  {.status = 404, .body = ""}}};
    lists(&off, FM_NOT_ROUTED, "c-1|", "the body is empty", 2);
}

static void list__notices_pages_that_repeat(void **state)
{
    struct book itself = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"" LIST "\"}"}}};
    lists(&itself, FM_BUSY, "c-1|", "the list is not whole: page 1 comes again", 1);

    struct book circle = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"/2\"}"},
                  {.body = "{\"documentLinks\":[\"/j/c-2\"],\"nextPageLink\":\"/3\"}"},
                  {.body = "{\"documentLinks\":[\"/j/c-3\"],\"nextPageLink\":\"/2\"}"}}};
    lists(&circle, FM_BUSY, "c-1|c-2|c-3|", "the list is not whole: page 2 comes again", 3);
}

/* The login must go nowhere else. */
static void list__does_not_leave_the_fabric_manager(void **state)
{
    static const char *const links[] = {"http://127.0.0.1:1/fabric", "//evil/x", "/../x",
                                        "https://evil/fabric/collectives/jobs/?2", "relative"};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        char body[256];
        (void)snprintf(body, sizeof body, "{\"documentLinks\":[],\"nextPageLink\":\"%s\"}",
                       links[i]);
        struct book book = {.pages = {{.body = body}}};
        lists(&book, FM_BUSY, "", "nextPageLink leads away from the fabric manager", 1);
    }
}

/* A long list: the same number of names on each page. */
struct shelf {
    unsigned pages, names; /* names of each page */
};

static void many(void *arg, const struct scriptedserver_request *request,
                 struct scriptedserver_answer *answer)
{
    const struct shelf *shelf = arg;
    size_t size = 256 + (size_t)shelf->names * 64;
    size_t length = 0;
    unsigned first = (request->number - 1) * shelf->names;
    answer->body = malloc(size);
    assert_non_null(answer->body);
    length += (size_t)snprintf(answer->body, size, "{\"documentLinks\":[");
    for (unsigned i = 0; i < shelf->names; i++)
        length += (size_t)snprintf(answer->body + length, size - length, "%s\"" LIST "c-%u\"",
                                   i > 0 ? "," : "", first + i);
    length += (size_t)snprintf(answer->body + length, size - length, "],\"documentCount\":%u",
                               shelf->names);
    if (request->number < shelf->pages)
        length += (size_t)snprintf(answer->body + length, size - length,
                                   ",\"nextPageLink\":\"" LIST "?page=%u\"", request->number + 1);
    (void)snprintf(answer->body + length, size - length, "}");
}

struct census {
    unsigned next;
    struct landing landing;
};

static void on_many(void *arg, const char *const *names, size_t count)
{
    struct census *census = arg;
    for (size_t i = 0; i < count; i++) {
        char expected[32];
        (void)snprintf(expected, sizeof expected, "c-%u", census->next++);
        assert_string_equal(names[i], expected);
    }
}

static void on_many_end(void *arg, const struct fmapi_reply *reply)
{
    apiclient_land(&((struct census *)arg)->landing, reply);
}

/* Lists what the script says; the names must be c-0, c-1, … */
static struct census count_all(scriptedserver_script_fn *script, void *arg, int64_t timeout_ms)
{
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = script, .arg = arg});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct census census = {0};
    struct apiclient apiclient;
    options.timeout_ms = timeout_ms;
    apiclient_init(&apiclient, &options);
    fmapi_list(apiclient.api, on_many, on_many_end, &census);
    apiclient_await(&apiclient, &census.landing);
    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
    return census;
}

static void list__takes_a_hundred_thousand_names(void **state)
{
    struct census census = count_all(many, &(struct shelf){1, 100000}, 60000);
    assert_int_equal(census.landing.outcome, FM_OK);
    assert_int_equal(census.next, 100000);
}

static void list__bounds_its_names(void **state)
{
    struct census full = count_all(many, &(struct shelf){2, FMAPI_LIST_NAMES_MAX / 2}, 60000);
    assert_int_equal(full.landing.outcome, FM_OK);
    assert_int_equal(full.next, FMAPI_LIST_NAMES_MAX);

    struct census over = count_all(many, &(struct shelf){2, FMAPI_LIST_NAMES_MAX / 2 + 1}, 60000);
    assert_int_equal(over.landing.outcome, FM_BUSY);
    assert_non_null(strstr(over.landing.words, "the list is not whole: more than 200000 names"));
    assert_int_equal(over.next, FMAPI_LIST_NAMES_MAX / 2 + 1);
}

static void put_blank(void *arg, const struct scriptedserver_request *request,
                      struct scriptedserver_answer *answer)
{
    (void)request;
    answer->body = scriptedserver_text("{\"documentLinks\":[]%*s}", *(const int *)arg - 20, "");
}

static void list__bounds_a_page(void **state)
{
    int bytes = 8 << 20;
    assert_int_equal(count_all(put_blank, &bytes, 60000).landing.outcome, FM_OK);
    bytes++;
    struct census census = count_all(put_blank, &bytes, 60000);
    assert_int_equal(census.landing.outcome, FM_BUSY);
    assert_non_null(strstr(census.landing.words, "the answer is longer than 8388608 bytes"));
}

static void put_link(void *arg, const struct scriptedserver_request *request,
                     struct scriptedserver_answer *answer)
{
    answer->body = request->number > 1
                       ? scriptedserver_text("{\"documentLinks\":[]}")
                       : scriptedserver_text("{\"documentLinks\":[],\"nextPageLink\":\"/%0*d\"}",
                                             *(const int *)arg - 1, 0);
}

/* B11: libcurl takes no URL of 8,000,000 bytes, and a page has room for one. */
static void list__bounds_a_link(void **state)
{
    int bytes = 8192;
    assert_int_equal(count_all(put_link, &bytes, 60000).landing.outcome, FM_OK);
    for (int i = 0; i < 2; i++) {
        bytes = i == 0 ? 8193 : 8100000;
        struct census census = count_all(put_link, &bytes, 60000);
        assert_int_equal(census.landing.outcome, FM_BUSY);
        assert_non_null(strstr(census.landing.words, "nextPageLink is longer than 8192 bytes"));
    }
}

enum { ENDLESS_TIMEOUT_MS = 1000 };

struct endless {
    uint64_t silent_after_ms; /* 0: never */
    uint64_t first_ns;
};

/* Each page links to another one, and comes so slowly that the list's time is up before its pages
 * are. */
static void go_on(void *arg, const struct scriptedserver_request *request,
                  struct scriptedserver_answer *answer)
{
    struct endless *endless = arg;
    if (endless->first_ns == 0)
        endless->first_ns = uv_hrtime();
    if (endless->silent_after_ms > 0 &&
        uv_hrtime() - endless->first_ns > endless->silent_after_ms * 1000000)
        answer->fault = SCRIPTEDSERVER_SILENT;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    answer->body = scriptedserver_text(
        "{\"documentLinks\":[],%200000s\"nextPageLink\":\"" LIST "?%u\"}", "", request->number);
}

static void list__ends_in_time(void **state)
{
    /* Every page is there at once, but there is always another one. */
    struct census census = count_all(go_on, &(struct endless){0}, ENDLESS_TIMEOUT_MS);
    assert_int_equal(census.landing.outcome, FM_TIMEOUT);
    assert_non_null(strstr(census.landing.words, "the list did not end in 6000 ms; page "));

    /* The last page has what is left of the list's time, not a call's. */
    census = count_all(go_on, &(struct endless){.silent_after_ms = 5 * ENDLESS_TIMEOUT_MS + 100},
                       ENDLESS_TIMEOUT_MS);
    assert_int_equal(census.landing.outcome, FM_TIMEOUT);
    assert_non_null(strstr(census.landing.words, "the list did not end in 6000 ms; page "));
}

static void destroy__is_allowed_in_a_page(void **state)
{
    struct book book = {
        .pages = {{.body = "{\"documentLinks\":[\"/j/c-1\"],\"nextPageLink\":\"/2\"}"},
                  {.body = "{\"documentLinks\":[\"/j/c-2\"]}"}}};
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = turn, .arg = &book});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);
    struct collected all = {.destroy = &apiclient};
    fmapi_list(apiclient.api, on_page, on_end, &all);
    while (apiclient.api)
        (void)uv_run(&apiclient.loop, UV_RUN_ONCE);
    apiclient_release(&apiclient);
    assert_string_equal(all.names, "c-1|");
    assert_int_equal(all.landing.times, 0);
    assert_int_equal(scriptedserver_requests(scriptedserver), 1);
    scriptedserver_destroy(scriptedserver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list__reads_one_page),
        cmocka_unit_test(list__reads_all_pages),
        cmocka_unit_test(list__checks_the_count),
        cmocka_unit_test(list__says_when_it_is_not_whole),
        cmocka_unit_test(list__notices_pages_that_repeat),
        cmocka_unit_test(list__does_not_leave_the_fabric_manager),
        cmocka_unit_test(list__takes_a_hundred_thousand_names),
        cmocka_unit_test(list__bounds_its_names),
        cmocka_unit_test(list__bounds_a_page),
        cmocka_unit_test(list__bounds_a_link),
        cmocka_unit_test(list__ends_in_time),
        cmocka_unit_test(destroy__is_allowed_in_a_page),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
