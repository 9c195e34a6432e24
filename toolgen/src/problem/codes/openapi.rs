//! Problems of what the structure of an OpenAPI document says (02xx).

codes! {}
