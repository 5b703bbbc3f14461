"""Files of recordings: an offline copy, or fetched once; in both cases the right bytes."""

import os
from dataclasses import dataclass
from pathlib import Path

from comotion.errors import BadInput

PLACE = "COMOTION_DATA"


@dataclass(frozen=True)
class File:
    """A file that is known by its content; `folder` is where people keep it."""

    name: str
    sha256: str
    folder: str = ""


def fetch(file: File) -> Path:
    """Where the file is on this computer, after its bytes have been checked."""
    place = os.environ.get(PLACE, "")
    if place.startswith(("http://", "https://")):
        return _downloaded(file, place)
    for path in (Path(place) / file.folder / file.name, Path(place) / file.name):
        if place and path.is_file():
            return _checked(path, file)
    raise BadInput(
        f"{file.name} is not here: put it into a folder and set the environment variable {PLACE} "
        f"to that folder, or to an address that serves it (SHA-256 {file.sha256[:12]}…)."
    )


def _checked(path: Path, file: File) -> Path:
    import pooch

    found = pooch.file_hash(str(path))
    if found != file.sha256:
        raise BadInput(
            f"{path} is another file than the one that is known as {file.name} (SHA-256 "
            f"{found[:12]}…, not {file.sha256[:12]}…): get it again."
        )
    return path


def _downloaded(file: File, address: str) -> Path:
    import pooch
    from platformdirs import user_cache_path

    url = f"{address.rstrip('/')}/{file.name}"
    try:
        path = pooch.retrieve(
            url,
            known_hash=f"sha256:{file.sha256}",
            fname=file.name,
            path=user_cache_path("comotion") / "data",
        )
    except ValueError:
        raise BadInput(
            f"{url} serves another file than the one that is known as {file.name}: check the "
            "address, or whether the download was cut short."
        ) from None
    except OSError as error:
        raise BadInput(
            f"{url} cannot be fetched ({error}): check the address, or set {PLACE} to a folder "
            f"that holds {file.name}."
        ) from None
    return Path(path)
