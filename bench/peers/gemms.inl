// The products of peers that multiply more than fp32; included in their namespaces.
template Contestant gemm<float>(const GemmArguments&);
template Contestant gemm<half>(const GemmArguments&);
template Contestant gemm<bfloat16>(const GemmArguments&);
