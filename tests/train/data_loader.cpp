#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/numeric/half.hpp>
#include <mezzo/tensor/tensor.hpp>
#include <mezzo/train/data_loader.hpp>

#include <string>
#include <vector>

using namespace mezzo;

namespace {

/// `count` samples of two values, 10 i and 10 i + 1, with label i.
struct Samples {
  explicit Samples(index_t count) : extents{count, 2} {
    for (index_t i = 0; i < count; ++i) {
      values.push_back(static_cast<float>(10 * i));
      values.push_back(static_cast<float>(10 * i + 1));
      names.push_back(static_cast<std::int32_t>(i));
    }
  }

  TensorView<const float, 2> inputs() const { return {values.data(), extents}; }
  TensorView<const std::int32_t, 1> labels() const { return {names.data(), Extents<1>(extents[0])}; }

  Extents<2> extents;
  std::vector<float> values;
  std::vector<std::int32_t> names;
};

using Labels = std::vector<std::int32_t>;

/// The labels of each batch that the loop hands out, once the inputs are seen to belong to them.
template <class Loader>
std::vector<Labels> run(Loader& loader, index_t at_most = 1000) {
  std::vector<Labels> result;
  if (at_most == 0) return result;
  for (auto [inputs, labels] : loader) {
    REQUIRE(inputs.extents() == Extents{labels.extent(0), 2});
    REQUIRE(inputs.is_contiguous());
    result.emplace_back();
    for (index_t i = 0; i < labels.extent(0); ++i) {
      CHECK(inputs(i, 0) == 10 * labels(i));
      CHECK(inputs(i, 1) == 10 * labels(i) + 1);
      result.back().push_back(labels(i));
    }
    if (static_cast<index_t>(result.size()) == at_most) break;
  }
  return result;
}

Labels joined(const std::vector<Labels>& batches) {
  Labels result;
  for (const Labels& batch : batches) result.insert(result.end(), batch.begin(), batch.end());
  return result;
}

/// Whether each of 0 ... count - 1 occurs once.
bool is_permutation(const Labels& labels, std::size_t count) {
  std::vector<int> times(count, 0);
  for (std::int32_t label : labels) ++times.at(static_cast<std::size_t>(label));
  return times == std::vector<int>(count, 1);
}

}  // namespace

