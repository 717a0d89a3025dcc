/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/pluginlogin.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* B8, B9: which cluster's Slurm it is, its login says. */

struct site {
    char folder[FOLDER_PATH_SIZE];
    struct config *config;
    struct error err;
};

static int open_site(void **state)
{
    struct site *site = calloc(1, sizeof *site);
    *state = site;
    assert_non_null(site);
    site->config = config_create();
    assert_int_equal(folder_create(site->folder), 0);
    site->config->core.cluster_count = 2;
    for (int i = 0; i < 2; i++) {
        struct config_cluster *cluster = &site->config->clusters[i];
        (void)snprintf(cluster->name, sizeof cluster->name, "c%d", i);
        (void)snprintf(cluster->plugin_login, sizeof cluster->plugin_login, "%s/%d", site->folder,
                       i);
        assert_int_equal(mkdir(cluster->plugin_login, 0700), 0);
    }
    return 0;
}

static int close_site(void **state)
{
    struct site *site = *state;
    config_destroy(site->config);
    folder_destroy(site->folder);
    free(site);
    return 0;
}

static void put(const struct site *site, int cluster, const char *name, mode_t mode,
                const char *text)
{
    assert_int_equal(folder_write(site->config->clusters[cluster].plugin_login, name, mode, text),
                     0);
}

static void good(const struct site *site)
{
    put(site, 0, "passwd", 0600, "0123456789abcdef\n");
    put(site, 1, "client-id", 0600, "slurm\n");
    put(site, 1, "client-secret", 0600, "fedcba9876543210\n");
}

static struct pluginlogins *read_it(struct site *site)
{
    site->err = (struct error){0};
    return pluginlogins_read(site->config, &site->err);
}

static void refused(struct site *site, const char *word)
{
    assert_null(read_it(site));
    if (!strstr(site->err.text, word) || !strstr(site->err.text, "plugin_login of cluster"))
        fail_msg("%s", site->err.text);
}

#define T(test) UNIT_WITH(test, open_site, close_site)

T(login__tells_the_cluster)
{
    struct site *site = *state;
    bool former = false;
    good(site);
    struct pluginlogins *logins = read_it(site);
    assert_non_null(logins);
    assert_string_equal(pluginlogins_basic(logins, "Y3hpOjAxMjM0NTY3ODlhYmNkZWY=", &former), "c0");
    static const char *const wrong[] = {
        "", "=", "====", "Y3hpOg==", "Y3hpOjAxMjM0NTY3ODlhYmNkZQ==", "Y3hpOjAxMjM0NTY3",
        /* another user, another password */
        "Y3h5OjAxMjM0NTY3ODlhYmNkZWY=", "Y3hpOmZlZGNiYTk4NzY1NDMyMTA="};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_null(pluginlogins_basic(logins, wrong[i], &former));
    char text[4096];
    memset(text, 'A', sizeof text);
    text[sizeof text - 4] = '\0';
    assert_null(pluginlogins_basic(logins, text, &former));
    const struct secret id = secret_of("slurm"), secret = secret_of("fedcba9876543210");
    assert_string_equal(pluginlogins_client(logins, id, secret, &former), "c1");
    assert_null(pluginlogins_client(logins, id, secret_of("0123456789abcdef"), &former));
    assert_null(pluginlogins_client(logins, secret_of("slurm2"), secret, &former));
    assert_null(pluginlogins_client(logins, secret_of(NULL), secret_of(NULL), &former));
    assert_false(former);
    pluginlogins_destroy(logins);
}

