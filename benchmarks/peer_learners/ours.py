"""comotion, told that forces depend on speed and on the distances of pairs."""

import sys

import numpy as np

import comotion as cm

data = np.load(sys.argv[1])
step, horizon = float(data["step"]), int(data["horizon"])
times = step * np.arange(data["train"].shape[1])
train = cm.Trajectories.from_arrays(data["train"], times)
parts = {"alone": "speed", "pair": "distance"}
if "shooting" in sys.argv:
    parts |= {"covariance": "full", "shooting": 4}
model = cm.fit(train, **parts, report=False)
print(model, model.law, sep="\n")
seen = cm.Trajectories.from_arrays(data["seen"], times[: data["seen"].shape[1]])
future = model.predict(seen, horizon=step * horizon)
draws = future["observation"].transpose("draw", "sequence", "time", "object", "feature")
np.savez(sys.argv[2], draws=draws.values)
