/* SPDX-License-Identifier: Apache-2.0 */
/* What a PMIx server serves: `peer` is a rank, `peer URI` a tool. It does what standard input says,
 * line by line, and answers each with one line. */

#include <pmix.h>
#include <pmix_tool.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t self;

/* ---- answers ---- */

static void print_value(const pmix_value_t *value);

static void print_infos(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        printf(" %s=", info[i].key);
        print_value(&info[i].value);
    }
}

static void print_value(const pmix_value_t *value)
{
    const pmix_data_array_t *array = value->data.darray;
    switch (value->type) {
    case PMIX_STRING:
        printf("%s", value->data.string ? value->data.string : "null");
        break;
    case PMIX_UINT32:
        printf("%u", value->data.uint32);
        break;
    case PMIX_UINT64:
        printf("%llu", (unsigned long long)value->data.uint64);
        break;
    case PMIX_ENVAR:
        printf("%s=%s", value->data.envar.envar, value->data.envar.value);
        break;
    case PMIX_DATA_ARRAY:
        printf("[");
        if (array && array->type == PMIX_INFO)
            print_infos(array->array, array->size);
        else if (array && array->type == PMIX_STRING)
            for (size_t i = 0; i < array->size; i++)
                printf(" %s", ((char **)array->array)[i]);
        printf(" ]");
        break;
    default:
        printf("(type %u)", value->type);
    }
}

/* ---- what a line may ask ---- */

/* Of the job, so of no rank; and of this process. */
static void get(const char *nspace, const char *key)
{
    pmix_proc_t whose;
    pmix_value_t *value = NULL;
    pmix_info_t immediate;
    bool yes = true;
    PMIX_INFO_CONSTRUCT(&immediate);
    PMIX_INFO_LOAD(&immediate, PMIX_IMMEDIATE, &yes, PMIX_BOOL); /* not from other nodes */
    PMIX_LOAD_PROCID(&whose, nspace, PMIX_RANK_WILDCARD);
    const pmix_status_t rc =
        PMIx_Get(&whose, strcmp(key, "ALL") == 0 ? NULL : key, &immediate, 1, &value);
    printf("%d ", rc);
    if (rc == PMIX_SUCCESS && value) {
        print_value(value);
        PMIX_VALUE_RELEASE(value);
    }
}

static void query(const char *nspace, const char *key)
{
    pmix_query_t query;
    pmix_info_t *results = NULL;
    size_t count = 0;
    PMIX_QUERY_CONSTRUCT(&query);
    query.keys = calloc(2, sizeof *query.keys);
    query.keys[0] = strdup(key);
    if (nspace) {
        PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
        PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    }
    const pmix_status_t rc = PMIx_Query_info(&query, 1, &results, &count);
    printf("%d", rc);
    print_infos(results, count);
    PMIX_INFO_FREE(results, count);
    PMIX_QUERY_DESTRUCT(&query);
}

static void fabric(const char *vendor)
{
    pmix_fabric_t fabric = {0};
    pmix_info_t directive;
    PMIX_INFO_CONSTRUCT(&directive);
    if (vendor)
        PMIX_INFO_LOAD(&directive, PMIX_FABRIC_VENDOR, vendor, PMIX_STRING);
    const pmix_status_t rc = PMIx_Fabric_register(&fabric, vendor ? &directive : NULL, !!vendor);
    printf("%d %zu", rc, fabric.ninfo);
    print_infos(fabric.info, fabric.ninfo);
    PMIX_INFO_FREE(fabric.info, fabric.ninfo);
    PMIX_INFO_DESTRUCT(&directive);
}

static void allocate(const char *type)
{
    pmix_info_t data, *results = NULL;
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 2};
    size_t count = 0;
    pmix_info_t *inner;
    PMIX_INFO_CREATE(inner, 2);
    PMIX_INFO_LOAD(&inner[0], PMIX_ALLOC_FABRIC_ID, "mine", PMIX_STRING);
    PMIX_INFO_LOAD(&inner[1], PMIX_ALLOC_FABRIC_TYPE, type, PMIX_STRING);
    array.array = inner;
    PMIX_INFO_CONSTRUCT(&data);
    PMIX_INFO_LOAD(&data, PMIX_ALLOC_FABRIC, &array, PMIX_DATA_ARRAY);
    const pmix_status_t rc = PMIx_Allocation_request(PMIX_ALLOC_NEW, &data, 1, &results, &count);
    printf("%d", rc);
    print_infos(results, count);
    PMIX_INFO_FREE(results, count);
    PMIX_INFO_FREE(inner, 2);
    PMIX_INFO_DESTRUCT(&data);
}

/* ---- events ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char heard[4096];

static void on_event(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *data)
{
    const char *event = "?", *text = "";
    unsigned long long seq = 0;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], "mcast.event"))
            event = info[i].value.data.string;
        else if (PMIX_CHECK_KEY(&info[i], "mcast.seq"))
            seq = info[i].value.data.uint64;
        else if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_TEXT_MESSAGE))
            text = info[i].value.data.string;
    }
    pthread_mutex_lock(&mutex);
    size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, " %zu:%d:%s:%llu%s", handler, status, event, seq,
             text[0] ? ":text" : "");
    pthread_mutex_unlock(&mutex);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* A handler for up to two codes; none: the default handler, which gets all that no other one does.
 */
static void listen_to(const char *first, const char *second)
{
    pmix_status_t codes[] = {atoi(first), second ? atoi(second) : 0};
    const size_t count = second ? 2 : first[0] ? 1 : 0;
    const int rc =
        PMIx_Register_event_handler(count > 0 ? codes : NULL, count, NULL, 0, on_event, NULL, NULL);
    printf("%d", rc);
}

static void tell_heard(void)
{
    pthread_mutex_lock(&mutex);
    printf("heard%s", heard);
    pthread_mutex_unlock(&mutex);
}

/* ---- lines ---- */

static void obey(char *line)
{
    char *word[3] = {0};
    for (size_t i = 0; i < 3; i++)
        word[i] = strsep(&line, " \n");
    if (!word[1])
        word[1] = "";
    if (word[2] && !word[2][0])
        word[2] = NULL;
    if (strcmp(word[0], "env") == 0)
        printf("%s", getenv(word[1]) ? getenv(word[1]) : "(unset)");
    else if (strcmp(word[0], "get") == 0)
        get(word[2] ? word[2] : self.nspace, word[1]);
    else if (strcmp(word[0], "query") == 0)
        query(word[2], word[1]);
    else if (strcmp(word[0], "fabric") == 0)
        fabric(word[1][0] ? word[1] : NULL);
    else if (strcmp(word[0], "allocate") == 0)
        allocate(word[1]);
    else if (strcmp(word[0], "listen") == 0)
        listen_to(word[1], word[2]);
    else if (strcmp(word[0], "heard") == 0)
        tell_heard();
    else
        printf("what?");
    printf("\n");
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    char line[512];
    pmix_status_t rc;
    if (argc > 1) {
        pmix_info_t info;
        PMIX_INFO_CONSTRUCT(&info);
        PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
        rc = PMIx_tool_init(&self, &info, 1);
        PMIX_INFO_DESTRUCT(&info);
    } else {
        rc = PMIx_Init(&self, NULL, 0);
    }
    printf("%d %s %u\n", rc, self.nspace, self.rank);
    fflush(stdout);
    if (rc != PMIX_SUCCESS)
        return 1;
    while (fgets(line, sizeof line, stdin))
        obey(line);
    return (argc > 1 ? PMIx_tool_finalize() : PMIx_Finalize(NULL, 0)) != PMIX_SUCCESS;
}
