// Random tensors and initial weights. Every bit follows from the generator's state and the shape: the same on any number of threads,
// with any vector instructions, on host and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include <mezzo/numeric/convert.hpp>
#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/ops/detail/checks.hpp>
#include <mezzo/ops/detail/random_transform.hpp>

namespace mezzo {

struct UniformOptions {
  float low = 0.0f;
  float high = 1.0f;
};

struct NormalOptions {
  float mean = 0.0f;
  float standard_deviation = 1.0f;
};

struct XavierOptions {
  float gain = 1.0f;  ///< see gain_of
};

/// What follows a layer, and what its initial weights make up for.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// Whose variance initial weights keep: that of activations, going forward (`in`), or of gradients, going backward (`out`).
enum class Fan { in, out };

struct KaimingOptions {
  Fan fan = Fan::in;
  Nonlinearity nonlinearity = Nonlinearity::relu;
  float negative_slope = 0.01f;  ///< of leaky_relu
};

/// The factor on the standard deviation of weights before `nonlinearity`, as PyTorch recommends: sqrt(2) for relu,
/// sqrt(2 / (1 + negative_slope^2)) for leaky_relu, 5/3 for tanh, 3/4 for selu, else 1.
constexpr double gain_of(Nonlinearity nonlinearity, float negative_slope = 0.01f) {
  const double slope = static_cast<double>(negative_slope);
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return 5.0 / 3.0;
    case Nonlinearity::relu:
      return 1.41421356237309504880;
    case Nonlinearity::leaky_relu:
      return __builtin_sqrt(2.0 / (1.0 + slope * slope));
    case Nonlinearity::selu:
      return 0.75;
    default:
      return 1.0;
  }
}

