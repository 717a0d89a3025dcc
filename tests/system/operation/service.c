/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/operation/service.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char service_folder[FOLDER_PATH_SIZE], service_said[SERVICE_SAID_SIZE];

const char *service_path(const char *name)
{
    static char path[128];
    return folder_path(path, sizeof path, service_folder, name);
}

void service_give(const char *name)
{
    if (geteuid() == 0)
        assert_int_equal(chown(service_path(name), SERVICE_UID, SERVICE_UID), 0);
}

void service_put(const char *name, mode_t mode, const char *text)
{
    assert_int_equal(folder_write(service_folder, name, 0600, text), 0);
    assert_int_equal(chmod(service_path(name), mode), 0);
    service_give(name);
}

/* The program where its user can reach it: a checkout may be in a place that is its owner's alone.
 */
static void copy_program(void)
{
    struct stat found;
    int from = open(MCASTD, O_RDONLY | O_CLOEXEC);
    int to = open(service_path("mcastd"), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_true(from >= 0 && to >= 0 && fstat(from, &found) == 0);
    for (off_t at = 0; at < found.st_size;)
        assert_true(sendfile(to, from, &at, (size_t)(found.st_size - at)) > 0);
    assert_int_equal(fchmod(to, 0755), 0);
    close(from);
    close(to);
}

/* Everything as it should be. */
int service_open(void **state)
{
    char text[1024];
    assert_int_equal(folder_create(service_folder), 0);
    assert_int_equal(chmod(service_folder, 0755), 0);
    static const char *const folders[] = {"run", "state", "login", "conf.d"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        assert_int_equal(mkdir(service_path(folders[i]), 0755), 0);
        service_give(folders[i]);
    }
    (void)snprintf(text, sizeof text,
                   "[broker]\nsocket = %s/run/s\n[state]\npath = %s/state/state.db\n"
                   "key_file = %s/state.key\n[fm]\nurl = http://127.0.0.1:9\nauthdir = %s/login\n"
                   "[hwcoll]\naddresses_per_job = 8\n[cluster \"elcap\"]\nusers = 0\n",
                   service_folder, service_folder, service_folder, service_folder);
    service_put("mcastd.conf", 0644, text);
    copy_program();
    service_put("login/passwd", 0600, "secret-password\n");
    service_put("state.key", 0600,
                "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n");
    return 0;
}

int service_close(void **state)
{
    folder_destroy(service_folder);
    return 0;
}

/* Runs mcastd until it ends, or says READY, and then stops it. What it said is in `said`. Its exit
 * status. */
int service_run_as(uid_t user, const char *option)
{
    int out[2], status;
    size_t length = 0;
    char config[128], program[128];
    (void)snprintf(config, sizeof config, "%s", service_path("mcastd.conf"));
    (void)snprintf(program, sizeof program, "%s", service_path("mcastd"));
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDERR_FILENO);
        if (geteuid() == 0 && (setgid(user) != 0 || setuid(user) != 0))
            _exit(126);
        execl(program, program, "--config", config, option, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    bool told = false;
    for (ssize_t size;
         length < SERVICE_SAID_SIZE - 1 &&
         (size = read(out[0], service_said + length, SERVICE_SAID_SIZE - 1 - length)) > 0;) {
        length += (size_t)size;
        service_said[length] = '\0';
        /* The link is tried at once, so its trouble comes right after. */
        if (!told && strstr(service_said, " READY ") && strstr(service_said, "link down")) {
            told = true;
            assert_int_equal(kill(pid, SIGTERM), 0);
        }
    }
    service_said[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_null(strstr(service_said, "secret-password"));
    assert_null(strstr(service_said, "00112233"));
    return WEXITSTATUS(status);
}

int service_run(const char *option)
{
    return service_run_as(SERVICE_UID, option);
}

/* Refused, in one line with all of these words. */
void service_refused(const char *words, const char *more)
{
    int status = service_run(NULL);
    const char *line = strstr(service_said, words);
    if (status != 1 || !line || !strstr(line, more))
        fail_msg("status %d; \"%s\" and \"%s\" should have been said:\n%s", status, words, more,
                 service_said);
}

void service_checked(int status, const char *words)
{
    int is = service_run("--check");
    if (is != status || !strstr(service_said, words))
        fail_msg("--check ended with %d, \"%s\" should have been said:\n%s", is, words,
                 service_said);
}
