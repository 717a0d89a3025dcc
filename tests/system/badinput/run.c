/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/run.h"
#include "tests/unit/unit.h"

#include "tests/system/badinput/peer.h"
#include "tests/system/http/contract.h"
#include "tests/system/rig/folder.h"

#include <microhttpd.h>
#include <strings.h>

struct run {
    struct site *site;
    int port;            /* of TCP */
    char *jobs, *status; /* what these say as long as nothing is changed */
    unsigned number;     /* of requests that must be answered as themselves */
};

/* One case on its way. */
struct trial {
    struct run *run;
    const struct bad_case *c;
    enum transport transport;
    struct peer *peer;
    char *bytes;
    size_t length;
    char *method, *path; /* as the contract knows them */
};

__attribute__((format(printf, 2, 3), noreturn)) static void fails(const struct trial *trial,
                                                                  const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    print_error("case \"%s\" over %s: %s\n", trial->c->what,
                trial->transport == TRANSPORT_TCP ? "TCP" : "the Unix socket", why);
    fail();
    abort(); /* fail does not return, which only cmocka knows */
}

/* ---- bytes ---- */

static char *copy_of(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

/* text with MANY replaced; to be freed. */
static char *expand(const struct bad_case *c, const char *text, size_t *length)
{
    size_t mark = strlen(MANY), unit = c->times ? strlen(c->unit) : 0;
    const char *at = c->times && *length ? memmem(text, *length, MANY, mark) : NULL;
    if (!at)
        return copy_of(text, *length);
    size_t before = (size_t)(at - text), after = *length - before - mark;
    char *out = malloc(before + unit * c->times + after + 1), *end = out + before;
    assert_non_null(out);
    memcpy(out, text, before);
    for (size_t i = 0; i < c->times; i++, end += unit)
        memcpy(end, c->unit, unit);
    memcpy(end, at + mark, after);
    end[after] = '\0';
    *length = (size_t)(end - out) + after;
    return out;
}

static char *expand_text(const struct bad_case *c, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return expand(c, text ? text : "", &length);
}

static void compose(struct trial *trial)
{
    const struct bad_case *c = trial->c;
    size_t length = c->text.length;
    char *text = expand(c, c->text.bytes, &length);
    trial->bytes = text;
    trial->length = length;
    if (!c->method)
        return;
    char *path = expand_text(c, c->path), *headers = expand_text(c, c->headers), *head;
    int size = asprintf(&head, "%s %s HTTP/1.1\r\nHost: mcastd\r\n%sContent-Length: %zu\r\n\r\n",
                        c->method, path, headers, length);
    assert_true(size > 0);
    trial->bytes = malloc((size_t)size + length + 1);
    assert_non_null(trial->bytes);
    memcpy(trial->bytes, head, (size_t)size);
    memcpy(trial->bytes + size, text, length + 1);
    trial->length = (size_t)size + length;
    free(head);
    free(headers);
    free(path);
    free(text);
}

/* The first two words, which need not be any; of an absolute address the path. */
static void find_operation(struct trial *trial)
{
    const char *method = trial->bytes + strspn(trial->bytes, "\r\n");
    size_t length = strcspn(method, " \r\n");
    const char *path = method[length] == ' ' ? method + length + 1 : "/";
    if (!strncmp(path, "http://", 7))
        path += 7 + strcspn(path + 7, "/");
    trial->method = copy_of(method, length < 16 ? length : 0);
    trial->path = copy_of(path, strcspn(path, " \r\n"));
}

/* ---- what is expected ---- */

struct expected {
    int status;
    const char *code, *field;
};

/* Refused by what the request is, before it is asked who sent it. */
static bool comes_before_identity(const char *code)
{
    static const char *const codes[] = {
        "bad-request",       "bad-escape",         "repeated-parameter", "too-many-parameters",
        "unknown-parameter", "method-not-allowed", "no-such-path",       NULL};
    for (const char *const *at = codes; *at; at++)
        if (!strcmp(*at, code))
            return true;
    return false;
}

static bool is_open_to_all(const char *path)
{
    size_t length = strcspn(path, "?");
    return !strncmp(path, "/healthz", length) || !strncmp(path, "/openapi.json", length);
}

static struct expected expected_of(const struct trial *trial)
{
    const struct bad_case *c = trial->c;
    if (trial->transport == TRANSPORT_TCP && !is_open_to_all(trial->path) &&
        (!c->code || !comes_before_identity(c->code)))
        return (struct expected){401, "no-identity", NULL};
    return (struct expected){c->status, c->code, c->field};
}

static const char *text_of(const struct answer *answer, const char *name)
{
    const char *text = json_string_value(json_object_get(answer->json, name));
    return text ? text : "";
}

static void check_answer(const struct trial *trial, const struct answer *answer)
{
    char why[256] = "";
    struct expected expected = expected_of(trial);
    if (!contract_holds(site_contract(trial->run->site), trial->method, trial->path, answer, why,
                        sizeof why))
        fails(trial, "%s: %s%.200s", why, answer->head, answer->body);
    if (answer->status != expected.status)
        fails(trial, "%d expected: %s%.200s", expected.status, answer->head, answer->body);
    if (answer->status < 400 || !strcmp(trial->method, "HEAD"))
        return;
    if (strcmp(text_of(answer, "code"), expected.code) != 0 ||
        strcmp(text_of(answer, "field"), expected.field ? expected.field : "") != 0 ||
        json_integer_value(json_object_get(answer->json, "status")) != expected.status ||
        !*text_of(answer, "title") || !*text_of(answer, "detail") || !*text_of(answer, "type"))
        fails(trial, "%s of %s expected: %s", expected.code,
              expected.field ? expected.field : "no field", answer->body);
}

/* ---- what must hold afterwards ---- */

static bool announces_end(const struct answer *answer)
{
    char value[32];
    return answer_header(answer, "Connection", value, sizeof value) && !strcasecmp(value, "close");
}

/* A request that nothing else can be the answer to. */
static void check_next(const struct trial *trial)
{
    struct answer answer;
    char text[128], field[32];
    snprintf(field, sizeof field, "next%u", trial->run->number++);
    int length =
        snprintf(text, sizeof text, "GET /healthz?%s HTTP/1.1\r\nHost: mcastd\r\n\r\n", field);
    if (!peer_send(trial->peer, text, (size_t)length) || !peer_answer(trial->peer, false, &answer))
        fails(trial, "the connection should go on");
    if (answer.status != 422 || strcmp(text_of(&answer, "field"), field) != 0)
        fails(trial, "the next request got %s%s", answer.head, answer.body);
    answer_release(&answer);
}

static char *ask_jobs(struct run *run, struct line *line)
{
    struct answer answer;
    assert_int_equal(site_ask(run->site, line, "GET", "/v1/jobs", NULL, NULL, &answer), 200);
    char *body = copy_of(answer.body, answer.length);
    answer_release(&answer);
    return body;
}

/* Of the status what requests can change; all else lives with the clock and the connections. */
static char *ask_status(struct run *run, struct line *line)
{
    struct answer answer;
    assert_int_equal(site_ask(run->site, line, "GET", "/v1/status", NULL, NULL, &answer), 200);
    json_t *commits = json_object_get(answer.json, "commits");
    json_t *state = json_pack(
        "{s:O,s:O,s:O,s:O,s:O,s:O,s:O}", "vnis", json_object_get(answer.json, "vnis"), "addresses",
        json_object_get(answer.json, "addresses"), "jobs", json_object_get(answer.json, "jobs"),
        "strays", json_object_get(answer.json, "strays"), "events",
        json_object_get(answer.json, "events"), "commits", json_object_get(commits, "count"),
        "records", json_object_get(commits, "records"));
    assert_non_null(state);
    char *text = json_dumps(state, JSON_SORT_KEYS | JSON_COMPACT);
    assert_non_null(text);
    json_decref(state);
    answer_release(&answer);
    return text;
}

/* What is different, or NULL. */
static const char *harm(struct run *run)
{
    struct line *line = site_line(run->site);
    char *jobs = ask_jobs(run, line), *status = ask_status(run, line);
    const char *what = strcmp(jobs, run->jobs)       ? "/v1/jobs has changed"
                       : strcmp(status, run->status) ? "/v1/status has changed"
                                                     : NULL;
    if (what)
        print_error("%s\n%s\n", jobs, status);
    free(jobs);
    free(status);
    line_close(line);
    return what;
}

void run_assert_unharmed(struct run *run)
{
    assert_null(harm(run));
}

/* ---- one case ---- */

static struct peer *open_transport(const struct run *run, enum transport transport)
{
    return transport == TRANSPORT_TCP ? peer_open(NULL, run->port)
                                      : peer_open(site_socket(run->site), 0);
}

/* Since 1.0, libmicrohttpd refuses most of what is no HTTP by itself: with the same status, but in
 * its own words. */
static bool is_refused_in_plain_words(const struct trial *trial, const struct answer *answer)
{
    char type[64];
    const struct bad_case *c = trial->c;
    return run_since_1() && c->outcome == ENDS && c->code && strcmp(c->code, "bad-request") == 0 &&
           answer->status == c->status && !answer_header(answer, "Content-Type", type, sizeof type);
}

static void expect_answer(const struct trial *trial)
{
    struct answer answer;
    bool whole, bodiless = !strcmp(trial->method, "HEAD");
    while ((whole = peer_answer(trial->peer, bodiless, &answer)) && answer.status == 100)
        answer_release(&answer);
    if (!whole)
        fails(trial, "there is no answer: %.200s", peer_rest(trial->peer));
    if (!is_refused_in_plain_words(trial, &answer))
        check_answer(trial, &answer);
    bool ends = announces_end(&answer);
    answer_release(&answer);
    /* Without identity less of a body is read, so more connections end. */
    if (trial->transport == TRANSPORT_UNIX && ends != (trial->c->outcome == ENDS))
        fails(trial, ends ? "the connection should go on" : "the connection should end");
    if (!ends)
        check_next(trial);
    else if (!peer_read_out(trial->peer) || *peer_rest(trial->peer))
        fails(trial, "more came after the end: %.200s", peer_rest(trial->peer));
}

bool run_since_1(void)
{
    return strtoul(MHD_get_version(), NULL, 10) >= 1;
}

/* libmicrohttpd 0.9.75 sends some of these heads twice: nothing after the first counts, for it says
 * that the connection ends; but nothing else may be answered. */
static void expect_plain(const struct trial *trial)
{
    char start[32];
    bool closed = peer_read_out(trial->peer);
    const char *text = peer_rest(trial->peer);
    snprintf(start, sizeof start, "HTTP/1.1 %d ", trial->c->status);
    if (!closed || strncmp(text, start, strlen(start)) != 0 ||
        !strstr(text, "\r\nConnection: close\r\n") || strstr(text, "HTTP/1.1 2"))
        fails(trial, "%s and the end expected: %.200s", start, text);
}

/* The broker has read what was sent: it serves its connections in turn, and the second of two
 * requests on another one is a turn later. Only then may the end be sent: libmicrohttpd 0.9.75
 * takes less than it asked for as all there is, and sees an end that came with it when it times
 * out. */
static void expect_nothing(const struct trial *trial)
{
    struct trial other = {.run = trial->run,
                          .c = trial->c,
                          .transport = trial->transport,
                          .peer = open_transport(trial->run, trial->transport)};
    check_next(&other);
    check_next(&other);
    peer_close(other.peer);
    if (peer_waiting(trial->peer))
        fails(trial, "something came although more was to be sent");
    peer_end_sending(trial->peer);
}

static void send_all(const struct trial *trial)
{
    size_t step = trial->c->slowly ? 1 : trial->length;
    for (size_t sent = 0; sent < trial->length; sent += step)
        if (!peer_send(trial->peer, trial->bytes + sent, step))
            return; /* refused before it was whole: the answer tells */
}

static void run_case(struct run *run, const struct bad_case *c, enum transport transport)
{
    struct trial trial = {
        .run = run, .c = c, .transport = transport, .peer = open_transport(run, transport)};
    compose(&trial);
    find_operation(&trial);
    send_all(&trial);
    switch (c->outcome) {
    case KEEPS:
    case ENDS:
        expect_answer(&trial);
        break;
    case PLAIN:
        expect_plain(&trial);
        break;
    case WAITS:
        expect_nothing(&trial);
        /* fall through */
    case SILENT:
        if (!peer_read_out(trial.peer) || *peer_rest(trial.peer))
            fails(&trial, "nothing but the end expected: %.200s", peer_rest(trial.peer));
        break;
    }
    peer_close(trial.peer);
    const char *what = harm(run);
    if (what)
        fails(&trial, "%s", what);
    free(trial.bytes);
    free(trial.method);
    free(trial.path);
}

void run_table(struct run *run, const struct bad_table *table, enum transport transport)
{
    for (size_t i = 0; i < table->count; i++)
        run_case(run, &table->cases[i], transport);
}

/* ---- life ---- */

/* As the broker's READY tells it. */
static int find_port(const struct site *site)
{
    char path[128], line[1024];
    int port = 0;
    FILE *log = fopen(folder_path(path, sizeof path, site_folder(site), "mcastd.0.log"), "re");
    assert_non_null(log);
    while (!port && fgets(line, sizeof line, log)) {
        const char *at = strstr(line, " listen=127.0.0.1:");
        if (at)
            port = (int)strtol(strchr(at, ':') + 1, NULL, 10);
    }
    fclose(log);
    assert_int_not_equal(port, 0);
    return port;
}

struct run *run_open(const char *mcastd)
{
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->site = site_open(&(struct site_options){.mcastd = mcastd});
    assert_int_equal(
        site_call(run->site, "PUT", JOB "there", "{\"uid\":1,\"nodes\":\"n[1-4]\"}", NULL), 201);
    run->port = find_port(run->site);
    struct line *line = site_line(run->site);
    run->jobs = ask_jobs(run, line);
    run->status = ask_status(run, line);
    line_close(line);
    return run;
}

void run_close(struct run *run)
{
    site_close(run->site);
    free(run->jobs);
    free(run->status);
    free(run);
}

struct site *run_site(const struct run *run)
{
    return run->site;
}
