// All of mezzo that a training loop needs, without files and the train/ helpers, which are included by name.
#pragma once

#include <mezzo/amp/accumulation_window.hpp>
#include <mezzo/amp/grad_scaler.hpp>
#include <mezzo/amp/loss_scaler.hpp>
#include <mezzo/amp/with_precision.hpp>
#include <mezzo/context/capabilities.hpp>
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/core/scalar.hpp>
#include <mezzo/core/tensor_view.hpp>
#include <mezzo/numeric/dtype.hpp>
#include <mezzo/numeric/fp8.hpp>
#include <mezzo/numeric/policy.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/cast.hpp>
#include <mezzo/ops/cross_entropy.hpp>
#include <mezzo/ops/dropout.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/gemm.hpp>
#include <mezzo/ops/layer_norm.hpp>
#include <mezzo/ops/linear.hpp>
#include <mezzo/ops/mse_loss.hpp>
#include <mezzo/ops/random.hpp>
#include <mezzo/ops/reduction.hpp>
#include <mezzo/ops/softmax.hpp>
#include <mezzo/optim/adamw.hpp>
#include <mezzo/optim/clip.hpp>
#include <mezzo/optim/schedule.hpp>
#include <mezzo/optim/sgd.hpp>
#include <mezzo/tensor/copy.hpp>
#include <mezzo/tensor/parameter.hpp>
#include <mezzo/tensor/parameter_list.hpp>
#include <mezzo/tensor/tensor.hpp>
#include <mezzo/tensor/tensor_list.hpp>
#include <mezzo/version.hpp>

#if defined(MEZZO_HAS_CUDA)
#include <mezzo/context/cuda_capabilities.hpp>
#include <mezzo/context/cuda_context.hpp>
#include <mezzo/tensor/cuda_copy.hpp>
#endif
