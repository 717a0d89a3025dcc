/* SPDX-License-Identifier: Apache-2.0 */
/* Alert rules, dashboard and documentation name what the broker really shows, and all of it is
 * documented: names cannot drift apart. */
#include "tests/system/fmapi/authority.h"
#include "tests/system/metrics/promtool.h"
#include "tests/system/metrics/scrape.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RULES TOP "/deploy/prometheus/mcastd.rules.yml"
#define RULES_TEST TOP "/tests/system/metrics/rules_test.yml"
#define SCRAPE_CONFIG TOP "/deploy/prometheus/scrape.yml"
#define DASHBOARD TOP "/deploy/grafana/mcastd.json"
#define PAGE TOP "/docs/metrics.md"

enum { NAME_SIZE = 128, HOUR = 3600 };

static struct scrape scrape;
static struct authority site, own; /* own: what the broker shows the fabric manager */
static struct testbed *testbed;

static bool tuo_is_listed(void *arg)
{
    struct scrape seen;
    (void)arg;
    scrape_take(&seen, testbed_http(testbed));
    bool listed = scrape_has(&seen, "mcastd_cluster_listed_timestamp_seconds{cluster=\"tuo\"}");
    scrape_release(&seen);
    return listed;
}

/* With all that there can be, so that every family has a sample: TLS on either side, a login that
 * ends, a resource manager that has synced, and one that was asked. */
static int take_scrape(void **state)
{
    char broker[512], fm[512];
    struct plainhttp_reply reply;
    (void)state;
    authority_init(&site, "IP:127.0.0.1");
    authority_issue(&own, "DNS:mcastd", &site, -HOUR, HOUR);
    (void)snprintf(broker, sizeof broker, "listen = 127.0.0.1:0\ntls_cert = %s\ntls_key = %s",
                   site.cert, site.key);
    (void)snprintf(fm, sizeof fm, "mtls_cert = %s\nmtls_key = %s", own.cert, own.key);
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .oauth = true,
        .fm_cert = site.cert,
        .fm_key = site.key,
        .broker = broker,
        .fm = fm,
        .hwcoll = "min_nodes = 64\naddresses_per_job = 20\ntotal_addresses = 4086",
        .clusters = "[cluster \"tuo\"]\nusers = root\nlist_command = /bin/true\n"};
    testbed = testbed_create(&options);
    if (!testbed || testbed_start_fm(testbed) < 0 || testbed_start_broker(testbed) < 0 ||
        testbed_await_link(testbed) < 0)
        return -1;
    plainhttp_call(testbed_http(testbed), "POST", "/v1/clusters/elcap/sync", "{\"active\":[]}",
                   &reply);
    plainhttp_reply_release(&reply);
    if (!await(tuo_is_listed, NULL, AWAIT_DEADLINE_MS))
        return -1;
    scrape_take(&scrape, testbed_http(testbed));
    return 0;
}

static int drop_scrape(void **state)
{
    (void)state;
    scrape_release(&scrape);
    testbed_destroy(testbed);
    authority_release(&site);
    authority_release(&own);
    return 0;
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        fail_msg("%s is missing", path);
    if (getdelim(&text, &size, '\0', file) < 0)
        fail_msg("%s is empty", path);
    fclose(file);
    return text;
}

/* ---- names ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next name of a metric, copied; NULL: there is no further one. */
static const char *next_name(const char *at, char name[NAME_SIZE])
{
    static const char *const families[] = {"mcastd_", "process_"};
    for (; *at; at++) {
        for (size_t i = 0; i < 2; i++) {
            size_t length = strlen(families[i]);
            if (strncmp(at, families[i], length) != 0 || !is_name(at[length]))
                continue;
            while (is_name(at[length]))
                length++;
            (void)snprintf(name, NAME_SIZE, "%.*s", (int)length, at);
            return at + length;
        }
        while (is_name(*at) && is_name(at[1])) /* the middle of a word begins none */
            at++;
    }
    return NULL;
}

