#include "peers.hpp"

#if MEZZO_BENCH_EIGEN
#include <Eigen/Core>
#endif

namespace bench::peers {

namespace onednn {
std::string version();
}
namespace openblas {
std::string version();
void set_threads(int threads);
}  // namespace openblas
namespace torch {
std::string version();
void set_threads(int threads);
}  // namespace torch

void set_threads(int threads) {
  openblas::set_threads(threads);
  torch::set_threads(threads);
}

std::string versions() {
  std::string result;
  const auto add = [&](const std::string& name) {
    if (!name.empty()) result += (result.empty() ? "" : "; ") + name;
  };
  add(onednn::version());
  add(openblas::version());
  add(torch::version());
#if MEZZO_BENCH_EIGEN
  add("Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
      std::to_string(EIGEN_MINOR_VERSION));
#endif
#if MEZZO_BENCH_HIGHWAY
  add("Highway");
#endif
#if MEZZO_BENCH_IMATH
  add("Imath");
#endif
  return result;
}

}  // namespace bench::peers
