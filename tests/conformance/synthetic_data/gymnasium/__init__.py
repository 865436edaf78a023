"""A stand-in for Gymnasium with one game: a moving bar on a screen, whose reward is the action that names the bar's position."""
import numpy as np

from .spaces.box import Box

STEPS, ACTIONS, SCREEN = 200, 6, (210, 160)


class _Discrete:
    n = ACTIONS


class Env:
    pass


class _Screen:
    def __init__(self, game):
        self.game = game

    def lives(self):
        return 1

    def getScreenGrayscale(self, output):  # noqa: N802: the name that the examples call
        output.fill(0)
        output[:, self.game.position * 20:self.game.position * 20 + 20] = 200


class _Game(Env):
    action_space, observation_space = _Discrete, Box(0, 255, (*SCREEN, 3), np.uint8)
    reward_range, metadata = (-1, 1), {}

    def __init__(self):
        self.ale, self.draw, self.position, self.left = _Screen(self), np.random.RandomState(0), 0, STEPS

    @property
    def unwrapped(self):
        return self

    def reset(self, **_):
        self.position, self.left = 0, STEPS
        return None, {}

    def step(self, action):
        reward = 1.0 if action == self.position % ACTIONS else -1.0
        self.position, self.left = self.draw.randint(8), self.left - 1
        return None, reward, self.left <= 0, False, {}


class RewardWrapper(Env):
    def __init__(self, env):
        self.env = env

    def __getattr__(self, name):
        return getattr(self.env, name)

    def step(self, action):
        observation, reward, *rest = self.env.step(action)
        return observation, self.reward(reward), *rest


def make(name):
    return _Game()


def register_envs(module):
    pass