static bool exists(const char *name)
{
    static const char *const endings[] = {"_bucket", "_sum", "_count"};
    char family[NAME_SIZE];
    if (json_object_get(scrape.families, name))
        return true;
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(name), end = strlen(endings[i]);
        if (length <= end || strcmp(name + length - end, endings[i]) != 0)
            continue;
        (void)snprintf(family, sizeof family, "%.*s", (int)(length - end), name);
        const char *type =
            json_string_value(json_object_get(json_object_get(scrape.families, family), "type"));
        if (type && strcmp(type, "histogram") == 0)
            return true;
    }
    return false;
}

static size_t assert_names_exist(const char *where, const char *text)
{
    char name[NAME_SIZE];
    size_t names = 0;
    for (const char *at = text; (at = next_name(at, name)) != NULL; names++)
        if (!exists(name))
            fail_msg("%s names %s, which the broker does not show", where, name);
    return names;
}

static void rules__name_what_there_is(void **state)
{
    (void)state;
    char *text = read_file(RULES);
    assert_true(assert_names_exist(RULES, text) > 30);
    free(text);
    text = read_file(RULES_TEST);
    assert_true(assert_names_exist(RULES_TEST, text) > 30);
    free(text);
}

/* A finder of names that finds nothing would let everything pass. */
static void names__that_do_not_exist_are_seen(void **state)
{
    (void)state;
    char name[NAME_SIZE];
    assert_non_null(next_name("rate(mcastd_nonsense_total[5m])", name));
    assert_string_equal(name, "mcastd_nonsense_total");
    assert_false(exists(name));
    assert_false(exists("mcastd_vnis_bucket"));
    assert_true(exists("mcastd_commit_records_bucket"));
    assert_null(next_name("xmcastd_vnis and mcastd and mcastd.", name));
}

/* ---- rules ---- */

static size_t count(const char *text, const char *word)
{
    size_t found = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        found++;
    return found;
}

/* Each alert says what it is, what it means and what to do, and is tried in rules_test.yml. */
static void alerts__are_complete_and_tried(void **state)
{
    (void)state;
    static const char *const members[] = {
        "expr: ", "severity: ", "summary: ", "description: ", "action: "};
    char *rules = read_file(RULES), *tests = read_file(RULES_TEST), name[NAME_SIZE], tried[256];
    size_t alerts = 0;
    for (const char *at = rules, *next; (at = strstr(at, "- alert: ")) != NULL; at = next) {
        assert_int_equal(sscanf(at, "- alert: %127s", name), 1);
        next = strstr(at + 1, "- alert: ");
        next = next ? next : at + strlen(at);
        char *alert = strndup(at, (size_t)(next - at));
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            if (count(alert, members[i]) != 1)
                fail_msg("%s has %zu times \"%s\"", name, count(alert, members[i]), members[i]);
        (void)snprintf(tried, sizeof tried, "ALERTS{alertname=\"%s\",alertstate=\"firing\"}", name);
        if (count(tests, tried) != 1)
            fail_msg("rules_test.yml does not try %s", name);
        free(alert);
        alerts++;
    }
    assert_true(alerts > 20);
    free(rules);
    free(tests);
}

static void rules__pass_promtool(void **state)
{
    (void)state;
    static const char *const check[] = {"check", "rules", RULES, NULL};
    static const char *const test[] = {"test", "rules", RULES_TEST, NULL};
    static const char *const config[] = {"check", "config", "--syntax-only", SCRAPE_CONFIG, NULL};
    if (!promtool_there())
        skip();
    assert_true(promtool_passes(check, NULL));
    assert_true(promtool_passes(test, NULL));
    assert_true(promtool_passes(config, NULL));
}

/* ---- dashboard ---- */

/* Grafana's variables as it would fill them in. */
static void fill_in(FILE *out, const char *expr)
{
    for (; *expr; expr++) {
        if (*expr != '$') {
            fputc(*expr, out);
            continue;
        }
        fputs(strncmp(expr, "$__rate_interval", 16) == 0 ? "5m" : "x", out);
        while (is_name(expr[1]))
            expr++;
    }
}

