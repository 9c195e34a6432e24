//! Problems of names and collisions (04xx).

codes! {}
