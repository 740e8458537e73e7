"""Thompson sampling once more, densely, by numpy alone: the expected part of thompson_small.json.

    python3 thompson_small.py DRAWN > thompson_small.json

DRAWN holds all random numbers of a search, as the test `points_are_those_of_a_dense_computation_by_numpy` writes them. Nothing here
is shared with gpbench but the formulae of Lin et al. 2023, section 4.2 and appendix A.3.
"""

import json
import sys

import numpy as np

drawn = json.load(open(sys.argv[1]))
length, signal, noise = drawn["length_scale"], drawn["signal_scale"], drawn["noise_scale"]


def kernel(x, z):
    r = np.sqrt(((x[:, None, :] - z[None, :, :]) ** 2).sum(-1)) / length
    a = np.sqrt(3.0) * r
    return signal**2 * (1 + a) * np.exp(-a), signal**2 * 3 * np.exp(-a)


def features(x, omega):
    angle = x / length @ omega
    scale = signal / np.sqrt(omega.shape[1])
    return scale * np.hstack([np.sin(angle), np.cos(angle)]), scale * np.hstack([np.cos(angle), -np.sin(angle)])


def value_and_gradient(starts, owner, omega, w, x, v):
    phi, slope_of_phi = features(starts, omega)
    k, slope = kernel(starts, x)
    values = (phi * w[:, owner].T).sum(1) + (k * v[:, owner].T).sum(1)
    weighted = slope_of_phi * w[:, owner].T
    both = np.hstack([omega, omega]) / length
    gradient = weighted @ both.T
    a = slope * v[:, owner].T
    gradient -= (starts * a.sum(1)[:, None] - a @ x) / length**2
    return values, gradient


def ascend(starts, owner, steps, rate, *samples):
    x, first, second = starts.copy(), np.zeros_like(starts), np.zeros_like(starts)
    best, place = value_and_gradient(x, owner, *samples)[0], starts.copy()
    for t in range(1, steps + 1):
        gradient = value_and_gradient(x, owner, *samples)[1]
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        x = x + rate * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
        x = np.clip(x, 0.0, 1.0)
    ended = value_and_gradient(x, owner, *samples)[0]
    place[ended > best] = x[ended > best]
    return np.maximum(ended, best), place


objective_omega, objective_w = np.array(drawn["objective_omega"]), np.array(drawn["objective_weights"])
g = lambda x: features(x, objective_omega)[0] @ objective_w
x = np.array(drawn["design"])
values = g(x)
y = values + noise * np.array(drawn["design_noise"])
points, bests, optimism = [], [], []
for step in drawn["steps"]:
    omega, w, eps = (np.array(step[name]) for name in ["omega", "weights", "noise"])
    h = kernel(x, x)[0] + noise**2 * np.eye(len(x))
    targets = features(x, omega)[0] @ w + noise * eps
    v = np.linalg.solve(h, np.column_stack([y, targets]))
    v = v[:, :1] - v[:, 1:]
    count = w.shape[1]
    starts = []
    for candidates in step["candidates"]:
        candidates = np.array(candidates)
        samples = features(candidates, omega)[0] @ w + kernel(candidates, x)[0] @ v
        starts.append(candidates[samples.argmax(0)])
    owner = np.tile(np.arange(count), len(starts))
    ended, place = ascend(np.vstack(starts), owner, drawn["ascent_steps"], drawn["learning_rate"], omega, w, x, v)
    ends = ended.reshape(len(starts), count)
    chosen = ends.argmax(0) * count + np.arange(count)
    new = place[chosen]
    found = g(new)
    optimism.append(float((ended[chosen] - found).mean()))
    x = np.vstack([x, new])
    values = np.concatenate([values, found])
    y = np.concatenate([y, found + noise * np.array(step["noise_of_points"])])
    points.append(new.tolist())
    bests.append(float(values.max()))
print(json.dumps({"drawn": drawn, "points": points, "best": bests, "optimism": optimism}))
