#include "fmapi/login.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char basic_user[LOGIN_USER_MAX + 1] = "cxi"; /* fabric-manager.md, "Login" */

struct login {
    uv_loop_t *loop;
    enum fmapi_auth auth;
    char *authdir;
    struct credential credential;
    uint64_t generation; /* 0: none yet */
    struct login_wait *waiting;

    uv_work_t work;
    bool busy;
    struct credential fresh; /* written by the worker while busy */
    struct error fresh_error;

    bool destroying;
    void (*closed)(void *arg);
    void *closed_arg;
};

struct login *login_create(uv_loop_t *loop, enum fmapi_auth auth, const char *authdir)
{
    struct login *login = calloc(1, sizeof *login);

    if (login == NULL || (authdir != NULL && (login->authdir = strdup(authdir)) == NULL)) {
        free(login);
        return NULL;
    }
    login->loop = loop;
    login->auth = auth;
    return login;
}

const struct credential *login_credential(const struct login *login, uint64_t *generation)
{
    *generation = login->generation;
    return login->generation > 0 ? &login->credential : NULL;
}

static void finish(struct login *login, int code, const char *words)
{
    struct login_wait *wait = login->waiting;

    login->waiting = NULL;
    while (wait != NULL) {
        struct login_wait *next = wait->next; /* done may free wait */
        wait->done(wait, code, words, login->destroying);
        wait = next;
    }
}

static void release(struct login *login)
{
    void (*closed)(void *arg) = login->closed;
    void *arg = login->closed_arg;

    explicit_bzero(&login->credential, sizeof login->credential);
    explicit_bzero(&login->fresh, sizeof login->fresh);
    free(login->authdir);
    free(login);
    closed(arg);
}

static void read_credential(uv_work_t *work)
{
    struct login *login = work->data;

    login->fresh = (struct credential){0};
    login->fresh_error = (struct error){0};
    if (login->auth == FMAPI_AUTH_BASIC) {
        login->fresh.user = basic_user;
        if (passwd_read(login->authdir, login->fresh.password, &login->fresh_error) == 0)
            basic_encode(login->fresh.basic, login->fresh.user, login->fresh.password);
    }
}

static void on_read(uv_work_t *work, int status)
{
    struct login *login = work->data;

    login->busy = false;
    if (login->destroying) {
        release(login);
        return;
    }
    (void)status; /* only destroying cancels the work */
    if (login->fresh_error.code == 0 &&
        (login->generation == 0 ||
         strcmp(login->fresh.password, login->credential.password) != 0)) {
        login->credential = login->fresh;
        login->generation++;
    }
    explicit_bzero(&login->fresh, sizeof login->fresh);
    struct error err = login->fresh_error; /* who is called may start the next renewal */
    finish(login, err.code, err.text);
}

void login_renew(struct login *login, struct login_wait *wait)
{
    struct login_wait **end = &login->waiting; /* called in the order they came */
    while (*end != NULL)
        end = &(*end)->next;
    wait->next = NULL;
    *end = wait;

    if (!login->busy) {
        login->busy = true;
        login->work.data = login;
        int code = uv_queue_work(login->loop, &login->work, read_credential, on_read);
        assert(code == 0); /* fails for want of a function only */
        (void)code;
    }
}

void login_destroy(struct login *login, void (*closed)(void *arg), void *arg)
{
    if (login == NULL)
        return;
    login->destroying = true;
    login->closed = closed;
    login->closed_arg = arg;
    finish(login, 0, "");
    if (login->busy)
        (void)uv_cancel((uv_req_t *)&login->work); /* on_read is called in either case */
    else
        release(login);
}
