/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/metrics/scrape.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

void scrape_take(struct scrape *scrape, struct plainhttp *http)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(http, "GET", "/metrics", NULL, &reply), 200);
    *scrape = (struct scrape){0};
    assert_true(asprintf(&scrape->text, "\n%s", reply.text) > 0);
    for (const char *at = scrape->text; (at = strchr(at, '\n')); at++)
        scrape->samples += at[1] != '#' && at[1] != '\0';
    plainhttp_reply_release(&reply);
}

void scrape_release(struct scrape *scrape)
{
    free(scrape->text);
}

static const char *find_series(const struct scrape *scrape, const char *series)
{
    size_t length = strlen(series);
    for (const char *at = scrape->text; (at = strstr(at, series)); at++)
        if (at[-1] == '\n' && at[length] == ' ')
            return at + length + 1;
    return NULL;
}

bool scrape_has(const struct scrape *scrape, const char *series)
{
    return find_series(scrape, series);
}

double scrape_value(const struct scrape *scrape, const char *series)
{
    const char *value = find_series(scrape, series);
    if (!value)
        fail_msg("there is no %s in\n%s", series, scrape->text);
    return strtod(value, NULL);
}

bool promtool_there(void)
{
    if (access(PROMTOOL, X_OK) == 0)
        return true;
    fprintf(stderr, "promtool is missing: apt-get install prometheus, then configure again\n");
    return false;
}

bool tool_passes(const char *tool, const char *const words[], const char *input)
{
    const char *argv[8] = {tool};
    int status;
    pid_t pid = fork();
    for (int i = 0; words[i]; i++)
        argv[i + 1] = words[i];
    if (pid == 0) {
        int fd = open(input ? input : "/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
