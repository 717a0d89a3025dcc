/* Slurm's configuration as mcastctl check slurm reads it (cli/slurm/conf.h, cli/slurm/plugstack.h):
 * a byte for which of the three; then what scontrol prints, slurm.conf, or plugstack.conf. */

#include "cli/slurm/plugstack.h"
#include "cli/slurm/conf.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Nothing is found that does not stand in the text. */
static void check_value(const struct slurmconf *conf, const char *key, const char *text)
{
    const char *value;
    for (size_t n = 0; (value = slurmconf_get(conf, key, n)); n++) {
        FUZZ_CHECK(n < SLURMCONF_MAX && value[0] && !strchr(value, '\n'));
        FUZZ_CHECK(strlen(value) <= strlen(text));
        (void)slurmconf_has(conf, key, "Alloc");
    }
}

static void check_conf(const char *text, bool shown)
{
    static const char *const keys[] = {"Prolog", "PrologFlags", "SlurmctldHost", "a", ""};
    struct slurmconf *conf = slurmconf_create();
    FUZZ_CHECK(conf);
    if (shown)
        slurmconf_take_shown(conf, text);
    else
        slurmconf_take_file(conf, text);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        check_value(conf, keys[i], text);
    FUZZ_CHECK(!slurmconf_get(conf, "", 0));
    slurmconf_destroy(conf);
}

struct stack {
    const char *text;
    size_t lines;
};

static void take(const struct plugstack_line *line, void *data)
{
    struct stack *stack = data;
    stack->lines++;
    FUZZ_CHECK(line->path[0] && !strpbrk(line->path, " \t\r\n#"));
    FUZZ_CHECK(!strpbrk(line->words, "\n#"));
    FUZZ_CHECK(strstr(stack->text, line->path) && strstr(stack->text, line->words));
}

static void check_stack(const char *text)
{
    struct stack stack = {text, 0};
    size_t lines = 1, strange = plugstack_read(text, take, &stack);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    FUZZ_CHECK(stack.lines + strange <= lines);
}

void fuzz_one(struct fuzz_input *in)
{
    const uint8_t which = fuzz_byte(in);
    char *text = fuzz_rest(in);
    if (which % 3 == 2)
        check_stack(text);
    else
        check_conf(text, which % 3 == 0);
    free(text);
}
