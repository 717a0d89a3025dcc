/* Which release a file says that it is of. */

#include "cli/doctor/stamp.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char folder[FOLDER_PATH_SIZE];

static void expect(const char *text, const char *release)
{
    char path[128], said[STAMP_SIZE];
    assert_int_equal(folder_write(folder, "file", 0644, text), 0);
    assert_int_equal(stamp_read(folder_path(path, sizeof path, folder, "file"), said),
                     release[0] != '\0');
    assert_string_equal(said, release);
}

static void stamp__is_read(void **state)
{
    (void)state;
    char said[STAMP_SIZE];
    assert_int_equal(folder_create(folder), 0);
    expect("# What all hooks of mcastd 1.22.3 need\n", "1.22.3");
    expect("the hooks of mcastd run as root; mcast_spank.so of mcastd 0.1.0.", "0.1.0");
    expect("hooks of mcastd 0123456789012345678901234567890123456789",
           "0123456789012345678901234567890");
    expect("of mcastd 1.0", "");
    expect(" of mcastd ", "");
    expect("", "");
    assert_false(stamp_read("/nowhere", said));
    assert_string_equal(said, "");
    folder_destroy(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stamp__is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
