/* SPDX-License-Identifier: Apache-2.0 */
/* What a reload would change, in words. */

#include "tests/unit/unit.h"

#include "broker/config/change.h"
#include "broker/config/settings.h"
#include "broker/config/value.h"

#include <unistd.h>

static struct config *before, *after;

static int open_both(void **state)
{
    before = config_create();
    after = config_create();
    assert_non_null(before);
    assert_non_null(after);
    return 0;
}

static int close_both(void **state)
{
    config_destroy(before);
    config_destroy(after);
    return 0;
}

static void set(void *base, const char *section, const char *name, const char *text)
{
    struct error err = {0};
    assert_int_equal(config_value_set(config_key_find(section, name), base, text, false, &err), 0);
}

static void add_cluster(struct config *config, const char *name, const char *users)
{
    struct config_cluster *cluster = &config->clusters[config->core.cluster_count++];
    (void)snprintf(cluster->name, sizeof cluster->name, "%s", name);
    set(cluster, "cluster", "users", users);
}

static void add_profile(struct config *config, const char *name, const char *hwcoll)
{
    struct config_profile *profile = &config->profiles[config->core.profile_count++];
    (void)snprintf(profile->name, sizeof profile->name, "%s", name);
    set(profile, "profile", "hwcoll", hwcoll);
}

/* All changes, one a line. */
static const char *found(void)
{
    static char text[8192];
    struct config_changes changes;
    text[0] = '\0';
    config_changes_find(&changes, before, after);
    for (size_t i = 0; i < changes.count; i++) {
        strcat(text, changes.items[i].words);
        strcat(text, "\n");
    }
    config_changes_release(&changes);
    return text;
}

static void defaults__do_not_differ(void **state)
{
    assert_string_equal(found(), "");
}

/* Every row of the table is compared: each, set to something else, is found, and as it is written.
 */
static void every_key__is_compared(void **state)
{
    static const char *const values[] = {"other",     "/other",   "https://other:1",
                                         "[::1]:1",   "4",        "17",
                                         "0640",      "11s",      "no",
                                         "yes",       "debug",    "memory",
                                         "oauth",     "5-9",      "flux slurm",
                                         "bulk_data", "omnipath", "relay",
                                         "refuse",    "required", "file"};
    size_t count;
    const struct config_key *keys = config_keys(&count);
    add_cluster(before, "elcap", "root");
    add_profile(before, "large", "site");
    for (size_t i = 0; i < count; i++) {
        struct error err = {0};
        const char *took = NULL;
        const enum config_place place = config_key_place(&keys[i]);
        char line[256];
        config_destroy(after);
        after = config_create();
        add_cluster(after, "elcap", "root");
        add_profile(after, "large", "site");
        void *base = config_base(after, place, 0);
        for (size_t v = 0; v < sizeof values / sizeof values[0] && *found() == '\0'; v++) {
            if (config_value_set(&keys[i], base, values[v], false, &err) == 0)
                took = values[v];
        }
        assert_non_null(took);
        char *is = config_value_text(&keys[i], base);
        assert_string_equal(is, took);
        (void)snprintf(line, sizeof line, "[%s%s] %s = ", keys[i].section,
                       place == CONFIG_CLUSTER   ? " \"elcap\""
                       : place == CONFIG_PROFILE ? " \"large\""
                                                 : "",
                       keys[i].name);
        assert_memory_equal(found(), line, strlen(line));
        free(is);
    }
}

static void profiles__come_and_go(void **state)
{
    add_profile(before, "old", "on");
    add_profile(before, "kept", "on");
    add_profile(after, "kept", "off");
    add_profile(after, "new", "required");
    assert_string_equal(found(), "[profile \"old\"] removed\n"
                                 "[profile \"kept\"] hwcoll = on -> off\n"
                                 "[profile \"new\"] added\n"
                                 "[profile \"new\"] hwcoll = site -> required\n");
}