/* B9: step managers show the login that was there when their job began, until it is over. */
T(former__login_is_taken_and_counted)
{
    struct site *site = *state;
    bool former = false;
    good(site);
    put(site, 0, "passwd.old", 0600, "0123456789abcdef\n"); /* not changed yet */
    struct pluginlogins *logins = read_it(site);
    assert_non_null(logins);
    assert_string_equal(pluginlogins_basic(logins, "Y3hpOjAxMjM0NTY3ODlhYmNkZWY=", &former), "c0");
    assert_false(former);
    pluginlogins_destroy(logins);
    put(site, 0, "passwd", 0600, "another0123456789\n");
    put(site, 1, "client-secret.old", 0600, "fedcba9876543210\n");
    put(site, 1, "client-secret", 0600, "a-new-fedcba9876543210\n");
    logins = read_it(site);
    assert_non_null(logins);
    assert_string_equal(pluginlogins_basic(logins, "Y3hpOjAxMjM0NTY3ODlhYmNkZWY=", &former), "c0");
    assert_true(former);
    former = false;
    assert_string_equal(
        pluginlogins_client(logins, secret_of("slurm"), secret_of("fedcba9876543210"), &former),
        "c1");
    assert_true(former);
    former = false;
    assert_string_equal(pluginlogins_client(logins, secret_of("slurm"),
                                            secret_of("a-new-fedcba9876543210"), &former),
                        "c1");
    assert_false(former);
    pluginlogins_used(logins, "c0", false, 5);
    pluginlogins_used(logins, "c0", true, 6);
    pluginlogins_used(logins, "c0", false, 7);
    const struct plugin_use *use = pluginlogins_use(logins, "c0");
    assert_true(use->former_accepted && use->former_count == 1);
    assert_true(use->former_ms == 6 && use->asked_ms == 7);
    assert_true(pluginlogins_use(logins, "c1")->asked_ms == 0);
    assert_null(pluginlogins_use(logins, "c2"));
    struct pluginlogins *next = read_it(site); /* by a reload */
    assert_non_null(next);
    pluginlogins_follow(next, logins);
    use = pluginlogins_use(next, "c0");
    assert_true(use->asked_ms == 7 && use->former_count == 0);
    pluginlogins_destroy(next);
    pluginlogins_destroy(logins);
}

T(former__login_has_the_same_rules)
{
    struct site *site = *state;
    good(site);
    put(site, 1, "passwd", 0600, "another0123456789\n");
    put(site, 1, "passwd.old", 0600, "0123456789abcdef\n"); /* the other cluster's */
    refused(site, "same login");
    put(site, 1, "passwd.old", 0600, "short\n");
    refused(site, "16 characters at least");
    put(site, 1, "passwd.old", 0600, "yet-another0123456789\n");
    char path[CONFIG_PATH_SIZE + 16];
    (void)snprintf(path, sizeof path, "%s/passwd.old", site->config->clusters[1].plugin_login);
    assert_int_equal(chmod(path, 0644), 0);
    refused(site, "passwd.old");
    assert_int_equal(chmod(path, 0600), 0);
    (void)snprintf(path, sizeof path, "%s/passwd", site->config->clusters[1].plugin_login);
    assert_int_equal(unlink(path), 0);
    refused(site, "without passwd, which follows it");
}

T(token__lasts_for_its_time_and_is_another_then)
{
    struct site *site = *state;
    char first[128];
    good(site);
    struct pluginlogins *logins = read_it(site);
    assert_null(pluginlogins_token(logins, secret_of(""), 5));
    const struct secret token = pluginlogins_issue(logins, "c1", 5, &site->err);
    (void)snprintf(first, sizeof first, "%s", secret_expose(token));
    assert_int_equal(strlen(first), 64);
    assert_string_equal(pluginlogins_token(logins, secret_of(first), 5), "c1");
    assert_string_equal(
        secret_expose(pluginlogins_issue(logins, "c1", 4 + PLUGIN_TOKEN_MS, &site->err)), first);
    assert_string_equal(pluginlogins_token(logins, secret_of(first), 4 + PLUGIN_TOKEN_MS), "c1");
    assert_null(pluginlogins_token(logins, secret_of(first), 5 + PLUGIN_TOKEN_MS));
    assert_string_not_equal(
        secret_expose(pluginlogins_issue(logins, "c1", 5 + PLUGIN_TOKEN_MS, &site->err)), first);
    pluginlogins_destroy(logins);
}

T(files__that_are_no_good_are_refused)
{
    struct site *site = *state;
    refused(site, "neither passwd nor client-id");
    good(site);
    put(site, 0, "passwd", 0600, "0123456789abcde\n");
    refused(site, "16 characters at least");
    put(site, 0, "passwd", 0600, "0123456789abcdef%20\n");
    refused(site, "letters, digits");
    put(site, 0, "passwd", 0600, "0123456789abcdef\n");
    char path[CONFIG_PATH_SIZE + 16];
    (void)snprintf(path, sizeof path, "%s/passwd", site->config->clusters[0].plugin_login);
    assert_int_equal(chmod(path, 0644), 0);
    refused(site, "passwd");
    assert_int_equal(chmod(path, 0600), 0);
    put(site, 1, "passwd", 0600, "0123456789abcdef\n"); /* both clusters' */
    refused(site, "same login");
    put(site, 1, "passwd", 0600, "another0123456789\n");
    struct pluginlogins *logins = read_it(site);
    assert_non_null(logins);
    pluginlogins_destroy(logins);
}

UNIT_RUN(NULL, NULL)