/* Every expression, as a recording rule for promtool. Returns their number. */
static size_t write_exprs(FILE *out, const json_t *value, size_t found)
{
    const char *key;
    json_t *member;
    size_t index;
    json_array_foreach(value, index, member)
    {
        found = write_exprs(out, member, found);
    }
    json_object_foreach((json_t *)value, key, member)
    {
        if (strcmp(key, "expr") != 0 || !json_is_string(member)) {
            found = write_exprs(out, member, found);
            continue;
        }
        assert_names_exist(DASHBOARD, json_string_value(member));
        fprintf(out, "  - record: dashboard:%zu\n    expr: |-\n      ", found++);
        fill_in(out, json_string_value(member));
        fputc('\n', out);
    }
    return found;
}

static void dashboard__asks_for_what_there_is(void **state)
{
    (void)state;
    json_error_t err;
    char path[128], *rules = NULL;
    size_t size, index;
    json_t *panel, *dashboard = json_load_file(DASHBOARD, 0, &err);
    if (!dashboard)
        fail_msg("%s:%d: %s", DASHBOARD, err.line, err.text);
    json_array_foreach(json_object_get(dashboard, "panels"), index, panel)
    {
        assert_true(json_string_length(json_object_get(panel, "title")) > 0);
    }
    assert_true(index > 20);

    FILE *out = open_memstream(&rules, &size);
    fputs("groups:\n- name: dashboard\n  rules:\n", out);
    assert_true(write_exprs(out, dashboard, 0) > 40);
    fclose(out);
    assert_int_equal(folder_write(testbed_folder(testbed), "dashboard.yml", 0600, rules), 0);
    folder_path(path, sizeof path, testbed_folder(testbed), "dashboard.yml");
    free(rules);
    json_decref(dashboard);
    const char *const words[] = {"check", "rules", path, NULL};
    if (!promtool_there())
        skip();
    assert_true(promtool_passes(words, NULL));
}

/* ---- documentation ---- */

static const char *member(const json_t *family, const char *name)
{
    return json_string_value(json_object_get(family, name));
}

static void assert_row(const char *page, const char *name, const json_t *family)
{
    char row[1024];
    if (json_integer_value(json_object_get(family, "samples")) == 0)
        fail_msg("%s has no sample, so that its labels are not known", name);
    (void)snprintf(row, sizeof row, "\n| `%s` | %s | %s | %s |\n", name, member(family, "type"),
                   member(family, "labels"), member(family, "help"));
    if (!strstr(page, row))
        fail_msg("docs/metrics.md lacks the row%s", row);
}

/* docs/metrics.md has a row for each, with just its type, labels and help; and no other names. */
static void page__has_a_row_for_each(void **state)
{
    (void)state;
    char *page = read_file(PAGE);
    const char *name;
    json_t *family;
    json_object_foreach(scrape.families, name, family)
    {
        assert_row(page, name, family);
    }
    assert_names_exist(PAGE, page);
    free(page);
}

/* What ends some day is told, in seconds, before it does. */
static void ends__are_told(void **state)
{
    (void)state;
    static const char *const names[] = {
        "mcastd_certificate_expires_timestamp_seconds{use=\"fabric-manager\"}",
        "mcastd_fabric_manager_login_expires_timestamp_seconds"};
    double now = (double)time(NULL); /* without the part of a second that has passed */
    for (size_t i = 0; i < 2; i++) {
        double ends = scrape_value(&scrape, names[i]);
        if (ends <= now || ends > now + 1 + HOUR)
            fail_msg("%s is %f, and now is %f", names[i], ends, now);
    }
    assert_true(scrape_value(&scrape,
                             "mcastd_certificate_expires_timestamp_seconds{use=\"server\"}") > now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__that_do_not_exist_are_seen),
        cmocka_unit_test(rules__name_what_there_is),
        cmocka_unit_test(alerts__are_complete_and_tried),
        cmocka_unit_test(rules__pass_promtool),
        cmocka_unit_test(dashboard__asks_for_what_there_is),
        cmocka_unit_test(page__has_a_row_for_each),
        cmocka_unit_test(ends__are_told),
    };
    return cmocka_run_group_tests(tests, take_scrape, drop_scrape);
}
