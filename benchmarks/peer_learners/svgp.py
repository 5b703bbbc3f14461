"""GPyTorch's SVGP of accelerations by finite differences, from the state of the whole scene."""

import sys

import gpytorch
import numpy as np
import torch
from gpytorch.variational import CholeskyVariationalDistribution as Distribution
from gpytorch.variational import IndependentMultitaskVariationalStrategy as Tasks
from gpytorch.variational import VariationalStrategy as Strategy
from start import last_state, smoothed

INDUCING, BATCH, EPOCHS, DRAWS, SUBSTEPS = 200, 256, 30, 50, 2
torch.manual_seed(0)
data = np.load(sys.argv[1])
step, horizon = float(data["step"]), int(data["horizon"])
objects, axes = data["train"].shape[2:]


class Accelerations(gpytorch.models.ApproximateGP):
    def __init__(self, inducing, tasks):
        batch = torch.Size([tasks])
        distribution = Distribution(inducing.shape[-2], batch_shape=batch)
        strategy = Strategy(self, inducing, distribution, learn_inducing_locations=True)
        super().__init__(Tasks(strategy, num_tasks=tasks))
        self.mean_module = gpytorch.means.ZeroMean(batch_shape=batch)
        kernel = gpytorch.kernels.RBFKernel(ard_num_dims=inducing.shape[-1], batch_shape=batch)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, batch_shape=batch)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


paths, v, a = (smoothed(data["train"], step, order) for order in (0, 1, 2))
rows = objects * axes
states = np.concatenate([paths.reshape(-1, rows), v.reshape(-1, rows)], axis=1)
scale = states.std(axis=0)
inputs = torch.tensor(states / scale, dtype=torch.float32)
size = a.std()
targets = torch.tensor(a.reshape(-1, rows) / size, dtype=torch.float32)
model = Accelerations(inputs[torch.randperm(len(inputs))[:INDUCING]].repeat(rows, 1, 1), rows)
likelihood = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=rows, rank=0)
bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(inputs))
optimiser = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
for _ in range(EPOCHS):
    for some in torch.randperm(len(inputs)).split(BATCH):
        optimiser.zero_grad()
        loss = -bound(model(inputs[some]), targets[some])
        loss.backward()
        optimiser.step()

model.eval()
noise = np.sqrt(np.mean((data["train"] - paths) ** 2))
x, v = (
    np.tile(part, (DRAWS, 1, 1, 1)).reshape(-1, rows) for part in last_state(data["seen"], step)
)
random = np.random.default_rng(0)
x, v = x + noise * random.normal(size=x.shape), v + noise / step * random.normal(size=v.shape)
found = []
with torch.no_grad():
    for _ in range(horizon):
        for _ in range(SUBSTEPS):
            state = torch.tensor(np.concatenate([x, v], axis=1) / scale, dtype=torch.float32)
            marginal = model(state)
            sd = marginal.variance.sqrt().numpy()
            rate = size * (marginal.mean.numpy() + sd * random.normal(size=x.shape))
            h = step / SUBSTEPS
            x, v = x + h * v + h**2 / 2 * rate, v + h * rate
        found.append(x + noise * random.normal(size=x.shape))
draws = np.stack(found, axis=1).reshape(DRAWS, -1, horizon, objects, axes)
np.savez(sys.argv[2], draws=draws)
