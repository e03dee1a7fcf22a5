"""Products of weights and whole numbers, exact in every order.

On a GPU numbers are cut into digits of eight bits, which bfloat16 holds exactly, and multiplied at
the speed of its matrix units; their sums are whole numbers below 2²⁴, which float32 holds exactly.
"""

from __future__ import annotations

import torch

__all__ = ["EXACT", "exact_product", "tensor_signed_sums", "unpacked_signs"]

# Whole numbers up to here are exact in float32.
EXACT = 1 << 24
# Bits of a digit, and most terms of a sum of digits.
BITS, TERMS = 8, EXACT >> 8
# Values of a tile are rounded to whole steps: so many of the largest.
STEPS = 1 << 22


def exact_product(weights: torch.Tensor, numbers: torch.Tensor, largest: int) -> torch.Tensor:
    """The product of weights 0, 1 or -1, (F, N), and whole numbers, (N, k), as float64.

    Parameters
    ----------
    weights : tensor, shape (F, N)
        Of any type.
    numbers : tensor, shape (N, k)
        Whole numbers of at most `largest` in size, of any type that holds them.
    largest : int
        Below 2³¹.
    """
    if not weights.is_cuda:
        return weights.double() @ numbers.double()
    left = weights.to(torch.bfloat16)
    total = torch.zeros((len(left), numbers.shape[1]), dtype=torch.float64, device=left.device)
    rest, place = numbers.to(torch.int32), 1.0
    while True:
        digit = ((rest + (1 << BITS - 1)) & ((1 << BITS) - 1)) - (1 << BITS - 1)
        right = digit.to(torch.bfloat16)
        for start in range(0, left.shape[1], TERMS):
            some = slice(start, start + TERMS)
            part = torch.mm(left[:, some], right[some], out_dtype=torch.float32)
            total.add_(part, alpha=place)
        place *= 1 << BITS
        if largest < (1 << BITS - 1):
            return total
        rest = (rest - digit) >> BITS
        largest = (largest >> BITS) + 1


def tensor_signed_sums(
    left: torch.Tensor, values: torch.Tensor, right: torch.Tensor
) -> torch.Tensor:
    """Sums of ε_a ε_b h(a, b) of tiles under each draw, (F, d).

    No draw changes the rounding of the values to whole steps.

    Parameters
    ----------
    left, right : tensor, shape (F, A) and (F, B)
        Weights 0, 1 or -1 of the rows and of the columns of the tiles.
    values : tensor, shape (d, A, B)
        Values of d kernels.
    """
    d, A, B = values.shape
    step = values.abs().amax(dim=(1, 2)).double() / STEPS
    step = torch.where(step > torch.finfo(torch.float64).tiny, step, torch.ones_like(step))
    whole = (values / step.to(values.dtype)[:, None, None]).round_().to(torch.int32)
    halves = exact_product(left, whole.permute(1, 0, 2).reshape(A, d * B), STEPS)
    return step * (halves.view(-1, d, B) * right[:, None, :]).sum(dim=2)


def unpacked_signs(packed: torch.Tensor, count: int) -> torch.Tensor:
    """Signs as int8, (F, count), from bits, eight to a byte, of which 1 stands for -1."""
    places = torch.arange(7, -1, -1, dtype=torch.uint8, device=packed.device)
    bits = (packed[:, :, None] >> places) & 1
    return 1 - 2 * bits.reshape(len(packed), -1)[:, :count].to(torch.int8)
