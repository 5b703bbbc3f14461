"""How fast learned contacts are there and forecast: `python benchmarks/contact_speed.py`

Three balls with noise. From an empty compile cache: imports, what is learned from 100 sequences,
and a forecast of 100 draws of 100 sequences of 100 frames; then the same forecast again, compiled.
"""

import time

START = time.perf_counter()

import argparse  # noqa: E402
import os  # noqa: E402
import tempfile  # noqa: E402

AGAIN = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", default="low")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        os.environ["JAX_COMPILATION_CACHE_DIR"] = empty
        measure(chosen.noise)


def measure(noise: str) -> None:
    import rows
    from contacts import DRAWS, scores

    from comotion.reproduce.scenes import PaperScene, parts_of
    from comotion.train import fit

    imported = time.perf_counter()
    scene = PaperScene(noise=noise)
    parts = parts_of(scene, 0)
    simulated = time.perf_counter()
    fitted = fit(parts.train.seen, hold_out=0.0, seed=0)
    learned = time.perf_counter()
    forecast = fitted.predict(parts.valid.seen, draws=DRAWS, seed=0).dataset
    done = time.perf_counter()
    warm = []
    for seed in range(1, 1 + AGAIN):
        begun = time.perf_counter()
        fitted.predict(parts.valid.seen, draws=DRAWS, seed=seed)
        warm.append(time.perf_counter() - begun)
    row = {
        "scene": scene.title,
        "cold_seconds": imported - START + done - simulated,
        "fit_seconds": learned - simulated,
        "forecast_seconds": done - learned,
        "warm_forecast_seconds": min(warm),
        "skill": scores(forecast, parts.valid, parts.train)["skill"],
    }
    rows.append("contact_speed", row)


if __name__ == "__main__":
    main()