namespace detail {

/// a * b + c, rounded once to double and once to float: the same bits with and without fused multiply-add, since the product is exact.
[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr float multiply_add(float a, float b, float c) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}

/// -2 log(x) for x in [2^-31, 1]: math::log without its special cases, and without a sum that could be fused.
[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr float minus_two_log(float x) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  const auto exponent = static_cast<std::int32_t>(bits - 0x3F3504F3u) >> 23;
  const float f = __builtin_bit_cast(float, bits - (static_cast<std::uint32_t>(exponent) << 23)) - 1.0f;
  const auto e = static_cast<float>(exponent);
  float p = -0x1.38b2a8p-4f;
  p = multiply_add(p, f, 0x1.055ad8p-3f);
  p = multiply_add(p, f, -0x1.0d8586p-3f);
  p = multiply_add(p, f, 0x1.22da36p-3f);
  p = multiply_add(p, f, -0x1.547240p-3f);
  p = multiply_add(p, f, 0x1.99a008p-3f);
  p = multiply_add(p, f, -0x1.000228p-2f);
  p = multiply_add(p, f, 0x1.555554p-2f);
  const float square = f * f;
  const float tail = multiply_add(p * f, square, multiply_add(-0.5f, square, e * 0x1.7f7d1cp-20f));
  return -2.0f * multiply_add(e, 0x1.62e400p-1f, tail + f);
}

/// Square root of 0 or of a number in [2^-24, 2^24]: math::sqrt without its special cases, and without a sum that could be fused.
[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr float root(float x) {
  float r = __builtin_bit_cast(float, 0x5F375A86u - (__builtin_bit_cast(std::uint32_t, x) >> 1));
  r = r * multiply_add(-0.5f * (x * r), r, 1.5f);
  r = r * multiply_add(-0.5f * (x * r), r, 1.5f);
  r = r * multiply_add(-0.5f * (x * r), r, 1.5f);
  const float estimate = x * r;
  return multiply_add(0.5f * r, multiply_add(-estimate, estimate, x), estimate);
}

/// Two independent standard normal numbers from 64 random bits, at most 6.56 from 0. Box and Muller, "A Note on the Generation of
/// Random Normal Deviates", 1958; polynomials for sin(pi t / 4) / t and cos(pi t / 4) are minimax fits on [-1, 1].
struct BoxMuller {
  [[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr void operator()(float& first, float& second, std::uint32_t bits,
                                                                     std::uint32_t angle) const {
    const float radius = root(minus_two_log(static_cast<float>(static_cast<std::int32_t>((bits >> 1) | 1u)) * 0x1p-31f));
    const std::uint32_t quarter = (angle + 0x20000000u) >> 30;  // the angle is that of quarter * pi / 2 + t * pi / 4
    const float t = static_cast<float>(static_cast<std::int32_t>(angle - (quarter << 30))) * 0x1p-29f;
    const float z = t * t;
    float s = -0x1.2d9302p-15f;
    s = multiply_add(s, z, 0x1.465e92p-9f);
    s = multiply_add(s, z, -0x1.4abbbap-4f);
    s = multiply_add(s, z, 0x1.921fb6p-1f) * t;
    float c = 0x1.d99f54p-19f;
    c = multiply_add(c, z, -0x1.55c4eap-12f);
    c = multiply_add(c, z, 0x1.03c1dap-6f);
    c = multiply_add(c, z, -0x1.3bd3ccp-2f);
    c = multiply_add(c, z, 1.0f);
    const bool is_swapped = (quarter & 1u) != 0u;
    const std::uint32_t cosine_sign = ((quarter + 1u) & 2u) << 30, sine_sign = (quarter & 2u) << 30;
    const std::uint32_t cosine = __builtin_bit_cast(std::uint32_t, is_swapped ? s : c),
                        sine = __builtin_bit_cast(std::uint32_t, is_swapped ? c : s);
    first = radius * __builtin_bit_cast(float, cosine ^ cosine_sign);
    second = radius * __builtin_bit_cast(float, sine ^ sine_sign);
  }
};

/// A source of random numbers: one of the standard normal distribution for each element.
struct StandardNormals {
  using value_type = float;

  static void fill(Isa isa, const RandomState& state, float* to) {
    alignas(64) std::uint32_t bits[random_group];
    RandomBits::fill(isa, state, bits);
    const std::uint32_t* from = bits;
    for (index_t i = 0; i < random_group; i += 2 * random_lanes) {
      transform_range(isa, BoxMuller{}, random_lanes, write(to + i), write(to + i + random_lanes), read(from + i),
                      read(from + i + random_lanes));
    }
  }
};

/// Bounds on a result in fp32, themselves numbers of its dtype: rounding cannot leave them.
struct FloatRange {
  float lowest;
  float highest;

  MEZZO_HOST_DEVICE constexpr float clamp(float x) const {
    x = x < lowest ? lowest : x;
    return x > highest ? highest : x;
  }
};

struct Uniform {
  double low;
  double high;
  FloatRange range;

  // Both products are exact in fp64, and so is 1 - u: fused multiply-add changes nothing.
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, std::uint32_t bits) const {
    const double u = static_cast<double>(static_cast<std::int32_t>(bits >> 8)) * 0x1p-24;
    y = static_cast<V>(range.clamp(static_cast<float>(low * (1.0 - u) + high * u)));
  }
};

struct Normal {
  float mean;
  float standard_deviation;
  FloatRange range;

  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, float z) const {
    y = static_cast<V>(range.clamp(multiply_add(standard_deviation, z, mean)));
  }
};

/// The numbers of dtype T that fp32 has too.
template <class T>
using in_fp32_t = std::conditional_t<std::is_same_v<T, double>, float, T>;

/// The neighbour of `x` in its dtype, toward infinity (direction 1) or minus infinity (-1).
template <class T>
constexpr T neighbour(T x, int direction) {
  using storage = typename float_traits<T>::storage_type;
  constexpr auto sign = static_cast<storage>(storage{1} << (8 * sizeof(T) - 1));
  const auto bits = __builtin_bit_cast(storage, x);
  if ((bits & static_cast<storage>(~sign)) == 0) return __builtin_bit_cast(T, static_cast<storage>(direction > 0 ? 1 : sign | 1));
  const bool is_outward = ((bits & sign) == 0) == (direction > 0);
  return __builtin_bit_cast(T, static_cast<storage>(is_outward ? bits + 1 : bits - 1));
}

/// The numbers of dtype T in [low, high); where there is none, `low` rounded to T.
template <class T>
constexpr FloatRange range_between(float low, float high) {
  const auto first = convert<in_fp32_t<T>>(low, Overflow::saturate), last = convert<in_fp32_t<T>>(high, Overflow::saturate);
  const float lowest = static_cast<float>(static_cast<float>(first) < low ? neighbour(first, 1) : first);
  const float highest = static_cast<float>(static_cast<float>(last) < high ? last : neighbour(last, -1));
  if (lowest <= highest) return {lowest, highest};
  return {static_cast<float>(first), static_cast<float>(first)};
}

/// The finite numbers of dtype T.
template <class T>
constexpr FloatRange finite_range() {
  const auto largest = static_cast<float>(convert<in_fp32_t<T>>(0x1.fffffep127f, Overflow::saturate));
  return {-largest, largest};
}

template <class C, class Y>
void run_uniform(C& context, RandomGenerator& generator, const Y& y, float low, float high) {
  const auto range = range_between<typename Y::value_type>(low, high);
  random_transform<RandomBits>(context, generator.reserve(y.size()), Uniform{static_cast<double>(low), static_cast<double>(high), range},
                               write(y));
}

template <class C, class Y>
void run_normal(C& context, RandomGenerator& generator, const Y& y, float mean, float standard_deviation) {
  const auto range = finite_range<typename Y::value_type>();
  random_transform<StandardNormals>(context, generator.reserve(y.size()), Normal{mean, standard_deviation, range}, write(y));
}

/// The view of weights to be initialised.
template <class C, class Weight>
constexpr auto initialised_view(Weight& weight) {
  const auto view = output_view<C>(weight);
  require_floating_point<decltype(view)>();
  static_assert(decltype(view)::rank >= 2, "mezzo: initial weights depend on fan-in and fan-out; give a view [outputs, inputs, ...]");
  return view;
}

/// How many weights a result of a layer is the sum over (`in`), or a gradient (`out`).
template <class View>
constexpr double fan_of(const View& weight, Fan fan) {
  double product = static_cast<double>(weight.extent(fan == Fan::in ? 1 : 0));
  for (int i = 2; i < View::rank; ++i) product *= static_cast<double>(weight.extent(i));
  return product;
}

template <class View>
float xavier_deviation(const View& weight, const XavierOptions& options, message_at message) {
  const float& gain = options.gain;
  expects<option_error>(is_finite(gain) && gain >= 0.0f && gain <= 0x1p100f, message, gain);
  const double fans = fan_of(weight, Fan::in) + fan_of(weight, Fan::out);
  return fans == 0.0 ? 0.0f : static_cast<float>(static_cast<double>(gain) * __builtin_sqrt(2.0 / fans));
}

template <class View>
float kaiming_deviation(const View& weight, const KaimingOptions& options, message_at message) {
  expects<option_error>(is_finite(options.negative_slope), message, options.negative_slope);
  const double fan = fan_of(weight, options.fan);
  return fan == 0.0 ? 0.0f : static_cast<float>(gain_of(options.nonlinearity, options.negative_slope) / __builtin_sqrt(fan));
}

/// Half the width of the uniform distribution around 0 with that standard deviation.
constexpr float half_width(float standard_deviation) {
  return static_cast<float>(static_cast<double>(standard_deviation) * 1.73205080756887729353);
}

}  // namespace detail

/// Every element becomes a number of the uniform distribution on [low, high), one of 2^24 steps in fp32, rounded to the dtype of `out`;
/// `high` itself is never among them, and `low` alone where the dtype has no number in between. Takes bits in row-major order of the
/// view, whatever its strides. Throws option_error unless low <= high and both are finite; then the generator stays where it is.
template <Context C, class Out>
void uniform(C& context, RandomGenerator& generator, Out&& out, const UniformOptions& options = {}) {
  const auto y = detail::output_view<C>(out);
  detail::require_floating_point<decltype(y)>();
  expects<option_error>(is_finite(options.low), "uniform: low must be finite, is {}", options.low);
  expects<option_error>(is_finite(options.high), "uniform: high must be finite, is {}", options.high);
  expects<option_error>(options.low <= options.high, "uniform: low must not be above high, but {} is above {}", options.low, options.high);
  detail::run_uniform(context, generator, y, options.low, options.high);
}

/// Every element becomes a number of the normal distribution, at most 6.56 standard deviations from the mean, computed in fp32 and
/// rounded to the dtype of `out`; its largest finite number takes the place of a larger one. Order and errors as for uniform.
template <Context C, class Out>
void normal(C& context, RandomGenerator& generator, Out&& out, const NormalOptions& options = {}) {
  const auto y = detail::output_view<C>(out);
  detail::require_floating_point<decltype(y)>();
  const float& deviation = options.standard_deviation;
  expects<option_error>(is_finite(options.mean), "normal: mean must be finite, is {}", options.mean);
  expects<option_error>(is_finite(deviation) && deviation >= 0.0f, "normal: standard_deviation must be finite and not negative, is {}",
                        deviation);
  detail::run_normal(context, generator, y, options.mean, deviation);
}

/// Weights [outputs, inputs, ...] of variance gain^2 * 2 / (fan_in + fan_out), uniform around 0; further dimensions, the receptive
/// field of a convolution, multiply both fans. Throws option_error unless gain lies in [0, 2^100]. Glorot and Bengio, "Understanding
/// the Difficulty of Training Deep Feedforward Neural Networks", AISTATS 2010.
template <Context C, class Weight>
void xavier_uniform(C& context, RandomGenerator& generator, Weight&& weight, const XavierOptions& options = {}) {
  const auto view = detail::initialised_view<C>(weight);
  const float bound = detail::half_width(detail::xavier_deviation(view, options, "xavier_uniform: gain must lie in [0, 2^100], is {}"));
  detail::run_uniform(context, generator, view, -bound, bound);
}
/// The same variance, of normal weights.
template <Context C, class Weight>
void xavier_normal(C& context, RandomGenerator& generator, Weight&& weight, const XavierOptions& options = {}) {
  const auto view = detail::initialised_view<C>(weight);
  detail::run_normal(context, generator, view, 0.0f,
                     detail::xavier_deviation(view, options, "xavier_normal: gain must lie in [0, 2^100], is {}"));
}

/// Weights [outputs, inputs, ...] of variance gain_of(nonlinearity)^2 / fan, uniform around 0; fans as for xavier_uniform. Throws
/// option_error for a negative_slope that is not finite. He et al., "Delving Deep into Rectifiers", ICCV 2015.
template <Context C, class Weight>
void kaiming_uniform(C& context, RandomGenerator& generator, Weight&& weight, const KaimingOptions& options = {}) {
  const auto view = detail::initialised_view<C>(weight);
  const float bound = detail::half_width(detail::kaiming_deviation(view, options, "kaiming_uniform: negative_slope must be finite, is {}"));
  detail::run_uniform(context, generator, view, -bound, bound);
}
/// The same variance, of normal weights.
template <Context C, class Weight>
void kaiming_normal(C& context, RandomGenerator& generator, Weight&& weight, const KaimingOptions& options = {}) {
  const auto view = detail::initialised_view<C>(weight);
  detail::run_normal(context, generator, view, 0.0f,
                     detail::kaiming_deviation(view, options, "kaiming_normal: negative_slope must be finite, is {}"));
}

}  // namespace mezzo
