#ifndef MCAST_STATE_SQLITE_COLUMNS_H
#define MCAST_STATE_SQLITE_COLUMNS_H

/* X(column, field): the numbers of a reservation and of an event, in the order in which the
 * statements name them; after them come the strings. What writes and what reads is made from the
 * same list, so that they cannot drift apart. */

#define RESERVATION_NUMBERS(X)                                                                     \
    X(number, number)                                                                              \
    X(uid, uid)                                                                                    \
    X(node_count, node_count)                                                                      \
    X(cores_per_node, cores_per_node)                                                              \
    X(addresses, addresses)                                                                        \
    X(min_nodes, min_nodes)                                                                        \
    X(vni0, vnis[0])                                                                               \
    X(vni1, vnis[1])                                                                               \
    X(vni2, vnis[2])                                                                               \
    X(vni3, vnis[3])                                                                               \
    X(vni_count, vni_count)                                                                        \
    X(vni_asked, vni_asked)                                                                        \
    X(traffic_classes, traffic_classes)                                                            \
    X(wish, wish)                                                                                  \
    X(state, state)                                                                                \
    X(hwcoll, hwcoll)                                                                              \
    X(fm_side, fm_side)                                                                            \
    X(created_ms, created_ms)                                                                      \
    X(released_ms, released_ms)                                                                    \
    X(hold_until_ms, hold_until_ms)                                                                \
    X(regranted, regranted)                                                                        \
    X(node_number, node_number)                                                                    \
    X(origin, origin)

#define EVENT_NUMBERS(X)                                                                           \
    X(seq, seq)                                                                                    \
    X(time_ms, time_ms)                                                                            \
    X(number, number)                                                                              \
    X(uid, uid)                                                                                    \
    X(kind, kind)                                                                                  \
    X(proof, proof)

#define CLEANUP_COLUMNS "number,step,below,give_up_ms"
#define NODE_COLUMNS "number,node,state,services,\"order\""

#define FACTS_COLUMNS "round_number,next_vni,suspect,boot,clock_ms,holds_from_ms"

#define COLUMN_NAME_(column, field) #column ","
#define COLUMN_MARK_(column, field) "?,"

#define RESERVATION_COLUMNS RESERVATION_NUMBERS(COLUMN_NAME_) "cluster,job,reason,token,nodes"
#define RESERVATION_MARKS RESERVATION_NUMBERS(COLUMN_MARK_) "?,?,?,?,?"
#define EVENT_COLUMNS EVENT_NUMBERS(COLUMN_NAME_) "cluster,job,detail"
#define EVENT_MARKS EVENT_NUMBERS(COLUMN_MARK_) "?,?,?"

#endif
