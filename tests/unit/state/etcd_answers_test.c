/* SPDX-License-Identifier: Apache-2.0 */
/* B7: what a broker makes of answers that are none of etcd's, or not those of a healthy one. */

#include "base/hex.h"
#include "state/base64.h"
#include "state/etcd/etcd.h"
#include "state/worker.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/state/fixture.h"
#include "tokens/keybytes.h"
#include "tokens/seal_key.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

struct scene {
    struct scriptedserver *server; /* gives the same answer to each request, and keeps it */
    pthread_mutex_t lock;          /* of the next four */
    const char *status, *body;
    unsigned requests;
    char asked[8192];
    char folder[FOLDER_PATH_SIZE], key_file[96], password_file[96];
    const char *url;
    struct etcd *etcd;
};

static void answer_all(void *arg, const struct scriptedserver_request *request,
                       struct scriptedserver_answer *answer)
{
    struct scene *scene = arg;
    pthread_mutex_lock(&scene->lock);
    scene->requests++;
    snprintf(scene->asked, sizeof scene->asked, "%s%s", request->head, request->body);
    answer->status = atoi(scene->status);
    answer->body = strdup(scene->body);
    pthread_mutex_unlock(&scene->lock);
}

static void set_answer(struct scene *scene, const char *status, const char *body)
{
    pthread_mutex_lock(&scene->lock);
    scene->status = status;
    scene->body = body;
    scene->requests = 0;
    pthread_mutex_unlock(&scene->lock);
}

static struct etcd *open_etcd(struct scene *scene, const char *user)
{
    struct error err = {0};
    const char *const urls[] = {scene->url};
    struct etcd *etcd =
        etcd_open(&(struct etcd_options){.endpoints = urls,
                                         .endpoint_count = 1,
                                         .prefix = "/mcastd/elcap",
                                         .user = user,
                                         .password_file = user ? scene->password_file : NULL,
                                         .key_file = scene->key_file,
                                         .advertise = "https://m1:7470",
                                         .lease_ms = 5000},
                  &err);
    if (!etcd)
        fail_msg("%s", err.text);
    return etcd;
}

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct error err = {0};
    assert_non_null(scene);
    *state = scene;
    signal(SIGPIPE, SIG_IGN);
    pthread_mutex_init(&scene->lock, NULL);
    set_answer(scene, "500 Unset", "");
    scene->server =
        scriptedserver_create(&(struct scriptedserver_options){.script = answer_all, .arg = scene});
    scene->url = scriptedserver_url(scene->server);
    assert_int_equal(folder_create(scene->folder), 0);
    folder_path(scene->key_file, sizeof scene->key_file, scene->folder, "state.key");
    folder_path(scene->password_file, sizeof scene->password_file, scene->folder, "password");
    assert_int_equal(seal_key_create(scene->key_file, (uid_t)-1, (gid_t)-1, &err), 0);
    assert_int_equal(folder_write(scene->folder, "password", 0600, "open sesame\n"), 0);
    scene->etcd = open_etcd(scene, NULL);
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    etcd_close(scene->etcd);
    scriptedserver_destroy(scene->server);
    folder_destroy(scene->folder);
    free(scene);
    return 0;
}

static struct etcd_answer ask(struct scene *scene, enum leader_question question)
{
    struct etcd_answer answer;
    struct pollfd readable = {.fd = etcd_fd(scene->etcd), .events = POLLIN};
    etcd_ask(scene->etcd,
             &(struct leader_ask){.question = question, .lease = question == LEADER_TEST ? 0 : 77},
             DEADLINE_MS);
    assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
    assert_true(etcd_take_answer(scene->etcd, &answer));
    assert_false(etcd_take_answer(scene->etcd, &answer));
    assert_string_equal(answer.member, scene->url);
    return answer;
}

static void assert_unknown(struct scene *scene, enum leader_question question, const char *words)
{
    const struct etcd_answer answer = ask(scene, question);
    assert_int_equal(answer.answer.outcome, LEADER_UNKNOWN);
    assert_words(answer.error.text, words);
}

static const enum leader_question all[] = {LEADER_TEST, LEADER_GRANT, LEADER_CAMPAIGN,
                                           LEADER_KEEPALIVE, LEADER_RESIGN};
#define EACH_QUESTION(question)                                                                    \
    for (size_t q_ = 0; q_ < sizeof all / sizeof *all && ((question) = all[q_], true); q_++)

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

