// The casts that every peer has; included in its namespace.
template Contestant cast(half*, const float*, std::size_t);
template Contestant cast(bfloat16*, const float*, std::size_t);
template Contestant cast(float*, const half*, std::size_t);
template Contestant cast(float*, const bfloat16*, std::size_t);
