/* SPDX-License-Identifier: Apache-2.0 */
/* Where the SPANK plugin finds our programs: beside itself, at any prefix (F23). */

#include "deploy/slurm/spank/place.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 256 };

static char folder[FOLDER_PATH_SIZE];

static void run(const char *command)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "cd %s && %s", folder, command);
    assert_int_equal(system(whole), 0);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(folder_create(folder), 0);
    run("mkdir -p usr/" LIBDIR "/slurm usr/" BINDIR " usr/" LIBEXECDIR "/mcastd elsewhere && "
        "touch usr/" LIBDIR "/slurm/mcast_spank.so && cd usr/" BINDIR " && "
        "touch mcastctl mcast-node ../" LIBEXECDIR "/mcastd/mcast-cleanup && "
        "chmod 755 mcastctl mcast-node ../" LIBEXECDIR "/mcastd/mcast-cleanup");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    folder_destroy(folder);
    return 0;
}

static void find(struct place *place, const char *plugin)
{
    char path[PATH_SIZE];
    place_find(place, folder_path(path, sizeof path, folder, plugin));
}

static void expect(const char *found, const char *name)
{
    char path[PATH_SIZE];
    assert_string_equal(found, folder_path(path, sizeof path, folder, name));
}

static void place__is_beside_the_plugin(void **state)
{
    (void)state;
    struct place place;
    find(&place, "usr/" LIBDIR "/slurm/mcast_spank.so");
    expect(place.mcastctl, "usr/" BINDIR "/mcastctl");
    expect(place.mcast_node, "usr/" BINDIR "/mcast-node");
    expect(place.mcast_cleanup, "usr/" LIBEXECDIR "/mcastd/mcast-cleanup");
}

/* Sites put a link into Slurm's PluginDir. */
static void place__follows_links(void **state)
{
    (void)state;
    struct place place;
    run("ln -s ../usr/" LIBDIR "/slurm/mcast_spank.so elsewhere/");
    find(&place, "elsewhere/mcast_spank.so");
    expect(place.mcastctl, "usr/" BINDIR "/mcastctl");
}

/* ... or a copy. What cannot be run is not there, and the folder of a user, from which he calls
 * srun, is none of ours. */
static void place__is_as_configured_else(void **state)
{
    (void)state;
    struct place place;
    run("touch elsewhere/mcast_spank.so");
    find(&place, "elsewhere/mcast_spank.so");
    assert_string_equal(place.mcastctl, CONFIGURED "/mcastctl");
    run("chmod 644 usr/" BINDIR "/mcast-node");
    find(&place, "usr/" LIBDIR "/slurm/mcast_spank.so");
    expect(place.mcastctl, "usr/" BINDIR "/mcastctl");
    assert_string_equal(place.mcast_node, CONFIGURED "/mcast-node");
    assert_int_equal(chdir(folder), 0);
    place_find(&place, "usr/" LIBDIR "/slurm/mcast_spank.so");
    assert_string_equal(place.mcastctl, CONFIGURED "/mcastctl");
    place_find(&place, "");
    assert_string_equal(place.mcastctl, CONFIGURED "/mcastctl");
    assert_int_equal(chdir("/"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(place__is_beside_the_plugin, setup, teardown),
        cmocka_unit_test_setup_teardown(place__follows_links, setup, teardown),
        cmocka_unit_test_setup_teardown(place__is_as_configured_else, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