/* None of these says that anything was done, or was not. */
TEST(answer__that_is_not_etcds_says_nothing)
{
    struct scene *scene = *state;
    static const struct {
        const char *status, *body, *words;
    } answers[] = {
        {"200 OK", "<html><body>It works!</body></html>", "no JSON object"},
        {"200 OK", "", "no JSON object"},
        {"200 OK", "[]", "no JSON object"},
        {"200 OK", "\"succeeded\"", "no JSON object"},
        {"200 OK", "{\"succeeded\":true", "no JSON object"},
        {"200 OK", "{\"succeeded\":NaN}", "no JSON object"},
        {"200 OK", "{\"a\":1,\"a\":1}", "no JSON object"},
        {"404 Not Found", "Not Found\n", "404"},
        {"502 Bad Gateway", "<html>nginx</html>", "502"},
        {"503 Service Unavailable", "{}", "503"},
        {"302 Found", "{\"succeeded\":true}", "302"},
        {"503 Service Unavailable", "{\"error\":\"etcdserver: no leader\",\"code\":14}",
         "no leader"},
        {"504 Gateway Timeout", "{\"error\":\"etcdserver: request timed out\",\"code\":4}",
         "timed out"},
        {"429 Too Many Requests", "{\"error\":\"etcdserver: too many requests\",\"code\":8}",
         "too many requests"},
        {"200 OK", "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"etcd is off\"}}",
         "etcd is off"},
        {"200 OK", "{\"error\":{\"grpc_code\":\"x\"}}", "without words"},
        {"503 Service Unavailable",
         "{\"code\":14,\"message\":\"etcdserver: no leader\",\"details\":[]}", "no leader"},
        {"200 OK", "{\"error\":{\"code\":14,\"message\":\"etcd is off\",\"details\":[]}}",
         "etcd is off"},
        {"500 Oops", "{\"message\":7}", "without words"},
        {"500 Oops", "{\"error\":[1],\"code\":5.5}", "without words"},
        {"500 Oops", "{\"error\":\"a\\u0007\\u00e4\\n\",\"code\":2}", "a????"},
        {"400 Bad Request", "{\"error\":\"etcdserver: user name is empty\",\"code\":3}",
         "user name is empty"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        enum leader_question question;
        set_answer(scene, answers[i].status, answers[i].body);
        EACH_QUESTION(question) assert_unknown(scene, question, answers[i].words);
    }
}

TEST(answer__is_bounded)
{
    struct scene *scene = *state;
    enum { LONG = 2 << 20 };
    char *body = calloc(1, LONG + 1);
    enum leader_question question;
    assert_non_null(body);
    memset(body, ' ', LONG);
    set_answer(scene, "200 OK", body);
    EACH_QUESTION(question) assert_unknown(scene, question, "too long");
    set_answer(scene, "200 OK", "");
    free(body);
}

TEST(answer__without_a_server_names_the_member)
{
    struct scene *scene = *state;
    scriptedserver_refuse(scene->server);
    assert_unknown(scene, LEADER_TEST, scene->url);
}

/* A gateway that drops unknown fields, as etcd's does, would carry out anything. */
TEST(test__refuses_what_ignores_conditions)
{
    struct scene *scene = *state;
    set_answer(scene, "200 OK", "{\"header\":{\"revision\":\"5\"},\"succeeded\":true}");
    const struct etcd_answer answer = ask(scene, LEADER_TEST);
    assert_int_equal(answer.answer.outcome, LEADER_REFUSED);
    assert_non_null(strstr(answer.error.text, "whose condition is false"));
    assert_non_null(strstr(scene->asked, "POST /v3/kv/txn "));
    const char *failure = strstr(scene->asked, "\"failure\"");
    const char *put = strstr(scene->asked, "request_put");
    assert_true(failure && put > failure); /* so it would not have been carried out */
}

TEST(test__wants_all_that_it_asked_for)
{
    struct scene *scene = *state;
    static const char *const bodies[] = {
        "{}",
        "{\"responses\":7}",
        "{\"responses\":[{\"response_range\":{}}]}",
        "{\"responses\":[{\"response_range\":{\"kvs\":7}}]}",
        "{\"responses\":[{\"response_range\":{\"kvs\":[7]}}]}",
        "{\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"YQ==\"}]}}]}",
        "{\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"Y!==\",\"create_revision\":"
        "\"1\"}]}}]}",
        "{\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":"
        "\"-1\"}]}}]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        set_answer(scene, "200 OK", bodies[i]);
        assert_unknown(scene, LEADER_TEST, "lacks what was asked for");
    }
}

TEST(lease__is_read_strictly)
{
    struct scene *scene = *state;
    static const char *const bodies[] = {
        "{}",
        "{\"ID\":\"78\",\"TTL\":\"5\"}",
        "{\"ID\":77,\"TTL\":\"5\"}",
        "{\"ID\":\"77\",\"TTL\":5}",
        "{\"ID\":\"77\",\"TTL\":\"-5\"}",
        "{\"ID\":\"77\",\"TTL\":\"5s\"}",
        "{\"ID\":\"77\",\"TTL\":\"9223372036854775807\"}",
        "{\"ID\":\"77\",\"TTL\":\"18446744073709551617\"}",
        "{\"result\":[]}",
        "{\"result\":{\"ID\":\"78\",\"TTL\":\"5\"}}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        set_answer(scene, "200 OK", bodies[i]);
        assert_unknown(scene, LEADER_GRANT, "lease");
        assert_unknown(scene, LEADER_KEEPALIVE, "lease");
    }
    set_answer(scene, "200 OK", "{\"ID\":\"77\",\"TTL\":\"5\"}");
    assert_int_equal(ask(scene, LEADER_GRANT).answer.ttl_ms, 5000);
    set_answer(scene, "200 OK", "{\"result\":{\"ID\":\"77\",\"TTL\":\"6\"}}\n");
    assert_int_equal(ask(scene, LEADER_KEEPALIVE).answer.ttl_ms, 6000);
    set_answer(scene, "200 OK", "{\"result\":{\"ID\":\"77\"}}\n");
    assert_int_equal(ask(scene, LEADER_KEEPALIVE).answer.outcome, LEADER_GONE);
}

#define HOLDER(value, rest)                                                                        \
    "{\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"YQ==\",\"value\":\"" value           \
    "\",\"create_revision\":\"9\"" rest "}]}}]}"

TEST(campaign__is_read_strictly)
{
    struct scene *scene = *state;
    static const char *const bodies[] = {
        "{}",
        "{\"succeeded\":true}",
        "{\"succeeded\":true,\"header\":{\"revision\":7}}",
        "{\"succeeded\":\"true\",\"header\":{\"revision\":\"7\"}}",
        HOLDER("e30=", ""), /* without a lease it would lead for ever */
        HOLDER("e30=", ",\"lease\":\"x\""),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        set_answer(scene, "200 OK", bodies[i]);
        assert_unknown(scene, LEADER_CAMPAIGN, "does not say who leads");
    }
    set_answer(scene, "200 OK", "{\"succeeded\":true,\"header\":{\"revision\":\"7\"}}");
    struct etcd_answer answer = ask(scene, LEADER_CAMPAIGN);
    assert_int_equal(answer.answer.holder, 77);
    assert_int_equal(answer.answer.holder_revision, 7);
    /* {"url":"http://a"}, {"url":"http://a b"}, no JSON: a leader all the same. */
    static const char *const urls[][2] = {
        {HOLDER("eyJ1cmwiOiJodHRwOi8vYSJ9", ",\"lease\":\"5\""), "http://a"},
        {HOLDER("eyJ1cmwiOiJodHRwOi8vYSBiIn0=", ",\"lease\":\"5\""), ""},
        {HOLDER("e3s=", ",\"lease\":\"5\""), ""},
        {HOLDER("", ",\"lease\":\"5\""), ""},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        set_answer(scene, "200 OK", urls[i][0]);
        answer = ask(scene, LEADER_CAMPAIGN);
        assert_int_equal(answer.answer.outcome, LEADER_OK);
        assert_int_equal(answer.answer.holder, 5);
        assert_int_equal(answer.answer.holder_revision, 9);
        assert_string_equal(answer.holder_url, urls[i][1]);
    }
}

TEST(lease__that_is_not_there_is_gone)
{
    struct scene *scene = *state;
    set_answer(scene, "404 Not Found",
               "{\"error\":\"etcdserver: requested lease not found\",\"code\":5}");
    assert_int_equal(ask(scene, LEADER_KEEPALIVE).answer.outcome, LEADER_GONE);
    assert_int_equal(ask(scene, LEADER_CAMPAIGN).answer.outcome, LEADER_GONE);
    assert_int_equal(ask(scene, LEADER_RESIGN).answer.outcome, LEADER_GONE);
    assert_unknown(scene, LEADER_TEST, "lease not found");
    /* Of etcd 3.6. */
    set_answer(scene, "404 Not Found",
               "{\"code\":5,\"message\":\"etcdserver: requested lease not found\",\"details\":[]}");
    assert_int_equal(ask(scene, LEADER_CAMPAIGN).answer.outcome, LEADER_GONE);
    set_answer(scene, "200 OK",
               "{\"error\":{\"code\":5,\"message\":\"etcdserver: requested lease not found\"}}");
    assert_int_equal(ask(scene, LEADER_KEEPALIVE).answer.outcome, LEADER_GONE);
}

/* B8 */
TEST(login__sends_its_password_nowhere_else)
{
    struct scene *scene = *state;
    etcd_close(scene->etcd);
    scene->etcd = open_etcd(scene, "mcastd");
    set_answer(scene, "400 Bad Request",
               "{\"error\":\"etcdserver: authentication failed, invalid user ID or password\","
               "\"code\":3}");
    assert_unknown(scene, LEADER_TEST, "cannot log in to etcd as mcastd");
    assert_non_null(strstr(scene->asked, "POST /v3/auth/authenticate "));
    assert_non_null(strstr(scene->asked, "\"open sesame\""));
    set_answer(scene, "200 OK", "{\"token\":\"a\\r\\nb\"}");
    assert_unknown(scene, LEADER_TEST, "gives no token");
    set_answer(scene, "200 OK", "{\"token\":\"t.1\",\"ID\":\"77\",\"TTL\":\"5\"}");
    assert_int_equal(ask(scene, LEADER_GRANT).answer.outcome, LEADER_OK);
    assert_non_null(strstr(scene->asked, "\r\nAuthorization: t.1\r\n"));
    assert_null(strstr(scene->asked, "sesame"));
    assert_int_equal(scene->requests, 2);
    assert_int_equal(ask(scene, LEADER_GRANT).answer.outcome, LEADER_OK);
    assert_int_equal(scene->requests, 3);
    set_answer(scene, "401 Unauthorized",
               "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}");
    assert_unknown(scene, LEADER_GRANT, "invalid auth token");
    assert_int_equal(scene->requests, 2); /* the question, and a new login */
}

/* A JWT says which rights were in force when it was made: after any change of them etcd refuses it,
 * but not as one that it does not know. */
TEST(login__is_made_again_after_rights_changed)
{
    struct scene *scene = *state;
    etcd_close(scene->etcd);
    scene->etcd = open_etcd(scene, "mcastd");
    set_answer(scene, "200 OK", "{\"token\":\"t.1\",\"ID\":\"77\",\"TTL\":\"5\"}");
    assert_int_equal(ask(scene, LEADER_GRANT).answer.outcome, LEADER_OK);
    set_answer(scene, "400 Bad Request",
               "{\"error\":\"etcdserver: revision of auth store is old\",\"code\":3}");
    assert_unknown(scene, LEADER_GRANT, "auth store is old");
    assert_int_equal(scene->requests, 1);
    set_answer(scene, "200 OK", "{\"token\":\"t.2\",\"ID\":\"77\",\"TTL\":\"5\"}");
    assert_int_equal(ask(scene, LEADER_GRANT).answer.outcome, LEADER_OK);
    assert_non_null(strstr(scene->asked, "\r\nAuthorization: t.2\r\n"));
    assert_int_equal(scene->requests, 2);
}

enum { OPERATIONS = 28 /* of the first look */ };

/* The same for the first look of a load, which wants an answer to each operation, and for the pages
 * that follow, which want what is in `page`. */
static void set_ledger(struct scene *scene, const char *page, int answers, char body[static 4096])
{
    struct error err = {0};
    struct seal_key key;
    unsigned char id[KEYBYTES_ID_SIZE];
    char digits[2 * sizeof id + 1] = "", ledger[128];
    assert_int_equal(seal_key_read(scene->key_file, &key, &err), 0);
    assert_int_equal(keybytes_id("mcastd seal key id", key.bytes, id, &err), 0);
    hex_write(id, sizeof id, digits);
    const int size = snprintf(ledger, sizeof ledger,
                              "{\"format\":\"mcastd\",\"version\":1,\"key\":\"%s\"}", digits);
    json_t *coded = base64_json(ledger, (size_t)size);
    int length =
        snprintf(body, 4096,
                 "{\"header\":{\"cluster_id\":\"5\",\"revision\":\"9\"},%s"
                 "\"succeeded\":true,\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":"
                 "\"eA==\",\"create_revision\":\"3\",\"value\":\"%s\"}]}}",
                 page, json_string_value(coded));
    json_decref(coded);
    for (int i = 1; i < answers; i++)
        length += snprintf(body + length, 4096 - (size_t)length, ",{\"response_range\":{}}");
    (void)snprintf(body + length, 4096 - (size_t)length, "]}");
    set_answer(scene, "200 OK", body);
}

static int count_record(void *arg, const struct record *record)
{
    (void)record;
    ++*(int *)arg;
    return 0;
}

/* expected: records that are loaded, the counters first. */
static int load_whole(struct scene *scene, struct error *err, int expected)
{
    int records = 0, code;
    struct store *store =
        store_etcd_open(scene->etcd, 77, 3, worker_now_us() / 1000 + DEADLINE_MS, err);
    assert_non_null(store);
    while ((code = store_load(store, count_record, &records, err)) == 1) {
        struct pollfd readable = {.fd = store_fd(store), .events = POLLIN};
        assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
    }
    assert_int_equal(records, expected);
    store_close(store);
    return code;
}

/* I1: records that a page lacks would be taken for gone, and their VNIs given again. */
TEST(page__that_lacks_records_is_refused)
{
    static const char *const lacking[] = {"\"more\":true,", "\"count\":\"2\",",
                                          "\"count\":\"2\",\"more\":true,", "\"count\":\"x\","};
    struct scene *scene = *state;
    struct error err = {0};
    char body[4096];
    set_ledger(scene, "", OPERATIONS, body);
    assert_int_equal(load_whole(scene, &err, 1), 0);
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        set_ledger(scene, lacking[i], OPERATIONS, body);
        assert_int_equal(load_whole(scene, &err, 1), ERROR_IO);
        assert_non_null(strstr(err.text, "lacks what was asked for"));
    }
}

