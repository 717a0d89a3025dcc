/* SPDX-License-Identifier: Apache-2.0 */
/* Whether Slurm's own plugin for Slingshot is where this Slurm looks for it. */

#include "cli/doctor/doctor.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

static bool is_installed(const char *folders)
{
    char text[512];
    snprintf(text, sizeof text,
             "Configuration data\nPluginDir               = %s\nPlugStackConfig = /x\n", folders);
    return software_has_slingshot_plugin(text);
}

UNIT(software__looks_where_slurm_does)
{
    char folder[FOLDER_PATH_SIZE], folders[256];
    assert_int_equal(folder_create(folder), 0);
    snprintf(folders, sizeof folders, "/nowhere:%s:/usr", folder);
    assert_false(is_installed(folders));
    assert_int_equal(folder_write(folder, "switch_hpe_slingshot.so", 0644, ""), 0);
    assert_true(is_installed(folders));
    assert_true(is_installed(folder));
    assert_false(is_installed("/nowhere"));
    folder_destroy(folder);
}

UNIT_RUN(NULL, NULL)
