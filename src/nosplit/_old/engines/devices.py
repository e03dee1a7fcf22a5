"""Samples that are compared on a device; the door to what PyTorch is needed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nosplit._lazy import elsewhere, extra, is_tensor
from nosplit._old.data.references import Later
from nosplit._old.engines.sides import Sides
from nosplit.inference.result import TestResult

__all__ = [
    "as_tensors",
    "design_on_device",
    "fit_on_device",
    "independence_on_device",
    "later_on_device",
    "lies_on_device",
    "mover",
    "on_device",
    "reference_on_device",
]


def lies_on_device(*samples: Any) -> bool:
    """Whether a sample is a tensor, or an array that the processor cannot read."""
    return any(is_tensor(sample) or elsewhere(sample) for sample in samples)


def as_tensors(*samples: Any) -> list[Any]:
    """Arrays of other libraries on a device as tensors, not copied; others as they are."""
    return [extra("torch", "torch").from_dlpack(s) if elsewhere(s) else s for s in samples]


def on_device(*arguments: Any) -> TestResult | None:
    """Compare two samples where they lie, or on the device that is asked for."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.two_sample import tensor_test

    return tensor_test(*arguments)


def design_on_device(*arguments: Any) -> TestResult:
    """Compare two samples in strata or groups where they lie, or on the device asked for."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.designs import designed_tensors

    return designed_tensors(*arguments)


def fit_on_device(*arguments: Any, **options: Any) -> TestResult | None:
    """Test the fit of rows where they lie, or on the device that is asked for."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.goodness_of_fit import fit_of_tensor

    return fit_of_tensor(*arguments, **options)


def independence_on_device(*arguments: Any, **options: Any) -> TestResult | None:
    """Test the independence of variables where they lie, or on the device that is asked for."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.independence import independence_of_tensors

    return independence_of_tensors(*arguments, **options)


def reference_on_device(value: Any, label: str) -> Any:
    """A tensor that a profile is made of, where it lies."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.profiles import TensorReference

    return TensorReference.of(value, label)


def later_on_device(*arguments: Any) -> Later:
    """A sample that is compared with a profile where it lies, or on the device asked for."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.profiles import later_tensor

    return later_tensor(*arguments)


def mover(device: Any) -> Callable[[Sides], Sides]:
    """A function that makes samples be moved to a device in batches."""
    extra("torch", "torch")
    from nosplit._old.engines.torch.devices import check_device
    from nosplit._old.engines.torch.sketches.sides import moved

    place = check_device(device)
    return lambda sides: moved(sides, place)
