//! Problems of schemas (03xx).

codes! {}
