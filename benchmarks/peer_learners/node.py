"""A neural ODE by torchdiffeq: one network of each object, one of each pair, added up."""

import sys

import numpy as np
import torch
from start import last_state, smoothed
from torchdiffeq import odeint

WIDTH, BATCH, STEPS, LEADS = 64, 32, 2000, 10
torch.manual_seed(0)
data = np.load(sys.argv[1])
step, horizon = float(data["step"]), int(data["horizon"])
objects, axes = data["train"].shape[2:]
rows = objects * axes


def network():
    layers = torch.nn.Linear(2 * axes, WIDTH), torch.nn.Linear(WIDTH, WIDTH)
    last = torch.nn.Linear(WIDTH, axes)
    return torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Tanh(), last)


class Law(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.alone, self.pair = network(), network()

    def forward(self, _, state):
        objects_of = state.reshape(*state.shape[:-1], 2, objects, axes)
        each = torch.cat([objects_of[..., 0, :, :], objects_of[..., 1, :, :]], dim=-1)
        pairs = self.pair(each[..., None, :, :] - each[..., :, None, :]).sum(dim=-2)
        rates = self.alone(each) + pairs
        return torch.cat([state[..., rows:], rates.reshape(*state.shape[:-1], rows)], dim=-1)


def tensor(values):
    return torch.tensor(values, dtype=torch.float32)


paths, v = (smoothed(data["train"], step, order) for order in (0, 1))
shape = (*paths.shape[:2], rows)
states = tensor(np.concatenate([paths.reshape(shape), v.reshape(shape)], axis=2))
positions = tensor(data["train"].reshape(shape))
law = Law()
optimiser = torch.optim.Adam(law.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
times = step * torch.arange(LEADS + 1)
for _ in range(STEPS):
    who = torch.randint(len(states), (BATCH,))
    begin = torch.randint(shape[1] - LEADS, (BATCH,))
    path = odeint(law, states[who, begin], times, method="rk4")[..., :rows]
    wanted = positions[who[:, None], begin[:, None] + torch.arange(LEADS + 1)].swapaxes(0, 1)
    loss = ((path - wanted) ** 2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    schedule.step()

start = [part.reshape(-1, rows) for part in last_state(data["seen"], step)]
with torch.no_grad():
    ahead = step * torch.arange(horizon + 1)
    path = odeint(law, tensor(np.concatenate(start, axis=1)), ahead, method="rk4")[1:, :, :rows]
draws = path.numpy().swapaxes(0, 1).reshape(1, -1, horizon, objects, axes)
np.savez(sys.argv[2], draws=draws)
