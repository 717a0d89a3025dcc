// The header as a C++ program uses it: initialisers, callbacks, error codes.

static int each(const mcast_variable *variable, void *)
{
    return variable->secret ? 1 : 0;
}

int main()
{
    mcast *handle = nullptr;
    mcast_error error;
    mcast_request request = MCAST_REQUEST_INIT;
    mcast_filter filter = MCAST_FILTER_INIT;
    mcast_reservation *reservation = nullptr;
    request.cluster = filter.cluster = "elcap";
    if (mcast_open(&handle, nullptr, &error) < 0)
        return 1;
    int rc = mcast_reserve(handle, &request, &reservation, &error);
    if (rc == MCAST_OK)
        rc = mcast_env(handle, "elcap", "f1", "0", each, nullptr, nullptr);
    mcast_reservation_free(reservation);
    mcast_close(handle);
    return rc == MCAST_UNREACHABLE;
}
