#include "mock-fm/faults/faults.h"

void faults_init(struct faults *faults, uint64_t seed)
{
    faults->count = 0;
    faults->dice = seed;
}

void faults_release(struct faults *faults)
{
    faults_clear(faults);
}

static void drop_behind(struct faults *faults, size_t count)
{
    while (faults->count > count)
        fault_rule_destroy(faults->rules[--faults->count]);
}

static int add_one(struct faults *faults, const json_t *text, struct problem *problem)
{
    struct fault_rule *rule;

    if (faults->count == FAULTS_MAX)
        return problem_set(problem, 400, "there are %d rules already, which is the limit",
                           FAULTS_MAX);
    if (!(rule = fault_rule_create(text, problem)))
        return -1;
    faults->rules[faults->count++] = rule;
    return 0;
}

int faults_add(struct faults *faults, const json_t *rules, struct problem *problem)
{
    size_t before = faults->count;

    if (!json_is_array(rules))
        return add_one(faults, rules, problem);
    for (size_t i = 0; i < json_array_size(rules); i++) {
        if (add_one(faults, json_array_get(rules, i), problem) < 0) {
            drop_behind(faults, before);
            return -1;
        }
    }
    return 0;
}

void faults_clear(struct faults *faults)
{
    drop_behind(faults, 0);
}

struct fault faults_pick(struct faults *faults, const struct request *request, bool session)
{
    for (size_t i = 0; i < faults->count; i++) {
        struct fault fault;

        if (!fault_rule_fires(faults->rules[i], request, session, &faults->dice))
            continue;
        fault_copy(&fault, &faults->rules[i]->fault);
        return fault;
    }
    return (struct fault){0};
}

bool faults_lag(const struct faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        const struct replica_lag *lag = &faults->rules[i]->fault.lag;

        if (lag->ms > 0 || lag->writes > 0)
            return true;
    }
    return false;
}

json_t *faults_document(const struct faults *faults)
{
    json_t *list = json_array();

    for (size_t i = 0; i < faults->count; i++) {
        const struct fault_rule *rule = faults->rules[i];
        json_t *text = json_copy(rule->text);

        json_object_set_new(text, "matched", json_integer((json_int_t)rule->matched));
        json_object_set_new(text, "fired", json_integer((json_int_t)rule->fired));
        json_array_append_new(list, text);
    }
    return json_pack("{s:o}", "faults", list);
}