/* I2: the last two operations are whether a large commit is to be finished, and whether one leads.
 */
TEST(look__that_lacks_an_answer_is_refused)
{
    struct scene *scene = *state;
    struct error err = {0};
    char body[4096];
    for (int answers = OPERATIONS - 2; answers < OPERATIONS; answers++) {
        set_ledger(scene, "", answers, body);
        assert_int_equal(load_whole(scene, &err, 0), ERROR_IO);
        assert_non_null(strstr(err.text, "lacks what was asked for"));
    }
}

TEST(open__refuses_what_cannot_work)
{
    struct scene *scene = *state;
    struct error err = {0};
    const char *urls[] = {scene->url};
    const struct etcd_options good = {.endpoints = urls,
                                      .endpoint_count = 1,
                                      .prefix = "/p",
                                      .key_file = scene->key_file,
                                      .advertise = "unix:/run/b",
                                      .lease_ms = 2000};
    struct etcd *etcd = etcd_open(&good, &err);
    assert_non_null(etcd);
    static const char *const wrong[] = {"m1:2379",       "ftp://m1",     "https://", "http://a b",
                                        "http://u@m1:1", "http://m1/?x", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        urls[0] = wrong[i];
        assert_null(etcd_open(&good, &err));
        assert_int_equal(err.code, ERROR_INVALID);
        assert_int_equal(etcd_change(etcd, &good, &err), ERROR_INVALID);
    }
    urls[0] = scene->url;
    static const char *const prefixes[] = {"", "p", "/p/", "/", "/a b", "/\xc3\xa4"};
    struct etcd_options other;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        other = good;
        other.prefix = prefixes[i];
        assert_null(etcd_open(&other, &err));
        assert_int_equal(err.code, ERROR_INVALID);
    }
    other = good;
    other.key_file = "/nonexistent/state.key";
    assert_null(etcd_open(&other, &err));
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(err.text, "copy that of the other brokers"));
    other = good;
    other.ca = "/nonexistent/ca.pem";
    assert_null(etcd_open(&other, &err));
    other = good;
    other.user = "mcastd";
    other.password_file = scene->password_file;
    assert_int_equal(etcd_change(etcd, &other, &err), 0);
    assert_int_equal(chmod(scene->password_file, 0644), 0);
    assert_int_equal(etcd_change(etcd, &other, &err), ERROR_REFUSED);
    assert_null(strstr(err.text, "sesame"));
    etcd_close(etcd);
    etcd_close(NULL);
}

UNIT_RUN(NULL, NULL)
