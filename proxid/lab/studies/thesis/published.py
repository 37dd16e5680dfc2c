"""The numbers that the text of 002 gives with its figures, to mark in ours and to set beside what we measure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A value of the thesis: figure, what it is, the value, and how it compares (`=`, `<`)."""

    figure: str
    what: str
    value: float
    unit: str
    relation: str = "="


RL3_BEST = Published("4.6", "record linkage 3, k = 3, ℓ = 13", 23.18, "% of the input")
RL1_BEST = Published("4.6", "record linkage 1, k = 3, ℓ = 13", 18.36, "% of the input")
RL_LARGE_K = Published("4.6", "best record linkage, k > 90", 1.0, "% of the input", "<")
KS_DISTANCE = Published("4.7", "Kolmogorov-Smirnov distance to 1/k", 0.08, "")
KS_P_VALUE = Published("4.7", "its p-value", 0.9977, "")
OWN_TEXTS = Published("§4.4.3", "published (user, text) pairs that stand in the input", 0.0, "%")
DEANON_BEST = Published("3.7", "best de-anonymiser, lowest k", 1.89, "% of the input")
A_MATCHES = Published("3.6", "records left under their own owner, k growing", 0.0, "% of the input")
LOSS_LEVEL_1 = Published("4.11", "utility lost, ℓ = 1", 42.03, "%")
LOSS_LEVEL_6 = Published("4.11", "utility lost, ℓ ≥ 6", 1.0, "%", "<")
TIME_K3 = Published("4.12", "anonymiser, k = 3, ℓ = 1", 18.99, "µs a record")
TIME_K190 = Published("4.12", "anonymiser, k = 190", 49.71, "µs a record")
TIME_MEAN = Published("4.12", "anonymiser, mean of all k and ℓ", 33.68, "µs a record")
TIME_CHAPTER_3 = Published("3.8", "anonymiser of chapter 3 (Table 3.2)", 22.0, "µs a record")
DELAY_LEVEL_6 = Published("4.16", "mean delay once stable, ℓ ≤ 6", 40_000, "records", "<")
DELAY_DEEP = Published("4.16", "mean delay once stable, deeper", 80_000, "records", "<")
MEMORY_ANONYMISER = Published("4.17", "anonymiser of chapter 3 (Table 3.3)", 10.6, "MB")
"""Table 3.3 gives 10,347 KiB of a whole Python process."""