static void words__tell_before_and_after(void **state)
{
    set(after, "vni", "pool", "1024-2047,4096");
    set(after, "fm", "timeout", "1500ms");
    set(after, "broker", "socket_group", "slurm");
    set(after, "hwcoll", "addresses_per_job", "8");
    assert_string_equal(found(), "[broker] socket_group = unset -> slurm\n"
                                 "[fm] timeout = 10s -> 1500ms\n"
                                 "[hwcoll] addresses_per_job = auto -> 8\n"
                                 "[vni] pool = 1024-65535 -> 1024-2047,4096\n");
}

/* By their names, not by their places. */
static void clusters__are_matched_by_name(void **state)
{
    add_cluster(before, "elcap", "flux");
    add_cluster(before, "tuo", "flux");
    add_cluster(after, "rzadams", "slurm");
    add_cluster(after, "elcap", "flux root");
    assert_string_equal(found(), "[cluster \"elcap\"] users = flux -> flux root\n"
                                 "[cluster \"tuo\"] removed\n"
                                 "[cluster \"rzadams\"] added\n"
                                 "[cluster \"rzadams\"] users = unset -> slurm\n");
}

static void long_values__are_cut(void **state)
{
    char pool[3000] = "2";
    struct config_changes changes;
    for (size_t i = 4; strlen(pool) < 2900; i += 2)
        (void)snprintf(pool + strlen(pool), sizeof pool - strlen(pool), ",%zu", i);
    set(after, "vni", "pool", pool);
    config_changes_find(&changes, before, after);
    assert_true(strlen(changes.items[0].words) < 1000);
    config_changes_release(&changes);
}

/* ---- what is behind the names ---- */

static char folder[64], path[128];

static int open_folder(void **state)
{
    strcpy(folder, "/tmp/mcast-files-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/passwd", folder);
    return open_both(state);
}

static int close_folder(void **state)
{
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
    return close_both(state);
}

static void write_password(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Since before was looked at. */
static const char *found_now(void)
{
    config_files_stat(after);
    return found();
}

static void file__that_is_another_one_is_told(void **state)
{
    static const char told[] = "[fm] authdir: the file passwd was read again\n";
    set(before, "fm", "authdir", folder);
    set(after, "fm", "authdir", folder);
    config_files_stat(before);
    assert_string_equal(found_now(), "");
    write_password("one");
    assert_string_equal(found_now(), told);
    config_files_stat(before);
    assert_string_equal(found_now(), "");
    write_password("longer");
    assert_string_equal(found_now(), told);
    config_files_stat(before);
    assert_int_equal(unlink(path), 0);
    assert_string_equal(found_now(), told);
}

/* B7: what another broker of the ledger may have otherwise, and what not. */
static bool shared_alike(void)
{
    char *one = settings_shared(before), *other = settings_shared(after);
    const bool alike = strcmp(one, other) == 0;
    free(one);
    free(other);
    return alike;
}

static void brokers__share_what_is_not_of_their_host(void **state)
{
    add_cluster(before, "elcap", "flux");
    add_cluster(after, "elcap", "flux");
    set(before, "broker", "advertise", "https://m1:7470");
    set(after, "broker", "advertise", "https://m2:7470");
    set(after, "broker", "tls_key", "/elsewhere/tls.key");
    set(after, "state", "endpoints", "https://m2:2379, https://m1:2379");
    set(after, "state", "password_file", "/elsewhere/password");
    assert_true(shared_alike());
    set(after, "vni", "pool", "2000-3000");
    assert_false(shared_alike());
    set(before, "vni", "pool", "2000-3000");
    set(&after->clusters[0], "cluster", "users", "slurm");
    assert_false(shared_alike());
    set(&before->clusters[0], "cluster", "users", "slurm");
    assert_true(shared_alike());
    add_cluster(after, "second", "slurm");
    assert_false(shared_alike());
}

#define BOTH_TEST(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)

UNIT_MAIN(BOTH_TEST(defaults__do_not_differ), BOTH_TEST(every_key__is_compared),
          BOTH_TEST(profiles__come_and_go), BOTH_TEST(words__tell_before_and_after),
          BOTH_TEST(clusters__are_matched_by_name), BOTH_TEST(long_values__are_cut),
          BOTH_TEST(brokers__share_what_is_not_of_their_host),
          cmocka_unit_test_setup_teardown(file__that_is_another_one_is_told, open_folder,
                                          close_folder))
