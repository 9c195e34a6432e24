//! Problems of servers and credentials (05xx).

codes! {}