TEST_CASE("batches in order, the last one smaller") {
  const Samples samples(10);
  DataLoader loader(samples.inputs(), samples.labels(), {.batch_size = 4});
  CHECK(loader.size() == 3);
  for (index_t epoch = 0; epoch < 2; ++epoch) {
    CHECK(loader.epoch() == epoch);
    CHECK(run(loader) == std::vector<Labels>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  }
}

TEST_CASE("drop_last leaves the smaller batch out") {
  const Samples samples(10);
  DataLoader loader(samples.inputs(), samples.labels(), {.batch_size = 4, .drop_last = true});
  CHECK(loader.size() == 2);
  CHECK(run(loader) == std::vector<Labels>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(run(loader).size() == 2);
  DataLoader even(samples.inputs(), samples.labels(), {.batch_size = 5, .drop_last = true});
  CHECK(even.size() == 2);
  CHECK(run(even).size() == 2);
}

TEST_CASE("a batch may be larger than the data set") {
  const Samples samples(3);
  DataLoader loader(samples.inputs(), samples.labels(), {.batch_size = index_t{1} << 60});
  CHECK(loader.size() == 1);
  CHECK(run(loader) == std::vector<Labels>{{0, 1, 2}});
}

TEST_CASE("an epoch is a permutation that follows from seed and epoch") {
  const Samples samples(100);
  DataLoader one(samples.inputs(), samples.labels(), {.batch_size = 7, .shuffle = true, .seed = 5});
  DataLoader same(samples.inputs(), samples.labels(), {.batch_size = 11, .shuffle = true, .seed = 5});
  DataLoader other(samples.inputs(), samples.labels(), {.batch_size = 7, .shuffle = true, .seed = 6});
  const Labels first = joined(run(one)), second = joined(run(one));
  CHECK(is_permutation(first, 100));
  CHECK(is_permutation(second, 100));
  CHECK(first != second);
  CHECK(joined(run(same)) == first);
  CHECK(joined(run(other)) != first);
  same.set_epoch(0);
  CHECK(joined(run(same)) == first);
  run(same, 1);
  same.set_epoch(0);  // in the middle of another one
  CHECK(joined(run(same)) == first);
  CHECK(joined(run(same)) == second);
}

TEST_CASE("the order is the same on every machine") {
  // The first outputs for seed 1234567, as published with the generator's reference implementation.
  std::uint64_t state = 1234567;
  for (std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u})
    CHECK(detail::split_mix(state) == expected);

  index_t order[8];
  detail::shuffle_samples(order, 8, 1, 2);
  const Labels found(order, order + 8);
  CHECK(found == Labels{4, 5, 7, 0, 2, 1, 6, 3});
}

TEST_CASE("every order of four samples occurs about equally often") {
  constexpr index_t epochs = 24000;
  std::vector<int> times(256, 0);
  for (index_t epoch = 0; epoch < epochs; ++epoch) {
    index_t order[4];
    detail::shuffle_samples(order, 4, 99, epoch);
    ++times[static_cast<std::size_t>(order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3])];
  }
  int orders = 0;
  double chi_squared = 0;
  for (int count : times) {
    if (count == 0) continue;
    ++orders;
    chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  CHECK(orders == 24);
  CHECK(chi_squared < 49.7);  // 23 degrees of freedom: 99.9 %
}

TEST_CASE("numbers below a bound are not biased towards the small ones") {
  std::uint64_t state = 4;
  const std::uint64_t third = std::uint64_t{1} << 62;  // of a bound that a remainder alone would hit half the time
  int small = 0;
  for (int i = 0; i < 9000; ++i) small += detail::split_mix_below(state, 3 * third) < third;
  CHECK(small > 3000 - 224);  // five standard deviations
  CHECK(small < 3000 + 224);
}

TEST_CASE("training resumes in the middle of an epoch with the remaining batches") {
  const Samples samples(10);
  const DataLoaderOptions options{.batch_size = 3, .shuffle = true, .seed = 3};
  for (index_t done : {0, 1, 3, 4}) {
    CAPTURE(done);
    DataLoader whole(samples.inputs(), samples.labels(), options), stopped(samples.inputs(), samples.labels(), options);
    DataLoader resumed(samples.inputs(), samples.labels(), {.batch_size = 3, .shuffle = true, .seed = 77});
    run(whole);
    run(stopped);
    const std::vector<Labels> epoch = run(whole);
    run(stopped, done);
    resumed.load(stopped.state());
    CHECK(resumed.state() == stopped.state());
    const std::vector<Labels> rest(epoch.begin() + done, epoch.end());
    CHECK(run(resumed) == rest);
    CHECK(run(stopped) == rest);  // a loop after a break goes on as well
    CHECK(resumed.epoch() == 2);
    CHECK(run(resumed) == run(whole));
  }
}

TEST_CASE("a batch counts from the moment it is handed out") {
  const Samples samples(5);
  DataLoader loader(samples.inputs(), samples.labels(), {.batch_size = 2});
  std::vector<index_t> positions;
  for ([[maybe_unused]] auto batch : loader) positions.push_back(loader.state().position);
  CHECK(positions == std::vector<index_t>{2, 4, 5});
  CHECK(loader.state() == DataLoaderState{.seed = 0, .epoch = 1, .position = 0});
}

TEST_CASE("an empty data set hands out nothing") {
  const Samples samples(0);
  for (bool drop_last : {false, true}) {
    DataLoader loader(samples.inputs(), samples.labels(), {.batch_size = 4, .shuffle = true, .drop_last = drop_last});
    CHECK(loader.size() == 0);
    CHECK(run(loader).empty());
    CHECK(loader.epoch() == 1);
  }
}

TEST_CASE("tensors, images, strided data and labels of any rank") {
  CpuContext context({.threads = 1});
  auto images = make_tensor<half>(context, {3, 2, 2});
  auto targets = make_tensor<double>(context, {2, 3});
  for (index_t i = 0; i < 12; ++i) images.data()[i] = half(static_cast<float>(i));
  for (index_t i = 0; i < 6; ++i) targets.data()[i] = static_cast<double>(i);

  DataLoader plain(images, targets.view().transpose(), {.batch_size = 2});
  DataLoader turned(images.view().transpose(), targets.view().transpose(), {.batch_size = 2});
  index_t sample = 0;
  for (auto [pixels, values] : plain) {
    CHECK(pixels.extents() == Extents{sample == 0 ? 2 : 1, 2, 2});
    for (index_t i = 0; i < pixels.extent(0); ++i, ++sample) {
      for (index_t j = 0; j < 4; ++j) CHECK(static_cast<float>(pixels(i, j / 2, j % 2)) == static_cast<float>(4 * sample + j));
      for (index_t j = 0; j < 2; ++j) CHECK(values(i, j) == static_cast<double>(3 * j + sample));
    }
  }
  CHECK(sample == 3);
  sample = 0;
  for (auto [pixels, values] : turned) {
    for (index_t i = 0; i < pixels.extent(0); ++i, ++sample)
      for (index_t j = 0; j < 4; ++j) CHECK(static_cast<float>(pixels(i, j % 2, j / 2)) == static_cast<float>(4 * sample + j));
    CHECK(pixels.is_contiguous());
  }
}

TEST_CASE("bad input is refused and changes nothing") {
  const Samples samples(3), others(4);
  CHECK_THROWS_WITH_AS(DataLoader(samples.inputs(), others.labels(), {.batch_size = 1}),
                       "DataLoader: 3 samples but 4 labels; dimension 0 must be the same", shape_error);
  for (index_t size : {0, -2})
    CHECK_THROWS_WITH_AS(DataLoader(samples.inputs(), samples.labels(), {.batch_size = size}),
                         doctest::Contains("batch_size must be positive, is"), option_error);
  CHECK_THROWS_WITH_AS(DataLoader(samples.inputs(), samples.labels(), {.batch_size = 4, .drop_last = true}),
                       "DataLoader: drop_last leaves no batch, since batch_size 4 exceeds the 3 samples", option_error);

  DataLoader loader(samples.inputs(), samples.labels(), {.batch_size = 2, .seed = 8});
  run(loader, 1);
  const DataLoaderState before = loader.state();
  CHECK_THROWS_WITH_AS(loader.load({.seed = 1, .position = 4}), doctest::Contains("position 4 lies outside the 3 samples"), option_error);
  CHECK_THROWS_AS(loader.load({.position = -1}), option_error);
  CHECK_THROWS_WITH_AS(loader.set_epoch(-1), "DataLoader: epoch must not be negative, is -1", option_error);
  CHECK(loader.state() == before);
}
