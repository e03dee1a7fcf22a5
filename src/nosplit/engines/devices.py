"""Which samples are compared on a device; the door to what PyTorch is needed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nosplit._support.lazy import extra
from nosplit._support.tensors import elsewhere, is_tensor
from nosplit.engines.sides import Sides
from nosplit.inference.result import TestResult

__all__ = ["lies_on_device", "mover", "on_device"]


def lies_on_device(*samples: Any) -> bool:
    """Whether a sample is a tensor, or an array that the processor cannot read."""
    return any(is_tensor(sample) or elsewhere(sample) for sample in samples)


def on_device(*arguments: Any) -> TestResult | None:
    """Compare two samples where they lie, or on the device that is asked for."""
    extra("torch", "torch")
    from nosplit.engines.torch.two_sample import tensor_test

    return tensor_test(*arguments)


def mover(device: Any) -> Callable[[Sides], Sides]:
    """What makes of two samples such whose rows are moved to a device in batches."""
    extra("torch", "torch")
    from nosplit.engines.torch.devices import check_device
    from nosplit.engines.torch.sketches.sides import moved

    place = check_device(device)
    return lambda sides: moved(sides, place)
