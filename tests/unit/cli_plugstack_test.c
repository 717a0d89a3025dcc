/* Slurm's plugstack.conf. */

#include "cli/slurm/plugstack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static char seen[512];

static void take(const struct plugstack_line *line, void *data)
{
    size_t used = strlen(seen);
    assert_ptr_equal(data, seen);
    snprintf(seen + used, sizeof seen - used, "%c(%s)(%s) ", "ori"[line->kind], line -> path,
             line -> words);
}

static size_t read_all(const char *text)
{
    seen[0] = '\0';
    return plugstack_read(text, take, seen);
}

static void plugstack__lines(void **state)
{
    (void)state;
    assert_int_equal(read_all("# what is loaded\n"
                              "\n"
                              "optional  /usr/lib/a.so\ta=1   b=2\n"
                              "\trequired b.so # c=3\r\n"
                              "include /etc/slurm/plugstack.conf.d/*"),
                     0);
    assert_string_equal(seen, "o(/usr/lib/a.so)(a=1   b=2) r(b.so)() "
                              "i(/etc/slurm/plugstack.conf.d/*)() ");
}

static void plugstack__what_is_not_understood(void **state)
{
    (void)state;
    assert_int_equal(read_all("Optional a.so\noptional\nload a.so\noptional b.so\n#optional c.so"),
                     3);
    assert_string_equal(seen, "o(b.so)() ");
    assert_int_equal(read_all(""), 0);
    assert_string_equal(seen, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugstack__lines),
        cmocka_unit_test(plugstack__what_is_not_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
