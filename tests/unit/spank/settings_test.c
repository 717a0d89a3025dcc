/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the SPANK plugin in plugstack.conf, and where it finds our programs: beside
 * itself, at any prefix (F23). */

#include "deploy/slurm/spank/settings.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <unistd.h>

#define PLUGIN "usr/" LIBDIR "/slurm/mcast_spank.so"

enum { PATH_SIZE = 256 };

static struct settings settings;
static char folder[FOLDER_PATH_SIZE];

static int read_one(const char *word, struct error *err)
{
    char text[256];
    char *words[] = {text, NULL};
    strcpy(text, word);
    return settings_read(&settings, "", 1, words, err);
}

UNIT(settings__defaults)
{
    assert_int_equal(settings_read(&settings, "", 0, NULL, NULL), 0);
    assert_string_equal(settings.grants, "/run/mcast-slurm");
    assert_null(settings.cluster);
    assert_null(settings.url);
    assert_int_equal(settings.timeout_ms, 2000);
    assert_string_equal(settings.mcastctl, CONFIGURED "/mcastctl");
    assert_string_equal(settings.mcast_node, CONFIGURED "/mcast-node");
}

UNIT(settings__words)
{
    char cluster[] = "cluster=elcap", url[] = "url=https://a:1/?x=y", timeout[] = "timeout=60000",
         node[] = "mcast_node=/x/mcast-node";
    char *words[] = {cluster, url, timeout, node};
    assert_int_equal(settings_read(&settings, "", 4, words, NULL), 0);
    assert_string_equal(settings.cluster, "elcap");
    assert_string_equal(settings.url, "https://a:1/?x=y");
    assert_int_equal(settings.timeout_ms, 60000);
    assert_string_equal(settings.mcast_node, "/x/mcast-node");
}

/* A mistake keeps no job from running. */
UNIT(settings__mistakes)
{
    static const char *const wrong[] = {
        "timeout=0",   "timeout=60001", "timeout=-1", "timeout=2s", "timeout=", "timeout",
        "grants=",     "grants",        "cluste=a",   "",           "=",        "=x",
        "timeout= 20", "clusters=a"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err = {0};
        assert_int_equal(read_one(wrong[i], &err), ERROR_INVALID);
        assert_non_null(strstr(err.text, wrong[i]));
        assert_int_equal(settings.timeout_ms, 2000);
        assert_string_equal(settings.grants, "/run/mcast-slurm");
    }
}

/* ---- where our programs are ---- */

static void run(const char *command)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "cd %s && %s", folder, command);
    assert_int_equal(system(whole), 0);
}

static int install(void **state)
{
    assert_int_equal(folder_create(folder), 0);
    run("mkdir -p usr/" LIBDIR "/slurm usr/" BINDIR " usr/" LIBEXECDIR "/mcastd elsewhere && "
        "touch " PLUGIN " && cd usr/" BINDIR " && "
        "touch mcastctl mcast-node ../" LIBEXECDIR "/mcastd/mcast-cleanup && "
        "chmod 755 mcastctl mcast-node ../" LIBEXECDIR "/mcastd/mcast-cleanup");
    return 0;
}

static int uninstall(void **state)
{
    folder_destroy(folder);
    return 0;
}

static void read_of(const char *plugin)
{
    char path[PATH_SIZE];
    assert_int_equal(
        settings_read(&settings, folder_path(path, sizeof path, folder, plugin), 0, NULL, NULL), 0);
}

static void expect_program(const char *found, const char *name)
{
    char path[PATH_SIZE];
    assert_string_equal(found, folder_path(path, sizeof path, folder, name));
}

/* Sites put a link into Slurm's PluginDir. */
UNIT_WITH(programs__are_beside_the_plugin, install, uninstall)
{
    run("ln -s ../" PLUGIN " elsewhere/link.so");
    static const char *const plugins[] = {PLUGIN, "elsewhere/link.so"};
    for (size_t i = 0; i < 2; i++) {
        read_of(plugins[i]);
        expect_program(settings.mcastctl, "usr/" BINDIR "/mcastctl");
        expect_program(settings.mcast_node, "usr/" BINDIR "/mcast-node");
        expect_program(settings.mcast_cleanup, "usr/" LIBEXECDIR "/mcastd/mcast-cleanup");
    }
}

/* ... or a copy. What cannot be run is not there, and the folder of a user, from which he calls
 * srun, is none of ours. */
UNIT_WITH(programs__are_as_configured_else, install, uninstall)
{
    run("touch elsewhere/mcast_spank.so");
    read_of("elsewhere/mcast_spank.so");
    assert_string_equal(settings.mcastctl, CONFIGURED "/mcastctl");
    run("chmod 644 usr/" BINDIR "/mcast-node");
    read_of(PLUGIN);
    expect_program(settings.mcastctl, "usr/" BINDIR "/mcastctl");
    assert_string_equal(settings.mcast_node, CONFIGURED "/mcast-node");
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(settings_read(&settings, PLUGIN, 0, NULL, NULL), 0);
    assert_string_equal(settings.mcastctl, CONFIGURED "/mcastctl");
    assert_int_equal(chdir("/"), 0);
}

UNIT_RUN(NULL, NULL)
