// expect: mezzo: a parameter is kept in its policy's low and master types alone
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/parameter.hpp>

auto weight(const mezzo::Parameter<mezzo::AmpFp16, mezzo::CpuContext, 2>& parameter) {
#ifdef OK
  return parameter.view_as<mezzo::half>();
#else
  return parameter.view_as<mezzo::bfloat16>();
#endif
}
