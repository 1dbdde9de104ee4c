//! Links, queues and routes, in real or in virtual time.
