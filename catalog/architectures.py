"""What to check about the software stack of each architecture, and which one came later."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Architecture:
    """`year` orders the architectures of one vendor; `check` is one sentence for people."""

    year: int
    check: str | Promise


KNOWN = {
    "Blackwell Ultra": Architecture(2025, _("Needs builds for CUDA 12.9 or later: check every wheel that you use.")),
    "Blackwell": Architecture(2024, _("Needs builds for CUDA 12.8 or later: older ones start and find no kernel.")),
    "Hopper + Grace": Architecture(2023, _("The host processor is Arm: check that your packages have aarch64 builds.")),
    "Hopper": Architecture(2022, _("Computes in FP8, if your library uses it; check the version of the library.")),
    "Ada": Architecture(2022, _("Computes in FP8, if your library uses it; cards are joined by PCIe only.")),
    "Ampere": Architecture(2020, _("Computes in BF16 and TF32, not in FP8: check the precision you planned.")),
    "Turing": Architecture(2018, _("Has no BF16 units: use FP16 with loss scaling; check attention kernels.")),
    "Volta": Architecture(2017, _("CUDA 13 dropped it: use CUDA 12 builds. Has no BF16 units.")),
    "CDNA 4": Architecture(2025, _("Needs ROCm 7 or later: check the container image you start from.")),
    "CDNA 3": Architecture(2023, _("Needs ROCm 6 or later; its FP8 format differs from that of NVIDIA cards.")),
    "CDNA 2": Architecture(2021, _("Computes in BF16, not in FP8. Some cards of it show up as two devices.")),
    "CDNA 1": Architecture(2020, _("Check that your version of ROCm and of your libraries still lists gfx908.")),
    "RDNA 4": Architecture(2025, _("Needs ROCm 6.4.1 or later: check that your libraries list gfx1201.")),
    "RDNA 3": Architecture(2022, _("Check that your libraries list gfx1100: many kernels are written for CDNA first.")),
    "RDNA 2": Architecture(2020, _("Check that your libraries list gfx1030; it has no matrix units.")),
    "Apple M3 Ultra": Architecture(2025, _("Works with MLX, llama.cpp and PyTorch's MPS: no CUDA, no ROCm.")),
}  # fmt: skip


def check(name: str) -> str | Promise:
    """Return what to check for an architecture; an empty text for one that an operator added."""
    return KNOWN[name].check if name in KNOWN else ""


def newer_than(name: str) -> list[str]:
    """Return the architectures that came later, of any vendor; none for an unknown one."""
    return [other for other, facts in KNOWN.items() if name in KNOWN and facts.year > KNOWN[name].year]
